"""CSV: the table as a dataset, and a claim for each of its rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from ..extraction import natural_name
from .dates import iso_of
from .document import add_document
from .money import amount_of
from .record_types import known_record_type
from .result import Draft, Findings, Found, Span
from .script import Script
from .source import Source

MOST_ROWS = 1_000
MOST_COLUMNS = 200
LONGEST_CELL = 20_000

_TYPES: tuple[tuple[str, tuple[frozenset[str], ...]], ...] = (
    ("transaction", (frozenset({"amount"}), frozenset({"date", "transaction_date", "posted_date"}))),
    ("contact", (frozenset({"name", "full_name"}), frozenset({"email", "phone"}))),
    ("task", (frozenset({"title", "task"}), frozenset({"due_date", "status", "priority"}))),
    ("company", (frozenset({"company", "company_name"}), frozenset({"domain", "tax_id", "website"}))),
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?")
_IDENTIFIERS = re.compile(r"(?:^|_)(?:id|no|number|code|phone|fax|zip|postcode|iban|account|sku|ref)s?(?:_|$)")
_TELLING_KEYS = ("id", "uuid", "external_id", "transaction_id", "email")


def read_table(draft: Draft, script: Script, source: Source) -> str:
    """Claims from a table; always a dataset."""
    return read_rows(draft, _rows(script.text), source)


def read_rows(draft: Draft, rows: Iterator[list[str]], source: Source) -> str:
    """Claims from rows, the first of which names the columns."""
    draft.together = False
    try:
        rows = (row for row in rows if any(map(str.strip, row)))
        header = [_field(cell, place) for place, cell in enumerate(next(rows, [])[:MOST_COLUMNS])]
        taken = list(islice(rows, MOST_ROWS))
        total = len(taken) + sum(1 for _ in rows)
    except csv.Error:
        draft.note("TABLE_UNREADABLE", "The table could not be read to its end; it was kept as a whole.")
        header, taken, total = [], [], 0
    found = {
        "columns": Found(header, Span(path="/0")),
        "row_count": Found(total),
        "column_count": Found(len(header)),
    }
    place = add_document(draft, "dataset", found, source)
    if total > len(taken):
        draft.note("ROWS_CUT", f"The table has {total} rows; the first {len(taken)} were taken.")
    for number, row in enumerate(taken, start=1):
        _add_row(draft, place, source, header, row, number)
    return "dataset"


def _rows(text: str) -> Iterator[list[str]]:
    first = text[:20_000].partition("\n")[0]
    mark = max(",;\t|", key=first.count) if any(one in first for one in ",;\t|") else ","
    # One line at a time: a list of them all would take several times the memory of the file.
    return csv.reader(StringIO(text, newline=""), delimiter=mark)


def _field(cell: str, place: int) -> str:
    name = re.sub(r"[^\w]+", "_", cell.strip().lower(), flags=re.ASCII).strip("_")
    return name[:100] or f"column_{place + 1}"


def _add_row(draft: Draft, dataset: int, source: Source, header: list[str], row: list[str], number: int) -> None:
    found: Findings = {}
    for place, (field, cell) in enumerate(zip(header, row, strict=False)):
        if cell.strip() and field not in found:
            found[field] = Found(_value(field, cell.strip()[:LONGEST_CELL]), Span(path=f"/{number}/{place}"))
    if not found:
        return
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


def _value(field: str, cell: str) -> object:
    if "date" in field or field.endswith("_at"):
        return iso_of(cell) or cell
    if any(word in field for word in ("amount", "balance", "total", "price", "quantity")):
        number = amount_of(cell)
        return cell if number is None else number
    if _NUMBER.fullmatch(cell) and not _IDENTIFIERS.search(field):
        return float(cell) if "." in cell else int(cell)
    return cell
