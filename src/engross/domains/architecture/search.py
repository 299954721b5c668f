"""Finding elements by what they are called and what is said about them.

Every word leads to a bounded number of elements, the most telling first, so that a search costs the same in a large
model as in a small one. Two rankings, by words and by likeness of names, are fused; where an embedder is configured,
its similarity is a third.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.ranking import Embedder, ranked

from .names import DESCRIBED, folded, words
from .rows import ELEMENT_COLUMNS, brief, element_of
from .tables import AS_OF

MOST_WORDS = 12
MOST_NEAR = 60
MANY_POSTINGS = 1000
"""Where only some types are wanted, most of what is under a word may be of others."""
LIKE_ENOUGH = 70
LAST = "\U0010ffff"


class Effort(NamedTuple):
    """How far a search goes."""

    postings: int
    candidates: int
    misspelled: bool


THOROUGH = Effort(200, 150, True)


class Hit(NamedTuple):
    """An element that was found, and how well it fits."""

    element: dict[str, Any]
    score: float


class Hits(NamedTuple):
    """What was found, and by what."""

    best: list[Hit]
    mode: str


def search(
    reader: Reader,
    model_id: str,
    query: str,
    *,
    most: int,
    types: Sequence[str] | None = None,
    embedder: Embedder | None = None,
) -> Hits:
    """The elements that fit a query, best first; equal ones by id."""
    effort = THOROUGH if types is None else THOROUGH._replace(postings=MANY_POSTINGS)
    candidates = _candidates(reader, model_id, query, types, effort)
    opinions = [_by_words(candidates, query), _by_likeness(candidates, query)]
    texts = {identifier: _told(one) for identifier, one in candidates.items()} if embedder else {}
    best, mode = ranked(query, texts, opinions, embedder, most=most)
    return Hits([Hit(candidates[identifier], score) for identifier, score in best], mode)


def similar(reader: Reader, model_id: str, name: str, *, most: int = 5, unless: str = "") -> list[dict[str, Any]]:
    """Elements whose names are like this one, in a few words each."""
    return _alike(name, _candidates(reader, model_id, name, None, THOROUGH).values(), most, unless)


def plainly_similar(reader: Reader, model_id: str, name: str, *, most: int, unless: str) -> list[dict[str, Any]]:
    """`similar` for every write: names of about as many words that share two neighbouring ones, or the only one."""
    own = list(dict.fromkeys(words(name)))
    if not own:
        return []
    rows = reader.rows(
        "SELECT element_id FROM architecture_words WHERE tenant = :tenant AND model_id = :model_id AND word = :word"
        f" AND rank >= :fewest AND rank <= :most_words AND {AS_OF} ORDER BY rank, element_id LIMIT :most",
        model_id=model_id,
        word=" ".join(own[:2]),
        fewest=max(1, len(own) - 1),
        most_words=len(own) + 1,
        most=most + 1,
    )
    found = [row["element_id"] for row in rows if row["element_id"] != unless][:most]
    # Joined with the look before, some planner would rather read through all elements.
    return _named(reader, found) if found else []


def _named(reader: Reader, identifiers: Sequence[str]) -> list[dict[str, Any]]:
    places = ", ".join(f":id_{n}" for n in range(len(identifiers)))
    return reader.rows(
        f"SELECT id, type, name FROM architecture_elements WHERE tenant = :tenant AND id IN ({places}) AND {AS_OF}"
        " ORDER BY id",
        **{f"id_{n}": identifier for n, identifier in enumerate(identifiers)},
    )


def _alike(name: str, candidates: Iterable[Mapping[str, Any]], most: int, unless: str) -> list[dict[str, Any]]:
    from rapidfuzz.fuzz import WRatio

    asked = folded(name)
    scored = [
        (-WRatio(asked, folded(element["name"])), element["id"], element)
        for element in candidates
        if element["id"] != unless
    ]
    best = sorted(scored, key=lambda one: one[:2])[:most]
    return [brief(element) for score, _, element in best if -score >= LIKE_ENOUGH]


def _candidates(
    reader: Reader, model_id: str, query: str, types: Sequence[str] | None, effort: Effort
) -> dict[str, dict[str, Any]]:
    asked = _asked(query)
    weights: dict[str, float] = {}
    for word in asked:
        for row in _posted(reader, model_id, word, effort):
            found = row["element_id"]
            weights[found] = weights.get(found, 0.0) + 1.0 / (1 + row["rank"])
    best = sorted(weights, key=lambda identifier: (-weights[identifier], identifier))
    elements = _elements(reader, best[: effort.candidates * (3 if types else 1)])
    wanted = {one["id"]: one for one in elements if types is None or one["type"] in types}
    return dict(list(wanted.items())[: effort.candidates])


def _asked(query: str) -> list[str]:
    own = list(dict.fromkeys(words(query)))[:MOST_WORDS]
    pairs = [f"{first} {second}" for first, second in pairwise(own)]
    return [*pairs, *own]


def _posted(reader: Reader, model_id: str, word: str, effort: Effort) -> list[Mapping[str, Any]]:
    """The elements under a word; if there are few, under words that begin with it or are spelled like it."""
    found = _under(reader, model_id, word, effort.postings)
    if not effort.misspelled or len(found) >= effort.postings // 10:
        return found
    for other in _like(reader, model_id, word):
        found += _under(reader, model_id, other, effort.postings)
    return found


def _under(reader: Reader, model_id: str, word: str, most: int) -> list[Mapping[str, Any]]:
    return list(
        reader.rows(
            "SELECT element_id, rank FROM architecture_words WHERE tenant = :tenant AND model_id = :model_id"
            f" AND word = :word AND {AS_OF} ORDER BY rank, element_id LIMIT :most",
            model_id=model_id,
            word=word,
            most=most,
        )
    )


def _like(reader: Reader, model_id: str, word: str) -> list[str]:
    from rapidfuzz.distance import OSA

    if " " in word or len(word) < 3:
        return []
    start = word[:3]
    near = [
        *_words_between(reader, model_id, word, word + LAST),
        *_words_between(reader, model_id, start, start + LAST),
    ]
    scored = sorted(
        (-(1.0 if other.startswith(word) else OSA.normalized_similarity(word, other)), other)
        for other in set(near)
        if other != word and " " not in other
    )
    return [other for score, other in scored if -score >= 0.7][:5]


def _words_between(reader: Reader, model_id: str, first: str, last: str) -> list[str]:
    """Some of the words in a stretch of the alphabet: each step leaps over the postings of the word before."""
    some = "FROM architecture_words WHERE tenant = :tenant AND model_id = :model_id AND word"
    rows = reader.rows(
        f"WITH RECURSIVE near (word) AS (SELECT min(word) {some} >= :first AND word < :last"
        f" UNION ALL SELECT (SELECT min(word) {some} > near.word AND word < :last) FROM near"
        " WHERE near.word IS NOT NULL)"
        " SELECT word FROM near WHERE word IS NOT NULL LIMIT :most",
        model_id=model_id,
        first=first,
        last=last,
        most=MOST_NEAR,
    )
    return [row["word"] for row in rows]


def _elements(reader: Reader, identifiers: Sequence[str]) -> Iterable[dict[str, Any]]:
    if not identifiers:
        return []
    places = ", ".join(f":id_{n}" for n in range(len(identifiers)))
    rows = reader.rows(
        f"SELECT {ELEMENT_COLUMNS} FROM architecture_elements WHERE tenant = :tenant AND id IN ({places}) AND {AS_OF}",
        **{f"id_{n}": identifier for n, identifier in enumerate(identifiers)},
    )
    known = {row["id"]: element_of(row) for row in rows}
    return [known[identifier] for identifier in identifiers if identifier in known]


def _by_words(candidates: Mapping[str, Mapping[str, Any]], query: str) -> dict[str, float]:
    asked = set(words(query))

    def fit(element: Mapping[str, Any]) -> float:
        own = set(words(element["name"]))
        told = set(words(element["description"] or ""))
        matched = sum(1.0 if word in own else 0.5 if word in told else 0.25 * _begins(word, own) for word in asked)
        # Of two that match the same, the one that says less besides.
        return matched - min(len(own), DESCRIBED) / 1000

    return {identifier: fit(element) for identifier, element in candidates.items()}


def _begins(word: str, others: set[str]) -> bool:
    return any(other.startswith(word) for other in others)


def _by_likeness(candidates: Mapping[str, Mapping[str, Any]], query: str) -> dict[str, float]:
    from rapidfuzz.fuzz import WRatio

    asked = folded(query)
    return {identifier: WRatio(asked, folded(element["name"])) for identifier, element in candidates.items()}


def _told(element: Mapping[str, Any]) -> str:
    return f"{element['name']}. {element['description'] or ''}"
