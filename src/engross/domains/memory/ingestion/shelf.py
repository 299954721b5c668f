"""What was taken in before: records by their ids, and the runs over them."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader

from ..records import find_record, runs_of


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
    number: int
    provider: str
    config: dict[str, Any]
    entities_created: int
    observations_created: int

    def told(self) -> dict[str, Any]:
        """The run as answers tell it."""
        return {
            "run_id": self.id,
            "entities_created": self.entities_created,
            "observations_created": self.observations_created,
        }


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


def runs_over(reader: Reader, record: str) -> list[PastRun]:
    """The runs over a record of the caller's, the latest first."""
    return [
        PastRun(
            row["id"],
            row["number"],
            row["provider"],
            orjson.loads(row["config"]),
            row["entities_created"],
            row["observations_created"],
        )
        for row in reversed(runs_of(reader, record))
    ]


def next_number(reader: Reader, record: str) -> int:
    """The number of the next run over a record."""
    return len(runs_of(reader, record)) + 1
