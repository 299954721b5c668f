"""Looking observations up: of an entity, of a record, and one by its id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader

from .entities import Entity
from .entity_rows import OBSERVED_OF, OWNED, observed_of
from .owners import owner_of
from .rows import OBSERVATION_COLUMNS

STANDING = "withdrawn_at IS NULL"


class Stated(NamedTuple):
    """The key of an observation."""

    entity_id: str
    at: str
    id: str


def observations_of(reader: Reader, entity: Entity, *, limit: int, offset: int = 0) -> list[dict[str, Any]]:
    """The rows of an entity's observations, the newest first."""
    ids = entity.ids
    # One entity is walked along its key; several have to be sorted together.
    params = {"entity_id": ids[0]} if len(ids) == 1 else {f"id_{n}": one for n, one in enumerate(ids)}
    about = OBSERVED_OF if len(ids) == 1 else observed_of(len(ids))
    return reader.rows(
        f"SELECT {OBSERVATION_COLUMNS} FROM memory_observations {OWNED} AND {about} AND {STANDING}"
        " ORDER BY observed_at DESC, id LIMIT :limit OFFSET :offset",
        owner=owner_of(reader.context),
        limit=limit,
        offset=offset,
        **params,
    )


def find_observation(reader: Reader, entity_ids: Sequence[str], identifier: str, at: str) -> dict[str, Any] | None:
    """The row of an observation about one of these entities, by its id and instant."""
    for entity_id in entity_ids:
        row = reader.row(
            f"SELECT {OBSERVATION_COLUMNS} FROM memory_observations {OWNED} AND {OBSERVED_OF}"
            " AND observed_at = :at AND id = :id",
            owner=owner_of(reader.context),
            entity_id=entity_id,
            at=at,
            id=identifier,
        )
        if row is not None:
            return row
    return None


def stands(reader: Reader, stated: Stated) -> bool:
    """Whether an observation was not withdrawn."""
    row = find_observation(reader, [stated.entity_id], stated.id, stated.at)
    return row is not None and row["withdrawn_at"] is None


def observations_from(reader: Reader, record_id: str, *, limit: int = 1000) -> list[dict[str, Any]]:
    """The rows of what a record says and still stands, in its own order."""
    found: list[dict[str, Any]] = []
    for one in stated_by(reader, owner_of(reader.context), record_id):
        row = find_observation(reader, [one.entity_id], one.id, one.at)
        if row is not None and row["withdrawn_at"] is None:
            found.append(row)
        if len(found) >= limit:
            break
    return found


def stated_by(reader: Reader, owner: str, subject: str) -> Iterator[Stated]:
    """All that the facts about a subject ever observed, in their order."""
    rows = reader.rows(
        f"SELECT position, number, observed_at, stated FROM memory_runs {OWNED} AND record_id = :subject UNION ALL"
        f" SELECT position, 0 AS number, observed_at, stated FROM memory_statements {OWNED} AND subject = :subject"
        " ORDER BY position, number",
        owner=owner,
        subject=subject,
    )
    for row in rows:
        for entity_id, identifier in orjson.loads(row["stated"]):
            yield Stated(entity_id, row["observed_at"], identifier)
