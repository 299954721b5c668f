"""What a file loses on its way into claims; counted, and told in one note each."""

from __future__ import annotations

from typing import NamedTuple


class Loss(NamedTuple):
    """A way to lose something: the code of its note, and what the note says about so many."""

    code: str
    message: str


DATES = Loss("DATE_UNREADABLE", "Values that should be dates and are not: {count}; they are kept as they were written.")
AMOUNTS = Loss(
    "AMOUNT_UNREADABLE", "Values that should be amounts and are not: {count}; they are kept as they were written."
)
TEXTS = Loss("TEXT_CUT", "Values that are too long: {count}; their beginnings were taken.")
NESTED = Loss("NESTING_CUT", "Values that lie too deep or cannot be kept: {count}; they were left out.")
NAMES = Loss("NAMES_CUT", "Names of columns and fields that are too long: {count}; their beginnings were taken.")
CELLS = Loss("CELLS_CUT", "Cells without a column of their own: {count}; they were left out.")
FIELDS = Loss("FIELDS_CUT", "Fields beyond those that one thing can have: {count}; they were left out.")
ITEMS = Loss("ITEMS_CUT", "Entries beyond those that are taken: {count}; they were left out.")
CARDS = Loss("CARDS_CUT", "Cards without a name, an address or an end: {count}; they were left out.")
