"""Would a relationship close a circle? Looked for from both ends at once, by ids alone.

The search goes on at the end that has fewer ids to ask about, and is over as soon as one of them leads no farther: a
new entity, or one that nothing leads to, costs a single look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engross.ledger import Reader

from .entity_rows import OWNED, parts
from .owners import owner_of


class Way(NamedTuple):
    """In which direction edges are followed: from which column to which."""

    here: str
    there: str


ONWARD, BACK = Way("source_id", "target_id"), Way("target_id", "source_id")


class Search:
    """A look along edges of one type. Merged entities count as the one that speaks for them."""

    def __init__(self, reader: Reader, kind: str) -> None:
        self._reader = reader
        self._kind = kind
        self._owner = owner_of(reader.context)
        self._any_merged = reader.row(
            f"SELECT 1 AS some FROM memory_redirects {OWNED} AND ended_at IS NULL LIMIT 1", owner=self._owner
        )

    def leads(self, start: str, goal: str) -> bool:
        """Do edges lead from the one to the other?"""
        seen = {ONWARD: {start}, BACK: {goal}}
        waves = {ONWARD: [start], BACK: [goal]}
        if not self._goes_on(start, ONWARD) or not self._goes_on(goal, BACK):
            return False
        while waves[ONWARD] and waves[BACK]:
            way = ONWARD if len(waves[ONWARD]) <= len(waves[BACK]) else BACK
            fresh = self._next(waves[way], way) - seen[way]
            if fresh & seen[BACK if way is ONWARD else ONWARD]:
                return True
            seen[way] |= fresh
            waves[way] = sorted(fresh)
        return False

    def _goes_on(self, identifier: str, way: Way) -> bool:
        return any(
            self._reader.row(
                f"SELECT id FROM memory_relationships {OWNED} AND {way.here} = :here AND type = :type LIMIT 1",
                owner=self._owner,
                here=one,
                type=self._kind,
            )
            for one in self._members([identifier])
        )

    def _next(self, wave: Sequence[str], way: Way) -> set[str]:
        found = self._asked(
            f"SELECT DISTINCT {way.there} AS id FROM memory_relationships {OWNED} AND type = :type AND {way.here}",
            self._members(wave),
            type=self._kind,
        )
        return self._speakers(found)

    def _members(self, identifiers: Sequence[str]) -> list[str]:
        """The entities, and what was merged into them."""
        if not self._any_merged:
            return list(identifiers)
        merged = self._asked(
            f"SELECT from_id AS id FROM memory_redirects {OWNED} AND ended_at IS NULL AND survivor_id", identifiers
        )
        return sorted({*identifiers, *merged})

    def _speakers(self, identifiers: Iterable[str]) -> set[str]:
        """Who speaks for the entities."""
        found = set(identifiers)
        if not self._any_merged:
            return found
        stated = sorted(found)
        for some in parts(stated):
            rows = self._reader.rows(
                f"SELECT from_id, survivor_id FROM memory_redirects {OWNED} AND ended_at IS NULL"
                f" AND from_id IN ({_places(some)})",
                owner=self._owner,
                **_bound(some),
            )
            for row in rows:
                found.discard(row["from_id"])
                found.add(row["survivor_id"])
        return found

    def _asked(self, question: str, identifiers: Sequence[str], **params: str) -> list[str]:
        found: list[str] = []
        for some in parts(identifiers):
            rows = self._reader.rows(f"{question} IN ({_places(some)})", owner=self._owner, **params, **_bound(some))
            found += [row["id"] for row in rows]
        return found


def _places(some: Sequence[str]) -> str:
    return ", ".join(f":id_{n}" for n in range(len(some)))


def _bound(some: Sequence[str]) -> dict[str, str]:
    return {f"id_{n}": one for n, one in enumerate(some)}
