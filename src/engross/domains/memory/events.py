"""Which dates of an entity's fields are events, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

DATES: Mapping[str, Mapping[str, str]] = {
    "invoice": {
        "date": "InvoiceIssued",
        "date_issued": "InvoiceIssued",
        "date_due": "InvoiceDue",
        "date_paid": "InvoicePaid",
    },
    "receipt": {"date": "ReceiptIssued", "transaction_date": "ReceiptIssued", "date_purchased": "ReceiptIssued"},
    "transaction": {"date": "TransactionOccurred", "transaction_date": "TransactionOccurred", "posted_date": ""},
    "bank_statement": {"statement_date": "", "period_start": "", "period_end": ""},
    "statement": {"statement_date": "", "period_start": "", "period_end": ""},
    "contract": {
        "date_signed": "ContractSigned",
        "effective_date": "ContractEffective",
        "expiration_date": "ContractExpired",
        "start_date": "ContractEffective",
        "end_date": "ContractExpired",
    },
    "travel_document": {
        "departure_datetime": "FlightDeparture",
        "arrival_datetime": "FlightArrival",
        "check_in_date": "CheckIn",
        "check_out_date": "CheckOut",
    },
    "identity_document": {"issue_date": "", "expiration_date": "", "date_of_birth": ""},
    "contact": {"birthday": "", "anniversary": ""},
}
"""The date fields of each type; one without a name of its own is called after the field."""
NOT_EVENTS = frozenset({"created_at", "updated_at", "computed_at", "deleted_at", "observed_at", "last_observation_at"})
ENDINGS = ("_date", "_datetime", "_at")
EARLIEST, LATEST = 946_684_800, 4_102_444_800
"""Numbers count as seconds since 1970 only between the years 2000 and 2100."""
_BARE = re.compile(r"\d*\.?\d*")


class Event(NamedTuple):
    """Something that happened, or will, on a date that a field names."""

    type: str
    at: str
    field: str
    value: Any


def events_in(entity_type: str, fields: Mapping[str, Any]) -> Iterator[Event]:
    """The events that the fields of an entity stand for, by the names of the fields."""
    own = DATES.get(entity_type)
    for field in sorted(fields):
        if not (own is not None and field in own) and (field in NOT_EVENTS or not field.endswith(ENDINGS)):
            continue
        value = fields[field]
        at = _instant(value)
        if at is not None:
            yield Event((own or {}).get(field) or event_type(field), at, field, value)


def event_type(field: str) -> str:
    """The name of an event that has none of its own: `posted_date` is PostedDateEvent."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_\W]+", field)) + "Event"


def _instant(value: Any) -> str | None:
    """`YYYY-MM-DDTHH:MM:SS.mmmZ` of something date-shaped. Bare digits are numbers, not dates."""
    if isinstance(value, str):
        if not value or len(value) > 64 or _BARE.fullmatch(value):
            return None
        from .interpretation.dates import iso_of

        return iso_of(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_epoch(value)
    return None


def _of_epoch(number: float) -> str | None:
    from datetime import UTC, datetime

    seconds = number / 1000 if number >= EARLIEST * 1000 else number
    if not EARLIEST <= seconds < LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:23] + "Z"
