"""Rows as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def as_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]], *, header: bool) -> str:
    """Rows as CSV, as RFC 4180 has it; a header only where one is wanted, so that pages can be put together."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    if header:
        writer.writerow(columns)
    writer.writerows([_cell(row[column]) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe before it: sources are not to be trusted."""
    if isinstance(value, str) and value.startswith(_FORMULAS):
        return f"'{value}"
    return value
