"""The one server definition, for both transports and both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from engross import __version__
from engross.calls import Surface
from engross.surfaces.desk import Desk

from .boundary import Boundary
from .calling import Calling
from .instructions import instructions
from .lists import followed
from .logs import set_level
from .prompts import Prompts
from .protocol import unknown_cursor
from .resources import Resources
from .subscriptions import Subscriptions
from .tools import Tools
from .window import RequestContext, Who, Window

NAME = "engross"
TITLE = "Engross"
KEPT_MS = 60_000
"""How long a client may go by a list, unless it listens: what is offered changes when a document is accepted anew."""


class _Changing(Server[Any]):
    """A server whose lists may change: it says so in the handshake."""

    def get_capabilities(
        self, notification_options: NotificationOptions | None = None, *arguments: Any, **more: Any
    ) -> types.ServerCapabilities:
        """What is promised when a session begins."""
        return super().get_capabilities(NotificationOptions(True, True, True), *arguments, **more)


def _capabilities(changing: bool) -> types.ServerCapabilities:
    """What the later era is offered. The SDK would promise changes of lists to everybody who may listen."""
    return types.ServerCapabilities(
        tools=types.ToolsCapability(list_changed=changing),
        prompts=types.PromptsCapability(list_changed=changing),
        resources=types.ResourcesCapability(list_changed=changing, subscribe=True),
        completions=types.CompletionsCapability(),
    )


def make_server(desk: Desk, who: Who, surface: Surface) -> Server[Any]:
    """An MCP server over a desk. `who` tells the caller of the request at hand, from its credential."""
    return make_parts(desk, who, surface)[0]


def make_parts(desk: Desk, who: Who, surface: Surface) -> tuple[Server[Any], Subscriptions]:
    """The server, and those who listen at it."""
    window = Window(desk, who, surface)
    catalogue, changing = desk.catalogue, desk.office.takes_up_documents
    tools = Tools(window)
    resources, prompts, subscriptions = Resources(window), Prompts(window), Subscriptions(window)

    async def list_tools(context: RequestContext, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise unknown_cursor()
        # The SDK takes the wire form as well, and need not take it apart first.
        return cast(types.ListToolsResult, {"resultType": "complete", "tools": tools.listed(who())})

    async def complete(context: RequestContext, params: types.CompleteRequestParams) -> types.CompleteResult:
        visit = window.visit(context)
        if isinstance(params.ref, types.PromptReference):
            values = await prompts.completed(params.ref.name, params.argument, visit)
        else:
            values = await resources.completed(params.ref.uri, params.argument, visit)
        return types.CompleteResult(
            completion=types.Completion(values=values[:100], total=len(values), has_more=len(values) > 100)
        )

    async def discover(context: RequestContext, params: types.RequestParams | None) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=_capabilities(changing),
            instructions=server.instructions,
        )

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            subscriptions.close()

    kept = CacheHint(KEPT_MS)
    server: Server[Any] = (_Changing if changing else Server)(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=instructions(desk),
        cache_hints={"tools/list": kept, "prompts/list": kept, "resources/templates/list": kept},
        lifespan=lifespan,
        get_tool_input_schema=tools.schema,
        on_list_tools=followed("tools", catalogue, list_tools),
        on_call_tool=Calling(window),
        on_list_resources=followed("resources", catalogue, resources.listed),
        on_list_resource_templates=followed("resources", catalogue, resources.templates),
        on_read_resource=resources.read,
        on_subscribe_resource=subscriptions.subscribe,
        on_unsubscribe_resource=subscriptions.unsubscribe,
        on_subscriptions_listen=subscriptions.listen,
        on_list_prompts=followed("prompts", catalogue, prompts.listed),
        on_get_prompt=prompts.get,
        on_completion=complete,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_request_handler("server/discover", types.RequestParams, discover)
    server.middleware.append(Boundary(window, NAME))
    return server, subscriptions
