"""What an upstream sent, as JSON values: json, xml, yaml, csv, tsv, psv and text.

The document says the format; what the response says about itself only decides the characters. What does not fit is
Unreadable, never half a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from .model import MISSING, RawFormat

MOST_DEPTH = 100
MOST_ROWS = 1_000_000
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
# Python's own ways to write texts are no charsets of the web, and some take time that grows with the square.
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf_7", "undefined"})
SEPARATORS: Mapping[str, str] = {"csv": ",", "tsv": "\t", "psv": "|"}


class Unreadable(ValueError):
    """A body that is not what it should be."""


def converted(body: bytes, raw_format: RawFormat, charset: str | None = None) -> Any:
    """The value that a body holds; MISSING when it is empty."""
    if not body.strip():
        return MISSING
    return _READERS[raw_format](body, charset)


def charset_of(content_type: str) -> str | None:
    """The charset that a Content-Type names."""
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("'\"").lower() or None
    return None


def _json(body: bytes, charset: str | None) -> Any:
    if charset not in (None, "utf-8", "utf8", "us-ascii", "ascii") or body.startswith(b"\xef\xbb\xbf"):
        body = _text(body, charset).encode()
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unreadable("it is no JSON") from error
    if not _looks_shallow(body) and _depth(value) > MOST_DEPTH:
        raise Unreadable("it is nested too deeply")
    return value


def _looks_shallow(body: bytes) -> bool:
    """Whether all brackets, those in texts too, pair off within the depth. Quick, for what is usual."""
    marks = body.translate(None, _NO_BRACKETS)
    for _ in range(MOST_DEPTH):
        fewer = marks.replace(b"{}", b"").replace(b"[]", b"")
        if len(fewer) == len(marks):
            break
        marks = fewer
    return not marks


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [part for part in level if isinstance(part, dict | list)]:
        depth += 1
        level = [inner for part in level for inner in (part.values() if isinstance(part, dict) else part)]
    return depth


def _text(body: bytes, charset: str | None) -> str:
    try:
        text = body.decode(charset if charset and _is_charset(charset) else "utf-8")
    except (LookupError, UnicodeError):
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable("its characters cannot be read") from error
    return text.removeprefix("\ufeff")


def _is_charset(name: str) -> bool:
    import codecs

    return codecs.lookup(name).name.replace("-", "_") not in _NO_CHARSETS


def _xml(body: bytes, charset: str | None) -> Any:
    """The root falls away; children that repeat are lists, attributes are fields, all else is text."""
    from xml.parsers import expat

    tree = _Tree()
    parser = expat.ParserCreate(charset if charset in ("utf-8", "iso-8859-1", "us-ascii", "utf-16") else None)
    parser.buffer_text = True
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    parser.CharacterDataHandler = tree.characters
    parser.StartDoctypeDeclHandler = tree.refuse
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable("it is no XML") from error
    return tree.root


class _Tree:
    """Builds values while expat reads."""

    def __init__(self) -> None:
        self.root: Any = ""
        self._fields: list[dict[str, Any]] = []
        self._texts: list[list[str]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._fields) >= MOST_DEPTH:
            raise Unreadable("its elements are nested too deeply")
        self._fields.append({_local(name): value for name, value in attributes.items() if not _is_namespace(name)})
        self._texts.append([])

    def characters(self, text: str) -> None:
        self._texts[-1].append(text)

    def end(self, tag: str) -> None:
        fields, text = self._fields.pop(), "".join(self._texts.pop()).strip()
        value: Any = text
        if fields:
            value = {**fields, "": text} if text else fields
        if not self._fields:
            self.root = value
            return
        above, name = self._fields[-1], _local(tag)
        if name not in above:
            above[name] = value
        elif isinstance(above[name], list):
            above[name].append(value)
        else:
            above[name] = [above[name], value]

    def refuse(self, *_: Any) -> None:
        raise Unreadable("it has a document type, and such XML is not read")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _is_namespace(name: str) -> bool:
    return name == "xmlns" or name.startswith("xmlns:")


def _yaml(body: bytes, charset: str | None) -> Any:
    from .fault import Faults
    from .node import plain
    from .reading import read

    faults = Faults()
    root = read(_text(body, charset), "response", faults)
    if root is None or faults.broken:
        raise Unreadable("it is no YAML, or more of it than is read")
    value = plain(root)
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise Unreadable("it holds a number that is too large") from error
    return value


def _separated(separator: str) -> Callable[[bytes, str | None], Any]:
    def read(body: bytes, charset: str | None) -> list[dict[str, str]]:
        """The first row has the names; every value is text."""
        import csv
        from io import StringIO

        rows = csv.reader(StringIO(_text(body, charset), newline=""), delimiter=separator, strict=True)
        try:
            names = next((row for row in rows if row), [])
            found = [dict(zip(names, _filled(row, len(names)), strict=True)) for row in rows if row]
        except csv.Error as error:
            raise Unreadable("its rows cannot be told apart") from error
        if len(found) > MOST_ROWS:
            raise Unreadable(f"it has more than {MOST_ROWS} rows")
        return found

    return read


def _filled(row: list[str], width: int) -> list[str]:
    if len(row) > width:
        raise Unreadable("a row has more values than there are names")
    return row + [""] * (width - len(row))


_READERS: Mapping[str, Callable[[bytes, str | None], Any]] = {
    "json": _json,
    "text": _text,
    "xml": _xml,
    "yaml": _yaml,
    **{name: _separated(separator) for name, separator in SEPARATORS.items()},
}
