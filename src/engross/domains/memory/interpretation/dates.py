"""Dates as people write them, read into instants.

Decided once, so that the same text always means the same day: a year first is year, month, day; slashes and hyphens are
month, day, year unless only day, month, year is possible; dots are day, month, year; two digits of a year from 50 on
are of the last century; what has no zone is UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import cache

Reader = Callable[[re.Match[str]], tuple[int, int, int]]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
EARLIEST_YEAR, LATEST_YEAR = 1000, 2999

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_TIME = (
    r"(?:(?:T|,?\s{1,3})(?:at )?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[ap]\.?m\.?))?(?:\s?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?"
)
_SOME_TIME = re.sub(r"\?P<\w+>", "?:", _TIME)
PATTERN = (
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{_SOME_TIME}"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:\d{{4}}|\d{{2}})(?!\d){_SOME_TIME}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?[ -](?:of )?{_MONTH}\.?,?[ -]\d{{4}}{_SOME_TIME}"
    rf"|{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}{_SOME_TIME})"
)
"""What looks like a date. It is only a look: the thirteenth month passes here, and is refused by `instant_of`."""


def iso_of(text: str) -> str | None:
    """The instant that a text means, as `YYYY-MM-DDTHH:MM:SS.mmmZ`; None if it means none."""
    moment = instant_of(text)
    return None if moment is None else iso(moment)


def iso(moment: datetime) -> str:
    """An instant in the one form in which the record keeps it."""
    utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def instant_of(text: str) -> datetime | None:
    """The instant that a text means; None for everything that is no date."""
    said = text.strip()
    if len(said) > 64:
        return None
    for pattern, read in _readers():
        match = pattern.fullmatch(said)
        if match:
            return _moment(*read(match), match.groupdict())
    return _rfc_2822(said)


def _moment(year: int, month: int, day: int, rest: dict[str, str | None]) -> datetime | None:
    if not EARLIEST_YEAR <= year <= LATEST_YEAR:
        return None
    try:
        moment = datetime(year, month, day, _hour(rest), int(rest["minute"] or 0), int(rest["second"] or 0), tzinfo=UTC)
        moment += timedelta(microseconds=int((rest["fraction"] or "0").ljust(6, "0")[:6]))
        return moment.replace(tzinfo=_zone(rest["zone"])).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _hour(rest: dict[str, str | None]) -> int:
    hour = int(rest["hour"] or 0)
    half = (rest["half"] or "").replace(".", "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError("no hour of a half day")
    return hour % 12 + (12 if half == "pm" else 0) if half else hour


def _zone(text: str | None) -> timezone:
    if not text or text.upper() in ("Z", "UTC", "GMT"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    ahead = timedelta(hours=hours, minutes=minutes)
    return timezone(ahead if text[0] == "+" else -ahead)


def _year_first(match: re.Match[str]) -> tuple[int, int, int]:
    return int(match["a"]), int(match["b"]), int(match["c"])


def _year_last(match: re.Match[str]) -> tuple[int, int, int]:
    first, second, year = int(match["a"]), int(match["b"]), _full_year(match["c"])
    day_first = match["mark"] == "." or first > 12
    return (year, second, first) if day_first else (year, first, second)


def _by_name(match: re.Match[str]) -> tuple[int, int, int]:
    return int(match["c"]), MONTHS.index(match["month"][:3].lower()) + 1, int(match["a"])


def _full_year(text: str) -> int:
    year = int(text)
    return year if len(text) > 2 else year + (1900 if year >= 50 else 2000)


def _rfc_2822(text: str) -> datetime | None:
    if not re.match(r"(?:[A-Za-z]{3},?\s)?\d{1,2}\s[A-Za-z]{3}\s\d{2,4}\s\d{1,2}:", text):
        return None
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC) if EARLIEST_YEAR <= moment.year <= LATEST_YEAR else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


@cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    forms = (
        (r"(?P<a>\d{4})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,2})", _year_first),
        (r"(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4}|\d{2})", _year_last),
        (rf"(?P<a>\d{{1,2}})(?:st|nd|rd|th)?\.?[ -](?:of )?(?P<month>{_MONTH})\.?,?[ -](?P<c>\d{{4}})", _by_name),
        (rf"(?P<month>{_MONTH})\.?\s(?P<a>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<c>\d{{4}})", _by_name),
    )
    return tuple((re.compile(form + _TIME, re.IGNORECASE), read) for form, read in forms)
