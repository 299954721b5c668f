"""Looking relationships up: by id, by their ends, and what is tied to what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid, Issue, codes

from .rows import RELATIONSHIP_COLUMNS, of_row, relationship_of
from .tables import AS_OF

SELECT = f"SELECT {RELATIONSHIP_COLUMNS} FROM architecture_relationships WHERE tenant = :tenant"
ASKED_AT_ONCE = 200
MOST_ISOLATED = 10


def find_relationship(reader: Reader, relationship_id: str) -> dict[str, Any] | None:
    """A relationship by its id, as callers see it."""
    row = reader.row(f"{SELECT} AND id = :id AND {AS_OF}", id=relationship_id)
    return None if row is None else relationship_of(row)


def whole_relationship(reader: Reader, relationship_id: str) -> dict[str, Any] | None:
    """A relationship with everything that its facts say."""
    row = reader.row(
        f"SELECT * FROM architecture_relationships WHERE tenant = :tenant AND id = :id AND {AS_OF}",
        id=relationship_id,
    )
    return None if row is None else of_row(row)


def require_relationship(reader: Reader, relationship_id: str, field: str = "id") -> dict[str, Any]:
    """The relationship; Invalid where there is none."""
    found = find_relationship(reader, relationship_id)
    if found is None:
        raise Invalid.many([no_such_relationship(relationship_id, field)])
    return found


def no_such_relationship(relationship_id: str, field: str = "id") -> Issue:
    """The relationship is not there, for this caller."""
    hint = "List the relationships of one of its ends with listRelationships."
    return Issue(codes.RELATIONSHIP_NOT_FOUND, {"id": relationship_id[:80]}, f"/{field}", suggestions={"hint": hint})


def relationship_between(reader: Reader, kind: str, source_id: str, target_id: str) -> dict[str, Any] | None:
    """The relationship of a type that leads from the one to the other."""
    row = reader.row(
        "SELECT id FROM architecture_relationships WHERE tenant = :tenant AND source_id = :source_id AND type = :type"
        f" AND target_id = :target_id AND {AS_OF} ORDER BY id LIMIT 1",
        source_id=source_id,
        type=kind,
        target_id=target_id,
    )
    return None if row is None else find_relationship(reader, row["id"])


def find_relationships(reader: Reader, identifiers: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Relationships by their ids; those that are not there are left out."""
    found: dict[str, dict[str, Any]] = {}
    for some in _chunks(sorted(set(identifiers))):
        places = ", ".join(f":id_{n}" for n in range(len(some)))
        rows = reader.rows(
            f"{SELECT} AND id IN ({places}) AND {AS_OF}", **{f"id_{n}": one for n, one in enumerate(some)}
        )
        found |= {row["id"]: relationship_of(row) for row in rows}
    return found


def relationships_of(reader: Reader, ends: Iterable[str], *, most: int | None = None) -> list[dict[str, Any]]:
    """Every relationship that begins or ends at one of these, by id; with `most`, so many at either side."""
    identifiers: set[str] = set()
    for some in _chunks(sorted(set(ends))):
        places = ", ".join(f":end_{n}" for n in range(len(some)))
        bound = {f"end_{n}": end for n, end in enumerate(some)}
        for end in ("source_id", "target_id"):
            limit = f" ORDER BY {end}, type, id LIMIT {int(most)}" if most is not None else ""
            rows = reader.rows(
                f"SELECT id FROM architecture_relationships WHERE tenant = :tenant AND {end} IN ({places})"
                f" AND {AS_OF}{limit}",
                **bound,
            )
            identifiers.update(row["id"] for row in rows)
    found = find_relationships(reader, identifiers)
    return [found[identifier] for identifier in sorted(found)]


def all_tied_to(reader: Reader, subject: str) -> list[dict[str, Any]]:
    """What would lose an end if the subject went: its relationships, those tied to them, and so on; farthest first."""
    waves: list[list[dict[str, Any]]] = []
    seen: set[str] = set()
    ends = [subject]
    while ends:
        wave = [one for one in relationships_of(reader, ends) if one["id"] not in seen]
        seen |= {one["id"] for one in wave}
        ends = [one["id"] for one in wave]
        waves.append(wave)
    return [one for wave in reversed(waves) for one in wave]


def whole_of(reader: Reader, part_id: str) -> str | None:
    """What holds something, by a Composition or else an Aggregation."""
    row = reader.row(
        "SELECT id FROM architecture_relationships WHERE tenant = :tenant AND target_id = :target_id"
        f" AND type IN ('Composition', 'Aggregation') AND {AS_OF} ORDER BY type DESC, id LIMIT 1",
        target_id=part_id,
    )
    found = None if row is None else find_relationship(reader, row["id"])
    return None if found is None else str(found["source_id"])


def left_alone(reader: Reader, gone: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Elements that lost their last relationship with these."""
    from .elements import find_element

    ends = sorted({one[end] for one in gone for end in ("source_id", "target_id")})[:MOST_ISOLATED]
    alone = [end for end in ends if not relationships_of(reader, [end], most=1)]
    return [found for end in alone if (found := find_element(reader, end))]


def _chunks(listed: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(listed), ASKED_AT_ONCE):
        yield listed[start : start + ASKED_AT_ONCE]
