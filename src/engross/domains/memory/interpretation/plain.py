"""Values as a record can hold them: no NUL, no halves of characters, no numbers beyond 64 bits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any

from .dates import iso
from .losses import NAMES, NESTED
from .result import Draft

DEEPEST = 32
LONGEST_KEY = 200
LONGEST_TEXT = 20_000


def plain_text(text: str) -> str:
    """A text that can be kept."""
    clean = text.replace("\x00", "")
    return clean if clean.isascii() else clean.encode("utf-8", "replace").decode()


def plain(draft: Draft, value: Any, depth: int = 0) -> Any:
    """A value that can be kept; None for what cannot, which is counted."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return plain_text(draft.cut(value, LONGEST_TEXT))
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and isfinite(value):
        return value
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [plain(draft, item, depth + 1) for item in value]
    if depth < DEEPEST and isinstance(value, Mapping):
        return {_key(draft, key): plain(draft, item, depth + 1) for key, item in value.items()}
    draft.count(NESTED)
    return None


def _key(draft: Draft, key: object) -> str:
    name = plain_text(str(key))
    if len(name) > LONGEST_KEY:
        draft.count(NAMES)
    return name[:LONGEST_KEY]
