"""What goes with records that are withdrawn: how much, and the first of it by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engross.ledger import Reader

from .entities import find_entities
from .entity_rows import OWNED, entity_rows
from .observations import stands, stated_by
from .owners import owner_of
from .relating import edges_at

MOST_SHOWN = 100


def dependants(reader: Reader, records: Sequence[str]) -> dict[str, Any]:
    """What rests on records that still stand, and on nothing else: all of it goes if they go together."""
    owner = owner_of(reader.context)
    stated = [one for record in records for one in stated_by(reader, owner, record) if stands(reader, one)]
    told = Counter(one.entity_id for one in stated)
    gone = _gone(reader, owner, told)
    relationships = _only_supported(reader, owner, records)
    return {
        **_listed("observations_withdrawn", "observation_ids", (one.id for one in stated)),
        **_listed("entities_affected", "entity_ids", told),
        **_listed("entities_gone_in_all", "entities_gone", gone),
        **_listed("relationships_withdrawn", "relationship_ids", relationships),
        **_listed("relationships_hidden", "hidden_relationship_ids", _edges(reader, gone) - relationships),
        **_listed("events_withdrawn", "event_ids", _events(reader, owner, records)),
    }


def _listed(count: str, ids: str, found: Iterable[str]) -> dict[str, Any]:
    ordered = sorted(found)
    return {count: len(ordered), ids: ordered[:MOST_SHOWN]}


def _gone(reader: Reader, owner: str, told: Mapping[str, int]) -> list[str]:
    """The entities about which nothing else is said, and for which none speaks that stays."""
    rows = entity_rows(reader, owner, list(told)) if told else {}
    return [
        identifier
        for identifier, row in rows.items()
        if row["observations"] == told[identifier] and not row["absorbed"] and row["survivor_id"] is None
    ]


def _edges(reader: Reader, entities: Iterable[str]) -> set[str]:
    """The relationships that begin or end at entities: none of them is shown once those are gone."""
    found = find_entities(reader, entities)
    return {edge.row["id"] for edge in edges_at(reader, found.values(), "both")}


def _only_supported(reader: Reader, owner: str, records: Sequence[str]) -> set[str]:
    """The relationships that nobody else states."""
    supported = {
        row["id"]
        for record in records
        for row in reader.rows(
            f"SELECT relationship_id AS id FROM memory_supports {OWNED} AND record_id = :record_id",
            owner=owner,
            record_id=record,
        )
    }
    theirs = set(records)
    return {one for one in supported if _supporters(reader, owner, one, len(theirs) + 1) <= theirs}


def _supporters(reader: Reader, owner: str, relationship: str, most: int) -> set[str]:
    rows = reader.rows(
        f"SELECT record_id FROM memory_supports {OWNED} AND relationship_id = :id LIMIT :most",
        owner=owner,
        id=relationship,
        most=most,
    )
    return {row["record_id"] for row in rows}


def _events(reader: Reader, owner: str, records: Sequence[str]) -> list[str]:
    return [
        row["id"]
        for record in records
        for row in reader.rows(
            f"SELECT id FROM memory_events {OWNED} AND record_id = :record_id", owner=owner, record_id=record
        )
    ]
