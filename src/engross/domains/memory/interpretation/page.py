"""HTML: the words that a reader of the page would see.

A page is gone over once, from its beginning to its end: what is opened and never closed goes on to the end, as it does
in a browser. The parser of the standard library looks for the end again from each such place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from .result import Draft

LONGEST = 2_000_000
_RAW = frozenset({"script", "style", "title"})
_UNSEEN = frozenset({"template", "noscript"})
_BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "section", "article"})
_CELLS = frozenset({"td", "th"})
_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)|<[!?][^>]*+>?"
    r"|<(?P<end>/?)(?P<tag>[a-z][a-z0-9:\-]{0,60})(?P<rest>(?:[^>\"']|\"[^\"]*+\"?|'[^']*+'?)*+)>?"
    r"|(?P<words>[^<]++|<)",
    re.IGNORECASE | re.DOTALL,
)
_OVERLONG = re.compile(r"&#x?[0-9a-f]{9,};?", re.IGNORECASE)


def text_of_page(draft: Draft, html: str) -> str:
    """The words of a page, a line for each block."""
    text = "".join(_pieces(draft.cut(html, LONGEST)))
    return re.sub(r"\n[ \t]*+(?:\n[ \t]*+)+", "\n\n", re.sub(r"[ ]{2,}", " ", text)).strip()


def _pieces(html: str) -> Iterator[str]:
    place = unseen = 0
    while (piece := _PIECE.match(html, place)) is not None:
        place = piece.end()
        words, tag, closes = piece["words"], (piece["tag"] or "").lower(), bool(piece["end"])
        if words is not None and not unseen:
            yield re.sub(r"\s+", " ", unescape(_OVERLONG.sub("\ufffd", words)))
        elif tag in _UNSEEN:
            unseen = max(0, unseen - 1) if closes else unseen + 1
        elif tag in _RAW and not closes:
            place = _end_of_raw(html, tag, place)
        elif tag in _BLOCKS and not unseen:
            yield "\n"
        elif tag in _CELLS and not closes and not unseen:
            yield "\t"


def _end_of_raw(html: str, tag: str, place: int) -> int:
    """Where a script or a style ends; nothing in it is a tag."""
    end = re.compile(rf"</{tag}", re.IGNORECASE).search(html, place)
    return end.start() if end else len(html)
