"""Finding entities by terms: exactly by an identifier, or by what is said about them.

Every term leads to a bounded number of entities, the most telling first, so that a search costs the same in a large
memory as in a small one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.ranking import Embedder, ranked

from .entities import Entity, find_entities, find_entity
from .entity_rows import OWNED
from .ids import ENTITY_ID, entity_id
from .names import COMPANIES, identifier_guesses, normalise, words
from .owners import owner_of
from .terms import TOLD

MOST_FOUND = 100
MOST_WORDS = 12
MOST_POSTINGS = 200
MOST_CANDIDATES = 150
MOST_NEAR = 60
LAST = "\U0010ffff"


class Match(NamedTuple):
    """An entity that an identifier leads to, and by what."""

    entity: Entity
    by: str


class Found(NamedTuple):
    """The entities of the first tier that had any."""

    matches: list[Match]
    tier: str


class Hit(NamedTuple):
    """An entity that fits a query, and how well."""

    entity: Entity
    score: float


def by_identifier(reader: Reader, identifier: str, entity_type: str | None) -> Found:
    """Who is meant by an identifier: by its id, its name, a field that identifies, or the words of its name."""
    for tier, look in (("entity_id", _by_id), ("name", _by_name), ("field", _by_field), ("words", _by_words_of_name)):
        matches = look(reader, identifier.strip(), entity_type)
        wanted = [one for one in matches if entity_type is None or one.entity.type == entity_type]
        if wanted:
            return Found(wanted[:MOST_FOUND], tier)
    return Found([], "none")


def _by_id(reader: Reader, identifier: str, entity_type: str | None) -> list[Match]:
    if not ENTITY_ID.fullmatch(identifier):
        return []
    found = find_entity(reader, identifier)
    return [] if found is None else [Match(found, "entity_id")]


def _by_name(reader: Reader, identifier: str, entity_type: str | None) -> list[Match]:
    if entity_type is not None:
        found = find_entity(reader, entity_id(entity_type, identifier))
        if found is not None:
            return [Match(found, "name")]
    plain = normalise(entity_type or "", identifier)
    short = normalise("company", identifier)
    matches = _matches(reader, {f"name={plain}": "name"})
    if entity_type is None and short != plain:
        # A legal form counts for nothing in a company's name, and is part of every other name.
        others = _matches(reader, {f"name={short}": "name"})
        matches += [one for one in others if one.entity.type in COMPANIES]
    return _each_once(matches)


def _by_field(reader: Reader, identifier: str, entity_type: str | None) -> list[Match]:
    return _matches(reader, identifier_guesses(identifier))


def _by_words_of_name(reader: Reader, identifier: str, entity_type: str | None) -> list[Match]:
    """Entities whose names hold all the words, the last of which may be only the beginning of one."""
    asked = list(dict.fromkeys(words(identifier)))[:MOST_WORDS]
    if not asked:
        return []
    found: set[str] | None = None
    for word in asked:
        terms = [word, *_words_between(reader, word, word + LAST)] if word == asked[-1] else [word]
        under = {one for term in terms for one in _under(reader, term, MOST_POSTINGS * 5, below=TOLD)}
        found = under if found is None else found & under
    entities = find_entities(reader, found or ())
    return [Match(one, "words") for _, one in sorted({one.id: one for one in entities.values()}.items())]


def _matches(reader: Reader, terms: Mapping[str, str]) -> list[Match]:
    """The entities under these terms: by the order of the terms, then by id."""
    under = {term: _under(reader, term, MOST_FOUND) for term in terms}
    entities = find_entities(reader, {one for found in under.values() for one in found})
    matches: list[Match] = []
    for term, by in terms.items():
        speakers = {entities[one].id: one for one in under[term] if one in entities}
        matches += [
            Match(entities[one], "alias" if one != speaker and by == "name" else by)
            for speaker, one in sorted(speakers.items())
        ]
    return _each_once(matches)


def _each_once(matches: Sequence[Match]) -> list[Match]:
    found: dict[str, Match] = {}
    for one in matches:
        found.setdefault(one.entity.id, one)
    return list(found.values())


class Hits(NamedTuple):
    """What was found, and by what."""

    best: list[Hit]
    mode: str


def search(
    reader: Reader, query: str, *, most: int, entity_type: str | None = None, embedder: Embedder | None = None
) -> Hits:
    """The entities that fit a query, best first; equal ones by id."""
    candidates = _candidates(reader, query, entity_type)
    opinions = [_by_words(candidates, query), _by_likeness(candidates, query)]
    texts = {identifier: _told(one) for identifier, one in candidates.items()} if embedder else {}
    best, mode = ranked(query, texts, opinions, embedder, most=most)
    return Hits([Hit(candidates[identifier], score) for identifier, score in best], mode)


def _candidates(reader: Reader, query: str, entity_type: str | None) -> dict[str, Entity]:
    weights: dict[str, float] = {}
    for word in list(dict.fromkeys(words(query)))[:MOST_WORDS]:
        for identifier, rank in _posted(reader, word, MOST_POSTINGS * (5 if entity_type else 1)):
            weights[identifier] = weights.get(identifier, 0.0) + 1.0 / (1 + rank)
    for term in identifier_guesses(query):
        for identifier in _under(reader, term, MOST_FOUND):
            weights[identifier] = weights.get(identifier, 0.0) + 2.0
    best = sorted(weights, key=lambda identifier: (-weights[identifier], identifier))
    found = find_entities(reader, best[: MOST_CANDIDATES * (4 if entity_type else 1)])
    listed = [found[identifier] for identifier in best if identifier in found]
    wanted = {one.id: one for one in listed if entity_type is None or one.type == entity_type}
    return dict(list(wanted.items())[:MOST_CANDIDATES])


def _posted(reader: Reader, word: str, most: int) -> list[tuple[str, int]]:
    """The entities under a word; if there are few, under words that begin with it or are spelled like it."""
    found = _ranked(reader, word, most)
    if len(found) < most // 10:
        for other in _like(reader, word):
            found += _ranked(reader, other, most)
    return found


def _ranked(reader: Reader, term: str, most: int) -> list[tuple[str, int]]:
    rows = reader.rows(
        f"SELECT entity_id, rank FROM memory_terms {OWNED} AND term = :term ORDER BY rank, born, entity_id LIMIT :most",
        owner=owner_of(reader.context),
        term=term,
        most=most,
    )
    return [(row["entity_id"], row["rank"]) for row in rows]


def _under(reader: Reader, term: str, most: int, *, below: int = TOLD + 1) -> list[str]:
    return [identifier for identifier, rank in _ranked(reader, term, most) if rank < below]


def _like(reader: Reader, word: str) -> list[str]:
    from rapidfuzz.distance import OSA

    if len(word) < 3:
        return []
    near = [*_words_between(reader, word, word + LAST), *_words_between(reader, word[:3], word[:3] + LAST)]
    scored = sorted(
        (-(1.0 if other.startswith(word) else OSA.normalized_similarity(word, other)), other)
        for other in set(near)
        if other != word and "=" not in other
    )
    return [other for score, other in scored if -score >= 0.7][:5]


def _words_between(reader: Reader, first: str, last: str) -> list[str]:
    """Some of the terms in a stretch of the alphabet: each step leaps over the postings of the term before."""
    some = f"FROM memory_terms {OWNED} AND term"
    rows = reader.rows(
        f"WITH RECURSIVE near (term) AS (SELECT min(term) {some} >= :first AND term < :last"
        f" UNION ALL SELECT (SELECT min(term) {some} > near.term AND term < :last) FROM near"
        " WHERE near.term IS NOT NULL)"
        " SELECT term FROM near WHERE term IS NOT NULL LIMIT :most",
        owner=owner_of(reader.context),
        first=first,
        last=last,
        most=MOST_NEAR,
    )
    return [row["term"] for row in rows]


def _by_words(candidates: Mapping[str, Entity], query: str) -> dict[str, float]:
    asked = set(words(query))

    def fit(entity: Entity) -> float:
        own = set(words(entity.name))
        told = {word for text in _texts(entity.snapshot) for word in words(text)}
        matched = sum(
            1.0 if word in own else 0.5 if word in told else 0.25 * any(one.startswith(word) for one in own)
            for word in asked
        )
        # Of two that match the same, the one that says less besides.
        return matched - min(len(own), TOLD) / 1000

    return {identifier: fit(entity) for identifier, entity in candidates.items()}


def _by_likeness(candidates: Mapping[str, Entity], query: str) -> dict[str, float]:
    from rapidfuzz.fuzz import WRatio

    asked = normalise("", query)
    return {identifier: WRatio(asked, entity.name) for identifier, entity in candidates.items()}


def _told(entity: Entity) -> str:
    return f"{entity.type} {entity.name}. " + " ".join(_texts(entity.snapshot))[:2000]


def _texts(snapshot: Mapping[str, Any]) -> list[str]:
    return [value for value in snapshot.values() if isinstance(value, str)]
