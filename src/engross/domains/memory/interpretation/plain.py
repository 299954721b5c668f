"""Values as a record can hold them: no NUL, no halves of characters, no numbers beyond 64 bits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any

from .dates import iso

DEEPEST = 32
LONGEST_KEY = 200
LONGEST_TEXT = 20_000


def plain_text(text: str) -> str:
    """A text that can be kept."""
    clean = text.replace("\x00", "")
    return clean if clean.isascii() else clean.encode("utf-8", "replace").decode()


def plain(value: Any, depth: int = 0) -> Any:
    """A value that can be kept; None for what cannot."""
    if isinstance(value, str):
        return plain_text(value[:LONGEST_TEXT])
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    return _plain_container(value, depth + 1) if depth < DEEPEST else None


def _plain_container(value: Any, depth: int) -> Any:
    if isinstance(value, list | tuple):
        return [plain(item, depth) for item in value]
    if isinstance(value, Mapping):
        return {plain_text(str(key))[:LONGEST_KEY]: plain(item, depth) for key, item in value.items()}
    return None
