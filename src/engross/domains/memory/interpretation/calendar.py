"""iCalendar: events and tasks."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from .dates import iso
from .document import add_document
from .losses import DATES, ITEMS
from .plain import plain_text
from .result import Draft, Findings, Found, Span
from .script import Script
from .source import Source

LONGEST = 4_000_000
MOST_ENTRIES = 1_000
MOST_ATTENDEES = 100
LONGEST_VALUE = 8_000
LONGEST_ADDRESS = 320
LONGEST_RULE = 500

_TYPES = {"VEVENT": "event", "VTODO": "task", "VJOURNAL": "note"}
_DATES = {
    "DTSTART": "start_datetime",
    "DTEND": "end_datetime",
    "DUE": "due_date",
    "COMPLETED": "completed_at",
    "LAST-MODIFIED": "modified_at",
}
_TEXTS = {
    "SUMMARY": "title",
    "DESCRIPTION": "description",
    "LOCATION": "location",
    "STATUS": "status",
    "UID": "uid",
    "PRIORITY": "priority",
    "URL": "url",
}


def read_calendar(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a calendar; the type of its first entry."""
    draft.together = False
    entries = _entries(draft, script.text)
    for number, entry in enumerate(entries[:MOST_ENTRIES]):
        kind = _TYPES[str(entry.name)]
        found = _findings(draft, entry, number)
        if found:
            uid = found.get("uid")
            add_document(draft, kind, found, source, f"id:uid:{uid.value}" if uid else _name(found))
    if len(entries) > MOST_ENTRIES:
        draft.note("ENTRIES_CUT", f"The calendar has {len(entries)} entries; the first {MOST_ENTRIES} were taken.")
    if not draft.claims:
        draft.note("NO_ENTITIES", "There is no event or task in the calendar.")
        add_document(draft, "event", {}, source)
    return draft.claims[0].entity_type


def _entries(draft: Draft, text: str) -> list[Any]:
    from icalendar import Calendar

    if len(text) > LONGEST:
        draft.note("TEXT_CUT", f"The calendar is longer than {LONGEST} characters; it was kept as a whole.")
        return []
    try:
        calendars = Calendar.from_ical(text, multiple=True)
        return [entry for one in calendars for entry in one.walk() if entry.name in _TYPES]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, OverflowError):
        draft.note("CALENDAR_UNREADABLE", "The calendar is damaged; it was kept as a whole.")
        return []


def _findings(draft: Draft, entry: Any, number: int) -> Findings:
    found: Findings = {}
    kind = str(entry.name).lower()

    def put(field: str, value: Any, prop: str) -> None:
        if value not in (None, "", []):
            found[field] = Found(value, Span(path=f"{kind}/{number}/{prop.lower()}"))

    for prop, field in _TEXTS.items():
        put(field, _text(draft, _first(draft, entry.get(prop))), prop)
    for prop, field in _DATES.items():
        put(field, _date(draft, _first(draft, entry.get(prop))), prop)
    put("organizer", _person(draft, _first(draft, entry.get("ORGANIZER"))), "ORGANIZER")
    people = (_person(draft, one) for one in _several(draft, entry.get("ATTENDEE")))
    put("attendees", [one for one in people if one], "ATTENDEE")
    put("recurrence_rule", _rule(draft, _first(draft, entry.get("RRULE"))), "RRULE")
    return found


def _several(draft: Draft, value: Any) -> list[Any]:
    values = [] if value is None else value if isinstance(value, list) else [value]
    draft.count(ITEMS, len(values) - MOST_ATTENDEES)
    return values[:MOST_ATTENDEES]


def _first(draft: Draft, value: Any) -> Any:
    """A property that should be stated once."""
    if not isinstance(value, list):
        return value
    draft.count(ITEMS, len(value) - 1)
    return value[0] if value else None


def _text(draft: Draft, value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value if value is None else int(value)
    return draft.cut(plain_text(str(value)), LONGEST_VALUE).strip()


def _date(draft: Draft, value: Any) -> str | None:
    if value is None:
        return None
    moment = _moment(value)
    if moment is None:
        draft.count(DATES)
        return _as_written(draft, value)
    return moment


def _moment(value: Any) -> str | None:
    try:
        # The library keeps a property that it cannot read, and complains when it is asked what it says.
        moment = getattr(value, "dt", None)
        if isinstance(moment, datetime):
            return iso(moment)
        if isinstance(moment, date):
            return iso(datetime(moment.year, moment.month, moment.day))
    except (ValueError, OverflowError):
        pass
    return None


def _as_written(draft: Draft, value: Any) -> str:
    said = value if isinstance(value, str) else value.to_ical()
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return draft.cut(plain_text(text), LONGEST_VALUE).strip()


def _person(draft: Draft, value: Any) -> str | None:
    if value is None:
        return None
    said = plain_text(str(value)).strip()
    address = said[7:].lower() if said.lower().startswith("mailto:") else said
    return draft.cut(address, LONGEST_ADDRESS) or None


def _rule(draft: Draft, value: Any) -> str | None:
    if value is None:
        return None
    try:
        return draft.cut(plain_text(value.to_ical().decode("utf-8", "replace")), LONGEST_RULE)
    except (ValueError, AttributeError, TypeError, IndexError):
        return None


def _name(found: Findings) -> str | None:
    if "title" not in found:
        return None
    return " ".join([found["title"].value, *([found["start_datetime"].value] if "start_datetime" in found else [])])
