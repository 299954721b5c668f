"""Values that claim to be a date or an amount. What is none stays as it was written, and is counted."""

from __future__ import annotations

import re

from .dates import iso_of
from .losses import AMOUNTS, DATES
from .money import Number, amount_of
from .result import Draft

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DATE_NAMES = re.compile(
    r"(?:.*[\W_])?(?:date|datetime|birthday|anniversary|dob)|.+[\W_]at"
    r"|date[\W_](?:of[\W_].*|due|paid|sent|\w+ed)|(?:due|start|end|birth|invoice|order|value|booking|posting)date"
)
_AMOUNT_WORDS = ("amount", "balance", "total", "price", "quantity")


def read_date(draft: Draft, text: str) -> str:
    """The instant that a date means."""
    read = iso_of(text)
    if read is None:
        draft.count(DATES)
    return read or text


def read_amount(draft: Draft, text: str, decimal: str | None = None) -> Number | str:
    """The number that an amount means."""
    read = amount_of(text, decimal)
    if read is None:
        draft.count(AMOUNTS)
    return text if read is None else read


def date_in(draft: Draft, field: str, text: str) -> str | None:
    """What stands in a field that is called a date; None for any other field."""
    if _DATE_NAMES.fullmatch(_HUMP.sub("_", field[:200]).lower()):
        return read_date(draft, text)
    # `update` and `candidate` have a date in their name, and do not promise one.
    return iso_of(text) if "date" in field.lower() else None


def is_amount(field: str) -> bool:
    """Whether a field is called an amount."""
    return any(word in field for word in _AMOUNT_WORDS)
