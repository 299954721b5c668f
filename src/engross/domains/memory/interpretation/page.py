"""HTML: the words that a reader of the page would see."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from .result import Draft

LONGEST = 2_000_000
_UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "title"})
_BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "section", "article"})


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append("\t")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(re.sub(r"\s+", " ", data))


def text_of_page(draft: Draft, html: str) -> str:
    """The words of a page, a line for each block."""
    words = _Words()
    words.feed(draft.cut(html, LONGEST))
    words.close()
    text = "".join(words.pieces)
    return re.sub(r"\n[ \t]*(?:\n[ \t]*)+", "\n\n", re.sub(r"[ ]{2,}", " ", text)).strip()
