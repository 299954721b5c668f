"""The directory: which entities speak for themselves, by type and in the order in which they were first heard of.

A new one is entered behind the last, so that many new ones share a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.ledger import Reader, State
from engross.store import Insert, Statement

from .entity_rows import OWNED, Statements, entity_rows


def is_listed(row: Mapping[str, Any]) -> bool:
    """Does the entity of this row speak for itself, and is there anything to say?"""
    return row["survivor_id"] is None and bool(row["observations"] or row["absorbed"])


def entered(owner: str, rows: Sequence[Mapping[str, Any]]) -> Statement:
    """The statement that enters entities."""
    entries = [(owner, row["type"], row["born"], row["id"]) for row in rows]
    return Insert("memory_directory", ("owner", "type", "born", "entity_id"), entries)


def struck(owner: str, row: Mapping[str, Any]) -> Statement:
    """The statement that takes an entity out."""
    params = {"owner": owner, "type": row["type"], "born": row["born"], "id": row["id"]}
    return f"DELETE FROM memory_directory {OWNED} AND type = :type AND born = :born AND entity_id = :id", params


def moved(owner: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Statements:
    """What is to be written when a row changes."""
    was, is_ = is_listed(before), is_listed(after)
    if was and is_ and before["born"] == after["born"]:
        return []
    return [*([struck(owner, before)] if was else []), *([entered(owner, [after])] if is_ else [])]


def relist(state: State, owner: str, before: Mapping[str, Mapping[str, Any]]) -> None:
    """Bring the entries of entities up to date, whose rows were these before."""
    after = entity_rows(state, owner, sorted(before)) if before else {}
    for identifier, row in before.items():
        for statement in moved(owner, row, after[identifier]):
            state.execute_all([statement])


def count_listed(reader: Reader, owner: str, entity_type: str | None) -> int:
    """How many entities are listed."""
    of_type = "" if entity_type is None else " AND type = :type"
    params = {} if entity_type is None else {"type": entity_type}
    return int(reader.value(f"SELECT count(*) FROM memory_directory {OWNED}{of_type}", owner=owner, **params))


def listed_ids(reader: Reader, owner: str, entity_type: str) -> list[str]:
    """All entities of a type, by id."""
    rows = reader.rows(
        f"SELECT entity_id FROM memory_directory {OWNED} AND type = :type", owner=owner, type=entity_type
    )
    return sorted(row["entity_id"] for row in rows)
