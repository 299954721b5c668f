"""Ports that belong to one exposure: what comes in there is about that exposure and nothing else.

Such a request is put below the exposure's namespace before anybody looks at it, so that it passes the same guard and
reaches the same place as one that came in by the office's own port.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType

from starlette.types import Scope

from engross.flows import Listener
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import McpApp, mcp_app

from .guard import MCP

NO_LISTENERS: Mapping[int, Listener] = MappingProxyType({})
_TOOLSET = "engross.toolset"


class OwnPorts:
    """Knows by the port of a request which exposure it is about."""

    def __init__(self, desk: Desk, listeners: Mapping[int, Listener]) -> None:
        self._listeners = listeners
        self._mcp: dict[str, McpApp] = {
            one.namespace: mcp_app(Desk(desk.office, toolsets=[one.namespace], daybook=desk.daybook))
            for one in listeners.values()
            if one.kind == "mcp"
        }

    def placed(self, scope: Scope) -> Scope:
        """The request as if it had come in by the office's own port."""
        listener = self._listener(scope) if self._listeners and scope["type"] == "http" else None
        if listener is None:
            return scope
        if listener.kind == "mcp":
            return {**scope, "path": MCP, "raw_path": MCP.encode(), _TOOLSET: listener.namespace}
        prefix = f"/{listener.namespace}"
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        return {**scope, "path": prefix + scope["path"], "raw_path": prefix.encode() + raw}

    def mcp(self, scope: Scope) -> McpApp | None:
        """The exposure's own MCP server, for a request that came in by its port."""
        return self._mcp.get(scope.get(_TOOLSET, ""))

    def end_streams(self) -> None:
        """Let nobody listen any longer."""
        for app in self._mcp.values():
            app.end_streams()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Live as long as the office is served."""
        async with AsyncExitStack() as living:
            for app in self._mcp.values():
                await living.enter_async_context(app.run())
            yield

    def _listener(self, scope: Scope) -> Listener | None:
        server = scope.get("server")
        return self._listeners.get(server[1]) if server else None
