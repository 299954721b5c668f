"""Which write each line of a document comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from engross.calls import Answer
from engross.ledger import Reader
from engross.ledger.facts import facts_of_versions
from engross.ledger.reasons import Stated

from .comparison import lines_of, runs
from .history import entries
from .places import place_of
from .refusals import bad_input, bad_path, refuse_octave
from .standing import kept, standing
from .undoing import no_version
from .versions import NAMESPACE, head_of, versions_of
from .ways import Ways

MOST_VERSIONS = 500
"""How far back lines are followed. What is older counts as the oldest of these."""
OUTSIDE = 0
"""Stands for what is on the disk and not on the record."""


class Span(NamedTuple):
    """Lines, from one to another, both included."""

    first: int
    last: int


class Traced(NamedTuple):
    """Paragraphs, each with the version that it comes from, and whether the record knows the whole document."""

    paragraphs: list[dict[str, Any]]
    is_recorded: bool

    @property
    def versions(self) -> set[int]:
        """The versions that the record has of them."""
        return {one["version"] for one in self.paragraphs} - {OUTSIDE}


def blamed(ways: Ways, reader: Reader, arguments: Mapping[str, Any]) -> Answer:
    """Every paragraph that is asked for, with the write it comes from and what stands behind that."""
    place = place_of(ways, reader.context.tenant, arguments["path"])
    head = head_of(reader, place.subject)
    if head is None:
        raise no_version(place.subject)
    current = standing(ways, reader, place, head)
    if current is None:
        raise bad_path(place.path, "there is no such file", "E_FILE")
    traced = trace(ways, reader, place.subject, current.content, arguments)
    told = entries(reader, writes_of(reader, place.subject, traced.versions))
    return Answer(
        {
            "path": place.path,
            "hash": current.digest,
            "paragraphs": [{**one, "version": one["version"] or None} for one in traced.paragraphs],
            "writes": told[::-1],
            "is_recorded": traced.is_recorded,
        }
    )


def trace(
    ways: Ways, reader: Reader, subject: str, content: bytes, arguments: Mapping[str, Any], before: int | None = None
) -> Traced:
    """Trace the lines of a document, or those of the `field` or `line` that is asked about, to versions."""
    lines = lines_of(content)
    span = _asked(content, lines, arguments)
    origins = _origins(ways, reader, subject, content, before)
    return Traced(_paragraphs(lines, origins, span), OUTSIDE not in origins)


def writes_of(reader: Reader, subject: str, versions: Iterable[int]) -> list[Stated]:
    """The facts of versions, in order, each with its receipt's body."""
    return list(facts_of_versions(reader.reading, NAMESPACE, subject, versions))


def _origins(ways: Ways, reader: Reader, subject: str, content: bytes, before: int | None) -> list[int]:
    """The version that each line of the content comes from, followed through all versions before another one."""
    contents: list[tuple[int, bytes]] = []
    for version in reversed(versions_of(reader, subject, most=MOST_VERSIONS, before=before)):
        found = kept(ways, reader, version)
        contents.append((version.version, b"" if found is None else found.content))
    contents.append((OUTSIDE, content))
    lines: list[str] = []
    origins: list[int] = []
    for number, later in contents:
        lines, origins = _followed(lines, origins, lines_of(later), number)
    return origins


def _followed(old: Sequence[str], origins: Sequence[int], new: list[str], version: int) -> tuple[list[str], list[int]]:
    followed = [version] * len(new)
    for run in runs(old, new):
        followed[run.new : run.new + run.size] = origins[run.old : run.old + run.size]
    return new, followed


def _paragraphs(lines: Sequence[str], origins: Sequence[int], span: Span) -> list[dict[str, Any]]:
    """Lines that stand together and come from one write."""
    numbered = [(number, origins[number - 1]) for number in range(span.first, span.last + 1)]
    told = []
    for version, group in groupby(numbered, key=lambda one: one[1]):
        places = [number for number, _ in group]
        text = "\n".join(lines[places[0] - 1 : places[-1]])
        told.append({"first_line": places[0], "last_line": places[-1], "version": version, "text": text})
    return told


def _asked(content: bytes, lines: Sequence[str], arguments: Mapping[str, Any]) -> Span:
    """The lines that the caller asks about."""
    if "line" in arguments:
        if arguments["line"] > len(lines):
            raise bad_input(f"the document has {len(lines):,} lines", "line")
        return Span(arguments["line"], arguments["line"])
    return _field(content, arguments["field"]) if "field" in arguments else Span(1, len(lines))


def _field(content: bytes, path: str) -> Span:
    """The lines of a field: from its own to the one before whatever comes next."""
    from engross.octave import OctaveError, find, parse

    try:
        document = parse(content, lenient=True)
    except OctaveError as error:
        refuse_octave(error, "path")
    place = find(document, path)
    if place is None:
        raise bad_input(f"there is no field {path[:100]}", "field", "E_UNRESOLVABLE_PATH")
    first = place.node.line
    inside = {id(node) for node in _within(place.node)}
    behind = [node.line for node in document.walk() if node.line > first and id(node) not in inside]
    ends = [number for number, line in enumerate(lines_of(content), 1) if line.startswith("===") and number > first]
    return Span(first, min([*behind, *ends, len(lines_of(content)) + 1]) - 1)


def _within(node: Any) -> list[Any]:
    found, pending = [], [node]
    while pending:
        one = pending.pop()
        found.append(one)
        pending += getattr(one, "children", ())
    return found
