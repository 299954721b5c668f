"""How much of a client's context the office takes: the tools it lists, and what it says of itself."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from engross.calls import Caller, Principal
from engross.surfaces.client import connect
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import tool_bytes

from .claims import Claim

KILOBYTE = 1000
AGENT = Caller("main", Principal("scout", "agent", frozenset({"agent"})))


def measure() -> list[Claim]:
    """The claims about context."""
    with TemporaryDirectory() as folder, connect(folder) as client:
        sizes = tool_bytes(Desk(client.office), AGENT, "mcp-stdio")
    told: dict[str, float] = dict(sizes)
    return [
        Claim("tools/list by default, in KB", sizes["tools/list"] / KILOBYTE, "at most", 48, told, "bytes"),
        Claim("MCP instructions, in KB", sizes["instructions"] / KILOBYTE, "at most", 2, told, "bytes"),
    ]
