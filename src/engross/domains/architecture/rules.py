"""Whether two things may be related: the metamodel's table, and the rules of junctions and of relationships as ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.replies import Issue

from .elements import find_elements
from .metamodel import RELATIONSHIP, metamodel
from .refusals import junction_conflict, not_allowed
from .relationships import relationship_between, relationships_of

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
        return [_not_allowed(reader, kind, source, target)]
    if hint := _never(kind, source, target):
        return [_not_allowed(reader, kind, source, target, hint)]
    if source.is_junction or target.is_junction:
        return _junction_issues(reader, kind, source, target)
    return []


def possible(reader: Reader, source: End, target: End) -> list[str]:
    """By what the two could be related now: not what is there already, nor what a junction could not lead on."""
    return [
        kind
        for kind in metamodel().allowed(source.type, target.type)
        if not _never(kind, source, target)
        and not _conflict(reader, kind, source, target)
        and _leads_on(kind, source, target)
        and relationship_between(reader, kind, source.id, target.id) is None
    ]


def _not_allowed(reader: Reader, kind: str, source: End, target: End, hint: str | None = None) -> Issue:
    valid, reverse = possible(reader, source, target), possible(reader, target, source)
    return not_allowed(kind, source.type, target.type, valid, reverse, hint)


def _never(kind: str, source: End, target: End) -> str | None:
    """Why these two cannot be related like this, though their types can."""
    if source.id == target.id and kind in NOT_TO_ITSELF:
        return f"Nothing has a {kind} to itself."
    if _is_own_end(source, target) or _is_own_end(target, source):
        return "A relationship is not related to its own ends."
    return None


def _leads_on(kind: str, source: End, target: End) -> bool:
    """Whether there is anything that a junction at one end could join the other end to."""
    if source.is_junction == target.is_junction or _is_membership(kind, source):
        return True
    return bool(
        metamodel().sources_for(kind, target.type) if source.is_junction else metamodel().targets_for(kind, source.type)
    )


def _is_own_end(end: End, other: End) -> bool:
    return end.type == RELATIONSHIP and other.id in (end.thing["source_id"], end.thing["target_id"])


class Conflict(NamedTuple):
    """What a junction is in the way of: it joins another type, or ends that the type may not join."""

    junction: str
    existing: str
    pairs: list[dict[str, str]]


def _junction_issues(reader: Reader, kind: str, source: End, target: End) -> list[Issue]:
    found = _conflict(reader, kind, source, target)
    return [junction_conflict(*found, possible(reader, source, target))] if found else []


def _conflict(reader: Reader, kind: str, source: End, target: End) -> Conflict | None:
    junctions = [end for end in (source, target) if end.is_junction]
    if not junctions or _is_membership(kind, source):
        return None
    for junction in junctions:
        others = {one["type"] for one in _joined(reader, junction.id)}
        if others - {kind}:
            return Conflict(junction.id, sorted(others - {kind})[0], [])
    sources = _through(reader, source, "target_id", "source_id") if source.is_junction else [source]
    targets = _through(reader, target, "source_id", "target_id") if target.is_junction else [target]
    pairs = [
        (first.type, second.type)
        for first in sources
        for second in targets
        if not metamodel().allows(kind, first.type, second.type)
    ]
    unique = [{"source_type": first, "target_type": second} for first, second in dict.fromkeys(pairs)]
    return Conflict(junctions[0].id, kind, unique[:MOST_PAIRS]) if pairs else None


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
