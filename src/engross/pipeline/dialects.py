"""What a failing store is called in a dialect that has words of its own for it."""

from __future__ import annotations

from collections.abc import Mapping

from engross.flows import Flow
from engross.replies import Coded, Failed, codes

BY_EFFECT: Mapping[str | None, str] = {
    None: codes.DB_QUERY_FAILED,
    "create": codes.DB_INSERT_FAILED,
    "update": codes.DB_UPDATE_FAILED,
    "delete": codes.DB_DELETE_FAILED,
}


def in_dialect(failure: Coded, flow: Flow | None) -> Coded:
    """The failure as callers of the flow expect it: memory tells by what was tried which of four it is."""
    if flow is None or flow.dialect != "memory" or failure.code != codes.STORE_UNAVAILABLE:
        return failure
    return Failed(BY_EFFECT[flow.effect], failure.params, data=failure.data)
