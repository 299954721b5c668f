"""Finding entries of a list by the text of one field: indexed once, then as quick as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from .model import MISSING


class Index:
    """The entries of a step's output by the text of a field. The first of several wins; 5 and "5" are the same."""

    __slots__ = ("_entries", "get")

    def __init__(self, rows: Any, match: str) -> None:
        entries: dict[Any, Mapping[str, Any]] = {}
        for row in rows if isinstance(rows, list) else [rows]:
            if isinstance(row, dict):
                key = _key(row.get(match, MISSING))
                if key is not None and key not in entries:
                    entries[key] = row
        self._entries = entries
        self.get = entries.get
        """An entry by text."""

    def find(self, value: Any) -> Mapping[str, Any] | None:
        """The entry for a value of any type."""
        return self.get(value if type(value) is str else _key(value))

    def __len__(self) -> int:
        return len(self._entries)


def chosen(entry: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """These fields of an entry; one that it lacks is null."""
    return {field: entry.get(field) for field in fields}


def _key(value: Any) -> str | None:
    if type(value) is str:
        return value
    if value is None or value is MISSING:
        return None
    if type(value) is int:
        return str(value)
    return orjson.dumps(value).decode()
