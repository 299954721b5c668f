"""Memory as Markdown that people read: an entity is a section, a field a line, and each line says where it is from."""

from __future__ import annotations

import re
from typing import Any

import orjson

from engross.ledger import Reader

from ..entities import Entity
from .sources import Sourced, Sources
from .walk import entities_after, paged

TITLE = "# Memory\n"
LONGEST = 500

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")


def as_markdown(reader: Reader, cursor: str | None, entity_type: str | None, limit: int) -> tuple[str, str | None]:
    """A page of entities; pages follow each other without a seam."""
    sources = Sources(reader)
    seen: list[str] = []
    page = paged(
        entities_after(reader, cursor, entity_type),
        lambda entity: _section(entity, sources, seen),
        lambda entity: (entity.type, entity.id),
        limit,
    )
    return (TITLE if cursor is None else "") + "".join(page.things), page.cursor


def _section(entity: Entity, sources: Sources, seen: list[str]) -> str:
    lines = []
    if entity.type not in seen:
        seen.append(entity.type)
        lines.append(f"\n## {_plain(entity.type)}\n")
    lines.append(f"\n### {_plain(entity.name)}\n")
    count = entity.observations
    lines.append(f"\n`{entity.id}`, {count} {'observation' if count == 1 else 'observations'}\n\n")
    lines += [_line(one) for one in sources.of(entity)]
    return "".join(lines)


def _line(one: Sourced) -> str:
    return f"- **{_plain(one.field)}**: {_value(one.value)} ({_source(one)})\n"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    shown = " ".join(text.split())
    return _plain(shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…")


def _source(one: Sourced) -> str:
    when = one.observation["observed_at"][:10]
    if one.record is None:
        return f"corrected {when}"
    name = one.record["name"] or one.record["type"]
    return f"{_plain(' '.join(str(name).split()))}, {when}"


def _plain(text: str) -> str:
    """A text that means nothing to Markdown."""
    return _SPECIAL.sub(r"\\\1", text)
