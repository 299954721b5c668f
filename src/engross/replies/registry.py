"""The registry of reply codes: what may be said, by whom, and what it means.

The data lives in registry.toml; `rows` is the same data as generated Python, because reading TOML at every
start costs more than the rest of this room together. A test keeps the two the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .entry import Entry, check
from .rows import ROWS
from .template import Template


class UnknownCode(LookupError):
    """A code or message key that is not registered, or may no longer be sent."""


class Registry:
    """All entries, found by code or by message key."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        listed = tuple(entries)
        check(listed)
        self._entries = {entry.code: entry for entry in listed}
        self._keys = {entry.key: entry.code for entry in listed}
        self._templates = {entry.code: Template(entry.template, entry.params) for entry in listed}

    def entry(self, code: str) -> Entry:
        """The entry of a code."""
        try:
            return self._entries[code]
        except KeyError:
            raise UnknownCode(f"{code!r} is not a registered reply code") from None

    def by_key(self, message_key: str) -> Entry:
        """The entry with this message key."""
        try:
            return self._entries[self._keys[message_key]]
        except KeyError:
            raise UnknownCode(f"{message_key!r} is not a registered message key") from None

    def message(self, code: str, params: Mapping[str, Any]) -> str:
        """The text for people; rendering never fails, and nothing may branch on the result."""
        text = self._templates[code].fill(params)
        return f"{code}: {self._entries[code].key}" if text is None else text

    def unsaid(self, code: str, params: Mapping[str, Any]) -> list[str]:
        """The params that the message of a code needs and was not given."""
        return [name for name in self._entries[code].params if name not in params]

    def rephrase(self, wording: Callable[[str], str]) -> None:
        """Replace every template by wording(code) from now on: whatever branches on text breaks."""
        entries = {code: replace(entry, template=wording(code)) for code, entry in self._entries.items()}
        self._templates = {code: Template(entry.template, entry.params) for code, entry in entries.items()}
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, code: object) -> bool:
        return code in self._entries


REGISTRY = Registry(Entry(*row) for row in ROWS)
