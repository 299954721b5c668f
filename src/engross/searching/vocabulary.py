"""The words that lead to something, each of them once, however much is under it.

A look asks for single words, or leaps from one to the next, so that it costs the same in a large index as in a small
one: nothing here reads through what is under a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from engross.ledger import Reader

from .spelling import SHORTEST, is_spelled, one_edit_away

LAST = "\U0010ffff"
MOST_NEAR = 60
MOST_LIKE = 5
LIKE_ENOUGH = 0.7
MOST_PARTS = 3
LENGTHS = (4, 16, 64)
"""Questions come in few lengths, and in multiples of the last, so that engines know them again."""


class Vocabulary:
    """The words of one index that are within a scope, as `tenant = :tenant AND owner = :owner`."""

    def __init__(self, reader: Reader, table: str, column: str, scope: str, **params: Any) -> None:
        self._reader = reader
        self._column = column
        self._some = f"FROM {table} WHERE {scope} AND {column}"
        self._params = params

    def beginning(self, start: str, most: int = MOST_NEAR) -> list[str]:
        """The first words that begin so: each step leaps over all that is under the word before."""
        rows = self._reader.rows(
            f"WITH RECURSIVE near (word) AS (SELECT min({self._column}) {self._some} >= :first"
            f" AND {self._column} < :last UNION ALL SELECT (SELECT min({self._column}) {self._some} > near.word"
            f" AND {self._column} < :last) FROM near WHERE near.word IS NOT NULL)"
            " SELECT word FROM near WHERE word IS NOT NULL LIMIT :most",
            first=start,
            last=start + LAST,
            most=most,
            **self._params,
        )
        return [row["word"] for row in rows]

    def known(self, words: Iterable[str]) -> list[str]:
        """Those of the words that are there."""
        asked = list(dict.fromkeys(words))
        if not asked:
            return []
        length = next((one for one in LENGTHS if len(asked) <= one), LENGTHS[-1])
        filled = [*asked, *[asked[-1]] * (-len(asked) % length)]
        names, sql = _is_there(self._some, len(filled))
        rows = self._reader.rows(sql, **dict(zip(names, filled, strict=True)), **self._params)
        there = {row["word"] for row in rows}
        return [word for word in asked if word in there]

    def like(self, word: str) -> list[str]:
        """Words that begin with this one; if those are few, words that are spelled like it. The most alike first."""
        if len(word) < SHORTEST:
            return []
        longer = [other for other in self.beginning(word) if _is_alike(word, other)]
        if len(longer) >= MOST_LIKE:
            return longer[:MOST_LIKE]
        return [*longer, *self._misspelled(word, longer)][:MOST_LIKE]

    def misspelled(self, word: str) -> list[str]:
        """Words that are one letter away."""
        return self._closest(word, self.known(one_edit_away(word))) if is_spelled(word) else []

    def glued(self, word: str) -> list[str]:
        """Pairs of words, `order service`, for somebody who wrote them as one, with a letter wrong or not."""
        if not is_spelled(word) or " " in word:
            return []
        cuts = range(SHORTEST, len(word) - SHORTEST + 1)
        there = set(self.known([*(word[:cut] for cut in cuts), *(word[cut:] for cut in cuts)]))
        heads = [cut for cut in reversed(cuts) if word[:cut] in there][:MOST_PARTS]
        tails = [cut for cut in cuts if word[cut:] in there][:MOST_PARTS]
        pairs = [f"{word[:cut]} {word[cut:]}" for cut in dict.fromkeys([*heads, *tails])]
        pairs += [f"{word[:cut]} {word[cut:end]}" for cut in heads for end in range(len(word) - 1, cut + 2, -1)]
        pairs += [f"{word[:cut]} {rest}" for cut in heads for rest in one_edit_away(word[cut:])]
        pairs += [f"{start} {word[cut:]}" for cut in tails for start in one_edit_away(word[:cut])]
        return self.known(pairs)[:MOST_LIKE]

    def _misspelled(self, word: str, besides: Sequence[str]) -> list[str]:
        if word.isdigit():
            return []
        near = [*self.beginning(word[:SHORTEST]), *(self.known(one_edit_away(word)) if is_spelled(word) else ())]
        return self._closest(word, [other for other in near if other not in besides])

    def _closest(self, word: str, others: Iterable[str]) -> list[str]:
        from rapidfuzz.distance import OSA

        scored = sorted(
            (-OSA.normalized_similarity(word, other), other) for other in set(others) if _is_alike(word, other)
        )
        return [other for score, other in scored if -score >= LIKE_ENOUGH][:MOST_LIKE]


@cache
def _is_there(some: str, count: int) -> tuple[tuple[str, ...], str]:
    """A question which of so many words are there, with the names of its parameters."""
    names = tuple(f"word_{n}" for n in range(count))
    places = ", ".join(f"(:{name})" for name in names)
    # One look for each of them: an engine that is asked whether any exists may read through all there are.
    there = f"(SELECT 1 {some} = asked.word LIMIT 1) = 1"
    return names, f"WITH asked (word) AS (VALUES {places}) SELECT word FROM asked WHERE {there}"


def _is_alike(word: str, other: str) -> bool:
    """Words go with words, pairs with pairs, and neither with a term of another kind."""
    return other != word and "=" not in other and (" " in other) == (" " in word)
