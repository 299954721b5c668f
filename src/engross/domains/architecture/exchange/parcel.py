"""What a file brings, whatever its format: a model, its elements and relationships, and how it was drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from engross.replies import Invalid, Issue, codes

from ..metamodel import metamodel

MOST_BYTES = 200_000_000
"""Larger files are refused unread."""
MOST_HELPED = 100
CLOSE: Mapping[str, Callable[[object], list[str]]] = {
    codes.INVALID_ELEMENT_TYPE: lambda word: metamodel().close_element_types(word),
    codes.INVALID_RELATIONSHIP_TYPE: lambda word: metamodel().close_relationship_types(word),
}
"""Finds the words that were perhaps meant."""


class Piece(NamedTuple):
    """An element or a relationship, with the id that it has in its file."""

    id: str
    said: dict[str, Any]


@dataclass(slots=True)
class Parcel:
    """The content of a file."""

    name: str
    format: str
    id: str | None = None
    description: str | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    elements: list[Piece] = field(default_factory=list)
    relationships: list[Piece] = field(default_factory=list)
    views: list[Piece] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    """What is wrong with the file, beyond its relationships."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What is in the file and finds no place here, by kind."""
    undefined: Counter[str] = field(default_factory=Counter)
    """Property definitions that are used and nowhere defined."""
    sent_as: str = "content"
    """The argument that it came in."""

    @property
    def things(self) -> Iterator[Piece]:
        """Elements, then relationships."""
        return chain(self.elements, self.relationships)

    def refuse(self, code: str, place: str, **params: Any) -> None:
        """Note that something in the file cannot be taken over."""
        self.issues.append(Issue(code, params, self.pointer, {"place": place[:200]}, self._help(code, params)))

    def _help(self, code: str, params: dict[str, Any]) -> dict[str, Any]:
        """What may have been meant; nobody reads that of very many."""
        look = CLOSE.get(code) if len(self.issues) < MOST_HELPED else None
        close = look(params["type"]) if look else []
        return {**({"did_you_mean": close} if close else {}), "hint": "Mend it in the file."}

    @property
    def pointer(self) -> str:
        """Where a caller finds what is wrong with it."""
        return f"/{self.sent_as}"


def unreadable(format: str, problem: str, **details: Any) -> Invalid:
    """The content is not what its format says."""
    return Invalid(
        codes.IMPORT_UNREADABLE,
        {"format": format, "problem": problem[:200]},
        field="content",
        details=details or None,
        suggestions={"hint": "Export the file again from the tool that made it."},
    )


def unsafe(what: str) -> Invalid:
    """The content could do harm to whoever reads it."""
    return Invalid(
        codes.IMPORT_UNSAFE,
        {"what": what},
        field="content",
        suggestions={"hint": "A model needs no such thing; remove it and try again."},
    )
