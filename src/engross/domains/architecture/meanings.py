"""What elements mean: the texts that are embedded, and which vectors stand for them."""

from __future__ import annotations

from collections.abc import Sequence

from engross.ledger import Reader
from engross.searching.meaning import Vectors

from .tables import AS_OF

LONGEST_TEXT = 2_000

_STAMP = "CAST(version AS TEXT)"
VECTORS = Vectors(
    "architecture",
    "model_id",
    listed=f"SELECT id, type, {_STAMP} AS stamp, from_position AS place FROM architecture_elements"
    f" WHERE tenant = :tenant AND model_id = :scope AND {AS_OF} ORDER BY from_position DESC LIMIT :most",
    standing=f"SELECT 1 FROM architecture_elements WHERE tenant = :tenant AND id = :id AND {_STAMP} = :stamp",
)


def told_of(reader: Reader, identifiers: Sequence[str]) -> dict[str, str]:
    """The texts to embed, by the ids of elements: what each is called, and what is said about it."""
    places = ", ".join(f":id_{n}" for n in range(len(identifiers)))
    rows = reader.rows(
        f"SELECT id, name, description FROM architecture_elements WHERE tenant = :tenant AND id IN ({places})"
        f" AND {AS_OF}",
        **{f"id_{n}": identifier for n, identifier in enumerate(identifiers)},
    )
    return {row["id"]: f"{row['name']}. {row['description'] or ''}"[:LONGEST_TEXT] for row in rows}
