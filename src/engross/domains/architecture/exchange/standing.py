"""What a model holds before a file comes in, by the ids under which it goes out: a file finds its own again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader
from engross.replies import Issue

from ..refusals import malformed
from ..rows import of_row
from ..tables import AS_OF
from .identifiers import ncname
from .parcel import Parcel, Piece

Row = dict[str, Any]


class Known(NamedTuple):
    """What a model holds of one kind: what pieces of the file are the same as, by their ids there; and the others."""

    same: Mapping[str, Row]
    others: Sequence[Row]


NOTHING = Known({}, ())


class Standing(NamedTuple):
    """The elements, relationships and views of a model; of a new one, none."""

    elements: Known = NOTHING
    relationships: Known = NOTHING
    views: Known = NOTHING

    @classmethod
    def of(cls, reader: Reader, model_id: str | None, parcel: Parcel) -> Standing:
        """What is there already."""
        if model_id is None:
            return cls()
        kinds = {"elements": parcel.elements, "relationships": parcel.relationships, "views": parcel.views}
        return cls(
            *(_paired(_rows(reader, f"architecture_{kind}", model_id), pieces) for kind, pieces in kinds.items())
        )

    def ids(self) -> dict[str, str]:
        """What elements and relationships of the file are called in the model, those that it has already."""
        same = {**self.elements.same, **self.relationships.same}
        return {outside: one["id"] for outside, one in same.items()}


def changed_types(parcel: Parcel, known: Known) -> list[Issue]:
    """Elements that are of another type in the model than in the file."""
    return [
        malformed(
            parcel.pointer,
            f"{piece.id[:80]} is a {before['type']} in the model and a {piece.said['type']} in the file",
            "Give it another id in the file, or delete the element first.",
        )
        for piece in parcel.elements
        if (before := known.same.get(piece.id)) and before["type"] != piece.said["type"]
    ]


def _rows(reader: Reader, table: str, model_id: str) -> list[Row]:
    rows = reader.rows(
        f"SELECT * FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF}", model_id=model_id
    )
    things = [of_row(row) for row in rows]
    for one in things:
        if "body" in one:
            one["body"] = orjson.loads(one["body"])
    return things


def _paired(rows: Sequence[Row], pieces: Sequence[Piece]) -> Known:
    """Each row is one piece at most: the one with its own id, else one with the id that XML makes of it."""
    left = {one.get("external_id") or one["id"]: one for one in rows}
    same = {piece.id: left.pop(piece.id) for piece in pieces if piece.id in left}
    spelled: dict[str, Row] = {}
    for name, one in left.items():
        spelled.setdefault(ncname(name), one)
    for piece in pieces:
        if piece.id not in same and (found := spelled.pop(ncname(piece.id), None)) is not None:
            same[piece.id] = found
    taken = {one["id"] for one in same.values()}
    return Known(same, [one for one in rows if one["id"] not in taken])
