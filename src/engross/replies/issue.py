"""One thing that is wrong with a request, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .frozen import EMPTY
from .registry import REGISTRY


class Issue(NamedTuple):
    """A fault in the input: its code, the place as a JSON pointer ("" is the whole), and what would help."""

    code: str
    params: Mapping[str, Any] = EMPTY
    pointer: str = ""
    details: Mapping[str, Any] | None = None
    suggestions: Mapping[str, Any] | None = None

    @property
    def field(self) -> str | None:
        """The place as people write it: a.b instead of /a/b; None for the whole."""
        return dotted(self.pointer)

    def as_data(self) -> dict[str, Any]:
        """The issue as the caller gets it: if nothing else would help, with what the registry advises."""
        entry = REGISTRY.entry(self.code)
        told: dict[str, Any] = {
            "code": entry.key,
            "reply_code": self.code,
            "message": REGISTRY.message(self.code, self.params),
            "field": dotted(self.pointer),
            "pointer": _whole(self.pointer),
        }
        if self.details is not None:
            told["details"] = self.details
        told["suggestions"] = self.suggestions or {"hint": entry.advice}
        return told


def pointer_to(place: str | None) -> str:
    """A JSON pointer from a pointer, a field name or a dotted path."""
    if not place or place.startswith("/"):
        return place or ""
    return "/" + place.replace("~", "~0").replace("/", "~1").replace(".", "/")


def dotted(pointer: str) -> str | None:
    """A dotted path from a JSON pointer; None for the whole."""
    if not pointer:
        return None
    return _whole(pointer[1:]).replace("/", ".").replace("~1", "/").replace("~0", "~")


def _whole(text: str) -> str:
    # A pointer quotes the caller's own keys; half a character in one must not make the answer unsendable.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
