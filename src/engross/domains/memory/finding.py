"""Finding entities by terms: exactly by an identifier, or by what is said about them.

Every term leads to a bounded number of entities, the most telling first, so that a search costs the same in a large
memory as in a small one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engross.ledger import Reader
from engross.searching.meaning import NO_MEANING, Meaning, Near
from engross.searching.ranking import fused
from engross.searching.vocabulary import Vocabulary

from .entities import Entity, find_entities, find_entity
from .entity_rows import OWNED
from .ids import ENTITY_ID, entity_id
from .meanings import VECTORS
from .names import COMPANIES, exact_guesses, identifier_guesses, normalise, words
from .owners import owner_of
from .terms import TOLD, texts_in

MOST_FOUND = 100
MOST_WORDS = 12
MOST_POSTINGS = 200
MOST_CANDIDATES = 150


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
        terms = [word, *_vocabulary(reader).beginning(word)] if word == asked[-1] else [word]
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
    """What was found, and how near in meaning."""

    best: list[Hit]
    near: Near


def search(
    reader: Reader, query: str, *, most: int, entity_type: str | None = None, meaning: Meaning = NO_MEANING
) -> Hits:
    """The entities that fit a query, best first, those first that it identifies; equal ones by id."""
    types = None if entity_type is None else [entity_type]
    near = VECTORS.near(reader, owner_of(reader.context), meaning, types)
    named = _named(reader, query)
    candidates = _candidates(reader, query, entity_type, [one for under in named.values() for one in under])
    meant = _meant(reader, near.scores, entity_type)
    opinions = [_by_words(candidates, query), _by_likeness(candidates, query), _nearness(meant, near.scores)]
    known = {one.id: one for one in (*candidates.values(), *meant.values())}
    exactly = exact_guesses(query)
    certain = find_entities(reader, {one for term, under in named.items() if term in exactly for one in under})
    scores = fused(opinions, {one.id for one in certain.values()} & set(candidates))
    return Hits([Hit(known[identifier], score) for identifier, score in list(scores.items())[:most]], near)


def _named(reader: Reader, query: str) -> dict[str, list[str]]:
    """What the whole query may identify, by the term."""
    return {term: under for term in identifier_guesses(query) if (under := _under(reader, term, MOST_FOUND))}


def _candidates(reader: Reader, query: str, entity_type: str | None, named: Sequence[str]) -> dict[str, Entity]:
    weights: dict[str, float] = {}
    for word in list(dict.fromkeys(words(query)))[:MOST_WORDS]:
        for identifier, rank in _posted(reader, word, MOST_POSTINGS * (5 if entity_type else 1)):
            weights[identifier] = weights.get(identifier, 0.0) + 1.0 / (1 + rank)
    for identifier in named:
        weights[identifier] = weights.get(identifier, 0.0) + 2.0
    best = sorted(weights, key=lambda identifier: (-weights[identifier], identifier))
    found = find_entities(reader, best[: MOST_CANDIDATES * (4 if entity_type else 1)])
    listed = [found[identifier] for identifier in best if identifier in found]
    wanted = {one.id: one for one in listed if entity_type is None or one.type == entity_type}
    return dict(list(wanted.items())[:MOST_CANDIDATES])


def _meant(reader: Reader, near: Mapping[str, float], entity_type: str | None) -> dict[str, Entity]:
    """Who speaks for what is near in meaning, by the ids that were near."""
    found = find_entities(reader, near)
    return {one: entity for one, entity in found.items() if entity_type in (None, entity.type)}


def _nearness(meant: Mapping[str, Entity], near: Mapping[str, float]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for one, entity in meant.items():
        scores[entity.id] = max(near[one], scores.get(entity.id, 0.0))
    return scores


def _posted(reader: Reader, word: str, most: int) -> list[tuple[str, int]]:
    """The entities under a word; if there are few, under words that begin with it or are spelled like it."""
    found = _ranked(reader, word, most)
    if len(found) < most // 10:
        for other in _vocabulary(reader).like(word):
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


def _vocabulary(reader: Reader) -> Vocabulary:
    scope = "tenant = :tenant AND owner = :owner"
    return Vocabulary(reader, "memory_terms", "term", scope, owner=owner_of(reader.context))


def _by_words(candidates: Mapping[str, Entity], query: str) -> dict[str, float]:
    asked = set(words(query))

    def fit(entity: Entity) -> float:
        own = set(words(entity.name))
        told = {word for text in texts_in(entity.snapshot) for word in words(text)}
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
