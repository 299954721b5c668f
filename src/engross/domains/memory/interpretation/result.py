"""What an interpreter made of a file: frozen, and the same for the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .losses import TEXTS, Loss

NO_SPANS: Mapping[str, Any] = MappingProxyType({})


class Span(NamedTuple):
    """Where in a source something stands: characters from `start` up to `end`, on a page or under a path if it has one.

    A path without characters says where in a structure: a JSON pointer, a header, a property.
    """

    start: int | None = None
    end: int | None = None
    page: int | None = None
    path: str | None = None

    def below(self, path: str) -> Span:
        """The same place, seen from around the part that it lies in."""
        return self._replace(path=f"{path}/{self.path.lstrip('/')}" if self.path else path)

    def as_data(self) -> dict[str, Any]:
        """The span as the record keeps it."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Found(NamedTuple):
    """A value, and where it was found."""

    value: Any
    span: Span | None = None


Findings = dict[str, Found]


class Claim(NamedTuple):
    """What a source says about one entity."""

    entity_type: str
    name: str
    fields: Mapping[str, Any]
    spans: Mapping[str, Span] = NO_SPANS

    @classmethod
    def of(cls, entity_type: str, name: str, found: Findings) -> Claim:
        """The claim that findings make."""
        fields = {field: one.value for field, one in found.items()}
        spans = {field: one.span for field, one in found.items() if one.span is not None}
        return cls(entity_type, name, MappingProxyType(fields), MappingProxyType(spans))


class Tie(NamedTuple):
    """A relationship between two claims of one interpretation, by their places in it."""

    type: str
    source: int
    target: int


class Note(NamedTuple):
    """Something that whoever ingests should know, without a word of the content."""

    code: str
    message: str

    def as_data(self) -> dict[str, Any]:
        """The note as a warning of an answer."""
        return {"code": self.code, "message": self.message, "field": None, "suggestion": None}


class Interpretation(NamedTuple):
    """The whole reading of one source. The first claim is about the document itself."""

    record_type: str
    category: str
    media_type: str
    claims: tuple[Claim, ...]
    ties: tuple[Tie, ...] = ()
    notes: tuple[Note, ...] = ()
    together: bool = True
    """Whether it is one document with its dates, and not a collection of things that have their own."""


class Draft:
    """An interpretation while it is made: claims, the ties between them, and notes."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.ties: list[Tie] = []
        self.notes: list[Note] = []
        self.together = True
        self._losses: Counter[Loss] = Counter()

    def claim(self, entity_type: str, name: str, found: Findings) -> int:
        """Add a claim; its place."""
        self.claims.append(Claim.of(entity_type, name, found))
        return len(self.claims) - 1

    def tie(self, type: str, source: int, target: int) -> None:
        """Relate two claims."""
        self.ties.append(Tie(type, source, target))

    def include(self, inner: Interpretation, path: str, into: int) -> None:
        """Add what was found in a part of the source: its places lie below the part's, and it is part of the whole."""
        first = len(self.claims)
        for claim in inner.claims:
            spans = {field: span.below(path) for field, span in claim.spans.items()}
            self.claims.append(claim._replace(spans=MappingProxyType(spans)))
        self.ties.extend(Tie(tie.type, tie.source + first, tie.target + first) for tie in inner.ties)
        self.tie("PART_OF", first, into)
        self.together = False
        self.notes.extend(note for note in inner.notes if note not in self.notes)

    def finished(self, record_type: str, category: str, media_type: str) -> Interpretation:
        """The interpretation that came of it."""
        claims, ties = tuple(self.claims), tuple(self.ties)
        return Interpretation(record_type, category, media_type, claims, ties, self.all_notes(), self.together)

    def all_notes(self) -> tuple[Note, ...]:
        """The notes, and one for each kind of loss."""
        lost = (Note(loss.code, loss.message.format(count=count)) for loss, count in self._losses.items())
        return (*self.notes, *lost)

    def note(self, code: str, message: str) -> None:
        """Add a note, once."""
        note = Note(code, message)
        if note not in self.notes:
            self.notes.append(note)

    def count(self, loss: Loss, times: int = 1) -> None:
        """Add to what is lost; the interpretation has one note for all of a kind."""
        if times > 0:
            self._losses[loss] += times

    def cut(self, text: str, longest: int) -> str:
        """The beginning of a text, counted if that is not all of it."""
        if len(text) > longest:
            self.count(TEXTS)
        return text[:longest]
