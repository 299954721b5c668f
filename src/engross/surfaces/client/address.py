"""The address of an office that runs elsewhere."""

from __future__ import annotations

SCHEMES = ("http://", "https://")


def is_address(text: str) -> bool:
    """Whether an office could be reached under it, or else it is a folder's name."""
    return text.lower().startswith(SCHEMES)


def office_around(address: str) -> str:
    """The address of the office, also where that of its MCP endpoint is given, which `engross serve` tells clients."""
    return address.rstrip("/").removesuffix("/mcp").rstrip("/")
