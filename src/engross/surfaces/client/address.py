"""The address of an office that runs elsewhere."""

from __future__ import annotations

SCHEMES = ("http://", "https://")
ENDPOINTS = ("/mcp", "/v1")


def is_address(text: str) -> bool:
    """Whether an office could be reached under it, or else it is a folder's name."""
    return text.lower().startswith(SCHEMES)


def office_around(address: str) -> str:
    """The address of the office, also where that of its MCP endpoint is given, or the one that REST begins with."""
    whole = address.rstrip("/")
    for endpoint in ENDPOINTS:
        whole = whole.removesuffix(endpoint)
    return whole.rstrip("/")
