"""vCard: contacts, the people they are, and where they work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .claimed import read_date
from .dates import iso_of
from .document import add_document
from .losses import CARDS, FIELDS, ITEMS
from .result import Draft, Findings, Found
from .script import Script
from .source import Source

MOST_CARDS = 1_000
MOST_LINES = 500
LONGEST_VALUE = 2_000

_LINE = re.compile(
    r"(?m)^[ \t]*(?P<name>[A-Za-z0-9.\-]{1,60})(?P<parameters>(?:;[^:\r\n]{0,400})?)"
    r":(?P<value>[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)"
)
_PACKED = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})?(Z|[+-]\d{4})?)?", re.ASCII)
_TEXTS = {
    "TITLE": "role",
    "NOTE": "note",
    "UID": "uid",
    "URL": "url",
    "NICKNAME": "nickname",
}
_SEVERAL = {"EMAIL": "email", "TEL": "phone"}


class Property(NamedTuple):
    """A line of a card."""

    name: str
    value: str
    start: int
    end: int


def read_vcard(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a file of cards; always contacts."""
    draft.together = False
    cards = list(_cards(draft, script.text))
    for card in cards:
        _add_card(draft, script, card, source)
    if not draft.claims:
        draft.note("NO_ENTITIES", "There is no card with a name or an address in the file.")
        add_document(draft, "contact", {}, source)
    return "contact"


def _cards(draft: Draft, text: str) -> Iterator[list[Property]]:
    card: list[Property] | None = None
    count = 0
    for match in _LINE.finditer(text):
        name = match["name"].rpartition(".")[2].upper()
        if name == "BEGIN":
            draft.count(CARDS, 1 if card else 0)
            card = []
        elif name == "END" and card is not None:
            count += 1
            if count > MOST_CARDS:
                draft.note("CARDS_CUT", f"Only the first {MOST_CARDS} cards were taken.")
                return
            yield card
            card = None
        elif card is not None and len(card) >= MOST_LINES:
            draft.count(FIELDS)
        elif card is not None:
            value = _decoded(draft, match["value"], match["parameters"])
            card.append(Property(name, value, match.start("value"), match.end("value")))
    draft.count(CARDS, 1 if card else 0)


def _decoded(draft: Draft, value: str, parameters: str) -> str:
    unfolded = re.sub(r"\r?\n[ \t]", "", value)
    if "QUOTED-PRINTABLE" in parameters.upper():
        from quopri import decodestring

        unfolded = decodestring(unfolded.encode()).decode("utf-8", "replace")
    return draft.cut(unfolded.replace("\x00", ""), LONGEST_VALUE)


def _unescaped(value: str) -> str:
    return re.sub(r"\\([nN,;\\])", lambda match: "\n" if match[1] in "nN" else match[1], value).strip()


def _parts(value: str) -> list[str]:
    return [_unescaped(part) for part in re.split(r"(?<!\\);", value)]


def _add_card(draft: Draft, script: Script, card: list[Property], source: Source) -> None:
    found: Findings = {}
    for line in card:
        _read_line(draft, found, line, script)
    if "name" not in found and "email" not in found:
        draft.count(CARDS)
        return
    name = found["name"].value if "name" in found else found["email"].value
    add_document(draft, "contact", found, source, name)


def _read_line(draft: Draft, found: Findings, line: Property, script: Script) -> None:
    span = script.span(line.start, line.end)
    if line.name == "FN":
        _put(draft, found, "name", Found(_unescaped(line.value), span))
    elif line.name == "N":
        family, given = (*_parts(line.value), "", "")[:2]
        _put(draft, found, "name", Found(f"{given} {family}".strip(), span))
    elif line.name == "ORG":
        _put(draft, found, "organization", Found(_parts(line.value)[0], span))
    elif line.name == "ADR":
        _put(draft, found, "address", Found(", ".join(part for part in _parts(line.value) if part), span))
    elif line.name in ("BDAY", "ANNIVERSARY"):
        field = "birthday" if line.name == "BDAY" else "anniversary"
        _put(draft, found, field, Found(_date(draft, line.value.strip()), span))
    elif line.name in _SEVERAL:
        _put(draft, found, _SEVERAL[line.name], Found(_address(line), span))
    elif line.name in _TEXTS:
        _put(draft, found, _TEXTS[line.name], Found(_unescaped(line.value), span))


def _put(draft: Draft, found: Findings, field: str, one: Found) -> None:
    """The first that says something counts; further addresses are kept beside it, others are counted."""
    if not one.value:
        return
    if field not in found:
        found[field] = one
    elif field in ("email", "phone") and one.value != found[field].value:
        more = found.get(f"other_{field}s", Found([], one.span))
        found[f"other_{field}s"] = more._replace(value=[*more.value, one.value])
    elif field != "name" and one.value != found[field].value:
        draft.count(ITEMS)


def _address(line: Property) -> str:
    value = re.sub(r"(?i)^(?:mailto|tel):", "", _unescaped(line.value))
    return value.lower() if line.name == "EMAIL" else value


def _date(draft: Draft, value: str) -> str:
    """An instant; cards mostly write dates without any marks in them."""
    packed = _PACKED.fullmatch(value)
    if packed is None:
        return read_date(draft, value) if value else value
    year, month, day, hour, minute, second, zone = packed.groups()
    time = f"T{hour}:{minute}:{second or '00'}{zone or ''}" if hour else ""
    return iso_of(f"{year}-{month}-{day}{time}") or read_date(draft, value)
