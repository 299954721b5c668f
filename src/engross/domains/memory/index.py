"""Keeping the index by which entities are found: the statements that take terms away and add others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from .entity_rows import OWNED, Statements

WRITTEN_AT_ONCE = 64
Posting = tuple[str, int, int, str]
"""A term, its rank, when its entity was first heard of, and the entity."""


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


def added_terms(owner: str, come: Sequence[Posting]) -> Statements:
    """Statements that add terms, many at once."""
    statements: Statements = []
    for start in range(0, len(come), WRITTEN_AT_ONCE):
        some = come[start : start + WRITTEN_AT_ONCE]
        params: dict[str, Any] = {"owner": owner}
        for n, (term, rank, born, entity_id) in enumerate(some):
            params[f"t{n}"], params[f"r{n}"], params[f"b{n}"], params[f"e{n}"] = term, rank, born, entity_id
        statements.append((_insert_terms(len(some)), params))
    return statements


@cache
def _insert_terms(count: int) -> str:
    places = ", ".join(f"(:tenant, :owner, :t{n}, :r{n}, :b{n}, :e{n})" for n in range(count))
    return f"INSERT INTO memory_terms (tenant, owner, term, rank, born, entity_id) VALUES {places}"
