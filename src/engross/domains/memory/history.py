"""What held at an instant, and what was known at one.

`at` goes by when things were observed, and sees entities as they are told apart today. `at_ingested` goes by when they
came in, and sees exactly what somebody saw who looked at that time: two entities where they were merged later, and what
was withdrawn later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engross.ledger import Reader

from .checkpoints import OF_ENTITY, board_at
from .commits import known_then, was_merged
from .entities import Entity, find_entity, own_row
from .entity_rows import OBSERVED_OF, OWNED
from .owners import owner_of
from .reducer import Board, Policies, element_key, merge, provenance_of, reduced, snapshot_of
from .refusals import no_such_entity
from .registry import schema_for
from .rows import CLAIM_COLUMNS, claim_of
from .schema import EntitySchema

CAME_IN = "position, subject, record_id, created_at, withdrawn_at, withdrawn_position"
REDIRECT = f"SELECT from_id, number, to_id, merged_at, ended_at FROM memory_redirects {OWNED}"
LAST = "~"
"""Behind every character of an instant."""


class Held(NamedTuple):
    """What was held to be true about an entity at some time."""

    entity_id: str
    schema: EntitySchema
    board: Board
    observations: int
    last_observed_at: str | None

    @property
    def snapshot(self) -> dict[str, Any]:
        """The fields."""
        return snapshot_of(self.board)

    @property
    def provenance(self) -> dict[str, str]:
        """Which observation each field came from."""
        return provenance_of(self.board)


def held(reader: Reader, entity_id: str, at: str | None, at_ingested: str | None) -> Held:
    """What was held: at an instant of observation, as known at an instant of ingestion, or both."""
    if at_ingested is not None:
        return _held_as_known(reader, entity_id, at, at_ingested)
    entity = find_entity(reader, entity_id)
    if entity is None:
        raise no_such_entity(entity_id)
    return held_now(entity) if at is None else held_at(reader, entity, at)


def held_now(entity: Entity) -> Held:
    """What is held today."""
    return Held(entity.id, entity.schema, entity.board, entity.observations, entity.last_observed_at)


def held_at(reader: Reader, entity: Entity, at: str) -> Held:
    """What had been observed up to an instant."""
    owner, policies = owner_of(reader.context), entity.schema.policies
    board: Board = {}
    count = 0
    last = ""
    for row in entity.rows:
        own, observations = board_at(reader, owner, row["id"], at, policies)
        merge(board, own, policies) if board else board.update(own)
        count += observations
        last = max(last, _last_observed(reader, owner, row["id"], at) or "")
    return Held(entity.id, entity.schema, board, count, last or None)


def difference(earlier: Held, later: Held) -> dict[str, Any]:
    """What came, went and changed between the one and the other, field by field."""
    old, new = earlier.snapshot, later.snapshot
    was, now = earlier.provenance, later.provenance
    return {
        "added": {name: {"value": new[name], "observation_id": now[name]} for name in new if name not in old},
        "removed": {name: {"value": old[name], "observation_id": was[name]} for name in old if name not in new},
        "changed": {
            name: {
                "before": old[name],
                "after": new[name],
                "observation_id_before": was[name],
                "observation_id_after": now[name],
            }
            for name in new
            if name in old and element_key(old[name]) != element_key(new[name])
        },
        "observations_before": earlier.observations,
        "observations_after": later.observations,
    }


def _held_as_known(reader: Reader, entity_id: str, at: str | None, known: str) -> Held:
    owner = owner_of(reader.context)
    row = own_row(reader, entity_id) or _withdrawn_row(reader, owner, entity_id)
    if row is None:
        raise no_such_entity(entity_id)
    schema = schema_for(reader, row["type"])
    speaker = _speaker(reader, owner, entity_id, known)
    board: Board = {}
    count, last = 0, ""
    for one in (speaker, *_merged_into(reader, owner, speaker, known)):
        own, observations, newest = _known_board(reader, owner, one, at or LAST, known, schema.policies)
        merge(board, own, schema.policies)
        count += observations
        last = max(last, newest)
    return Held(speaker, schema, board, count, last or None)


def _known_board(
    reader: Reader, owner: str, entity_id: str, at: str, known: str, policies: Policies
) -> tuple[Board, int, str]:
    row = own_row(reader, entity_id)
    if row is not None and not row["late"]:
        newest = _newest_known(reader, owner, entity_id, min(at, known + LAST), known)
        if newest is not None:
            board, count = board_at(reader, owner, entity_id, newest, policies)
            return board, count, newest
    rows = reader.rows(
        f"SELECT {CLAIM_COLUMNS}, {CAME_IN} FROM memory_observations {OWNED} AND {OBSERVED_OF} AND observed_at <= :at"
        " AND created_at <= :known",
        owner=owner,
        entity_id=entity_id,
        at=at,
        known=known,
    )
    claims = [claim_of(row) for row in known_then(reader, rows, known)]
    return reduced(claims, policies), len(claims), max((claim.at for claim in claims), default="")


def _newest_known(reader: Reader, owner: str, entity_id: str, at: str, known: str) -> str | None:
    """Up to where an entity was known, if everything observed up to there was."""
    newest = _last_observed(reader, owner, entity_id, at)
    if newest is None:
        return None
    rows = reader.rows(
        f"SELECT {CAME_IN} {OF_ENTITY} AND observed_at = :newest", owner=owner, entity_id=entity_id, newest=newest
    )
    return newest if len(known_then(reader, rows, known)) == len(rows) else None


def _last_observed(reader: Reader, owner: str, entity_id: str, at: str) -> str | None:
    value = reader.value(
        f"SELECT max(observed_at) {OF_ENTITY} AND observed_at <= :at", owner=owner, entity_id=entity_id, at=at
    )
    return None if value is None else str(value)


def _withdrawn_row(reader: Reader, owner: str, entity_id: str) -> dict[str, Any] | None:
    """An entity about which nothing stands any more was known once all the same."""
    return reader.row(f"SELECT type FROM memory_entities {OWNED} AND id = :entity_id", owner=owner, entity_id=entity_id)


def _speaker(reader: Reader, owner: str, entity_id: str, known: str) -> str:
    """Who spoke for an entity: the last on the way of the redirects who was not erased."""
    speaker = entity_id
    current: str | None = entity_id
    while current is not None:
        rows = reader.rows(f"{REDIRECT} AND from_id = :id ORDER BY number DESC", owner=owner, id=current)
        current = next((row["to_id"] for row in rows if was_merged(reader, owner, row, known)), None)
        if current is not None and _withdrawn_row(reader, owner, current) is not None:
            speaker = current
    return speaker


def _merged_into(reader: Reader, owner: str, entity_id: str, known: str) -> list[str]:
    found: list[str] = []
    waiting = [entity_id]
    while waiting:
        rows = reader.rows(f"{REDIRECT} AND to_id = :to_id ORDER BY from_id", owner=owner, to_id=waiting.pop())
        merged = [row["from_id"] for row in rows if was_merged(reader, owner, row, known)]
        found += merged
        waiting += merged
    return found
