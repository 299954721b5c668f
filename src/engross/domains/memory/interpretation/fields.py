"""The fields that a type of document has, and how each is found: a label, then a value of some kind.

The labels of a field are tried in their order, the more telling ones first. Dates become instants, amounts numbers.
What claims to be one of them and is none stays as it was written, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .dates import iso_of
from .losses import AMOUNTS, DATES
from .money import CURRENCY, amount_of, currency_of
from .result import Findings, Found, Note
from .rules import Field, Kind, fields_known
from .script import Script

MOST_NAMES = 50

_NEXT_LABEL = re.compile(r"\s{3,}|\t|\s\|\s|\s(?=[A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}\s?:)|;")


def fields_of(kind: str, script: Script) -> tuple[Findings, list[Note]]:
    """The fields of a type that a text states, each with its place."""
    found: Findings = {}
    notes: list[Note] = []
    for field in fields_known(kind):
        one = _currency(script, found) if field.kind == "currency" else _value(field, script)
        if one is None:
            continue
        if not _is_readable(field.kind, one.value):
            what, code = ("date", DATES.code) if field.kind == "date" else ("amount", AMOUNTS.code)
            notes.append(Note(code, f"{field.name} is no {what}; it is kept as it was written."))
        found[field.name] = one
    return found, notes


def _value(field: Field, script: Script) -> Found | None:
    """What stands behind the first label that has a value; one that can be read, if there is one."""
    unreadable: Found | None = None
    for pattern in field.patterns:
        match = pattern.search(script.text)
        read = _READERS[field.kind](script, match) if match is not None else None
        if read is not None and _is_readable(field.kind, read.value):
            return read
        unreadable = unreadable or read
    return unreadable


def _token(script: Script, match: re.Match[str]) -> Found | None:
    return script.found(match, "value")


def _name(script: Script, match: re.Match[str]) -> Found | None:
    start, end = match.span("value")
    following = _NEXT_LABEL.search(script.text, start, end)
    found = script.at(start, following.start() if following else end)
    return found if found.value else None


def _names(script: Script, match: re.Match[str]) -> Found | None:
    whole = _name(script, match)
    if whole is None:
        return None
    parts = re.split(r"\s*(?:[,;]\s+(?!(?:inc|llc|ltd|co|corp)\b)|\band\b|&|\|)\s*", whole.value, flags=re.IGNORECASE)
    names = [part.strip(" .\"'()") for part in parts if part.strip(" .\"'()")]
    return whole._replace(value=names[:MOST_NAMES]) if names else None


def _money(script: Script, match: re.Match[str]) -> Found | None:
    found = script.found(match, "value")
    amount = amount_of(found.value)
    return found if amount is None else found._replace(value=amount)


def _date(script: Script, match: re.Match[str]) -> Found | None:
    found = script.found(match, "value")
    return found._replace(value=iso_of(found.value) or found.value)


def _currency(script: Script, found: Findings) -> Found | None:
    """The currency beside the first amount; else the first one that is named at all."""
    amounts = [one.span for one in found.values() if isinstance(one.value, int | float) and one.span is not None]
    if amounts and not script.pages:
        start, end = amounts[0].start or 0, amounts[0].end or 0
        near = CURRENCY.search(script.text, max(0, start - 5), end + 5)
        if near is not None:
            return _known_currency(script, near)
    anywhere = CURRENCY.search(script.text)
    return _known_currency(script, anywhere) if anywhere else None


def _known_currency(script: Script, match: re.Match[str]) -> Found | None:
    known = currency_of(match.group())
    return script.found(match)._replace(value=known) if known else None


def _is_readable(kind: Kind, value: object) -> bool:
    if kind == "date":
        return isinstance(value, str) and iso_of(value) is not None
    return kind not in ("money", "number") or not isinstance(value, str)


_READERS: dict[Kind, Callable[[Script, re.Match[str]], Found | None]] = {
    "token": _token,
    "name": _name,
    "names": _names,
    "money": _money,
    "number": _money,
    "date": _date,
    "email": _token,
    "phone": _token,
}
