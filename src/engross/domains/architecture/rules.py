"""Whether two things may be related: the metamodel's table, and the rules of junctions and of relationships as ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.replies import Issue

from .elements import find_elements
from .metamodel import RELATIONSHIP, metamodel
from .refusals import junction_conflict, not_allowed
from .relationships import relationships_of

NOT_TO_ITSELF = ("Composition", "Aggregation", "Specialization")
MEMBERSHIP = ("Composition", "Aggregation")
MOST_PAIRS = 10


class End(NamedTuple):
    """One end of a relationship: an element, or another relationship."""

    thing: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id of what is at this end."""
        return str(self.thing["id"])

    @property
    def type(self) -> str:
        """The type as the metamodel's table knows it."""
        return RELATIONSHIP if "source_id" in self.thing else str(self.thing["type"])

    @property
    def is_junction(self) -> bool:
        """Does it only join relationships?"""
        return metamodel().is_junction(self.type)


def relating_issues(reader: Reader, kind: str, source: End, target: End) -> list[Issue]:
    """What speaks against relating the two like this."""
    if not metamodel().allows(kind, source.type, target.type):
        return [not_allowed(kind, source.type, target.type)]
    if source.id == target.id and kind in NOT_TO_ITSELF:
        return [not_allowed(kind, source.type, target.type, hint=f"Nothing has a {kind} to itself.")]
    if _is_own_end(source, target) or _is_own_end(target, source):
        return [not_allowed(kind, source.type, target.type, hint="A relationship is not related to its own ends.")]
    if source.is_junction or target.is_junction:
        return _junction_issues(reader, kind, source, target)
    return []


def _is_own_end(end: End, other: End) -> bool:
    return end.type == RELATIONSHIP and other.id in (end.thing["source_id"], end.thing["target_id"])


def _junction_issues(reader: Reader, kind: str, source: End, target: End) -> list[Issue]:
    if _is_membership(kind, source):
        return []
    for junction in (end for end in (source, target) if end.is_junction):
        others = {one["type"] for one in _joined(reader, junction.id)}
        if others - {kind}:
            return [junction_conflict(junction.id, sorted(others - {kind})[0])]
    sources = _through(reader, source, "target_id", "source_id") if source.is_junction else [source]
    targets = _through(reader, target, "source_id", "target_id") if target.is_junction else [target]
    pairs = [
        {"source_type": first.type, "target_type": second.type}
        for first in sources
        for second in targets
        if not metamodel().allows(kind, first.type, second.type)
    ]
    junction = source if source.is_junction else target
    unique = [dict(pair) for pair in dict.fromkeys(tuple(pair.items()) for pair in pairs)]
    return [junction_conflict(junction.id, kind, unique[:MOST_PAIRS])] if pairs else []


def _is_membership(kind: str, source: End) -> bool:
    return kind in MEMBERSHIP and not source.is_junction


def _joined(reader: Reader, junction_id: str) -> list[dict[str, Any]]:
    """The relationships that a junction joins; being a member of a grouping is none of them."""
    return [one for one in relationships_of(reader, [junction_id]) if one["type"] not in MEMBERSHIP]


def _through(reader: Reader, junction: End, here: str, there: str) -> list[End]:
    """What lies behind a junction, and behind the junctions behind it."""
    found: list[End] = []
    seen, pending = {junction.id}, [junction.id]
    while pending:
        joined = [one for one in _joined(reader, pending.pop()) if one[here] in seen]
        for end in map(End, find_elements(reader, {one[there] for one in joined}).values()):
            if end.id in seen:
                continue
            seen.add(end.id)
            if end.is_junction:
                pending.append(end.id)
            else:
                found.append(end)
    return found
