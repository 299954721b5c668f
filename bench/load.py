"""Clients that cost as little as can be: open connections that send bytes made beforehand and read whole answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from urllib.parse import urlsplit

Make = Callable[[int], bytes]
"""The body of call number so and so."""


async def answers_per_second(url: str, headers: dict[str, str], make: Make, *, clients: int, calls: int) -> float:
    """So many clients, each making its calls one after the other."""
    place = urlsplit(url)
    bodies = [make(number) for number in range(calls)]
    requests = [_request(place.netloc, place.path, headers, body) for body in bodies]
    shares = [requests[number::clients] for number in range(clients)]
    connections = [await asyncio.open_connection(place.hostname, place.port) for _ in range(clients)]
    started = time.perf_counter()
    await asyncio.gather(*(_converse(*pair, share) for pair, share in zip(connections, shares, strict=True)))
    took = time.perf_counter() - started
    for _, writer in connections:
        writer.close()
    return calls / took


def _request(host: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = {"Host": host, "Content-Length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, requests: list[bytes]) -> None:
    for request in requests:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            raise RuntimeError(head.decode() + (await reader.read(2000)).decode(errors="replace"))
        answer = await reader.readexactly(_length(head))
        if b'"isError":true' in answer or b'"error"' in answer[:40]:
            raise RuntimeError(answer[:500].decode(errors="replace"))


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    raise RuntimeError("an answer without a length")
