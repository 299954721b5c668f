"""What a frontmatter says at its top level, as far as a schema asks: its keys, and whether they hold lists.

This is no YAML reader. It knows the lines that begin a field and leaves everything below them alone.
"""

from __future__ import annotations

import re
from typing import Final

_FIELD: Final = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^\s#:"'\[\]{},][^:#]*?)) *:(?: +(.*))?""")
_BELOW: Final = re.compile(r"(?:\s|- |-$|#|\.\.\.$|[\]}]|$)")


def frontmatter_types(text: str) -> dict[str, str] | None:
    """The type of every field: STRING, LIST, BOOLEAN, NUMBER, MAP or NULL; nothing if a line fits nowhere."""
    types: dict[str, str] = {}
    lines = text.split("\n")
    for place, line in enumerate(lines):
        found = _FIELD.fullmatch(line.rstrip())
        if found is not None and not line[0].isspace():
            key = found[1] or found[2] or found[3]
            types[key] = _type((found[4] or "").split(" #")[0].strip(), lines[place + 1 :])
        elif _BELOW.match(line) is None:
            return None
    return types


def _type(value: str, below: list[str]) -> str:
    if value.startswith(("[", "- ")):
        return "LIST"
    if value.startswith("{"):
        return "MAP"
    if value.casefold() in ("true", "false"):
        return "BOOLEAN"
    if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", value, re.ASCII):
        return "NUMBER"
    if value in ("", "null", "~"):
        return _type_below(below) if not value else "NULL"
    return "STRING"


def _type_below(lines: list[str]) -> str:
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    if first.lstrip().startswith(("- ", "-\n")) or first.strip() == "-":
        return "LIST"
    if first[:1].isspace():
        return "LIST" if first.strip().startswith("[") else "MAP" if ":" in first else "STRING"
    return "NULL"
