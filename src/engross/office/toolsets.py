"""Toolsets that are not there before somebody names them, whichever way one comes in."""

from __future__ import annotations

from collections.abc import Collection, Container

from engross.flows import Catalogue, nearest, shortened
from engross.replies import Failed, codes

from .settings import Settings

HIDDEN = frozenset({"legacy"})
"""Toolsets whose flows are not even found before somebody names them."""


class Hidden(Container[str]):
    """The flows that are offered by hidden toolsets alone, of which none was named."""

    def __init__(self, catalogue: Catalogue, toolsets: frozenset[str]) -> None:
        self._catalogue = catalogue
        self._toolsets = toolsets

    def __contains__(self, ref: object) -> bool:
        """Is the flow with this ref one of them? Asking lets no aggregate join."""
        offering = self._catalogue.offering(ref)
        return bool(offering) and self._toolsets.issuperset(offering)


def hidden_in(catalogue: Catalogue, named: Collection[str] | None) -> Hidden:
    """The flows of a catalogue that are hidden from whoever named these toolsets."""
    return Hidden(catalogue, HIDDEN.difference(named or ()))


def named_in(settings: Settings, catalogue: Catalogue) -> frozenset[str] | None:
    """The toolsets that the settings name, or none at all; Failed where the office does not have one of them."""
    if settings.toolsets is None:
        return None
    named = frozenset(name for part in settings.toolsets.split(",") if (name := part.strip()))
    refuse_unknown_toolsets(named, catalogue)
    return named


def refuse_unknown_toolsets(named: Collection[str], catalogue: Catalogue) -> None:
    """Failed for a toolset that nobody has."""
    known = catalogue.toolsets if named else ()
    for name in named:
        if name not in known:
            data = {"toolset": shortened(name), "did_you_mean": nearest(name, known), "allowed_values": list(known)}
            raise Failed(codes.CONFIG_INVALID, {"setting": "toolsets"}, data=data)
