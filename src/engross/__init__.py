"""Agents draft; Engross makes it the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engross.later import later

if TYPE_CHECKING:
    from engross.flows import Aggregate, Example, Semantics
    from engross.replies import Reply, codes, mcp_safe_tool, mcp_server_tool
    from engross.surfaces.client import connect

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "Example",
    "Reply",
    "Semantics",
    "__version__",
    "codes",
    "connect",
    "mcp_safe_tool",
    "mcp_server_tool",
]

_HOMES = {
    "Aggregate": "engross.flows",
    "Example": "engross.flows",
    "Semantics": "engross.flows",
    "Reply": "engross.replies",
    "codes": "engross.replies",
    "mcp_safe_tool": "engross.replies",
    "mcp_server_tool": "engross.replies",
    "connect": "engross.surfaces.client",
}


__getattr__ = later(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
