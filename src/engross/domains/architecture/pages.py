"""A page at a time: cursors that say where the last page ended, and the queries that go on from there."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader
from engross.replies import Invalid

from .metamodel import metamodel
from .names import folded
from .refusals import malformed
from .relationships import find_relationships
from .rows import ELEMENT_COLUMNS, element_of
from .tables import AS_OF

LAST = "\U0010ffff"


class Page(NamedTuple):
    """Some of what was asked for, and where the rest begins."""

    found: list[dict[str, Any]]
    cursor: str | None


def cursor_to(place: Sequence[str]) -> str:
    """A cursor that leads behind this place."""
    return urlsafe_b64encode(orjson.dumps(list(place))).decode().rstrip("=")


def place_of(cursor: str | None, parts: int) -> list[str] | None:
    """The place that a cursor leads to; Invalid for a text that is none."""
    if cursor is None:
        return None
    try:
        place = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (NotBase64, ValueError):
        place = None
    if not isinstance(place, list) or len(place) != parts or not all(isinstance(one, str) for one in place):
        raise Invalid.many([malformed("/cursor", "this is no cursor of this list", "Take it from the page before.")])
    return place


def page_of_elements(
    reader: Reader,
    model_id: str,
    *,
    types: Sequence[str] | None,
    starts_with: str | None,
    cursor: str | None,
    limit: int,
) -> Page:
    """Elements by type, then name, then id."""
    place = place_of(cursor, 3)
    if types is None and starts_with is None:
        rows = _any_elements(reader, model_id, place, limit + 1)
    else:
        rows = []
        wanted = sorted(types if types is not None else metamodel().creatable_types)
        for kind in wanted:
            if len(rows) > limit:
                break
            if place is None or kind >= place[0]:
                after = place[1:] if place is not None and kind == place[0] else None
                rows += _typed_elements(reader, model_id, kind, starts_with, after, limit + 1 - len(rows))
    more = len(rows) > limit
    last = rows[limit - 1] if more else None
    return Page(
        [element_of(row) for row in rows[:limit]],
        cursor_to([last["type"], last["folded"], last["id"]]) if last else None,
    )


def page_of_relationships(
    reader: Reader, model_id: str, *, kind: str | None, ends: Mapping[str, str], cursor: str | None, limit: int
) -> Page:
    """Relationships of a type, at these ends (`element_id` is either of them), by type, then id."""
    place = place_of(cursor, 2)
    conditions = ["type = :type"] if kind else []
    bound = {"type": kind} if kind else {}
    for name in ("source_id", "target_id"):
        if name in ends:
            conditions.append(f"{name} = :{name}")
            bound[name] = ends[name]
    if place:
        conditions.append("(type, id) > (:after_type, :after_id)")
        bound |= {"after_type": place[0], "after_id": place[1]}
    found: dict[str, str] = {}
    for either in _either_end(ends):
        # The model is looked at afterwards: where an end is known, reading through a whole model would be the long way.
        own = [either] if either else [] if ends else ["model_id = :model_id"]
        rows = _relationships(reader, [*own, *conditions], {**bound, **ends, "model_id": model_id}, limit + 1)
        found |= {row["id"]: row["type"] for row in rows}
    ordered = sorted((kind, identifier) for identifier, kind in found.items())
    rows_of = find_relationships(reader, (identifier for _, identifier in ordered[:limit]))
    shown = [rows_of[identifier] for _, identifier in ordered[:limit]]
    return Page(
        [one for one in shown if one["model_id"] == model_id],
        cursor_to(ordered[limit - 1]) if len(ordered) > limit else None,
    )


def _either_end(ends: Mapping[str, str]) -> list[str]:
    if "element_id" not in ends:
        return [""]
    return ["source_id = :element_id", "target_id = :element_id"]


def _relationships(
    reader: Reader, conditions: Sequence[str], bound: Mapping[str, Any], most: int
) -> list[dict[str, Any]]:
    used = {name: value for name, value in bound.items() if any(f":{name}" in one for one in conditions)}
    # Few are at one end, so sorting them is better than looking for an index that has them in order.
    order = "type" if "model_id" in used else "type || ''"
    return reader.rows(
        "SELECT type, id FROM architecture_relationships WHERE tenant = :tenant"
        f" AND {' AND '.join(conditions)} AND {AS_OF} ORDER BY {order}, id LIMIT :most",
        most=most,
        **used,
    )


def _any_elements(reader: Reader, model_id: str, place: list[str] | None, most: int) -> list[dict[str, Any]]:
    after = " AND (type, folded, id) > (:after_type, :after_name, :after_id)" if place else ""
    bound = dict(zip(("after_type", "after_name", "after_id"), place, strict=True)) if place else {}
    return reader.rows(
        f"SELECT {ELEMENT_COLUMNS}, folded FROM architecture_elements WHERE tenant = :tenant AND model_id = :model_id"
        f" AND {AS_OF}{after} ORDER BY type, folded, id LIMIT :most",
        model_id=model_id,
        most=most,
        **bound,
    )


def _typed_elements(
    reader: Reader, model_id: str, kind: str, starts_with: str | None, after: list[str] | None, most: int
) -> list[dict[str, Any]]:
    bound: dict[str, Any] = {"model_id": model_id, "type": kind, "most": most}
    conditions = ""
    if starts_with is not None:
        conditions += " AND folded >= :first AND folded < :last"
        bound |= {"first": folded(starts_with), "last": folded(starts_with) + LAST}
    if after is not None:
        conditions += " AND (folded, id) > (:after_name, :after_id)"
        bound |= {"after_name": after[0], "after_id": after[1]}
    return reader.rows(
        f"SELECT {ELEMENT_COLUMNS}, folded FROM architecture_elements WHERE tenant = :tenant AND model_id = :model_id"
        f" AND type = :type{conditions} AND {AS_OF} ORDER BY type, folded, id LIMIT :most",
        **bound,
    )
