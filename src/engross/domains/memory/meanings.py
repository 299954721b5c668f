"""What entities mean: the texts that are embedded, and which vectors stand for them.

An entity that was merged into another keeps the vector of what was said about it alone; whoever speaks for it is found
by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engross.ledger import Reader
from engross.searching.meaning import Vectors

from .entity_rows import entity_rows
from .owners import owner_of
from .reducer import read, snapshot_of
from .terms import texts_in

LONGEST_TEXT = 2_000

_STAMP = "updated_at || '/' || CAST(observations AS TEXT)"
_OWNED = "FROM memory_entities WHERE tenant = :tenant AND owner = :scope"
VECTORS = Vectors(
    "memory",
    "owner",
    listed=f"SELECT id, type, {_STAMP} AS stamp, born AS place {_OWNED} AND (survivor_id IS NULL OR survivor_id <> '')"
    " ORDER BY born DESC LIMIT :most",
    standing=f"SELECT 1 {_OWNED} AND id = :id AND {_STAMP} = :stamp",
)


def told_of(reader: Reader, identifiers: Sequence[str]) -> dict[str, str]:
    """The texts to embed, by the ids of entities: of which type, what it is called, and what is said about it."""
    rows = entity_rows(reader, owner_of(reader.context), identifiers)
    return {one: _told(row["type"], row["name"], row["board"]) for one, row in rows.items()}


def _told(entity_type: str, name: str, board: str) -> str:
    texts = texts_in(snapshot_of(read(board))) if board else []
    return f"{entity_type} {name}. {' '.join(texts)}"[:LONGEST_TEXT]
