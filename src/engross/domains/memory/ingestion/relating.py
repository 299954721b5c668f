"""Relationships that come with a document, less those that would close a circle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from engross.ledger import Reader

from ..entities import Entity, find_entity
from ..observing import Claim, Relation
from ..relating import ACYCLIC, edges_at


def without_cycles(
    reader: Reader, claims: Sequence[Claim], relations: Sequence[Relation]
) -> tuple[list[Relation], tuple[dict[str, Any], ...]]:
    """The relations that may stand, and a warning about those that may not.

    What a document says about its entities is recorded in any case; only the edge is left out.
    """
    kept: list[Relation] = []
    graph = _Graph(reader)
    for relation in relations:
        source, target = claims[relation.source].entity, claims[relation.target].entity
        if relation.type not in ACYCLIC:
            kept.append(relation)
        elif not graph.leads(relation.type, target, source):
            graph.add(relation.type, source, target)
            kept.append(relation)
    left_out = len(relations) - len(kept)
    return kept, (_warning(left_out),) if left_out else ()


class _Graph:
    """What leads where: on the record, and in the document so far. Each entity is looked up once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[str, Entity | None] = {}
        self._recorded: dict[tuple[str, str], list[str]] = {}
        self._added: dict[tuple[str, str], list[str]] = defaultdict(list)

    def add(self, kind: str, source: str, target: str) -> None:
        self._added[kind, self._speaker(source)].append(self._speaker(target))

    def leads(self, kind: str, start: str, end: str) -> bool:
        """Whether the one is the other, or leads to it over any number of steps."""
        first, last = self._speaker(start), self._speaker(end)
        seen, waiting = {first}, [first]
        while waiting:
            current = waiting.pop()
            if current == last:
                return True
            following = [one for one in self._from(kind, current) if one not in seen]
            seen.update(following)
            waiting += following
        return False

    def _from(self, kind: str, speaker: str) -> list[str]:
        if (kind, speaker) not in self._recorded:
            entity = self._entity(speaker)
            edges = edges_at(self._reader, [entity], "outbound", [kind]) if entity else []
            self._recorded[kind, speaker] = [edge.target.id for edge in edges]
        return self._recorded[kind, speaker] + self._added[kind, speaker]

    def _speaker(self, identifier: str) -> str:
        entity = self._entity(identifier)
        return entity.id if entity else identifier

    def _entity(self, identifier: str) -> Entity | None:
        if identifier not in self._known:
            self._known[identifier] = find_entity(self._reader, identifier)
        return self._known[identifier]


def _warning(count: int) -> dict[str, Any]:
    return {
        "code": "CYCLE_SKIPPED",
        "message": f"{count} relationships would have closed a circle; they were left out.",
        "field": None,
        "suggestion": None,
    }
