"""What was taken in before: records by their ids, and the runs over them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader

from ..entity_rows import OWNED
from ..observations import Stated, stands
from ..owners import owner_of
from ..records import find_record, runs_of

MOST_IDS = 100


class Kept(NamedTuple):
    """A record of the caller's that is on the shelf, standing or withdrawn."""

    id: str
    version: int
    kind: str
    type: str
    category: str | None
    mime_type: str
    name: str
    content_hash: str
    size: int
    body: dict[str, Any]
    provenance: dict[str, Any]
    stands: bool


class PastRun(NamedTuple):
    """A run over a record."""

    id: str
    provider: str
    entities_created: int
    observations_created: int
    entity_ids: tuple[str, ...]
    notes: tuple[dict[str, Any], ...]

    def told(self) -> dict[str, Any]:
        """The run as answers tell it."""
        return {
            "run_id": self.id,
            "entities_created": self.entities_created,
            "observations_created": self.observations_created,
            "entity_ids": first_ids(self.entity_ids),
            "provider": self.provider,
        }


def first_ids(entity_ids: Iterable[str]) -> list[str]:
    """The ids that an answer tells: the first ones, each once."""
    return list(dict.fromkeys(entity_ids))[:MOST_IDS]


def kept_record(reader: Reader, identifier: str) -> Kept | None:
    """The caller's record with this id, if there is one."""
    row = find_record(reader, identifier)
    if row is None:
        return None
    return Kept(
        row["id"],
        row["version"],
        row["kind"],
        row["type"],
        row["category"],
        row["mime_type"] or "application/octet-stream",
        row["name"] or "",
        row["content_hash"],
        row["size"] or 0,
        orjson.loads(row["body"]) if row["body"] else {},
        orjson.loads(row["provenance"]) if row["provenance"] else {},
        row["retracted_at"] is None,
    )


def first_run(reader: Reader, record: str) -> PastRun | None:
    """The first run over a record of the caller's, of those that were not withdrawn."""
    rows = reader.rows(
        "SELECT id, provider, entities_created, observations_created, notes, observed_at, stated FROM memory_runs"
        f" {OWNED} AND record_id = :record_id ORDER BY number",
        owner=owner_of(reader.context),
        record_id=record,
    )
    for row in rows:
        stated = [Stated(entity_id, row["observed_at"], one) for entity_id, one in orjson.loads(row["stated"])]
        if stated and not stands(reader, stated[0]):
            continue
        return PastRun(
            row["id"],
            row["provider"],
            row["entities_created"],
            row["observations_created"],
            tuple([one.entity_id for one in stated]),
            tuple(orjson.loads(row["notes"] or "[]")),
        )
    return None


def next_number(reader: Reader, record: str) -> int:
    """The number of the next run over a record."""
    return len(runs_of(reader, record)) + 1
