"""Lines from a client, sorted: what is plain is answered by the short way, all else that is a message goes to the SDK.

The first request is always the SDK's, because it opens the era of the connection, for good. Only when that is the later
era are there plain calls at all. They run side by side, as the SDK's do, and can be taken back like those.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp_types import CONNECTION_CLOSED, ErrorData

from engross.replies import Trace, record_crash

from .lane import METHOD, Lane, Plain
from .overlong import Refusing, no_header
from .pipes import Lines, Overlong, Pen
from .protocol import crashed, error_line
from .unreadable import refused

_TAKEN_BACK = "notifications/cancelled"
_GONE = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")

Left = MemoryObjectSendStream[bytes]
"""Takes the lines that are left for the SDK."""


class Running(NamedTuple):
    """A call under way."""

    id: types.RequestId
    task: asyncio.Task[None]


class Sorting:
    """The lines that are left for the SDK. When they end, the calls that were answered without it have ended too."""

    def __init__(self, lines: Lines, lane: Lane, refusing: Refusing, pen: Pen, parting_seconds: float) -> None:
        """`parting_seconds` is how long calls may go on when there are no more lines."""
        self._lines = lines
        self._lane = lane
        self._refusing = refusing
        self._pen = pen
        self._parting_seconds = parting_seconds
        self._is_modern: bool | None = None
        self._running: dict[types.RequestId, Running] = {}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, found = anyio.create_memory_object_stream[bytes](0)
        sorting = asyncio.create_task(self._sort(left))
        try:
            async with found:
                async for line in found:
                    yield line
            await sorting
        finally:
            sorting.cancel()

    def note(self, message: types.JSONRPCMessage) -> None:
        """Take note of what the SDK gets: the first request, and whatever takes a call back."""
        if isinstance(message, types.JSONRPCRequest) and self._is_modern is None:
            meta = (message.params or {}).get("_meta")
            opens = message.method != "initialize" and isinstance(meta, dict)
            self._is_modern = opens and self._lane.is_envelope(meta or {})
        elif isinstance(message, types.JSONRPCNotification) and message.method == _TAKEN_BACK:
            taken_back = cancelled_request_id_from_params(message.params)
            if taken_back is not None:
                self._give_up(coerce_request_id(taken_back))

    async def _sort(self, left: Left) -> None:
        # Who takes no more lines needs none.
        with suppress(anyio.BrokenResourceError):
            async with left:
                async for line in self._lines:
                    if isinstance(line, Overlong):
                        await self._pen.write_line(self._refusing.answer(line, is_modern=bool(self._is_modern)))
                        continue
                    request = self._lane.plain(line) if self._is_modern else None
                    if request is not None and self._begun(request, line, left):
                        continue
                    if (refusal := refused(line, self._refusing, is_modern=bool(self._is_modern))) is not None:
                        await self._pen.write_line(refusal)
                    else:
                        await left.send(line)
                await self._part()

    def _begun(self, request: Plain, line: bytes, left: Left) -> bool:
        """Begin a call, unless there is one with its id already."""
        number = coerce_request_id(request.id)
        if number in self._running:
            return False
        task = asyncio.create_task(self._answer(number, request, line, left))
        self._running[number] = Running(request.id, task)
        return True

    async def _answer(self, number: types.RequestId, request: Plain, line: bytes, left: Left) -> None:
        try:
            answer = await self._lane.answer(request, no_header)
        except Exception as crash:
            trace = Trace.new()
            record_crash(trace.trace_id, crash, METHOD)
            answer = error_line(request.id, crashed(trace.trace_id).error)
        if answer is None:
            await left.send(line)
            self._running.pop(number, None)
        else:
            self._running.pop(number, None)
            await self._pen.write_line(answer)

    def _give_up(self, number: types.RequestId) -> Running | None:
        call = self._running.pop(number, None)
        if call is not None:
            call.task.cancel()
        return call

    async def _part(self) -> None:
        """Wait for the calls under way, but not for ever: those that take longer are told that this is the end."""
        if self._running:
            await asyncio.wait([call.task for call in self._running.values()], timeout=self._parting_seconds)
        for number in list(self._running):
            if (call := self._give_up(number)) is not None:
                await self._pen.write_line(error_line(call.id, _GONE))
