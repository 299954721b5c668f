"""The words that start the domain's main jobs."""

from __future__ import annotations

from engross.flows import Aggregate

WRITE = """\
Write this as an OCTAVE document at {path}: {purpose}

If there is a schema for it, octave_eject with the schema and without content gives its template. Hold your draft \
against the schema with octave_validate and mend what it finds; with fix=true small faults are repaired and listed. \
To change a document that is there, read it first, send only the fields that change in octave_write's changes, and the \
hash that you read as base_hash. Tell me what was corrected on the way, and the validation_status."""


def add_prompts(documents: Aggregate) -> None:
    """Writing a document."""
    documents.prompt(
        "write-document",
        "Write or change an OCTAVE document, validated and without overwriting what others wrote.",
        {"path": "Where it lies, under one of the roots.", "purpose": "What it should say."},
        title="Write a document",
        text=WRITE,
        needs=("documents.octave-write",),
    )
