"""What a statement does: it asks, it changes rows, or it is none that a domain may send.

Engines would run anything. But a flow that changes rows by a query bypasses its facts, so that a rebuild no longer
gives the same state, and whoever commits in the middle of a unit has half of it kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["asks", "changes", "neither"]

_BESIDES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_FIRST = re.compile(r"\s*(\w+)")
_CHANGING = re.compile(
    r"\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update|delete\s+from|merge\s+into)\b", re.IGNORECASE
)
_ASKING = frozenset({"select", "values", "with"})


@lru_cache(maxsize=4096)
def kind_of(sql: str) -> Kind:
    """What a statement does, by its words; several statements in one text are none."""
    text = _BESIDES.sub(" ", sql).strip().rstrip(";")
    first = _FIRST.match(text)
    if first is None or ";" in text:
        return "neither"
    if _CHANGING.match(text) or (first[1].lower() == "with" and _CHANGING.search(text)):
        return "changes"
    return "asks" if first[1].lower() in _ASKING else "neither"
