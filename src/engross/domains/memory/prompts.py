"""The words that start the domain's main jobs."""

from __future__ import annotations

from engross.flows import Aggregate

REMEMBER = """\
Remember this: {what}

A file goes in with ingest, fields that you already have with ingest_structured, an object of a known kind with \
submit_payload. Look up with get_entity_by_identifier whether what it is about is known already. Afterwards tell me \
which entities it became part of, what changed about them, and what contradicts what was known before: explain_field \
says which source won, and why."""

BRIEF = """\
Tell me what we know about {subject}, with sources.

Find it with search_memory or get_entity_by_identifier. Read its snapshot, what it is related to \
(get_related_entities) and what happened (list_timeline_events). For every statement that matters name the source \
that get_field_provenance gives. Say what is old, what is contradicted, and what is not known."""


def add_prompts(memory: Aggregate) -> None:
    """Keeping something, and being told what is known."""
    memory.prompt(
        "remember-this",
        "Keep something in memory with its source, and say what it changes.",
        {"what": "The file, the text or the facts to keep."},
        title="Remember this",
        text=REMEMBER,
        needs=("memory.ingest-structured",),
    )
    memory.prompt(
        "brief-me",
        "Say what is known about somebody or something, with a source for every statement.",
        {"subject": "A person, a company, a document, anything that was ingested."},
        title="Brief me",
        text=BRIEF,
        needs=("memory.get-entity-snapshot",),
    )
