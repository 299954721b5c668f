"""CSV: the table as a dataset, and a claim for each of its rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from ..extraction import natural_name
from .claimed import date_in, is_amount, read_amount
from .document import add_document
from .losses import CELLS, NAMES
from .money import currency_in, decimal_mark, number_of
from .record_types import known_record_type
from .result import Draft, Findings, Found, Span
from .script import Script
from .source import Source

MOST_ROWS = 1_000
MOST_COLUMNS = 200
LONGEST_CELL = 20_000
LONGEST_NAME = 100

_TYPES: tuple[tuple[str, tuple[frozenset[str], ...]], ...] = (
    ("transaction", (frozenset({"amount"}), frozenset({"date", "transaction_date", "posted_date"}))),
    ("contact", (frozenset({"name", "full_name"}), frozenset({"email", "phone"}))),
    ("task", (frozenset({"title", "task"}), frozenset({"due_date", "status", "priority"}))),
    ("company", (frozenset({"company", "company_name"}), frozenset({"domain", "tax_id", "website"}))),
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?")
_IDENTIFIERS = re.compile(r"(?:^|_)(?:id|no|number|code|phone|fax|zip|postcode|iban|account|sku|ref|version)s?(?:_|$)")
_TELLING_KEYS = ("id", "uuid", "external_id", "transaction_id", "email")


def read_table(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a table; always a dataset."""
    return read_rows(draft, _rows(script.text), source)


def read_rows(draft: Draft, rows: Iterator[list[str]], source: Source, *, decimal: str | None = None) -> str:
    """Claims from rows, the first of which names the columns; `decimal` is the mark before decimals, if it is known."""
    draft.together = False
    filled = ((number, row) for number, row in enumerate(rows) if any(map(str.strip, row)))
    try:
        first, names = next(filled, (0, []))
        taken = list(islice(filled, MOST_ROWS))
        total = len(taken) + sum(1 for _ in filled)
    except csv.Error:
        draft.note("TABLE_UNREADABLE", "The table could not be read to its end; it was kept as a whole.")
        first, names, taken, total = 0, [], [], 0
    header = _header(draft, names)
    found = {
        "columns": Found(header, Span(path=f"/{first}")),
        "row_count": Found(total),
        "column_count": Found(len(header)),
    }
    place = add_document(draft, "dataset", found, source)
    if total > len(taken):
        draft.note("ROWS_CUT", f"The table has {total} rows; the first {len(taken)} were taken.")
    decimal = decimal or _decimal_mark(header, [row for _, row in taken])
    for number, row in taken:
        _add_row(draft, place, source, header, row, number, decimal)
    return "dataset"


def _rows(text: str) -> Iterator[list[str]]:
    first = text[:20_000].partition("\n")[0]
    mark = max(",;\t|", key=first.count) if any(one in first for one in ",;\t|") else ","
    # One line at a time: a list of them all would take several times the memory of the file.
    return csv.reader(StringIO(text, newline=""), delimiter=mark)


def _header(draft: Draft, names: list[str]) -> list[str]:
    draft.count(CELLS, sum(1 for name in names[MOST_COLUMNS:] if name.strip()))
    return [_field(draft, name, place) for place, name in enumerate(names[:MOST_COLUMNS])]


def _field(draft: Draft, cell: str, place: int) -> str:
    name = re.sub(r"[^\w]+", "_", cell.strip().lower(), flags=re.ASCII).strip("_")
    if len(name) > LONGEST_NAME:
        draft.count(NAMES)
    return name[:LONGEST_NAME] or f"column_{place + 1}"


def _decimal_mark(header: list[str], rows: list[list[str]]) -> str | None:
    places = [place for place, field in enumerate(header) if is_amount(field)]
    return decimal_mark(row[place] for row in rows for place in places if place < len(row))


def _add_row(
    draft: Draft, dataset: int, source: Source, header: list[str], row: list[str], number: int, decimal: str | None
) -> None:
    found: Findings = {}
    currencies: Findings = {}
    for place, cell in enumerate(row):
        if not cell.strip():
            continue
        if place >= len(header) or header[place] in found:
            draft.count(CELLS)
            continue
        value = _value(draft, header[place], draft.cut(cell.strip(), LONGEST_CELL), decimal)
        found[header[place]] = Found(value, Span(path=f"/{number}/{place}"))
        if value != cell and is_amount(header[place]) and (currency := currency_in(cell)) is not None:
            currencies.setdefault(currency, Found(currency, found[header[place]].span))
    if not found:
        return
    if len(currencies) == 1 and "currency" not in header:
        found["currency"] = next(iter(currencies.values()))
    kind = _kind(found)
    draft.tie("PART_OF", draft.claim(kind, _name(kind, found, source, number), found), dataset)


def _kind(found: Findings) -> str:
    for key in ("entity_type", "record_type"):
        if key in found:
            said = str(found.pop(key).value).strip().lower()
            return known_record_type(said) or re.sub(r"[^\w]+", "_", said, flags=re.ASCII).strip("_") or "dataset_row"
    for kind, needed in _TYPES:
        if all(found.keys() & one for one in needed):
            return kind
    return "dataset_row"


def _name(kind: str, found: Findings, source: Source, number: int) -> str:
    values = {field: one.value for field, one in found.items()}
    values.setdefault("name", values.get("full_name"))
    if kind != "dataset_row" and (named := natural_name(values)) is not None:
        return named
    for key in _TELLING_KEYS:
        if values.get(key):
            return f"id:{key}:{values[key]}"
    return f"{source.fallback_name} row {number}"


def _value(draft: Draft, field: str, cell: str, decimal: str | None) -> object:
    dated = date_in(draft, field, cell)
    if dated is not None:
        return dated
    if is_amount(field):
        return read_amount(draft, cell, decimal)
    number = number_of(cell) if _NUMBER.fullmatch(cell) and not _IDENTIFIERS.search(field) else None
    return cell if number is None else number
