"""Lines from a client, sorted: what is plain is answered by the short way, all else goes to the SDK.

The first request is always the SDK's, because it opens the era of the connection, for good. Only when that is the later
era are there plain calls at all. They run side by side, as the SDK's do, and can be taken back like those.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import mcp_types as types
import orjson
from mcp.shared.dispatcher import coerce_request_id
from mcp_types import CONNECTION_CLOSED

from engross.replies import Trace, record_crash

from .lane import METHOD, Lane, Plain
from .pipes import Lines, Pen
from .protocol import crashed

_TAKEN_BACK = "notifications/cancelled"


class Sorting:
    """The lines that are left for the SDK, and the calls that were answered without it."""

    def __init__(self, lines: Lines, lane: Lane, pen: Pen) -> None:
        self._lines = lines
        self._lane = lane
        self._pen = pen
        self._is_modern: bool | None = None
        self._left: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._running: dict[types.RequestId, asyncio.Task[None]] = {}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        sorting = asyncio.create_task(self._sort())
        try:
            while (line := await self._left.get()) is not None:
                yield line
        finally:
            sorting.cancel()

    def note(self, message: types.JSONRPCMessage) -> None:
        """Take note of a message that the SDK gets: the first request, and whatever takes a call back."""
        if isinstance(message, types.JSONRPCRequest):
            if self._is_modern is None:
                meta = (message.params or {}).get("_meta")
                opens = message.method != "initialize" and isinstance(meta, dict)
                self._is_modern = opens and self._lane.is_envelope(meta or {})
        elif isinstance(message, types.JSONRPCNotification) and message.method == _TAKEN_BACK:
            number = (message.params or {}).get("requestId")
            if type(number) in (str, int):
                self._take_back(coerce_request_id(number))

    async def settle(self, seconds: float) -> None:
        """Wait for the calls that run, but not for ever: those that take longer are told that this is the end."""
        if self._running:
            await asyncio.wait(self._running.values(), timeout=seconds)
        for number in list(self._running):
            self._take_back(number)
            error = types.ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
            await self._pen.write_line(_error(number, error))

    async def _sort(self) -> None:
        async for line in self._lines:
            request = self._lane.plain(line) if self._is_modern else None
            number = None if request is None else coerce_request_id(request.id)
            if request is None or number is None or number in self._running:
                await self._left.put(line)
            else:
                self._running[number] = asyncio.create_task(self._answer(number, request, line))
        await self._left.put(None)

    async def _answer(self, number: types.RequestId, request: Plain, line: bytes) -> None:
        try:
            answer = await self._lane.answer(request, _no_header)
        except Exception as crash:
            trace = Trace.new()
            record_crash(trace.trace_id, crash, METHOD)
            answer = _error(request.id, crashed(trace.trace_id).error)
        finally:
            self._running.pop(number, None)
        if answer is None:
            await self._left.put(line)
        else:
            await self._pen.write_line(answer)

    def _take_back(self, number: types.RequestId) -> None:
        task = self._running.pop(number, None)
        if task is not None:
            task.cancel()


def _no_header(name: str) -> None:
    """A pipe has no headers."""


def _error(number: types.RequestId, error: types.ErrorData) -> bytes:
    told = error.model_dump(by_alias=True, exclude_unset=True)
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "error": told})
