"""What MCP is measured against: one tool that gives back what it gets, on the same library.

`python -m bench.echo stdio` or `python -m bench.echo http PORT`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import mcp_types as types
import orjson
from mcp.server.lowlevel import Server

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}, "author": {"type": "string"}}}
TOOL = types.Tool(
    name="echo", description="Give back what comes.", input_schema=SCHEMA, output_schema={"type": "object"}
)


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    """The one tool."""
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """What came."""
    told = params.arguments or {}
    text = types.TextContent(type="text", text=orjson.dumps(told).decode())
    return types.CallToolResult(content=[text], structured_content=told)


def make_server() -> Server[Any]:
    """The barest server there is."""
    return Server(
        "echo",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: SCHEMA if name == "echo" else None,
    )


async def serve_stdio() -> None:
    """Over a pipe."""
    from mcp.server.stdio import stdio_server

    server = make_server()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def serve_http(port: int) -> None:
    """MCP at /mcp."""
    import uvicorn

    app = make_server().streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, port=port, log_level="error", access_log=False, loop="uvloop", http="httptools")


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        asyncio.run(serve_stdio())
    else:
        serve_http(int(sys.argv[2]))
