"""Message templates: plain text with {name} places, filled in without ever evaluating anything."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import orjson

MAX_VALUE = 200
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class Template:
    """A message text with its places found once; `fill` only joins strings."""

    __slots__ = ("names", "pieces", "text")

    def __init__(self, text: str, known: Collection[str]) -> None:
        self.text = text
        self.names = tuple(name for name in _PLACE.findall(text) if name in known)
        self.pieces = _split(text, known)

    def fill(self, params: Mapping[str, Any]) -> str | None:
        """The text with its values, or None when one is missing or cannot be shown."""
        if not self.names:
            return self.text
        try:
            return "".join(piece if place is None else shown(params[place]) for piece, place in self.pieces)
        except (KeyError, TypeError, ValueError):
            return None


def places(text: str) -> set[str] | None:
    """The names of the places in a template, or None when it holds a brace that is no place."""
    rest = _PLACE.sub("", text)
    return None if "{" in rest or "}" in rest else set(_PLACE.findall(text))


def shown(value: object) -> str:
    """A parameter as people read it: one short run of whole characters."""
    text = value if type(value) is str else orjson.dumps(value).decode()
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"


def _split(text: str, known: Collection[str]) -> tuple[tuple[str, str | None], ...]:
    pieces: list[tuple[str, str | None]] = []
    end = 0
    for found in _PLACE.finditer(text):
        if found[1] in known:
            pieces += [(text[end : found.start()], None), (found[0], found[1])]
            end = found.end()
    return (*pieces, (text[end:], None))
