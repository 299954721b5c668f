"""Relationships between entities: which there are, and whether a new one would close a circle.

A relationship keeps the ends that it was stated with. Whoever speaks for an end today is found when it is read, so that
edges follow a merge, and come back when it is undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from engross.ledger import Reader

from .entities import Entity, find_entities
from .entity_rows import OWNED, parts
from .owners import owner_of

RelationshipType = Literal["PART_OF", "CORRECTS", "REFERS_TO", "SETTLES", "DUPLICATE_OF", "DEPENDS_ON", "SUPERSEDES"]
RELATIONSHIP_TYPES: tuple[str, ...] = get_args(RelationshipType)
ACYCLIC = frozenset({"PART_OF", "DEPENDS_ON", "SUPERSEDES", "CORRECTS", "DUPLICATE_OF"})
COLUMNS = "id, version, type, source_id, target_id, metadata, created_at, updated_at"
ENDS = {"outbound": ("source_id",), "inbound": ("target_id",), "both": ("source_id", "target_id")}


class Edge(NamedTuple):
    """A relationship between those who speak for its ends today."""

    row: dict[str, Any]
    source: Entity
    target: Entity

    @property
    def shown(self) -> dict[str, Any]:
        """The row with today's ends."""
        return {**self.row, "source_id": self.source.id, "target_id": self.target.id}


def edges_at(
    reader: Reader,
    entities: Iterable[Entity],
    direction: str,
    types: Sequence[str] = (),
    most: int | None = None,
) -> list[Edge]:
    """The edges that begin or end at these entities, each once; none from an entity to itself."""
    stated = sorted({identifier for entity in entities for identifier in entity.ids})
    found = {one for column in ENDS[direction] for one in _ids_with(reader, column, stated, types, most)}
    return _resolved(reader, _rows(reader, found))


def between(reader: Reader, kind: str, source: Entity, target: Entity) -> dict[str, Any] | None:
    """The row of the relationship of a type that leads from the one to the other, if there is one."""
    found = _ids_between(reader, kind, source, target)
    return _rows(reader, [min(found)])[0] if found else None


def shown_edges(reader: Reader, rows: Sequence[Mapping[str, Any]]) -> list[Edge]:
    """The edges that some of these rows stand for, in their order; the others are shown to nobody."""
    edges = _resolved(reader, rows)
    given = {row["id"] for row in rows}
    alike = {
        one
        for edge in edges
        if edge.source.members or edge.target.members
        for one in _ids_between(reader, edge.row["type"], edge.source, edge.target)
    }
    if alike - given:
        edges = _resolved(reader, [*rows, *_rows(reader, alike - given)])
    found = {edge.row["id"]: edge for edge in edges}
    return [found[row["id"]] for row in rows if row["id"] in found]


def _ids_between(reader: Reader, kind: str, source: Entity, target: Entity) -> list[str]:
    return [
        row["id"]
        for source_id in source.ids
        for target_id in target.ids
        for row in reader.rows(
            f"SELECT id FROM memory_relationships {OWNED} AND source_id = :source_id AND type = :type"
            " AND target_id = :target_id",
            owner=owner_of(reader.context),
            source_id=source_id,
            type=kind,
            target_id=target_id,
        )
    ]


def _ids_with(
    reader: Reader, column: str, identifiers: Sequence[str], types: Sequence[str], most: int | None
) -> set[str]:
    found: set[str] = set()
    kinds = f" AND type IN ({', '.join(f':type_{n}' for n in range(len(types)))})" if types else ""
    other = "target_id" if column == "source_id" else "source_id"
    limit = f" ORDER BY {column}, type, {other}, id LIMIT {int(most)}" if most is not None else ""
    for some in parts(identifiers):
        rows = reader.rows(
            f"SELECT id FROM memory_relationships {OWNED}"
            f" AND {column} IN ({', '.join(f':end_{n}' for n in range(len(some)))}){kinds}{limit}",
            owner=owner_of(reader.context),
            **{f"end_{n}": one for n, one in enumerate(some)},
            **{f"type_{n}": one for n, one in enumerate(types)},
        )
        found.update(row["id"] for row in rows)
    return found


def _rows(reader: Reader, identifiers: Iterable[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for some in parts(sorted(identifiers)):
        found += reader.rows(
            f"SELECT {COLUMNS} FROM memory_relationships {OWNED}"
            f" AND id IN ({', '.join(f':id_{n}' for n in range(len(some)))})",
            owner=owner_of(reader.context),
            **{f"id_{n}": one for n, one in enumerate(some)},
        )
    return found


def _resolved(reader: Reader, rows: Iterable[Mapping[str, Any]]) -> list[Edge]:
    listed = [dict(row) for row in rows]
    entities = find_entities(reader, {row[end] for row in listed for end in ("source_id", "target_id")})
    edges: dict[tuple[str, str, str], Edge] = {}
    for row in sorted(listed, key=lambda one: (one["created_at"], one["id"])):
        source, target = entities.get(row["source_id"]), entities.get(row["target_id"])
        if source is not None and target is not None and source.id != target.id:
            # After a merge two of them may say the same; the older one speaks.
            edges.setdefault((row["type"], source.id, target.id), Edge(row, source, target))
    return list(edges.values())
