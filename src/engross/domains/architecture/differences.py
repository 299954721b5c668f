"""What differs between two models, between two moments of one, or between a model and a file.

Things are paired by their ids, then by the ids under which they go out, and elements that are left by type and name;
relationships by what they join. So a file that was exported, changed elsewhere and brought back finds its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from engross.ledger import Reader

from .exchange.identifiers import ncname
from .exchange.importing import lifted
from .exchange.parcel import Parcel
from .names import folded
from .rows import of_row
from .tables import AS_OF

Thing = Mapping[str, Any]
COMPARED = ("type", "name", "description", "properties", "profile")
JOINED = ("name", "description", "properties", "access_type", "modifier", "is_directed")


class Side(NamedTuple):
    """One of the two that are compared."""

    elements: list[Thing]
    relationships: list[Thing]

    @classmethod
    def stored(cls, reader: Reader, model_id: str) -> Side:
        """A model as it stands for this reader."""
        return cls(
            _all(reader, "architecture_elements", model_id), _all(reader, "architecture_relationships", model_id)
        )

    @classmethod
    def of(cls, parcel: Parcel) -> Side:
        """The content of a file."""
        return cls(
            [{"id": piece.id, "external_id": piece.id, **lifted(piece.said)} for piece in parcel.elements],
            [{"id": piece.id, "external_id": piece.id, **piece.said} for piece in parcel.relationships],
        )


def differences(before: Side, after: Side, most: int) -> dict[str, Any]:
    """What was added, removed and changed on the way from the one to the other: all counted, so many listed."""
    pairs = _paired(before.elements, after.elements)
    elements = _compared(before.elements, after.elements, pairs, COMPARED, {})
    joined = _paired_relationships(before.relationships, after.relationships, pairs)
    names = {one["id"]: f"{one['type']}/{one['name']}" for one in (*before.elements, *after.elements)}
    relationships = _compared(before.relationships, after.relationships, joined, JOINED, names)
    return {
        "same": not any(found for kind in (elements, relationships) for found in kind.values()),
        "counts": {
            "elements": {name: len(found) for name, found in elements.items()},
            "relationships": {name: len(found) for name, found in relationships.items()},
        },
        "elements": {name: found[:most] for name, found in elements.items()},
        "relationships": {name: found[:most] for name, found in relationships.items()},
    }


def _all(reader: Reader, table: str, model_id: str) -> list[Thing]:
    rows = reader.rows(
        f"SELECT * FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF} ORDER BY type, id",
        model_id=model_id,
    )
    return [of_row(row) for row in rows]


def _outside(thing: Thing) -> str:
    return ncname(thing.get("external_id") or thing["id"])


def _paired(before: Iterable[Thing], after: Iterable[Thing]) -> dict[str, str]:
    """Which element of the one side is which of the other, by their ids."""
    pairs: dict[str, str] = {}
    left, right = list(before), list(after)
    for mark in (lambda one: one["id"], _outside, _named):
        known: dict[str, str] = {}
        for one in right:
            known.setdefault(mark(one), one["id"])
        taken = set(pairs.values())
        for one in left:
            found = known.get(mark(one))
            if one["id"] not in pairs and found is not None and found not in taken:
                pairs[one["id"]] = found
                taken.add(found)
    return pairs


def _named(thing: Thing) -> str:
    return f"{thing['type']}/{folded(thing['name'])}"


def _paired_relationships(before: Iterable[Thing], after: Iterable[Thing], pairs: Mapping[str, str]) -> dict[str, str]:
    """Relationships are the same if they are of one type, between what is the same."""
    known: dict[tuple[str, str, str], str] = {}
    for one in after:
        known.setdefault((one["type"], one["source_id"], one["target_id"]), one["id"])
    found: dict[str, str] = {}
    left = list(before)
    while left:
        # An end may be a relationship, which has to be found first.
        same = {**pairs, **found}
        rest = []
        for one in left:
            source: str = one["source_id"]
            target: str = one["target_id"]
            other = known.pop((one["type"], same.get(source, source), same.get(target, target)), None)
            if other is None:
                rest.append(one)
            else:
                found[one["id"]] = other
        if len(rest) == len(left):
            break
        left = rest
    return found


def _compared(
    before: Iterable[Thing],
    after: Iterable[Thing],
    pairs: Mapping[str, str],
    fields: tuple[str, ...],
    names: Mapping[str, str],
) -> dict[str, list[dict[str, Any]]]:
    others = {one["id"]: one for one in after}
    kept = set(pairs.values())
    changed = []
    for one in before:
        if one["id"] not in pairs:
            continue
        moved = _moved(one, others[pairs[one["id"]]], fields)
        if moved:
            changed.append({**_shown(others[pairs[one["id"]]], names), "fields": moved})
    return {
        "added": [_shown(one, names) for one in after if one["id"] not in kept],
        "removed": [_shown(one, names) for one in before if one["id"] not in pairs],
        "changed": changed,
    }


def _moved(before: Thing, after: Thing, fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: {"from": before.get(name), "to": after.get(name)}
        for name in fields
        if (before.get(name) or None) != (after.get(name) or None)
    }


def _shown(thing: Thing, names: Mapping[str, str]) -> dict[str, Any]:
    told = {name: thing[name] for name in ("id", "type", "name") if thing.get(name)}
    ends = {end: names.get(thing[f"{end}_id"], thing[f"{end}_id"]) for end in ("source", "target")} if names else {}
    return told | ends
