"""A flow that nobody has, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engross.replies import Invalid, codes

from .fault import shortened
from .nearest import nearest


def unknown_flow(ref: object, refs: Iterable[str], tools: Mapping[str, str]) -> Invalid:
    """Invalid, with the nearest of these refs. `tools` are the names by which people may know them."""
    suggestions = {"did_you_mean": _nearest_refs(ref, list(refs), tools) if isinstance(ref, str) else []}
    return Invalid(codes.UNKNOWN_OPERATION, {"operation": shortened(ref)}, suggestions=suggestions)


def _nearest_refs(ref: str, refs: list[str], tools: Mapping[str, str]) -> list[str]:
    if ref in tools:
        return [tools[ref]]
    names = {known.partition(".")[2]: known for known in refs}
    close = nearest(ref, refs) or [names[name] for name in nearest(ref, names)]
    return close or [tools[name] for name in nearest(ref, tools)]
