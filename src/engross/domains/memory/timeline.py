"""The timeline: events by date, type and record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader

from .entity_rows import OWNED
from .owners import owner_of

COLUMNS = "id, event_type, event_timestamp, record_id, entity_ids, properties"
MOST_EVENTS = 1000


class Wanted(NamedTuple):
    """Which events; instants are in milliseconds, as events keep them."""

    event_type: str | None = None
    after: str | None = None
    before: str | None = None
    record_id: str | None = None


CONDITIONS = {
    "event_type": "event_type = :event_type",
    "after": "event_timestamp >= :after",
    "before": "event_timestamp <= :before",
    "record_id": "record_id = :record_id",
}


def count_events(reader: Reader, wanted: Wanted) -> int:
    """How many events there are."""
    condition, params = _condition(wanted)
    return int(
        reader.value(f"SELECT count(*) FROM memory_events {OWNED}{condition}", owner=owner_of(reader.context), **params)
    )


def page_of_events(reader: Reader, wanted: Wanted, *, limit: int, offset: int) -> list[dict[str, Any]]:
    """The rows of events, the latest first."""
    condition, params = _condition(wanted)
    return reader.rows(
        f"SELECT {COLUMNS} FROM memory_events {OWNED}{condition}"
        " ORDER BY event_timestamp DESC, id LIMIT :limit OFFSET :offset",
        owner=owner_of(reader.context),
        limit=limit,
        offset=offset,
        **params,
    )


def events_of_records(reader: Reader, identifiers: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the events of some records, the latest first."""
    rows = [
        row
        for identifier in identifiers
        for row in page_of_events(reader, Wanted(record_id=identifier), limit=MOST_EVENTS, offset=0)
    ]
    rows.sort(key=lambda row: row["id"])
    return sorted(rows, key=lambda row: row["event_timestamp"], reverse=True)[:MOST_EVENTS]


def _condition(wanted: Wanted) -> tuple[str, dict[str, str]]:
    params = {name: value for name, value in wanted._asdict().items() if value is not None}
    return "".join(f" AND {CONDITIONS[name]}" for name in params), params
