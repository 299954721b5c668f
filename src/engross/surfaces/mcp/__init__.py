"""MCP: tools, resources, prompts and subscriptions of an office, over stdio and HTTP, in both eras of the protocol."""

from typing import TYPE_CHECKING

from engross.later import later

if TYPE_CHECKING:
    from .economy import tool_bytes
    from .pipes import Ending
    from .server import make_server
    from .stdio import serve_stdio
    from .streamable import McpApp, mcp_app

__all__ = ["Ending", "McpApp", "make_server", "mcp_app", "serve_stdio", "tool_bytes"]

__getattr__ = later(
    __name__,
    {
        "Ending": f"{__name__}.pipes",
        "McpApp": f"{__name__}.streamable",
        "make_server": f"{__name__}.server",
        "mcp_app": f"{__name__}.streamable",
        "serve_stdio": f"{__name__}.stdio",
        "tool_bytes": f"{__name__}.economy",
    },
)
