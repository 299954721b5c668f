"""Building an entity anew from all that stands about it, when something was withdrawn, erased or decided otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from engross.ledger import State

from .checkpoints import OF_ENTITY, checkpoint, is_boundary
from .directory import is_listed, moved, struck
from .entity_rows import GONE, OBSERVED_OF, OWNED, UPDATE_ENTITY, Statements, birth, entity_rows
from .identity import entangled, resettle
from .index import added_terms, changed_terms, removed_terms
from .names import normalise
from .reducer import Board, add, read, snapshot_of, written
from .registry import policies_for
from .rows import CLAIM_COLUMNS, claim_of
from .terms import terms_of


def rebuild_entities(state: State, owner: str, identifiers: Iterable[str]) -> None:
    """Reduce entities again from all that still stands about them."""
    for identifier in identifiers:
        rows = entity_rows(state, owner, [identifier])
        if identifier in rows:
            _rebuild(state, owner, rows[identifier])


def _rebuild(state: State, owner: str, row: dict[str, Any]) -> None:
    from .meanings import VECTORS

    identifier = row["id"]
    owned = {"owner": owner, "entity_id": identifier}
    old = terms_of(row["type"], row["name"], snapshot_of(read(row["board"]))) if row["observations"] else {}
    state.execute(f"DELETE FROM memory_checkpoints {OWNED} AND entity_id = :entity_id", **owned)
    VECTORS.forget(state, owner, identifier)
    ever = _ever_said(state, owned)
    if ever["created_at"] is None:
        state.execute(f"DELETE FROM memory_entities {OWNED} AND id = :entity_id", **owned)
        struck_out = [struck(owner, row)] if is_listed(row) else []
        state.execute_all([*removed_terms(owner, identifier, row["born"], old), *struck_out])
        resettle(state, owner, entangled(state, owner, [identifier]))
        return
    policies = policies_for(state, row["type"])
    claims = state.rows(
        f"SELECT {CLAIM_COLUMNS}, position, fact {OF_ENTITY} ORDER BY observed_at, position, fact", **owned
    )
    board: Board = {}
    statements: Statements = []
    pending = False
    for place, one in enumerate(claims):
        add(board, claim_of(one), policies)
        pending = pending or is_boundary(one["id"])
        # A checkpoint stands for all observations of its instant.
        if pending and (place + 1 == len(claims) or claims[place + 1]["observed_at"] != one["observed_at"]):
            statements.append(checkpoint(owner, identifier, one["observed_at"], place + 1, written(board)))
            pending = False
    first = ever["name"] or normalise(row["type"], row["name"])
    fresh = {
        **row,
        "name": first,
        "born": ever["born"],
        "created_at": ever["created_at"],
        "updated_at": max(ever["last_created"], ever["last_withdrawn"] or ""),
        "observations": len(claims),
        "last_observed_at": claims[-1]["observed_at"] if claims else None,
        "late": int(ever["last_withdrawn"] is not None or _is_jumbled(claims)),
        "survivor_id": row["survivor_id"] or (None if claims or row["absorbed"] else GONE),
        "board": written(board) if claims else "",
    }
    if ever["born"] != row["born"]:
        _move(state, owned, row["born"], ever["born"])
    statements.append((UPDATE_ENTITY, {**fresh, "owner": owner}))
    statements += moved(owner, row, fresh)
    after = terms_of(row["type"], first, snapshot_of(board)) if claims else {}
    gone, new = changed_terms(old, after) if ever["born"] == row["born"] else (old, after)
    statements += removed_terms(owner, identifier, row["born"], gone)
    statements.append(added_terms([(owner, term, rank, ever["born"], identifier) for term, rank in new.items()]))
    state.execute_all(statements)


def _move(state: State, owned: Mapping[str, str], old: int, new: int) -> None:
    """Lay an entity, and what was observed about it, where it belongs now that its first observation is another."""
    for table, column in (("memory_observations", "entity_id"), ("memory_entities", "id")):
        same = f"{OWNED} AND born = :old AND {column} = :entity_id"
        state.execute(f"UPDATE {table} SET born = :new {same}", old=old, new=new, **owned)


def _is_jumbled(claims: Sequence[Mapping[str, Any]]) -> bool:
    """Did any of what is here in the order of observation come in before the one in front of it?"""
    places = [(one["position"], one["fact"]) for one in claims]
    return any(later < earlier for earlier, later in pairwise(places))


def _ever_said(state: State, owned: Mapping[str, str]) -> dict[str, Any]:
    """When an entity was first and last heard of, and under which name first."""
    said = f"FROM memory_observations {OWNED} AND {OBSERVED_OF}"
    times = state.row(
        "SELECT min(created_at) AS created_at, max(created_at) AS last_created, max(withdrawn_at) AS last_withdrawn"
        f" {said}",
        **owned,
    )
    first = first_said(state, owned)
    born = birth(first["position"], first["ordinal"]) if first else 0
    return {**(times or {}), "name": first["name"] if first else None, "born": born}


def first_said(state: State, owned: Mapping[str, str]) -> dict[str, Any] | None:
    """The observation by which an entity was first heard of, withdrawn or not."""
    return state.row(
        f"SELECT name, position, ordinal, subject, record_id, run_id FROM memory_observations {OWNED} AND {OBSERVED_OF}"
        " ORDER BY position, fact, ordinal LIMIT 1",
        **owned,
    )
