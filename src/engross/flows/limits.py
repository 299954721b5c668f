"""How much one call may bring."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds on raw arguments, checked before anything else looks at them."""

    depth: int = 64
    values: int = 50_000
    """Values of all kinds together. Reporting what is wrong with each of them has to stay affordable."""
    text: int = 8 * 1024 * 1024
    """Characters in one string."""
    size: int = 16 * 1024 * 1024
    """Characters in all strings and keys together."""
    key: int = 256
    """Characters in the name of a field. Names appear in pointers, so they have to stay short."""


LIMITS = Limits()
