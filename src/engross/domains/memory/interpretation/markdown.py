"""Markdown: the front matter, the title, the text, and the tasks that are listed in it."""

from __future__ import annotations

import re
from typing import Any

from .claimed import date_in
from .cues import type_by_cues
from .document import add_document, note_cut
from .fields import fields_of
from .losses import FIELDS, TEXTS
from .plain import plain
from .record_types import category, known_record_type
from .result import Draft, Findings, Found
from .script import Script
from .source import Source

LONGEST_FRONT = 20_000
MOST_FIELDS = 100
MOST_TASKS = 200
LONGEST_TASK = 300
LOOKED_AT = 1_000_000

_FRONT = re.compile(r"---[ \t]*\r?\n(?P<front>.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"(?m)^#[ \t]+(?P<title>[^\n]{1,200}?)[ \t]*#*[ \t]*$")
_TASK = re.compile(r"(?m)^[ \t]*[-*+][ \t]+\[(?P<mark>[ xX])\][ \t]+(?P<task>\S[^\n]*)$")
_RESERVED = ("type", "record_type", "category", "entity_type")


def read_markdown(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a Markdown file; the type that it was found to have."""
    front, body = _front_matter(draft, script)
    kind = _kind(front, body, source)
    found: Findings = {}
    if kind != "note":
        found, notes = fields_of(kind, body.beginning)
        draft.notes.extend(notes)
    note_cut(draft, body)
    found = {**_title(body), **found, **{name: one for name, one in front.items() if name not in _RESERVED}}
    if category(kind) in ("KnowledgeRecord", "LegalRecord", "PlanningRecord"):
        found.setdefault("content", body.excerpt)
    place = add_document(draft, kind, found, source)
    _add_tasks(draft, body, place, source)
    return kind


def _front_matter(draft: Draft, script: Script) -> tuple[Findings, Script]:
    match = _FRONT.match(script.text)
    if match is None:
        return {}, script
    # The rest keeps its places: what is taken off is replaced by as many blanks.
    blank = " " * (match.end() - 1) + "\n"
    body = script._replace(text=blank + script.text[match.end() :])
    stated = _stated(draft, match["front"])
    if stated is None:
        draft.note("FRONT_MATTER_UNREADABLE", "The front matter is not a plain YAML mapping; it was left out.")
        return {}, body
    start = match.start("front")
    found: Findings = {}
    draft.count(FIELDS, len(stated) - MOST_FIELDS)
    for key, value in list(stated.items())[:MOST_FIELDS]:
        line = re.search(rf"(?m)^{re.escape(key)}[ \t]*:[^\n]*", match["front"])
        span = script.span(start + line.start(), start + line.end()) if line else None
        found[key] = Found(_dated(draft, key, value), span)
    return found, body


def _stated(draft: Draft, text: str) -> dict[str, Any] | None:
    from .front_matter import front_matter

    loaded = front_matter(text) if len(text) <= LONGEST_FRONT else None
    if loaded is None:
        return None
    return {key: value for key, value in plain(draft, loaded).items() if key and value is not None}


def _dated(draft: Draft, key: str, value: Any) -> Any:
    return (date_in(draft, key, value) or value) if isinstance(value, str) and value.strip() else value


def _kind(front: Findings, body: Script, source: Source) -> str:
    for key in _RESERVED:
        if key in front and (known := known_record_type(front[key].value)) is not None:
            return known
    found = type_by_cues(body.beginning.text, source.filename) if not front else None
    return found if found in ("invoice", "receipt", "contract", "statement") else "note"


def _title(body: Script) -> Findings:
    match = _TITLE.search(body.text[:20_000])
    return {"title": body.found(match, "title")} if match else {}


def _add_tasks(draft: Draft, body: Script, place: int, source: Source) -> None:
    for count, match in enumerate(_TASK.finditer(body.text, 0, LOOKED_AT)):
        if count >= MOST_TASKS:
            draft.note("TASKS_CUT", f"Only the first {MOST_TASKS} tasks were taken.")
            return
        start, end = match.span("task")
        draft.count(TEXTS, 1 if end - start > LONGEST_TASK else 0)
        title = body.at(start, min(end, start + LONGEST_TASK))
        state = Found("completed" if match["mark"] in "xX" else "open", body.span(*match.span("mark")))
        task = draft.claim("task", title.value, {"title": title, "status": state})
        draft.tie("PART_OF", task, place)
