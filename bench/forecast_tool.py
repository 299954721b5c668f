"""What a declared flow is measured against: the same call written by hand, as a tool on the SDK with an httpx2 client.

`python -m bench.forecast_tool tool PORT UPSTREAM`; the upstream itself: `python -m bench.forecast_tool upstream PORT`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import quote

import mcp_types as types
import orjson
from mcp.server.lowlevel import Server

SCHEMA = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
TOOL = types.Tool(
    name="get-forecast", description="Fetch a forecast.", input_schema=SCHEMA, output_schema={"type": "object"}
)
ANSWER = orjson.dumps({"forecast": "Snow until noon, then clear.", "celsius": -2.5, "days": [1, 2, 3]})


def serve_tool(port: int, upstream: str) -> None:
    """One tool that makes one call."""
    import httpx2
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Mount

    client = httpx2.AsyncClient()

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[TOOL])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        place = quote((params.arguments or {})["location"], safe="")
        response = await client.get(f"{upstream}/weather/{place}")
        response.raise_for_status()
        told = {"result": response.json()["forecast"]}
        text = types.TextContent(type="text", text=orjson.dumps(told).decode())
        return types.CallToolResult(content=[text], structured_content=told)

    server: Server[Any] = Server(
        "forecast",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda name: SCHEMA if name == "get-forecast" else None,
    )
    app = server.streamable_http_app(stateless_http=True, json_response=True)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    whole = Starlette(routes=[Mount("/", app)], lifespan=cast(Any, lifespan))
    uvicorn.run(whole, port=port, log_level="error", access_log=False, loop="uvloop", http="httptools")


def serve_upstream(port: int) -> None:
    """An upstream that answers at once, or after as many milliseconds as `/after/50/...` says."""
    import asyncio

    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        parts = scope["path"].split("/")
        if parts[1] == "after":
            await asyncio.sleep(int(parts[2]) / 1000)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": ANSWER})

    uvicorn.run(app, port=port, log_level="error", access_log=False, loop="uvloop", http="httptools", lifespan="off")


if __name__ == "__main__":
    if sys.argv[1] == "tool":
        serve_tool(int(sys.argv[2]), sys.argv[3])
    else:
        serve_upstream(int(sys.argv[2]))
