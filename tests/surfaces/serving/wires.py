"""Bytes to a server and back, with nothing in between that would mend them."""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any, NamedTuple, Protocol, Self, cast

import orjson

from tests.bed.programs import PATIENCE_SECONDS
from tests.bed.served import Served


class Listening(Protocol):
    """Something that listens at a port of this machine."""

    @property
    def port(self) -> int:
        """The port."""


class Heard(NamedTuple):
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        """The body, which must be JSON."""
        found: dict[str, Any] = orjson.loads(self.body)
        return found

    @property
    def key(self) -> str:
        """The message key of the Reply in it."""
        return str(self.told["reply"]["message_key"])


class _Ear(io.BufferedReader):
    """What a connection says. It is read by one answer after the other, and none may close it."""

    def makefile(self, mode: str) -> _Ear:
        """Itself: what was read ahead belongs to the next answer."""
        return self

    def close(self) -> None:
        """Stay open."""


class Wire:
    """One connection."""

    def __init__(self, served: Listening) -> None:
        self.socket = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_SECONDS)
        self._ear = _Ear(socket.SocketIO(self.socket, "r"))

    def say(self, *parts: bytes | str) -> None:
        """Send some bytes."""
        for part in parts:
            self.socket.sendall(part.encode("latin-1") if isinstance(part, str) else part)

    def hear(self, method: str = "GET") -> Heard:
        """Read one answer."""
        answer = http.client.HTTPResponse(cast(socket.socket, self._ear), method=method)
        answer.begin()
        return Heard(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())

    def is_over(self) -> bool:
        """Whether the server has closed the connection: waits until it says something, or nothing more."""
        try:
            return self._ear.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def head(served: Served, first: str, *lines: str, host: str | None = None) -> str:
    """The head of a request: the first line, the right Host header, and more."""
    named = f"Host: {host if host is not None else f'127.0.0.1:{served.port}'}"
    return "\r\n".join([f"{first} HTTP/1.1", named, *lines, "", ""])


def ask(served: Served, first: str, *lines: str, host: str | None = None, body: bytes = b"") -> Heard:
    """One request on a connection of its own."""
    with Wire(served) as wire:
        wire.say(head(served, first, *lines, host=host), body)
        return wire.hear(first.split()[0])


def authorized(served: Served, token: str | None = None) -> str:
    """The header that shows a token, by default the owner's."""
    return f"Authorization: Bearer {token or served.owner}"
