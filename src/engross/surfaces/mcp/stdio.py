"""MCP over standard input and output: one client, which is whoever started the process.

Lines are read as bytes, so that broken UTF-8 is refused instead of being mended into something else. One that is no
message is answered with the protocol's own error, and one that is too long by whoever its ends say is asked. When the
client closes our input, what it asked before is answered.
"""

from __future__ import annotations

import asyncio
from contextvars import Context
from functools import partial
from types import TracebackType
from typing import Any, cast

import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from engross.calls import Caller
from engross.surfaces.desk import Desk

from .lane import Lane
from .overlong import Refusing
from .pipes import Ending, Lines, Pen, claimed, pen_for, source_of
from .server import make_server
from .sorting import Sorting
from .window import Window

MOST_BYTES = 16 * 1024 * 1024
"""The longest line. Larger files go in by REST or the command line."""
PARTING_SECONDS = 5.0
"""How long calls may go on when the client has nothing more to say."""

ENDLESS = ("subscriptions/listen",)


async def serve_stdio(desk: Desk, caller: Caller, ending: Ending | None = None) -> None:
    """Serve one client until it closes our standard input, or `ending` is told, which comes to the same."""
    with claimed() as wire:
        pen = await pen_for(wire.outgoing)
        # So long for calls that are under way, and so long again for what is still to be read of their answers.
        hurry = partial(pen.hurry, 2 * PARTING_SECONDS)
        lines = Lines(await source_of(wire.incoming, ending or Ending(), hurry), MOST_BYTES)
        try:
            await converse(desk, caller, lines, pen)
        finally:
            await pen.finish(PARTING_SECONDS)


async def converse(desk: Desk, caller: Caller, lines: Lines, pen: Pen, lane: type[Lane] = Lane) -> None:
    """Answer what comes in lines until they end; `lane` is the short way for plain calls."""
    window = Window(desk, lambda: caller, "mcp-stdio")
    server = make_server(*window)
    sorting = Sorting(lines, lane(window), Refusing(window, lines.most), pen, PARTING_SECONDS)
    async with stdio_server(cast(Any, sorting), cast(Any, pen)) as (reading, writing):
        unanswered = Unanswered()
        answers = Answers(writing, unanswered)
        messages = Messages(reading, unanswered, sorting)
        await server.run(messages, answers, server.create_initialization_options())


class Unanswered:
    """The requests that still wait for their answer."""

    def __init__(self) -> None:
        self._waiting: set[types.RequestId] = set()
        self._none = asyncio.Event()
        self._none.set()

    def note(self, message: types.JSONRPCMessage) -> None:
        """Take note of a message, in either direction."""
        if isinstance(message, types.JSONRPCRequest):
            if message.method not in ENDLESS:
                self._waiting.add(message.id)
                self._none.clear()
            return
        if isinstance(message, types.JSONRPCNotification):
            cancelled = message.method == "notifications/cancelled"
            settled = (message.params or {}).get("requestId") if cancelled else None
        else:
            settled = message.id
        if isinstance(settled, str | int):
            self._waiting.discard(settled)
        if not self._waiting:
            self._none.set()

    async def settled(self) -> None:
        """Wait until all are answered, but not for ever."""
        try:
            async with asyncio.timeout(PARTING_SECONDS):
                await self._none.wait()
        except TimeoutError:
            return


class Answers:
    """The SDK's stream of messages to the client."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        await self._stream.send(item)
        if not isinstance(item.message, types.JSONRPCRequest):
            self._unanswered.note(item.message)

    async def aclose(self) -> None:
        """Send no more."""
        await self._stream.aclose()

    async def __aenter__(self) -> Answers:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Messages:
    """The SDK's stream of messages from the client."""

    def __init__(
        self, stream: ReadStream[SessionMessage | Exception], unanswered: Unanswered, sorting: Sorting
    ) -> None:
        self._stream = stream
        self._unanswered = unanswered
        self._sorting = sorting

    @property
    def last_context(self) -> Context | None:
        """The context that the last message was sent in."""
        context: Context | None = getattr(self._stream, "last_context", None)
        return context

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return await self.__anext__()

    async def aclose(self) -> None:
        """Receive no more."""
        await self._stream.aclose()

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item = await self._stream.__anext__()
        except StopAsyncIteration:
            await self._unanswered.settled()
            raise
        if isinstance(item, SessionMessage):
            self._sorting.note(item.message)
            if isinstance(item.message, types.JSONRPCRequest | types.JSONRPCNotification):
                self._unanswered.note(item.message)
        return item

    async def __aenter__(self) -> Messages:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
