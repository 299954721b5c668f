"""Going through a user's memory a page at a time: by type, then id, so that a page begins where the last one ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson

from engross.ledger import Reader

from ..entities import Entity, page_of_entities
from ..entity_rows import OWNED
from ..owners import owner_of
from ..refusals import malformed, raise_all

T = TypeVar("T")
Key = tuple[str | int, ...]
PAGE = 100
MOST_BYTES = 1_500_000
"""A page ends behind what makes it longer than this."""


class Page(NamedTuple):
    """Things, and where the next page begins; None behind the last."""

    things: list[Any]
    cursor: str | None


def cursor_of(*key: str | int) -> str:
    """Where to go on, as a caller gets it."""
    return orjson.dumps(key).hex()


def key_of(cursor: str | None, kinds: Sequence[type]) -> list[Any] | None:
    """Where a caller wants to go on, by values of these kinds; Invalid for what is no cursor of this walk."""
    if cursor is None:
        return None
    try:
        key = orjson.loads(bytes.fromhex(cursor))
    except ValueError:
        key = None
    if not isinstance(key, list) or list(map(type, key)) != list(kinds) or not all(map(_fits, key)):
        raise_all([malformed("/cursor", "this is no cursor of this export", "Begin without one.")])
    found: list[Any] = key
    return found


def _fits(part: str | int) -> bool:
    """Whether a column could hold it."""
    return isinstance(part, str) or 0 <= part < 2**63


def entities_after(reader: Reader, cursor: str | None, entity_type: str | None) -> Iterator[Entity]:
    """The entities behind a cursor, by type and id."""
    key = key_of(cursor, (str, str))
    first, after = key if key is not None else ("", "")
    for kind in _types(reader, entity_type):
        if kind < first:
            continue
        last = after if kind == first else ""
        while page := page_of_entities(reader, kind, merged=False, limit=PAGE, after=last):
            yield from page
            last = page[-1].id


def paged(things: Iterator[T], shown: Callable[[T], Any], key: Callable[[T], Key], limit: int) -> Page:
    """The first things, as they are shown: so many at the most, and not too large together."""
    told: list[Any] = []
    size = 0
    last: Key = ()
    for thing in things:
        if len(told) >= limit or size > MOST_BYTES:
            return Page(told, cursor_of(*last))
        one = shown(thing)
        told.append(one)
        size += len(orjson.dumps(one))
        last = key(thing)
    return Page(told, None)


def _types(reader: Reader, entity_type: str | None) -> list[str]:
    if entity_type is not None:
        return [entity_type]
    rows = reader.rows(f"SELECT DISTINCT type FROM memory_entities {OWNED}", owner=owner_of(reader.context))
    return sorted(row["type"] for row in rows)
