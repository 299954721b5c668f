"""An answer on its way out: what it must carry, and how far it has come."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Send

SAFETY = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""What every answer says to a browser, unless the surface that gives the answer says otherwise."""
_SAFETY_NAMES = frozenset(name for name, _ in SAFETY)
SHOWN = b"etag, location, mcp-session-id, retry-after, traceparent, www-authenticate"
STREAM = b"text/event-stream"


class Answering:
    """Sends an answer on, with the headers that keep browsers from harm."""

    __slots__ = ("_send", "ended", "origin", "started", "streaming", "task")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.task = asyncio.current_task()
        self.origin: bytes | None = None
        """A page of another origin that may read the answer."""
        self.started = False
        self.ended = False
        self.streaming = False

    async def __call__(self, message: Message) -> None:
        """Send one part of the answer."""
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": self._complete(list(message.get("headers", ())))}
        elif not message.get("more_body", False):
            self.ended = True
        await self._send(message)

    async def end(self) -> None:
        """Bring an answer that has begun to its end."""
        if self.started and not self.ended:
            await self({"type": "http.response.body", "body": b""})

    def _complete(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        given = dict(headers)
        self.streaming = given.get(b"content-type", b"").startswith(STREAM)
        headers.extend(SAFETY if given.keys().isdisjoint(_SAFETY_NAMES) else _missing(given))
        if self.origin is not None:
            headers.extend(for_page(self.origin))
        return headers


def _missing(given: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    return [pair for pair in SAFETY if pair[0] not in given]


def for_page(origin: bytes) -> list[tuple[bytes, bytes]]:
    """What tells a browser that a page may read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", SHOWN),
        (b"vary", b"origin"),
    ]
