"""One application for everything that is served: the guard, and behind it MCP, REST and what operators look at."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from engross.calls import Caller
from engross.flows import Listener
from engross.replies import Reply
from engross.replies.calllog import outcome_of
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import mcp_app
from engross.surfaces.rest import Rest
from engross.surfaces.rest.answers import refuse_address, send_empty
from engross.surfaces.rest.calls import refuse_method
from engross.surfaces.rest.looking import METHODS
from engross.surfaces.watching.logs import OF_TYPE, write_line

from .guard import LONGEST_METHOD, LONGEST_PATH, MCP, METADATA, METRICS, Guard
from .health import Health
from .metrics import Metrics
from .names import Names, public_base
from .own_ports import NO_LISTENERS, OwnPorts
from .pages import Pages

_log = logging.getLogger("engross.serving")
LOOK_AGAIN_SECONDS = 0.02
STREAM_SECONDS = 0.5
"""How long a stream whose calls are over is given to end by itself."""
BREAK_SECONDS = 2.0
MCP_PATHS = (MCP, f"{MCP}/")


def make_app(
    desk: Desk,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    nobody: Caller | None = None,
    listeners: Mapping[int, Listener] = NO_LISTENERS,
) -> App:
    """Serve a desk at an address. `listeners` are the ports at which one exposure is reached and nothing else.

    Host headers are held against the address and the settings. `nobody` is who everybody is when no credential is asked
    for; that is for this machine alone, and `serve` sees to it.
    """
    names = Names(host, port, desk.office.settings)
    for own, listener in listeners.items():
        names.listens_at(listener.address, own)
    return App(desk, names, nobody, listeners)


class App:
    """The ASGI application. Who runs it also ends it, with `drain`."""

    def __init__(
        self, desk: Desk, names: Names, nobody: Caller | None, listeners: Mapping[int, Listener] = NO_LISTENERS
    ) -> None:
        office, settings = desk.office, desk.office.settings
        self._mcp = mcp_app(desk)
        self._rest = Rest(
            desk,
            base_url=public_base(settings),
            redirect_slashes=False,
            default=_nowhere,
            lifespan=self._lifespan,
        )
        self._daybook = desk.daybook
        self.metrics = Metrics(office, desk.daybook, lambda: len(self.guard.running))
        self._own = OwnPorts(desk, listeners)
        pages = Pages(office, self.metrics)
        health = Health(office, lambda: self.guard.closing)
        self._pages: dict[str, ASGIApp] = {
            "/": pages.welcome,
            "/health/live": health.live,
            "/health/ready": health.ready,
            METRICS: pages.metrics,
            METADATA: pages.metadata,
            METADATA + MCP: pages.mcp_metadata,
        }
        self._deadline = float("inf")
        self.guard = Guard(
            self._route,
            names,
            settings,
            office.door.admit,
            nobody=nobody,
            note=self._note,
            dialect_of=self._rest.dialect_of,
        )

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]:
        """Answer a request, or live a life."""
        return self.guard(self._own.placed(scope), receive, send)

    async def drain(self, seconds: float) -> None:
        """Take no more requests, let calls end within this time, then end what has no end of its own."""
        self.guard.closing = True
        self._mcp.end_streams()
        self._own.end_streams()
        self._deadline = min(self._deadline, time.monotonic() + seconds)
        await self._wait_while(self._is_busy, seconds)
        await self._wait_while(self._is_running, STREAM_SECONDS)
        for answering in list(self.guard.running):
            if answering.task is not None:
                answering.task.cancel()
        self._deadline = float("inf")
        await self._wait_while(self._is_running, BREAK_SECONDS)

    def hurry(self) -> None:
        """Do not wait any longer."""
        self._deadline = 0.0

    async def _wait_while(self, condition: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while condition() and time.monotonic() < min(until, self._deadline):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def _is_running(self) -> bool:
        return bool(self.guard.running)

    def _is_busy(self) -> bool:
        """Whether anybody waits for an answer. Who listens to a stream waits for nothing in particular."""
        return self._daybook.under_way > 0 or any(not answering.streaming for answering in self.guard.running)

    def _route(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            path = scope["path"]
            if path in MCP_PATHS:
                mcp = self._own.mcp(scope) or self._mcp
                return mcp(scope, receive, send)
            page = self._pages.get(path)
            if page is not None:
                refuse_method(scope["method"], METHODS)
                if scope["method"] == "OPTIONS":
                    return send_empty(send, 204, {"allow": ", ".join(METHODS)})
                return page(scope, receive, send)
        return self._rest(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        async with self._mcp.run(), self._own.run():
            yield

    def _note(self, answer: Reply, scope: Scope) -> None:
        self.metrics.refused(answer)
        where = {"method": scope["method"][:LONGEST_METHOD], "path": scope["path"][:LONGEST_PATH]}
        write_line(_log, OF_TYPE[answer.reply_type], {"event": "refused", **where, **outcome_of(answer)})


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    refuse_address(scope)
