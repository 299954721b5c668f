"""Relationships between entities: which there are, and whether a new one would close a circle.

A relationship keeps the ends that it was stated with. Whoever speaks for an end today is found when it is read, so that
edges follow a merge, and come back when it is undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from engross.ledger import Reader

from .entities import Entity, find_entities
from .entity_rows import OWNED
from .owners import owner_of

RelationshipType = Literal["PART_OF", "CORRECTS", "REFERS_TO", "SETTLES", "DUPLICATE_OF", "DEPENDS_ON", "SUPERSEDES"]
RELATIONSHIP_TYPES: tuple[str, ...] = get_args(RelationshipType)
ACYCLIC = frozenset({"PART_OF", "DEPENDS_ON", "SUPERSEDES", "CORRECTS", "DUPLICATE_OF"})
COLUMNS = "id, version, type, source_id, target_id, metadata, created_at, updated_at"
ASKED_AT_ONCE = 200
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
    rows: dict[str, dict[str, Any]] = {}
    stated = sorted({identifier for entity in entities for identifier in entity.ids})
    for column in ENDS[direction]:
        for row in _rows_with(reader, column, stated, types, most):
            rows[row["id"]] = row
    return _resolved(reader, rows.values())


def between(reader: Reader, kind: str, source: Entity, target: Entity) -> dict[str, Any] | None:
    """The row of the relationship of a type that leads from the one to the other, if there is one."""
    ends = set(target.ids)
    for source_id in source.ids:
        for target_id in sorted(ends):
            row = reader.row(
                f"SELECT {COLUMNS} FROM memory_relationships {OWNED} AND source_id = :source_id AND type = :type"
                " AND target_id = :target_id ORDER BY id LIMIT 1",
                owner=owner_of(reader.context),
                source_id=source_id,
                type=kind,
                target_id=target_id,
            )
            if row is not None:
                return row
    return None


def closes_circle(reader: Reader, kind: str, source: Entity, target: Entity) -> bool:
    """Does the target already lead to the source? Looked for from both sides, always from the smaller one."""
    if source.id == target.id:
        return True
    ahead, behind = {target.id}, {source.id}
    edge_of_ahead, edge_of_behind = [target], [source]
    while edge_of_ahead and edge_of_behind:
        forward = len(edge_of_ahead) <= len(edge_of_behind)
        wave = edge_of_ahead if forward else edge_of_behind
        seen, others = (ahead, behind) if forward else (behind, ahead)
        found = _steps(reader, kind, wave, "outbound" if forward else "inbound")
        fresh = [one for identifier, one in sorted(found.items()) if identifier not in seen]
        if any(one.id in others for one in fresh):
            return True
        seen.update(one.id for one in fresh)
        if forward:
            edge_of_ahead = fresh
        else:
            edge_of_behind = fresh
    return False


def _steps(reader: Reader, kind: str, wave: Sequence[Entity], direction: str) -> dict[str, Entity]:
    edges = edges_at(reader, wave, direction, [kind])
    ends = [edge.target if direction == "outbound" else edge.source for edge in edges]
    return {one.id: one for one in ends}


def _rows_with(
    reader: Reader, column: str, identifiers: Sequence[str], types: Sequence[str], most: int | None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    kinds = f" AND type IN ({', '.join(f':type_{n}' for n in range(len(types)))})" if types else ""
    limit = f" ORDER BY {column}, type, id LIMIT {int(most)}" if most is not None else ""
    for start in range(0, len(identifiers), ASKED_AT_ONCE):
        some = identifiers[start : start + ASKED_AT_ONCE]
        found += reader.rows(
            f"SELECT {COLUMNS} FROM memory_relationships {OWNED}"
            f" AND {column} IN ({', '.join(f':end_{n}' for n in range(len(some)))}){kinds}{limit}",
            owner=owner_of(reader.context),
            **{f"end_{n}": one for n, one in enumerate(some)},
            **{f"type_{n}": one for n, one in enumerate(types)},
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
