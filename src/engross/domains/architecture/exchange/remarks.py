"""What does not hinder an import, but whoever sent the file should know: what is not kept, what nobody defined."""

from __future__ import annotations

from ..notices import Notices, notice
from .parcel import Parcel

MOST_NAMED = 5


def remarks(parcel: Parcel) -> Notices:
    """A warning for each kind of thing that is odd about a file."""
    return [*_left_out(parcel), *_undefined(parcel)]


def not_kept(parcel: Parcel) -> dict[str, int]:
    """How much of the file finds no place here, by kind."""
    return {kind: count for kind, count in sorted(parcel.left_out.items()) if count}


def _left_out(parcel: Parcel) -> Notices:
    lost = not_kept(parcel)
    if not lost:
        return []
    told = ", ".join(f"{count} {kind}" for kind, count in lost.items())
    return [notice("NOT_KEPT", f"Not kept: {told}.", parcel.sent_as, "Keep the file if you need them.")]


def _undefined(parcel: Parcel) -> Notices:
    if not parcel.undefined:
        return []
    some = ", ".join(one[:80] for one in sorted(parcel.undefined)[:MOST_NAMED])
    told = f"{len(parcel.undefined)} property definitions are used and not there, for instance {some}."
    hint = "Their properties are called by these ids; define them to give them names."
    return [notice("PROPERTY_UNDEFINED", told, parcel.sent_as, hint, uses=parcel.undefined.total())]
