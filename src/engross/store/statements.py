"""What a statement does: it asks, it changes rows, or it is none that a domain may send.

Engines would run anything. But a flow that changes rows by a query bypasses its facts, so that a rebuild no longer
gives the same state, and whoever commits in the middle of a unit has half of it kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["asks", "changes", "neither"]

# Compiled when a statement is first looked at: most offices are opened for less than that.
_BESIDES = r"(?s)'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/"
_CHANGING = r"(?i)\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update|delete\s+from|merge\s+into)\b"
_ASKING = frozenset({"select", "values", "with"})


@lru_cache(maxsize=4096)
def kind_of(sql: str) -> Kind:
    """What a statement does, by its words; several statements in one text are none."""
    text = re.sub(_BESIDES, " ", sql).strip().rstrip(";")
    first = re.match(r"\w+", text)
    if first is None or ";" in text:
        return "neither"
    word = first[0].lower()
    if re.match(_CHANGING, text) or (word == "with" and re.search(_CHANGING, text)):
        return "changes"
    return "asks" if word in _ASKING else "neither"
