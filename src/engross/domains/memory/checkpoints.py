"""Checkpoints: boards that are set aside, as of an instant of observation.

About every thirty-second observation has one, told by its id, so that the state at any instant is read from one
checkpoint and a few observations. An observation that comes late is added to all checkpoints behind it. Which there are
depends on the observations that stand, and not on the order in which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engross.ledger import Reader, State
from engross.store import Statement

from .entity_rows import OBSERVED_OF, OWNED, Statements
from .reducer import Board, Claimed, Policies, add, read, written
from .rows import CLAIM_COLUMNS, claim_of

SPACING = 32
"""How many observations lie between two checkpoints, on average."""
INSERT_CHECKPOINT = (
    "INSERT INTO memory_checkpoints (tenant, owner, entity_id, observed_at, observations, board)"
    " VALUES (:tenant, :owner, :entity_id, :observed_at, :observations, :board)"
)
UPDATE_CHECKPOINT = (
    f"UPDATE memory_checkpoints SET observations = :observations, board = :board {OWNED}"
    " AND entity_id = :entity_id AND observed_at = :observed_at"
)
OF_ENTITY = f"FROM memory_observations {OWNED} AND {OBSERVED_OF} AND withdrawn_at IS NULL"


def is_boundary(observation_id: str) -> bool:
    """Does an observation with this id have a checkpoint?"""
    return int(observation_id[-2:], 16) % SPACING == 0


def checkpoint(owner: str, entity_id: str, at: str, observations: int, board: str) -> Statement:
    """The statement that sets a board aside."""
    params = {"owner": owner, "entity_id": entity_id, "observed_at": at, "observations": observations, "board": board}
    return INSERT_CHECKPOINT, params


def nearest_checkpoint(reader: Reader, owner: str, entity_id: str, *, before: str) -> dict[str, Any] | None:
    """The last checkpoint before an instant."""
    return reader.row(
        f"SELECT observed_at, observations, board FROM memory_checkpoints {OWNED} AND entity_id = :entity_id"
        " AND observed_at < :before ORDER BY observed_at DESC LIMIT 1",
        owner=owner,
        entity_id=entity_id,
        before=before,
    )


def board_at(reader: Reader, owner: str, entity_id: str, at: str, policies: Policies) -> tuple[Board, int]:
    """The board of what was observed up to an instant, that instant included, and from how many observations it is."""
    nearest = nearest_checkpoint(reader, owner, entity_id, before=f"{at}~")
    board: Board = read(nearest["board"]) if nearest else {}
    rows = reader.rows(
        f"SELECT {CLAIM_COLUMNS} {OF_ENTITY} AND observed_at > :after AND observed_at <= :at",
        owner=owner,
        entity_id=entity_id,
        after=nearest["observed_at"] if nearest else "",
        at=at,
    )
    for row in rows:
        add(board, claim_of(row), policies)
    return board, (nearest["observations"] if nearest else 0) + len(rows)


def late_checkpoints(
    state: State, owner: str, entity_id: str, claims: Sequence[Claimed], policies: Policies
) -> Statements:
    """Add what does not come last to the checkpoints behind it, and set a board of its own instant aside if need be."""
    owned, at = {"owner": owner, "entity_id": entity_id}, claims[0].at
    rows = state.rows(
        f"SELECT observed_at, observations, board FROM memory_checkpoints {OWNED} AND entity_id = :entity_id"
        " AND observed_at >= :at ORDER BY observed_at",
        **owned,
        at=at,
    )
    statements: Statements = []
    for row in rows:
        board = read(row["board"])
        for claim in claims:
            add(board, claim, policies)
        params = {"observations": row["observations"] + len(claims), "board": written(board)}
        statements.append((UPDATE_CHECKPOINT, {**owned, "observed_at": row["observed_at"], **params}))
    is_there = bool(rows) and rows[0]["observed_at"] == at
    if not is_there and any(is_boundary(claim.id) for claim in claims):
        board, count = board_at(state, owner, entity_id, at, policies)
        for claim in claims:
            add(board, claim, policies)
        statements.append(checkpoint(owner, entity_id, at, count + len(claims), written(board)))
    return statements
