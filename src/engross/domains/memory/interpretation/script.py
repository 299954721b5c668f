"""The text of a source, that knows where in the source each of its characters stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from .result import Found, Span

LOOKED_AT = 8_000
"""So many characters the rules look at; what names a document stands at its beginning."""
LONGEST_EXCERPT = 8_000


class Script(NamedTuple):
    """A text, the places where its pages begin, and the part of the source that it is."""

    text: str
    pages: tuple[int, ...] = ()
    path: str | None = None

    def span(self, start: int, end: int) -> Span:
        """Where in the source these characters stand; on a page they are counted from its beginning."""
        if not self.pages:
            return Span(start, end, None, self.path)
        page = bisect_right(self.pages, start)
        first = self.pages[page - 1]
        return Span(start - first, end - first, page, self.path)

    def found(self, match: re.Match[str], group: str | int = 0) -> Found:
        """A group of a match, without the blanks around it."""
        return self.at(match.start(group), match.end(group))

    def at(self, start: int, end: int) -> Found:
        """These characters, without the blanks around them."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return Found(self.text[start:end], self.span(start, end))

    @property
    def beginning(self) -> Script:
        """The part that the rules look at."""
        return self._replace(text=self.text[:LOOKED_AT])

    @property
    def goes_on(self) -> bool:
        """Whether there is more than the rules look at."""
        return bool(self.text[LOOKED_AT:].strip())

    @property
    def excerpt(self) -> Found:
        """As much of the text as an entity keeps, so that it can be searched."""
        return self.at(0, min(len(self.text), LONGEST_EXCERPT))

    def __bool__(self) -> bool:
        return bool(self.text.strip())


def paged(pages: list[str]) -> Script:
    """A text made of pages."""
    starts, so_far = [], 0
    for page in pages:
        starts.append(so_far)
        so_far += len(page) + 1
    return Script("\n".join(pages), tuple(starts))
