"""Looking up what was taken in: sources and payloads, and their interpretations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engross.ledger import Reader

from .entity_rows import OWNED
from .ids import record_id
from .owners import owner_of

COLUMNS = (
    "id, version, kind, type, category, content_hash, mime_type, name, size, body, provenance, created_at, retracted_at"
)
RUN_COLUMNS = (
    "id, record_id, number, provider, config, status, started_at, completed_at, entities_created, observations_created,"
    " unknown_fields, fragments, notes"
)


def find_record(reader: Reader, identifier: str) -> dict[str, Any] | None:
    """The row of a record, retracted or not."""
    return reader.row(
        f"SELECT {COLUMNS} FROM memory_records {OWNED} AND id = :id", owner=owner_of(reader.context), id=identifier
    )


def record_with_content(reader: Reader, content_hash: str) -> dict[str, Any] | None:
    """The row of the record of some content, retracted or not. Its id follows from the content."""
    return find_record(reader, record_id(owner_of(reader.context), content_hash))


def find_records(reader: Reader, identifiers: Iterable[str | None]) -> list[dict[str, Any]]:
    """The rows of records that stand, by their ids."""
    found = [find_record(reader, one) for one in sorted({one for one in identifiers if one})]
    return [row for row in found if row is not None and row["retracted_at"] is None]


def runs_of(reader: Reader, of_record: str) -> list[dict[str, Any]]:
    """The interpretations of a record, the first one first."""
    return reader.rows(
        f"SELECT {RUN_COLUMNS} FROM memory_runs {OWNED} AND record_id = :record_id ORDER BY number",
        owner=owner_of(reader.context),
        record_id=of_record,
    )
