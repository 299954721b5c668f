"""The authoring view: the canonical text with the operators that a keyboard has."""

from __future__ import annotations

import re
from typing import Final

from .document import Document
from .emitter import emit
from .error import OctaveError
from .parser import parse
from .sameness import same
from .token import ALIASES

_ASCII: Final = {mark: alias for alias, mark in ALIASES.items() if alias != "vs"}
# Literal zones, quoted texts and comments are passed over; what is left of the marks is an operator.
_MARKS: Final = re.compile(
    r'^( *+)(`{3,}+)[^`\n]*+\n(?:.*?\n)??\1\2(?=\n)|"(?:[^"\\]|\\.)*+"|(?:^ *+|(?<= ))//[^\n]*+'
    rf"|([{''.join(map(re.escape, _ASCII))}])",
    re.MULTILINE | re.DOTALL,
)


def ascii_text(document: Document) -> str:
    """A text that is easy to type and reads back to the same document; the canonical one where there is no other."""
    text = emit(document)
    start = len(f"---\n{document.frontmatter}\n---\n") if document.frontmatter else 0
    typed = text[:start] + _MARKS.sub(lambda found: _ASCII.get(found[3], found[0]), text[start:])
    try:
        return typed if same(parse(typed, lenient=True, longest=len(typed)), document) else text
    except OctaveError:
        return text
