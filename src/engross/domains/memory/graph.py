"""Looking around in the graph of entities and records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader

from .entities import Entity, find_entities
from .observations import observations_from, observations_of
from .records import find_record, find_records
from .refusals import no_such_record
from .relating import Edge, edges_at
from .rows import event_of, observation_of, record_of, relationship_of
from .timeline import events_of_records

MOST_ENTITIES = 1000
MOST_OBSERVATIONS = 100
MOST_RECORDS = 100
MOST_EDGES = 1000


class Around(NamedTuple):
    """What was found on the way."""

    entities: list[Entity]
    edges: list[Edge]
    hops: int
    truncated: bool


def related(reader: Reader, start: Entity, *, types: Sequence[str], direction: str, hops: int, most: int) -> Around:
    """Everything that edges lead to within some steps: by steps, then by id. No entity and no edge twice."""
    seen = {start.id: start}
    edges: dict[str, Edge] = {}
    wave, walked = [start], 0
    truncated = False
    for _ in range(hops):
        found = edges_at(reader, wave, direction, types, most * 5)
        fresh: dict[str, Entity] = {}
        for edge in found:
            for end in (edge.source, edge.target):
                if end.id not in seen:
                    fresh[end.id] = end
        walked += any(edge.row["id"] not in edges for edge in found)
        room = most + 1 - len(seen)
        kept = dict(sorted(fresh.items())[:room])
        truncated = truncated or len(kept) < len(fresh)
        seen |= kept
        for edge in sorted(found, key=lambda one: one.row["id"]):
            if edge.source.id in seen and edge.target.id in seen:
                edges.setdefault(edge.row["id"], edge)
        wave = list(kept.values())
        if not wave:
            break
    return Around([one for one in seen.values() if one is not start], list(edges.values()), walked, truncated)


def around_entity(reader: Reader, entity: Entity, shown: frozenset[str]) -> dict[str, Any]:
    """An entity with all that surrounds it."""
    told: dict[str, Any] = {
        "node_id": entity.id,
        "node_type": "entity",
        "entity": entity.shown(snapshot=False),
        "entity_snapshot": entity.snapshot,
    }
    rows = observations_of(reader, entity, limit=MOST_EDGES)
    if "relationships" in shown:
        edges = edges_at(reader, [entity], "both", most=MOST_EDGES)
        told["relationships"] = [relationship_of(edge.shown) for edge in sorted(edges, key=lambda one: one.row["id"])]
        told["related_entities"] = _ends_of(edges, {entity.id})
    records = find_records(reader, list(dict.fromkeys(row["record_id"] for row in rows))[:MOST_RECORDS])
    if "records" in shown:
        told["related_records"] = [record_of(row) for row in records]
    if "events" in shown:
        ids = set(entity.ids)
        events = map(event_of, events_of_records(reader, [row["id"] for row in records]))
        told["timeline_events"] = [event for event in events if ids & set(event["entity_ids"])]
    if "observations" in shown:
        told["observations"] = [observation_of(row, entity.row) for row in rows[:MOST_OBSERVATIONS]]
    return told


def around_record(reader: Reader, record_id: str, shown: frozenset[str]) -> dict[str, Any]:
    """A record with all that it says."""
    record = find_record(reader, record_id)
    if record is None or record["retracted_at"] is not None:
        raise no_such_record(record_id)
    rows = observations_from(reader, record_id, limit=MOST_ENTITIES)
    entities = find_entities(reader, {row["entity_id"] for row in rows})
    told: dict[str, Any] = {"node_id": record_id, "node_type": "record", "record": record_of(record)}
    about = {one.id: one for one in entities.values()}
    told["related_entities"] = [about[identifier].shown() for identifier in sorted(about)]
    if "relationships" in shown:
        edges = edges_at(reader, about.values(), "outbound", most=MOST_EDGES)
        among = [edge for edge in edges if edge.target.id in about]
        told["relationships"] = [
            relationship_of(edge.shown) for edge in sorted(among, key=lambda one: one.row["id"])[:MOST_EDGES]
        ]
    if "events" in shown:
        told["timeline_events"] = [event_of(row) for row in events_of_records(reader, [record_id])]
    if "observations" in shown:
        told["observations"] = [
            observation_of(row, entities[row["entity_id"]].row)
            for row in rows[:MOST_OBSERVATIONS]
            if row["entity_id"] in entities
        ]
    return told


def _ends_of(edges: Sequence[Edge], unless: set[str]) -> list[dict[str, Any]]:
    ends = {end.id: end for edge in edges for end in (edge.source, edge.target) if end.id not in unless}
    return [ends[identifier].shown() for identifier in sorted(ends)]
