"""Clients that cost as little as can be: open connections that send bytes made beforehand and read whole answers.

Where both share two cores, what a client costs is taken from the server: most of all from one that could use both. And
while they are asking, clients keep to one core: else which of the server's threads they meet is up to chance, and
chance makes a tenth.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast
from urllib.parse import urlsplit

import uvloop

Make = Callable[[int], bytes]
"""The body of call number so and so."""


def answers_per_second(url: str, headers: dict[str, str], make: Make, *, clients: int, calls: int) -> float:
    """So many clients, each making its calls one after the other."""
    place = urlsplit(url)
    requests = [_request(place.netloc, place.path, headers, make(number)) for number in range(calls)]
    shares = [requests[number::clients] for number in range(clients)]
    with on_one_core(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        took = runner.run(_seconds(place.hostname or "", place.port or 80, shares))
    return calls / took


@contextmanager
def on_one_core() -> Iterator[None]:
    """Keep to the last core there is, for a while."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


async def _seconds(host: str, port: int, shares: list[list[bytes]]) -> float:
    loop = asyncio.get_running_loop()
    pairs = [await loop.create_connection(lambda share=share: _Client(share), host, port) for share in shares]  # type: ignore[misc]
    clients = [client for _, client in pairs]
    started = time.perf_counter()
    for client in clients:
        client.go_on()
    await asyncio.gather(*(client.ended for client in clients))
    took = time.perf_counter() - started
    for client in clients:
        client.transport.close()
    return took


class _Client(asyncio.Protocol):
    """Asks, reads the whole answer, and asks again."""

    transport: asyncio.Transport

    def __init__(self, requests: list[bytes]) -> None:
        self._requests: Iterator[bytes] = iter(requests)
        self._read = b""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(exc or ConnectionError("the server hung up"))

    def go_on(self) -> None:
        """Send the next request, if there is one."""
        request = next(self._requests, None)
        if request is not None:
            self.transport.write(request)
        else:
            self.ended.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._read = data = self._read + data
        head, end, body = data.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return
        self._read = b""
        is_fine = head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201"))
        if not is_fine or b'"isError":true' in body or b'"error"' in body[:40]:
            self.ended.set_exception(RuntimeError(data[:2000].decode(errors="replace")))
            self.transport.close()
            return
        self.go_on()


def _request(host: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = {"Host": host, "Content-Length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def _length(head: bytes) -> int:
    told = head.lower().partition(b"content-length:")[2]
    if not told:
        raise RuntimeError("an answer without a length")
    return int(told.partition(b"\r")[0])
