"""Moments in time, as the ISO 8601 text that is stored and shown: UTC, microseconds, always the same width."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from time import time_ns

Clock = Callable[[], datetime]


def now() -> datetime:
    """The server's clock."""
    return datetime.now(UTC)


def instant(moment: datetime) -> str:
    """A moment as text. Texts of moments sort as the moments do."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def present(clock: Clock) -> str:
    """What a clock shows, as text.

    The server's own is asked once per call, and most of writing a moment down is the same for a whole second.
    """
    if clock is not now:
        return instant(clock())
    global _present_second
    second, nanoseconds = divmod(time_ns(), 1_000_000_000)
    shown = _present_second
    if shown[0] != second:
        shown = _present_second = (second, instant(datetime.fromtimestamp(second, UTC))[:-7])
    return f"{shown[1]}{nanoseconds // 1000:06}Z"


_present_second = (-1, "")


def parse_instant(text: str) -> datetime:
    """The moment that a text names."""
    return datetime.fromisoformat(text)


def zoned_instant(text: str) -> str | None:
    """The moment that somebody names in ISO 8601 with its zone, as it is stored; None where the text is none."""
    try:
        moment = datetime.fromisoformat(text)
        return None if moment.tzinfo is None else instant(moment)
    except (ValueError, OverflowError):
        return None


def days_after(text: str, days: int) -> str:
    """The same time of day, so many days later."""
    return _date_after(text[:10], days) + text[10:]


@lru_cache(maxsize=64)
def _date_after(date: str, days: int) -> str:
    return (datetime.fromisoformat(date) + timedelta(days=days)).date().isoformat()


def instant_after(text: str, *, seconds: float = 0, days: float = 0) -> str:
    """The moment so much later than the one given, as text."""
    return instant(parse_instant(text) + timedelta(seconds=seconds, days=days))
