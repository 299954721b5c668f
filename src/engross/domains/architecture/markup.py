"""Text inside XML: escaped, and without what no document can hold."""

from __future__ import annotations

import re

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_QUOTED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
# Readers turn a bare carriage return into a line feed.
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def escaped(text: str) -> str:
    """The text as the content of an element."""
    return legal(text).translate(_ESCAPED)


def quoted(text: str) -> str:
    """The text as the value of an attribute, in quotes."""
    return f'"{legal(text).translate(_QUOTED)}"'


def illegal(text: str) -> int:
    """How many characters of the text no XML document can hold."""
    return len(_FORBIDDEN.findall(text))


def legal(text: str) -> str:
    """The text without what no XML document can hold."""
    return _FORBIDDEN.sub("\ufffd", text)
