"""Instants: as callers give them, and as they are kept."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time

from engross.calls import instant
from engross.replies import Invalid

from .refusals import malformed

_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def kept_instant(text: str) -> str | None:
    """An ISO 8601 text as the instant that is kept, or None. What has no zone is UTC, a date its midnight."""
    said = text.strip()
    if not _ISO.fullmatch(said):
        return None
    try:
        moment = datetime.fromisoformat(said.replace(",", ".").upper())
        return instant(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def asked_instant(text: str, field: str) -> str:
    """The instant that a caller names; Invalid if it is none."""
    found = kept_instant(text)
    if found is None:
        raise Invalid.many([malformed(f"/{field}", "this is no ISO 8601 date or time", "As 2026-01-31T09:30:00Z.")])
    return found


def end_of_day(text: str, field: str) -> str:
    """The instant that a caller names as the last one; of a date without a time, its last."""
    found = asked_instant(text, field)
    if not _DATE.fullmatch(text.strip()):
        return found
    return instant(datetime.combine(datetime.fromisoformat(found).date(), time.max, UTC))
