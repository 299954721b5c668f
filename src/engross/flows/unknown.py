"""A flow that nobody has, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engross.replies import Invalid, codes

from .fault import shortened
from .nearest import nearest

LOOK_FOR_IT = "Nothing here has a name like that: look for the operation with find_flow."


def unknown_flow(ref: object, refs: Iterable[str], tools: Mapping[str, str], *, hint: str = LOOK_FOR_IT) -> Invalid:
    """Invalid, with the nearest of these refs, or with a hint if none is near. `tools` are names they go by, too."""
    close = _nearest_refs(ref, list(refs), tools) if isinstance(ref, str) else []
    suggestions = {"did_you_mean": close} if close else {"hint": hint}
    return Invalid(codes.UNKNOWN_OPERATION, {"operation": shortened(ref)}, suggestions=suggestions)


def _nearest_refs(ref: str, refs: list[str], tools: Mapping[str, str]) -> list[str]:
    if ref in tools:
        return [tools[ref]]
    names = {known.partition(".")[2]: known for known in refs}
    close = nearest(ref, refs) or [names[name] for name in nearest(ref, names)]
    return close or [tools[name] for name in nearest(ref, tools)]
