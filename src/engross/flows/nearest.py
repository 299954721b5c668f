"""Did you mean: the candidates closest to a word.

Edit distance alone ranks `ApplicationEvent` close to `ApplicationComponent` for `AppComponent`, because it
does not know that people shorten words. So names are also compared token by token: a token that begins the
other's counts as a match, and a name all of whose tokens match beats what is merely similar in letters.
"""

from __future__ import annotations

from collections.abc import Iterable

from .names import tokens

LONGEST_WORD = 128
CLOSE_ENOUGH = 0.6


def nearest(word: object, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """Up to `limit` candidates close to the word, best first; equal ones in alphabetical order."""
    if not isinstance(word, str) or not 0 < len(word) <= LONGEST_WORD:
        return []
    from rapidfuzz.distance import OSA

    asked = tokens(word)
    folded = "".join(asked) or word.casefold()
    scored = []
    for candidate in set(candidates):
        offered = tokens(candidate)
        letters = OSA.normalized_similarity(folded, "".join(offered) or candidate.casefold())
        score = max(letters, _score_of_tokens(asked, offered, letters))
        if score >= CLOSE_ENOUGH:
            scored.append((-score, candidate))
    return [candidate for _, candidate in sorted(scored)[:limit]]


def _score_of_tokens(asked: tuple[str, ...], offered: tuple[str, ...], letters: float) -> float:
    """Every word of both names matched beats every word of the asked one, which beats likeness of letters."""
    matched = _matching(asked, offered)
    if not matched:
        return 0.0
    if matched == len(asked):
        return (0.9 if matched == len(offered) else 0.75) + letters / 10
    return (matched / max(len(asked), len(offered)) + letters) / 2


def _matching(asked: tuple[str, ...], offered: tuple[str, ...]) -> int:
    """How many tokens of the one shorten a token of the other, in order."""
    matched = position = 0
    for token in asked:
        for later in range(position, len(offered)):
            if _shortens(token, offered[later]):
                matched += 1
                position = later + 1
                break
    return matched


def _shortens(token: str, other: str) -> bool:
    shorter = min(len(token), len(other))
    if shorter == 1:
        return token == other
    return token[:shorter] == other[:shorter] or _common_start(token, other) >= max(3, shorter * 0.7)


def _common_start(token: str, other: str) -> int:
    length = 0
    for mine, theirs in zip(token, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length
