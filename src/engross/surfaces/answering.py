"""An answer on its way out: what it must carry, and how far it has come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol
from weakref import ref

from starlette.types import Message, Scope, Send

from .heads import SAFETY, Header, Usual

SHOWN = b"etag, location, mcp-session-id, retry-after, traceparent, www-authenticate"
STREAM = b"text/event-stream"
WHOLE = "engross.response.whole"
"""A message that is an answer from beginning to end. Whoever takes such messages says so in the scope."""
_SAFETY_NAMES = frozenset(name for name, _ in SAFETY)


class Carrier(Protocol):
    """What sends bytes."""

    response_started: bool


def take_whole(scope: Scope, carrier: Carrier) -> None:
    """Say that `send` takes whole answers. Only the layer that sends bytes does so."""
    # A carrier holds the scope: if each held the other, both would wait for the garbage collector.
    scope[WHOLE] = ref(carrier)


class Answering:
    """Sends an answer on, with the headers that keep browsers from harm."""

    __slots__ = ("_carrier", "_send", "ended", "origin", "started", "streaming", "task")

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self._carrier: ref[Carrier] | None = scope.get(WHOLE)
        self.task = asyncio.current_task()
        self.origin: bytes | None = None
        """A page of another origin that may read the answer."""
        self.started = False
        self.ended = False
        self.streaming = False

    def __call__(self, message: Message) -> Awaitable[None]:
        """Send one part of the answer."""
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": self._complete(list(message.get("headers", ())))}
        elif not message.get("more_body", False):
            self.ended = True
        return self._send(message)

    def whole(self, status: int, usual: Usual, headers: list[Header], content: bytes) -> Awaitable[None]:
        """Send all of an answer, which has the usual head of its kind and says how long it may be kept."""
        message = {"type": WHOLE, "status": status, "usual": usual, "headers": headers, "body": content}
        if self._carrier is None:
            return send_parts(self, status, all_headers(message), content)
        self.started = self.ended = True
        if self.origin is not None:
            headers.extend(for_page(self.origin))
        return self._send(message)

    def take_back(self) -> bool:
        """Make room for another answer, if none of this one went out: it may have waited for the client to read."""
        carrier = None if self._carrier is None else self._carrier()
        if carrier is not None and not carrier.response_started:
            self.started = self.ended = False
        return not self.started

    async def end(self) -> None:
        """Bring an answer that has begun to its end."""
        if self.started and not self.ended:
            await self({"type": "http.response.body", "body": b""})

    def _complete(self, headers: list[Header]) -> list[Header]:
        given = dict(headers)
        self.streaming = given.get(b"content-type", b"").startswith(STREAM)
        headers.extend(SAFETY if given.keys().isdisjoint(_SAFETY_NAMES) else _missing(given))
        if self.origin is not None:
            headers.extend(for_page(self.origin))
        return headers


async def send_parts(send: Send, status: int, headers: list[Header], content: bytes) -> None:
    """Send an answer as anybody takes it: the head, then the body."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def all_headers(whole: Message) -> list[Header]:
    """The headers of a whole answer."""
    return [*whole["headers"], *whole["usual"].headers, (b"content-length", b"%d" % len(whole["body"]))]


def _missing(given: dict[bytes, bytes]) -> list[Header]:
    return [pair for pair in SAFETY if pair[0] not in given]


def for_page(origin: bytes) -> list[Header]:
    """What tells a browser that a page may read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", SHOWN),
        (b"vary", b"origin"),
    ]
