"""The rows of entities, and the words that statements about memory share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from engross.ledger import Reader
from engross.store import Statement

Statements = list[Statement]
Asked = TypeVar("Asked")

OWNED = "WHERE tenant = :tenant AND owner = :owner"
ASKED_AT_ONCE = 200
GONE = ""
"""Stands for the survivor of an entity about which nothing stands any more."""
COLUMNS = (
    "id, type, name, born, created_at, updated_at, observations, last_observed_at, late, absorbed, survivor_id,"
    " merged_at, board"
)
UPDATE_ENTITY = (
    "UPDATE memory_entities SET name = :name, created_at = :created_at, updated_at = :updated_at,"
    " observations = :observations, last_observed_at = :last_observed_at, late = :late, survivor_id = :survivor_id,"
    f" board = :board {OWNED} AND id = :id"
)


OBSERVED_OF = f"born = (SELECT born FROM memory_entities {OWNED} AND id = :entity_id) AND entity_id = :entity_id"
"""Which observations are about an entity: they lie in the order in which entities were first heard of."""


def births(count: int) -> str:
    """A question for the births and ids of so many entities, `:id_0` and so on, that an index answers by itself."""
    places = ", ".join(f":id_{n}" for n in range(count))
    return f"(SELECT born, id FROM memory_entities {OWNED} AND id IN ({places}))"


def observed_of(count: int) -> str:
    """Which observations are about any of so many entities: `:id_0` and so on."""
    return f"(born, entity_id) IN {births(count)}"


def birth(position: int, ordinal: int) -> int:
    """A number for what was first heard of at a place in the ledger: later ones are greater."""
    return position << 20 | ordinal


def parts(asked: Sequence[Asked]) -> Iterator[Sequence[Asked]]:
    """What is asked for, in parts that one statement can name."""
    for start in range(0, len(asked), ASKED_AT_ONCE):
        yield asked[start : start + ASKED_AT_ONCE]


def entity_rows(reader: Reader, owner: str, identifiers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The rows of entities by their ids; those that are not there are left out."""
    if len(identifiers) == 1:
        row = reader.row(f"SELECT {COLUMNS} FROM memory_entities {OWNED} AND id = :id", owner=owner, id=identifiers[0])
        return {} if row is None else {identifiers[0]: row}
    found: dict[str, dict[str, Any]] = {}
    for some in parts(identifiers):
        rows = reader.rows(
            f"SELECT {COLUMNS} FROM memory_entities {OWNED} AND (born, id) IN {births(len(some))}",
            owner=owner,
            **{f"id_{n}": identifier for n, identifier in enumerate(some)},
        )
        found |= {row["id"]: row for row in rows}
    return found
