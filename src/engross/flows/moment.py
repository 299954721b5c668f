"""As of when something is asked: a position of the ledger, or an instant.

Clients are shown a text, since one type is all that some of them can read; a number is taken as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from engross.calls import zoned_instant

from .admissible import LARGEST_INTEGER

Moment: TypeAlias = int | str
"""A position, or an instant as it is stored."""

MOMENT_FORMAT = "position of the ledger or instant in ISO 8601 with its zone"
MOMENT: Mapping[str, Any] = MappingProxyType(
    {
        "type": ["integer", "string"],
        "format": MOMENT_FORMAT,
        "description": "A position of the ledger such as 17, or an instant such as 2026-01-31T18:00:00Z.",
        "minimum": 0,
        "maximum": LARGEST_INTEGER,
    }
)
"""What is really accepted where a moment is asked for."""


def moment_of(given: int | float | str) -> Moment | None:
    """The moment that a caller means; None for a text that names none."""
    if not isinstance(given, str):
        return int(given)
    if given.isascii() and given.isdigit():
        return int(given) if len(given) < len(str(LARGEST_INTEGER)) else None
    return zoned_instant(given)


def is_moment(text: str) -> bool:
    """Does the text name a moment?"""
    return moment_of(text) is not None
