"""What a file brings twice, or brings once more than the model has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..names import folded
from ..notices import Notices, notice
from ..rows import brief
from .parcel import Parcel, Piece
from .standing import Known, Standing

Ends = tuple[str, str, str]
"""Of a relationship: its type, and what it leads from and to."""


def doubles(parcel: Parcel, standing: Standing) -> Notices:
    """A warning for every name and every relationship that there would be twice."""
    found = (*_names(parcel, standing.elements), *_relationships(parcel, standing))
    return [{**one, "field": parcel.sent_as} for one in found]


def _names(parcel: Parcel, known: Known) -> Iterator[dict[str, Any]]:
    keys = [(piece.said["type"], folded(piece.said["name"])) for piece in parcel.elements]
    counted = Counter(keys)
    taken = {(one["type"], one["folded"]): one for one in known.others}
    for piece, key in zip(parcel.elements, keys, strict=True):
        count, existing = counted.pop(key, 0), taken.get(key)
        if not key[1] or not count:
            continue
        if existing is not None and (count > 1 or _is_new_name(piece, known)):
            yield _double_name(
                piece, f"There is a {key[0]} called {piece.said['name']} in the model already.", existing
            )
        elif count > 1:
            yield _double_name(piece, f"{count} elements of type {key[0]} are called {piece.said['name']}.")


def _is_new_name(piece: Piece, known: Known) -> bool:
    before = known.same.get(piece.id)
    return before is None or before["folded"] != folded(piece.said["name"])


def _double_name(piece: Piece, message: str, existing: Mapping[str, Any] | None = None) -> dict[str, Any]:
    more = {"existing_element": brief(existing)} if existing else {}
    return notice("DUPLICATE_NAME", message, None, "Merge or rename them.", place=piece.id[:200], **more)


def _relationships(parcel: Parcel, standing: Standing) -> Iterator[dict[str, Any]]:
    counted = Counter(map(_ends, parcel.relationships))
    taken = {(one["type"], one["source_id"], one["target_id"]): one for one in standing.relationships.others}
    here = standing.ids() if taken else {}
    for piece in parcel.relationships:
        kind, source, target = ends = _ends(piece)
        count = counted.pop(ends, 0)
        existing = taken.get((kind, here.get(source, ""), here.get(target, "")))
        if existing is not None and count and (count > 1 or piece.id not in standing.relationships.same):
            message = f"There is such a {kind} in the model already."
            told = {"id": existing["id"], "type": kind}
            yield _double_relationship(piece, message, existing_relationship=told)
        elif count > 1:
            yield _double_relationship(piece, f"{count} {kind} relationships lead from {source[:80]} to {target[:80]}.")


def _double_relationship(piece: Piece, message: str, **more: Any) -> dict[str, Any]:
    hint = "Keep one of them, unless they say different things."
    return notice("DUPLICATE_RELATIONSHIP", message, None, hint, place=piece.id[:200], **more)


def _ends(piece: Piece) -> Ends:
    return piece.said["type"], piece.said["source_id"], piece.said["target_id"]
