"""One request and its answer.

uvicorn searches the name and the value of every header for characters that have no place there. With a dozen headers
that costs more than all else about sending an answer, so a plain answer is looked through here in one go. And it is
sent in one go, head and body: every trip to the operating system costs as much as making the answer's text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

STEERING = frozenset({b"connection", b"transfer-encoding"})
"""Headers by which an answer decides about its connection."""
CONTROLS = bytes([*range(9), *range(10, 32), 127])
LINE_END = b"\r\n"


class Exchange(RequestResponseCycle):
    """uvicorn's, with a short way out for an answer that says how long it is; what is anything else goes its way."""

    _head = b""
    """What waits for the body to come along."""

    async def send(self, message: ASGISendEvent) -> None:
        """Send one part of the answer."""
        is_ordinary = self.keep_alive and not self.disconnected and not self.flow.write_paused
        if not is_ordinary or not self._sent(message):
            if self._head and not self.disconnected:
                self.transport.write(self._head)
                self._head = b""
            await super().send(message)

    def _sent(self, message: Any) -> bool:
        if message["type"] == "http.response.start":
            return not self.response_started and self._begun(message["status"], message.get("headers", ()))
        if self.chunked_encoding is not False or self.response_complete or message.get("more_body", False):
            return False
        return self._ended(message.get("body", b""))

    def _begun(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        told = [*self.default_headers, *headers]
        given = dict(told)
        length = given.get(b"content-length")
        if length is None or not given.keys().isdisjoint(STEERING):
            return False
        lines = [STATUS_LINE[status]]
        for name, value in told:
            lines += (name, b": ", value, LINE_END)
        lines.append(LINE_END)
        head = b"".join(lines)
        line_ends = len(LINE_END) * (len(told) + 2)
        if len(head.translate(None, CONTROLS)) + line_ends != len(head):
            # A line of its own in some header; uvicorn says which.
            return False
        self.response_started = True
        self.waiting_for_100_continue = False
        self.chunked_encoding = False
        self.expected_content_length = int(length)
        self._head = head
        return True

    def _ended(self, body: bytes) -> bool:
        if len(body) != self.expected_content_length or self.scope["method"] == "HEAD":
            return False
        self.expected_content_length = 0
        self.response_complete = True
        self.transport.writelines((self._head, body))
        self._head = b""
        self.message_event.set()
        self.on_response()
        return True
