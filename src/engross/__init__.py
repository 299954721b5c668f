"""Agents draft; Engross makes it the record."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engross.flows import Aggregate, Example, Semantics
    from engross.replies import Reply, codes, mcp_safe_tool
    from engross.surfaces.client import connect

__version__ = "0.1.0"

__all__ = ["Aggregate", "Example", "Reply", "Semantics", "__version__", "codes", "connect", "mcp_safe_tool"]

_HOMES = {
    "Aggregate": "engross.flows",
    "Example": "engross.flows",
    "Semantics": "engross.flows",
    "Reply": "engross.replies",
    "codes": "engross.replies",
    "mcp_safe_tool": "engross.replies",
    "connect": "engross.surfaces.client",
}


def __getattr__(name: str) -> object:
    # A room is imported when its first name is asked for: `import engross` alone costs nothing.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
