"""Markdown: the front matter, the title, the text, and the tasks that are listed in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .cues import type_by_cues
from .dates import iso_of
from .document import add_document
from .fields import fields_of
from .plain import plain
from .record_types import category, known_record_type
from .result import Draft, Findings, Found
from .script import Script
from .source import Source

LONGEST_FRONT = 20_000
MOST_FIELDS = 100
MOST_TASKS = 200
LOOKED_AT = 1_000_000

_FRONT = re.compile(r"---[ \t]*\r?\n(?P<front>.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"(?m)^#[ \t]+(?P<title>[^\n]{1,200}?)[ \t]*#*[ \t]*$")
_TASK = re.compile(r"(?m)^[ \t]*[-*+][ \t]+\[(?P<mark>[ xX])\][ \t]+(?P<task>[^\n]{1,300})$")
_RESERVED = ("type", "record_type", "category", "entity_type")


def read_markdown(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a Markdown file; the type that it was found to have."""
    front, body = _front_matter(draft, script)
    kind = _kind(front, body, source)
    found: Findings = {}
    if kind != "note":
        found, notes = fields_of(kind, body.beginning)
        draft.notes.extend(notes)
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
    stated = _yaml(match["front"]) if len(match["front"]) <= LONGEST_FRONT else None
    if stated is None:
        draft.note("FRONT_MATTER_UNREADABLE", "The front matter is not a plain YAML mapping; it was left out.")
        return {}, body
    start = match.start("front")
    found: Findings = {}
    for key, value in list(stated.items())[:MOST_FIELDS]:
        line = re.search(rf"(?m)^{re.escape(key)}[ \t]*:[^\n]*", match["front"])
        span = script.span(start + line.start(), start + line.end()) if line else None
        found[key] = Found(_dated(key, value), span)
    return found, body


def _yaml(text: str) -> dict[str, Any] | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if re.search(r"(?m)(?:^|[\s\[,:-])[&*][A-Za-z0-9_]", text):
        # Aliases can unfold without end.
        return None
    try:
        loaded = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError, TypeError):
        return None
    if not isinstance(loaded, Mapping):
        return None
    found: dict[str, Any] = plain(loaded)
    return {key: value for key, value in found.items() if key and value is not None}


def _dated(key: str, value: Any) -> Any:
    if isinstance(value, str) and ("date" in key.lower() or key.endswith("_at")):
        return iso_of(value) or value
    return value


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
        title = body.found(match, "task")
        state = Found("completed" if match["mark"] in "xX" else "open", body.span(*match.span("mark")))
        task = draft.claim("task", title.value, {"title": title, "status": state})
        draft.tie("PART_OF", task, place)
