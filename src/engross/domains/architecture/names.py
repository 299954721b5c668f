"""Names: how they are kept, when two count as the same, and the words inside them."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

LONGEST_NAME = 255
MOST_NAME_WORDS = 24
MOST_WORDS = 48
LONGEST_WORD = 64
SAY_LITTLE = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or"),
        *("that", "the", "this", "to", "with"),
    )
)
"""Words of a description that nobody looks for."""
DESCRIBED = 16
"""The rank from which on a word stems from a description; below it, from a name with so many words."""
INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me"})
"""Kinds of characters that show nothing by themselves: blanks, marks without a letter, zero-width and directions."""
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as a blank."""

_UNDRAWN = re.compile(
    "[\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What Unicode says is to be left out where it cannot be drawn, written out: rows must not depend on its edition."""
_BLANK = re.compile(f"[{''.join(sorted(FILLERS))}]")
# A capital behind another letter begins a new word.
_WORD = re.compile(r"[A-Z]*[^\W_A-Z]+|[A-Z]+")


def clean(name: str) -> str:
    """A name as it is kept: composed characters, single blanks, none around it; empty if nobody could see it."""
    return visible(_composed(name))


def visible(name: str) -> str:
    """The name, if there is anything to see of it."""
    return name if name.isascii() or any(map(_shows, name)) else ""


def folded(name: str) -> str:
    """What two names have in common that count as the same: not what cannot be seen, which anybody could slip in."""
    return _composed(name if name.isascii() else _BLANK.sub(" ", _UNDRAWN.sub("", name))).casefold()


def words(text: str) -> list[str]:
    """The words of a text in small letters: `OrderService` and `order service` have the same ones."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return [word.casefold()[:LONGEST_WORD] for word in _WORD.findall(composed)]


def postings(name: str, description: str | None) -> dict[str, int]:
    """Under which words an element is found, each with its rank: the lower, the more the word says about it.

    Neighbouring words of a name count as one more word, so that two common words still lead to few elements.
    """
    own = list(dict.fromkeys(words(name)))[:MOST_NAME_WORDS]
    rank = min(len(own), DESCRIBED - 1)
    found = dict.fromkeys(own, rank)
    found |= {f"{first} {second}": rank for first, second in pairwise(own)}
    for word in words(description or ""):
        if len(found) >= MOST_WORDS:
            break
        if word not in SAY_LITTLE:
            found.setdefault(word, DESCRIBED)
    return found


def _composed(name: str) -> str:
    return " ".join((name if name.isascii() else unicodedata.normalize("NFC", name)).split())


def _shows(letter: str) -> bool:
    return unicodedata.category(letter) not in INVISIBLE and letter not in FILLERS
