"""Keeping the index by which entities are found: the statements that take terms away and add others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engross.store import Insert, Statement

from .entity_rows import OWNED, Statements

Posting = tuple[str, str, int, int, str]
"""Whose it is, a term, its rank, when its entity was first heard of, and the entity."""


def changed_terms(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The terms that go, and those that come."""
    gone = {term: rank for term, rank in old.items() if new.get(term) != rank}
    return gone, {term: rank for term, rank in new.items() if old.get(term) != rank}


def removed_terms(owner: str, entity_id: str, born: int, gone: Mapping[str, int]) -> Statements:
    """Statements that take terms away, one by one."""
    return [
        (
            f"DELETE FROM memory_terms {OWNED} AND term = :term AND rank = :rank AND born = :born"
            " AND entity_id = :entity_id",
            {"owner": owner, "term": term, "rank": rank, "born": born, "entity_id": entity_id},
        )
        for term, rank in gone.items()
    ]


def added_terms(come: Sequence[Posting]) -> Statement:
    """The statement that adds terms."""
    return Insert("memory_terms", ("owner", "term", "rank", "born", "entity_id"), come)
