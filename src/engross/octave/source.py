"""A text made ready to be read: frontmatter and literal zones set aside, line ends and characters made alike.

Literal zones come first, because nothing in them means anything: their content is cut out byte for byte, and the rest
of the text is joined without them. A zone remembers the offset in that rest at which it stood.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .composition import composed
from .error import OctaveError
from .receipt import Receipt

LONGEST: Final = 64 * 1024 * 1024
_BOM: Final = "\ufeff"
_NEWLINE: Final = re.compile(r"\r\n?|\n")
_FRONTMATTER: Final = re.compile(
    r"( *--- *)(?:\r\n?|\n)(?:(.*?)(?:\r\n?|\n))??( *--- *)(?:\r\n?|\n|\Z)(?= *([\r\n])?)", re.DOTALL
)
_FENCE: Final = re.compile(r"(`{3,})([^\n\r]*)(?:\r\n?|\n|\Z)")
_FENCE_BEHIND_KEY: Final = re.compile(r"::? *`{3,}")


class Zone(NamedTuple):
    """A literal zone and where it stood."""

    offset: int
    line: int
    indent: int
    fence: str
    info: str | None
    content: str
    lines: int
    receipts: tuple[Receipt, ...]


class _Fence(NamedTuple):
    """A line that begins with backticks, blanks aside."""

    start: int
    indent: int
    marks: str
    rest: str
    end: int


@dataclass(slots=True)
class Source:
    """What a text consists of, before anything is made of it."""

    body: str = ""
    zones: list[Zone] = field(default_factory=list)
    line: int = 1
    frontmatter: str | None = None
    receipts: list[Receipt] = field(default_factory=list)


def prepare(text: str | bytes, longest: int = LONGEST) -> Source:
    """Set aside what is not read line by line, and make the rest uniform."""
    return _unwrapped(_parted(_decoded(text, longest)))


def _parted(plain: str) -> Source:
    source = Source()
    if plain.startswith(_BOM):
        plain = plain[1:]
        source.receipts.append(Receipt("bom", 1, 1, _BOM, ""))
    start = _take_frontmatter(plain, source)
    _take_body(plain, start, source)
    if plain and plain[-1] not in "\r\n":
        last = source.line + _newlines(plain, start, len(plain))
        source.receipts.append(Receipt("newlines", last, 1, "", "\n"))
    _count_newlines(plain, source)
    return source


def _decoded(text: str | bytes, longest: int) -> str:
    if len(text) > longest:
        raise OctaveError(
            "E_TOO_LARGE",
            f"the text has {len(text):,} characters, {longest:,} are the limit",
            hint="split the document",
        )
    try:
        if isinstance(text, bytes):
            return text.decode()
        if not text.isascii():
            text.encode()
    except UnicodeDecodeError as unfit:
        raise _not_utf8(unfit.object[: unfit.start].decode()) from None
    except UnicodeEncodeError as unfit:
        raise _not_utf8(unfit.object[: unfit.start]) from None
    return text


def _not_utf8(before: str) -> OctaveError:
    lines = _NEWLINE.split(before)
    return OctaveError("E_ENCODING", "the text is not UTF-8", len(lines), len(lines[-1]) + 1)


def _take_frontmatter(text: str, source: Source) -> int:
    """Keep a frontmatter raw; the offset behind it."""
    found = _FRONTMATTER.match(text) if text.lstrip(" ").startswith("---") else None
    if found is None:
        return 0
    opening, inner, closing, blank_line = found.groups()
    source.line += len(_NEWLINE.findall(found[0]))
    if not inner:
        source.receipts.append(Receipt("frontmatter", 1, 1, found[0], ""))
        return found.end()
    source.frontmatter = _NEWLINE.sub("\n", inner)
    for line, mark in ((1, opening), (source.line - 1, closing)):
        if mark != "---":
            source.receipts.append(Receipt("spacing", line, 1, mark, "---"))
    if blank_line is None:
        source.receipts.append(Receipt("gap", source.line, 1, "", "\n"))
    return found.end()


def _take_body(text: str, start: int, source: Source) -> None:
    pieces: list[str] = []
    offset, line = 0, source.line
    for opening, closing in _pairs(text, start, source.line) if text.find("```", start) >= 0 else ():
        piece = _uniform(text[start : opening.start], line, source)
        pieces.append(piece)
        offset += len(piece)
        line += piece.count("\n")
        zone = _zone(text, opening, closing, offset, line, source)
        source.zones.append(zone)
        line += zone.lines
        start = closing.end
    pieces.append(_uniform(text[start:], line, source))
    if pieces[-1] and pieces[-1][-1] != "\n":
        pieces.append("\n")
    source.body = "".join(pieces)


def _pairs(text: str, start: int, line: int) -> Iterator[tuple[_Fence, _Fence]]:
    opening: _Fence | None = None
    for found in _fences(text, start):
        if opening is None:
            opening = found if "`" not in found.rest else None
        elif len(found.marks) == len(opening.marks) and not found.rest.strip(" "):
            yield opening, found
            opening = None
        elif len(found.marks) >= len(opening.marks):
            raise OctaveError(
                "E007",
                f"a fence inside the literal zone of line {line + _newlines(text, start, opening.start)}",
                line + _newlines(text, start, found.start),
                found.indent + 1,
                "a zone ends with its own fence alone on a line; give the outer fence more backticks",
            )
    if opening is not None:
        raise OctaveError(
            "E006",
            "a literal zone has no closing fence",
            line + _newlines(text, start, opening.start),
            opening.indent + 1,
            _hint_for_open_fence(text, opening),
        )


def _fences(text: str, start: int) -> Iterator[_Fence]:
    ends = ("\n", "\r") if "\r" in text else ("\n",)
    marks = text.find("```", start)
    while marks >= 0:
        at = max([text.rfind(end, start, marks) for end in ends]) + 1 or start
        found = _FENCE.match(text, marks)
        assert found is not None
        if not text[at:marks].strip(" "):
            yield _Fence(at, marks - at, found[1], found[2], found.end())
        start = found.end()
        marks = text.find("```", start)


def _newlines(text: str, start: int, end: int) -> int:
    return len(_NEWLINE.findall(text, start, end))


def _hint_for_open_fence(text: str, opening: _Fence) -> str:
    if _FENCE_BEHIND_KEY.search(text, 0, opening.start):
        return "a fence cannot stand behind a key; put it on the next line"
    return f"close it with {opening.marks} on a line of its own"


def _zone(text: str, opening: _Fence, closing: _Fence, offset: int, line: int, source: Source) -> Zone:
    content = text[opening.end : closing.start]
    last = line + 1 + (_newlines(content, 0, len(content)) if "\r" in content else content.count("\n"))
    if content.endswith("\r"):
        content = content[:-1] + "\n"
    info = _uniform(opening.rest, line, source)
    receipts = [
        Receipt("trailing_blanks", at, 1, fence.marks + fence.rest, fence.marks + fence.rest.strip(" "))
        for at, fence in ((line, opening), (last, closing))
        if fence.rest != fence.rest.strip(" ")
    ]
    if closing.indent != opening.indent:
        receipts.append(Receipt("indentation", last, 1, " " * closing.indent, " " * opening.indent))
    return Zone(
        offset,
        line,
        opening.indent,
        opening.marks,
        info.strip(" ") or None,
        content if not content.strip("\n") else content[:-1],
        last - line + 1,
        tuple(receipts),
    )


def _uniform(piece: str, line: int, source: Source) -> str:
    """A piece outside literal zones with LF for every line end and composed characters; no tabs."""
    if "\r" in piece:
        piece = _NEWLINE.sub("\n", piece)
    if not unicodedata.is_normalized("NFC", piece):
        piece = _composed(piece, line, source)
    if "\t" in piece:
        at = piece.index("\t")
        raise OctaveError(
            "E005",
            "a tab",
            line + piece.count("\n", 0, at),
            at - piece.rfind("\n", 0, at),
            "indent with two blanks, write \\t in a quoted text",
        )
    return piece


def _composed(piece: str, line: int, source: Source) -> str:
    lines = piece.split("\n")
    for row, before in enumerate(lines):
        after = composed(before)
        if after is None:
            raise OctaveError("E005", "a letter carries too many marks", line + row, 1, "leave the marks out")
        if after != before:
            lines[row] = after
            source.receipts.append(Receipt("nfc", line + row, 1, before, after))
    return "\n".join(lines)


def _count_newlines(text: str, source: Source) -> None:
    """One receipt for all line ends; what stands in literal zones stays as it is."""
    carriage = text.count("\r") - sum(zone.content.count("\r") for zone in source.zones)
    if carriage:
        source.receipts.append(Receipt("newlines", 1, 1, f"{carriage} line ends with CR", "LF"))


def _unwrapped(source: Source) -> Source:
    """The document inside, where the whole text is one code fence."""
    if len(source.zones) != 1 or source.body.strip(" \n"):
        return source
    zone = source.zones[0]
    inner = _parted(f"{zone.content}\n")
    if source.frontmatter is not None and inner.frontmatter is not None:
        # A document has one frontmatter, so this one has a zone that holds another document.
        return source
    first = Receipt("unwrapped", zone.line, 1, f"{zone.fence}{zone.info or ''}", "")
    shifted = [receipt._replace(line=receipt.line + zone.line) for receipt in inner.receipts]
    return Source(
        inner.body,
        [found._replace(line=found.line + zone.line) for found in inner.zones],
        inner.line + zone.line,
        source.frontmatter if source.frontmatter is not None else inner.frontmatter,
        [*source.receipts, first, *shifted],
    )
