"""Finding elements by what they are called and what is said about them.

Every word leads to a bounded number of elements, the most telling first, so that a search costs the same in a large
model as in a small one. Two rankings, by words and by likeness of names, are fused; where an embedder is configured,
nearness in meaning is a third, which also finds what no word leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.searching.meaning import NO_MEANING, Meaning, Near
from engross.searching.ranking import fused
from engross.searching.spelling import is_spelled
from engross.searching.vocabulary import Vocabulary

from .meanings import VECTORS
from .names import DESCRIBED, folded, words
from .rows import ELEMENT_COLUMNS, brief, element_of
from .tables import AS_OF

MOST_WORDS = 12
MANY_POSTINGS = 1000
"""Where only some types are wanted, most of what is under a word may be of others."""
LIKE_ENOUGH = 70


class Effort(NamedTuple):
    """How far a search goes."""

    postings: int
    candidates: int


THOROUGH = Effort(200, 150)


class Hit(NamedTuple):
    """An element that was found, and how well it fits."""

    element: dict[str, Any]
    score: float


class Hits(NamedTuple):
    """What was found, and how near in meaning."""

    best: list[Hit]
    near: Near


def search(
    reader: Reader,
    model_id: str,
    query: str,
    *,
    most: int,
    types: Sequence[str] | None = None,
    meaning: Meaning = NO_MEANING,
) -> Hits:
    """The elements that fit a query, best first; equal ones by id."""
    effort = THOROUGH if types is None else THOROUGH._replace(postings=MANY_POSTINGS)
    near = VECTORS.near(reader, model_id, meaning, types)
    candidates = _candidates(reader, model_id, query, types, effort)
    opinions = [_by_words(candidates, query), _by_likeness(candidates, query), near.scores]
    meant = {one["id"]: one for one in _elements(reader, [one for one in near.scores if one not in candidates])}
    known = candidates | meant
    scores = [(one, score) for one, score in fused(opinions).items() if one in known]
    return Hits([Hit(known[identifier], score) for identifier, score in scores[:most]], near)


def similar(reader: Reader, model_id: str, name: str, *, most: int = 5) -> list[dict[str, Any]]:
    """Elements whose names are like this one, in a few words each."""
    return _alike(name, _candidates(reader, model_id, name, None, THOROUGH).values(), most)


def plainly_similar(reader: Reader, model_id: str, name: str, *, most: int) -> list[dict[str, Any]]:
    """`similar` for every write: names of about as many words that share the first two, or the only one.

    One word that is new to the model may be a misspelled one, or two that were written as one; a name of known words,
    or of several new ones, costs no more than two looks.
    """
    found: dict[str, None] = {}
    for word, many in _to_compare(_vocabulary(reader, model_id), list(dict.fromkeys(words(name)))):
        rows = reader.rows(
            "SELECT element_id FROM architecture_words WHERE tenant = :tenant AND model_id = :model_id AND word = :word"
            f" AND rank >= :fewest AND rank <= :most_words AND {AS_OF} ORDER BY rank, element_id LIMIT :most",
            model_id=model_id,
            word=word,
            fewest=max(1, many - 1),
            most_words=many + 1,
            most=most,
        )
        found |= dict.fromkeys(row["element_id"] for row in rows)
    # Joined with the looks before, some planner would rather read through all elements.
    return _alike(name, _named(reader, list(found)), most) if found else []


def _to_compare(vocabulary: Vocabulary, own: Sequence[str]) -> list[tuple[str, int]]:
    """The words and pairs under which similar names are, each with the number of words that those have about."""
    if not own:
        return []
    spelled = [word for word in own if is_spelled(word)]
    known = vocabulary.known(spelled)
    strange = [word for word in spelled if word not in known]
    if len(strange) != 1:
        return [(" ".join(own[:2]), len(own))]
    place = max(0, own.index(strange[0]) - 1)
    meant = [[other if word == strange[0] else word for word in own] for other in vocabulary.misspelled(strange[0])]
    pairs = [" ".join(own[:2]), *(" ".join(one[place : place + 2]) for one in meant)]
    return [*((pair, len(own)) for pair in pairs), *((pair, len(own) + 1) for pair in vocabulary.glued(strange[0]))]


def _named(reader: Reader, identifiers: Sequence[str]) -> list[dict[str, Any]]:
    places = ", ".join(f":id_{n}" for n in range(len(identifiers)))
    return reader.rows(
        f"SELECT id, type, name FROM architecture_elements WHERE tenant = :tenant AND id IN ({places}) AND {AS_OF}"
        " ORDER BY id",
        **{f"id_{n}": identifier for n, identifier in enumerate(identifiers)},
    )


def _alike(name: str, candidates: Iterable[Mapping[str, Any]], most: int) -> list[dict[str, Any]]:
    from rapidfuzz.fuzz import WRatio

    asked = folded(name)
    scored = [(-WRatio(asked, folded(element["name"])), element["id"], element) for element in candidates]
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
    """The elements under a word; if there are few, under words that begin with it, are spelled like it or make it."""
    found = _under(reader, model_id, word, effort.postings)
    if len(found) >= effort.postings // 10:
        return found
    vocabulary = _vocabulary(reader, model_id)
    others = vocabulary.like(word)
    if not found and not others:
        others = vocabulary.glued(word)
    for other in others:
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


def _vocabulary(reader: Reader, model_id: str) -> Vocabulary:
    scope = "tenant = :tenant AND model_id = :model_id"
    return Vocabulary(reader, "architecture_words", "word", scope, model_id=model_id)


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
