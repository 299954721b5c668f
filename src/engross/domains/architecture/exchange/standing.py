"""What a model holds before a file comes in, by the ids under which it goes out: a file finds its own again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader
from engross.replies import Issue

from ..refusals import malformed
from ..rows import of_row
from ..tables import AS_OF
from .identifiers import ncname
from .parcel import Parcel, Piece

Known = Mapping[str, dict[str, Any]]
NOTHING: Known = {}


class Standing(NamedTuple):
    """The elements, relationships and views of a model; of a new one, none."""

    elements: Known = NOTHING
    relationships: Known = NOTHING
    views: Known = NOTHING

    @classmethod
    def of(cls, reader: Reader, model_id: str | None) -> Standing:
        """What is there already."""
        if model_id is None:
            return cls()
        kinds = ("elements", "relationships", "views")
        return cls(*(_known(reader, f"architecture_{kind}", model_id) for kind in kinds))


def same(known: Known, piece: Piece) -> dict[str, Any] | None:
    """What is there already under the id of a piece, or under the id that XML makes of it."""
    return (known.get(piece.id) or known.get(ncname(piece.id))) if known else None


def others(known: Known, pieces: Iterable[Piece]) -> list[dict[str, Any]]:
    """What is there and not among the pieces."""
    if not known:
        return []
    here = {before["id"] for piece in pieces if (before := same(known, piece))}
    return list({one["id"]: one for one in known.values() if one["id"] not in here}.values())


def changed_types(parcel: Parcel, known: Known) -> list[Issue]:
    """Elements that are of another type in the model than in the file."""
    return [
        malformed(
            parcel.pointer,
            f"{piece.id[:80]} is a {before['type']} in the model and a {piece.said['type']} in the file",
            "Give it another id in the file, or delete the element first.",
        )
        for piece in parcel.elements
        if (before := same(known, piece)) and before["type"] != piece.said["type"]
    ]


def _known(reader: Reader, table: str, model_id: str) -> Known:
    rows = reader.rows(
        f"SELECT * FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF}", model_id=model_id
    )
    things = [of_row(row) for row in rows]
    for one in things:
        if "body" in one:
            one["body"] = orjson.loads(one["body"])
    found = {one.get("external_id") or one["id"]: one for one in things}
    for name, one in list(found.items()):
        found.setdefault(ncname(name), one)
    return found
