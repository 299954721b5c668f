"""How a value is written into a text, by what the text is for."""

from __future__ import annotations

import re
from typing import Any

import orjson

from .model import MISSING

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SEPARATOR = re.compile(r"[/\\]")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Unwritable(ValueError):
    """A value that cannot stand where a template puts it."""

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        self.problem = problem
        super().__init__(f"{name} {problem}")


class Pen:
    """Plain text: a value is written as it is."""

    def __init__(self) -> None:
        self._written: list[str] = []

    def literal(self, text: str) -> None:
        """What the author wrote."""
        self._written.append(text)

    def value(self, name: str, value: Any) -> None:
        """What a variable holds."""
        self._written.append(plain(value))

    def written(self) -> str:
        """All of it."""
        return "".join(self._written)


class JsonPen(Pen):
    """JSON: between quotes a value is part of a string, outside of them it is a value of its own type."""

    def __init__(self) -> None:
        super().__init__()
        self._quoted = False

    def literal(self, text: str) -> None:
        """What the author wrote; it alone opens and closes strings."""
        self._written.append(text)
        at = 0
        while at < len(text):
            if text[at] == "\\" and self._quoted:
                at += 1
            elif text[at] == '"':
                self._quoted = not self._quoted
            at += 1

    def value(self, name: str, value: Any) -> None:
        """What a variable holds."""
        if self._quoted:
            self._written.append(orjson.dumps(plain(value))[1:-1].decode())
        else:
            self._written.append(orjson.dumps(None if value is MISSING else value).decode())


class PathPen(Pen):
    """A path: a value is a part of one segment, and has to be there."""

    def value(self, name: str, value: Any) -> None:
        """What a variable holds."""
        from urllib.parse import quote

        text = plain(value)
        if value is MISSING or value is None:
            raise Unwritable(name, "is needed for the address")
        if not text:
            raise Unwritable(name, "cannot be empty: it is a part of the address")
        if any(part in (".", "..") for part in _SEPARATOR.split(text)):
            # Also between slashes: not every system takes %2F for a part of a name.
            raise Unwritable(name, "cannot have parts that are dots alone: they lead elsewhere")
        self._written.append(quote(text, safe="", errors="strict"))

    def written(self) -> str:
        """All of it, unless a value leads to another place."""
        path = super().written()
        for segment in path.split("/"):
            if segment in (".", ".."):
                raise Unwritable("path", "cannot have parts that are dots alone: they lead elsewhere")
        return path


class FormPen(Pen):
    """A form written as one text, `a={{a}}&b={{b}}`: values cannot add fields."""

    def value(self, name: str, value: Any) -> None:
        """What a variable holds."""
        from urllib.parse import quote_plus

        self._written.append(quote_plus(plain(value)))


class XmlPen(Pen):
    """XML: a value is text, in an element or in an attribute."""

    def value(self, name: str, value: Any) -> None:
        """What a variable holds."""
        text = plain(value)
        if _NOT_IN_XML.search(text):
            raise Unwritable(name, "holds characters that XML cannot carry")
        for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&apos;")):
            text = text.replace(mark, entity)
        self._written.append(text)


class HeaderPen(Pen):
    """One line of a header."""

    def value(self, name: str, value: Any) -> None:
        """What a variable holds."""
        text = plain(value)
        if _UNPRINTABLE.search(text):
            raise Unwritable(name, "holds line breaks or control characters, which a header cannot carry")
        self._written.append(text)


def plain(value: Any) -> str:
    """A value as text: a list or an object is JSON, nothing is nothing."""
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return ""
    return orjson.dumps(value).decode()


TEXT = Pen
