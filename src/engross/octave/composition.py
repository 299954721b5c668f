"""Composed characters (NFC).

Python sorts the marks on a letter one by one into their order, which takes the square of their number. No language has
hundreds of marks on one letter, so a text that has is refused.
"""

from __future__ import annotations

import unicodedata
from typing import Final

MOST_MARKS: Final = 200


def composed(text: str) -> str | None:
    """The text with its characters composed; nothing if a letter carries too many marks."""
    if unicodedata.is_normalized("NFC", text):
        return text
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > MOST_MARKS:
            return None
    return unicodedata.normalize("NFC", text)
