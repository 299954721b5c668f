"""Entities that are probably the same, with the reasons for thinking so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from engross.ledger import Reader

from .entities import Entity, find_entities
from .entity_rows import OWNED
from .finding import search
from .names import alike_key
from .owners import owner_of
from .terms import terms_of

WEIGHTS: Mapping[str, float] = {
    "tax_id": 0.6,
    "email": 0.55,
    "phone": 0.4,
    "external_id": 0.4,
    "domain": 0.25,
    "url": 0.3,
}
"""How much it says that two entities share an identifier."""
ALIKE, SIMILAR = 0.5, 0.4
BUT_FOR_TITLES = "same_name_without_titles"
"""Titles and legal forms apart, the two are called the same."""
LIKE_ENOUGH = 85
MOST_SHARED = 20
SCANNED = 500


class Reason(NamedTuple):
    """Why two entities may be one."""

    kind: str
    weight: float
    likeness: float | None = None

    def as_data(self) -> dict[str, Any]:
        """The reason as it is told: which field, never the value."""
        told = {"reason": self.kind, "weight": self.weight}
        return told if self.likeness is None else {**told, "likeness": self.likeness}


class Pair(NamedTuple):
    """Two entities, and what speaks for their being one."""

    first: Entity
    second: Entity
    reasons: tuple[Reason, ...]

    @property
    def score(self) -> float:
        """How likely it is: each reason leaves less room for doubt."""
        doubt = 1.0
        for reason in self.reasons:
            doubt *= 1 - reason.weight
        return round(1 - doubt, 4)


def candidates_for(reader: Reader, entity: Entity, most: int) -> list[Pair]:
    """What may be the same as an entity: the likeliest first, then by id."""
    reasons: dict[str, list[Reason]] = {}
    others: dict[str, Entity] = {}
    for term in _shared_terms(entity):
        kind = term.partition("=")[0]
        for other in _under(reader, term):
            if other.id != entity.id and other.type == entity.type:
                others[other.id] = other
                reasons.setdefault(other.id, []).append(_shared(kind))
    for hit in search(reader, entity.name, most=most * 2, entity_type=entity.type).best:
        if hit.entity.id != entity.id:
            others.setdefault(hit.entity.id, hit.entity)
    pairs = []
    for identifier, other in others.items():
        found = (*reasons.get(identifier, ()), *_likeness(entity, other))
        if found:
            pairs.append(Pair(entity, other, found))
    return _ranked(pairs)[:most]


def all_candidates(reader: Reader, entity_type: str | None, most: int) -> list[Pair]:
    """Pairs that share an identifier, or a name but for titles and legal forms, among all entities."""
    pairs: dict[tuple[str, str], Pair] = {}
    for kind in (*WEIGHTS, "alike"):
        for term in _repeated(reader, kind):
            group = [one for one in _under(reader, term) if entity_type in (None, one.type)]
            for pair in _pairs(group):
                pairs.setdefault((pair.first.id, pair.second.id), pair)
            if len(pairs) >= SCANNED:
                return _ranked(pairs.values())[:most]
    return _ranked(pairs.values())[:most]


def _pairs(group: list[Entity]) -> Iterable[Pair]:
    for place, first in enumerate(group):
        for second in group[place + 1 : place + 1 + MOST_SHARED]:
            if first.type == second.type:
                mine = set(_shared_terms(first))
                shared = [term.partition("=")[0] for term in _shared_terms(second) if term in mine]
                reasons = [_shared(kind) for kind in dict.fromkeys(shared)]
                # The group is in the order of ids, and so is the pair.
                yield Pair(first, second, (*reasons, *_likeness(first, second)))


def _shared(kind: str) -> Reason:
    return Reason(BUT_FOR_TITLES, ALIKE) if kind == "alike" else Reason(f"same_{kind}", WEIGHTS[kind])


def _shared_terms(entity: Entity) -> list[str]:
    own = terms_of(entity.type, entity.name, entity.snapshot)
    shared = [term for term in own if "=" in term and term.partition("=")[0] in WEIGHTS]
    return [*shared, f"alike={alike_key(entity.type, entity.name)}"]


def _under(reader: Reader, term: str) -> list[Entity]:
    """The entities under a term; those whose name is the key itself have no other term for it."""
    kind, _, key = term.partition("=")
    terms = [term, f"name={key}"] if kind == "alike" else [term]
    rows = [
        row
        for one in terms
        for row in reader.rows(
            f"SELECT entity_id FROM memory_terms {OWNED} AND term = :term ORDER BY rank, born, entity_id LIMIT :most",
            owner=owner_of(reader.context),
            term=one,
            most=MOST_SHARED,
        )
    ]
    found = find_entities(reader, {row["entity_id"] for row in rows})
    return [one for _, one in sorted({one.id: one for one in found.values()}.items())]


def _repeated(reader: Reader, kind: str) -> list[str]:
    """Terms of a kind that lead to more than one entity; an alike name to one is enough, as another may bear it."""
    least = 1 if kind == "alike" else 2
    rows = reader.rows(
        f"SELECT term FROM memory_terms {OWNED} AND term > :first AND term < :last GROUP BY term"
        " HAVING count(*) >= :least ORDER BY term LIMIT :most",
        owner=owner_of(reader.context),
        first=f"{kind}=",
        last=f"{kind}>",
        least=least,
        most=SCANNED,
    )
    return [row["term"] for row in rows]


def _likeness(first: Entity, second: Entity) -> tuple[Reason, ...]:
    from rapidfuzz.fuzz import token_sort_ratio

    likeness = token_sort_ratio(alike_key(first.type, first.name), alike_key(second.type, second.name))
    if likeness < LIKE_ENOUGH:
        return ()
    return (Reason("similar_name", round(SIMILAR * likeness / 100, 4), round(likeness / 100, 4)),)


def _ranked(pairs: Iterable[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: (-pair.score, pair.first.id, pair.second.id))
