"""Words that somebody may have meant who missed a key."""

from __future__ import annotations

ALPHABETS = tuple(
    "".join(map(chr, range(first, last + 1))) for first, last in ((0x61, 0x7A), (0x3B1, 0x3C9), (0x430, 0x44F))
)
"""Latin, Greek and Cyrillic: what is spelled in other letters is misspelled by its own."""
SHORTEST, LONGEST = 3, 32


def is_spelled(word: str) -> bool:
    """May a word be misspelled at all? A number that differs is another number."""
    return SHORTEST <= len(word) <= LONGEST and not any(map(str.isdigit, word))


def one_edit_away(word: str) -> list[str]:
    """The words that differ by one letter too many, too few, another one, or two that changed places."""
    letters = _letters(word)
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = [head + tail[1:] for head, tail in parts if tail]
    found += [head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1]
    found += [head + letter + tail[1:] for head, tail in parts if tail for letter in letters]
    found += [head + letter + tail for head, tail in parts for letter in letters]
    return [other for other in dict.fromkeys(found) if other != word]


def _letters(word: str) -> list[str]:
    own = set(word)
    usual = [letter for alphabet in ALPHABETS if not own.isdisjoint(alphabet) for letter in alphabet]
    return list(dict.fromkeys([*usual, *sorted(own - {" "})]))
