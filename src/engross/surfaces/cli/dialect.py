"""In which dialect a command answers: that of the flow it is about, also where the flow was never reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engross.replies import Coded
from engross.surfaces.client import Outline

PLAIN = "plain"


def dialect_of(flow: str, outlines: Callable[[], Mapping[str, Outline]]) -> str:
    """The dialect of a flow; of one that is not there, that of its neighbours; plain if nobody can say."""
    try:
        known = outlines()
    except Coded:
        return PLAIN
    if flow in known:
        return known[flow].dialect
    namespace = flow.partition(".")[0]
    return next((one.dialect for one in known.values() if one.namespace == namespace), PLAIN)
