"""One request and its answer.

uvicorn searches the name and the value of every header for characters that have no place there. With a dozen headers
that costs more than all else about sending an answer, so a plain answer is looked through here in one go. And it is
sent in one go, head and body: every trip to the operating system costs as much as making the answer's text.
"""

from __future__ import annotations

from asyncio import Event
from collections.abc import Iterable
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from engross.surfaces.answering import WHOLE, all_headers, send_parts, take_whole
from engross.surfaces.heads import Header, Usual

STEERING = frozenset({b"connection", b"transfer-encoding"})
"""Headers by which an answer decides about its connection."""
CONTROLS = bytes([*range(9), *range(10, 32), 127])
LINE_END = b"\r\n"


class Arrival:
    """Whether something has come that was waited for. An event is made only for whoever really has to wait."""

    __slots__ = ("_event", "_is_there")

    def __init__(self) -> None:
        self._is_there = False
        self._event: Event | None = None

    def set(self) -> None:
        """Something has come."""
        self._is_there = True
        if self._event is not None:
            self._event.set()

    def clear(self) -> None:
        """It was taken."""
        self._is_there = False
        if self._event is not None:
            self._event.clear()

    async def wait(self) -> None:
        """Until something has come."""
        if self._is_there:
            return
        if self._event is None:
            self._event = Event()
        await self._event.wait()


class Exchange(RequestResponseCycle):
    """uvicorn's, with a short way out for an answer that says how long it is; what is anything else goes its way."""

    def __init__(self, wire: HttpToolsProtocol, scope: Scope, *, keep_alive: bool, asks_first: bool) -> None:
        """`asks_first`: the client sends no body before it is told to go on."""
        # As uvicorn makes its own, with a dozen arguments.
        self.scope: Any = scope
        take_whole(scope, self)
        self.transport = wire.transport
        self.flow = wire.flow
        self.logger = wire.logger
        self.access_log = False
        self.default_headers = wire.server_state.default_headers
        self.message_event: Any = Arrival()
        self.on_response = wire.on_response_complete
        self.disconnected = False
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = asks_first
        self.body = bytearray()
        self.more_body = True
        self.response_started = False
        self.response_complete = False
        self.chunked_encoding: bool | None = None
        self.expected_content_length = 0
        self._head = b""
        """What waits for the body to come along."""

    def all_there(self, body: bytes) -> None:
        """The whole request has come."""
        self.body += body
        self.more_body = False
        self.message_event.set()

    async def send(self, message: Any) -> None:
        """Send one part of the answer, or all of it."""
        is_ordinary = self.keep_alive and not self.disconnected and not self.flow.write_paused
        if is_ordinary and self._sent(message):
            return
        if self._head and not self.disconnected:
            self.transport.write(self._head)
            self._head = b""
        if message["type"] == WHOLE:
            send: Any = super().send
            await send_parts(send, message["status"], all_headers(message), message["body"])
        else:
            await super().send(message)

    def _sent(self, message: Any) -> bool:
        kind = message["type"]
        if kind == WHOLE:
            is_first = not self.response_started and self.scope["method"] != "HEAD"
            return is_first and self._sent_whole(
                message["status"], message["usual"], message["headers"], message["body"]
            )
        if kind == "http.response.start":
            return not self.response_started and self._begun(message["status"], message.get("headers", ()))
        if self.chunked_encoding is not False or self.response_complete or message.get("more_body", False):
            return False
        body = message.get("body", b"")
        if len(body) != self.expected_content_length or self.scope["method"] == "HEAD":
            return False
        self._end(body)
        return True

    def _sent_whole(self, status: int, usual: Usual, headers: Iterable[Header], body: bytes) -> bool:
        lines = _plain_lines([*self.default_headers, *headers])
        if lines is None:
            return False
        length = b"content-length: %d\r\n\r\n" % len(body)
        self._begin(b"".join((STATUS_LINE[status], lines, usual.lines, length)))
        self._end(body)
        return True

    def _begun(self, status: int, headers: Iterable[Header]) -> bool:
        told = [*self.default_headers, *headers]
        length, lines = dict(told).get(b"content-length"), _plain_lines(told)
        if length is None or lines is None:
            return False
        self.expected_content_length = int(length)
        self._begin(b"".join((STATUS_LINE[status], lines, LINE_END)))
        return True

    def _begin(self, head: bytes) -> None:
        self.response_started = True
        self.waiting_for_100_continue = False
        self.chunked_encoding = False
        self._head = head

    def _end(self, body: bytes) -> None:
        self.expected_content_length = 0
        self.response_complete = True
        # One piece goes straight to the system; of several the loop makes a job.
        self.transport.write(self._head + body)
        self._head = b""
        self.message_event.set()
        self.on_response()


def _plain_lines(headers: list[Header]) -> bytes | None:
    """The lines of a head, if there is nothing in them that uvicorn has to see to."""
    parts: list[bytes] = []
    for name, value in headers:
        if name in STEERING:
            return None
        parts += (name, b": ", value, LINE_END)
    lines = b"".join(parts)
    line_ends = len(LINE_END) * len(headers)
    # More of them, or other controls, would be a line of its own in some header; uvicorn says which.
    return lines if len(lines.translate(None, CONTROLS)) + line_ends == len(lines) else None
