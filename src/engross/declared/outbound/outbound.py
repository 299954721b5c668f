"""Sends requests to the upstreams of one document, and to nobody else.

Nothing is carried from one exchange to the next: cookies are not kept, and what a caller proved to the office stays
there. Below is the connection layer of httpx2 without its client, which would follow redirects, keep cookies and read
proxies from the environment; none of that is wanted here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from ..ways import Ways
from .address import AddressRefused, Allowed
from .connections import Connections
from .exchange import Origin, OutboundError, Received, Sent
from .unpacking import Intake

if TYPE_CHECKING:
    from httpcore2 import Response

MOST_REDIRECTS = 3
_PLAIN = re.compile(r"[!-~]+")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Outbound:
    """The way out for one document."""

    def __init__(self, origins: Iterable[Origin], ways: Ways) -> None:
        self._origins = frozenset(origins)
        self._most_bytes = ways.most_response_bytes
        tls = any(origin.scheme == "https" for origin in self._origins)
        self._connections = Connections(Allowed(ways.private_hosts), ways.connections, tls=tls)

    async def send(self, sent: Sent, seconds: float) -> Received:
        """The response, within the time."""
        import asyncio

        try:
            async with asyncio.timeout(seconds):
                return await self._followed(sent)
        except TimeoutError as error:
            raise OutboundError("timeout", reached=True) from error

    async def _followed(self, sent: Sent) -> Received:
        received = await self._exchanged(sent)
        for _ in range(MOST_REDIRECTS):
            if received.status not in _REDIRECTS:
                break
            sent = self._redirected(sent, received)
            received = await self._exchanged(sent)
        if 300 <= received.status < 400:
            raise OutboundError("redirect", reached=True)
        return received

    def _redirected(self, sent: Sent, received: Received) -> Sent:
        """Where a response points to, if that is an upstream of the document and the request only reads."""
        location = received.headers.get("location", "")
        url = urljoin(sent.url, location)
        try:
            there = Origin.of(url)
        except ValueError:
            raise OutboundError("redirect", reached=True) from None
        if sent.method != "GET" or not _PLAIN.fullmatch(location) or there not in self._origins:
            raise OutboundError("redirect", reached=True)
        headers = sent.headers
        if there != Origin.of(sent.url):
            headers = tuple((name, value) for name, value in headers if name.lower() in ("accept", "user-agent"))
        return sent._replace(url=url.partition("#")[0], headers=headers)

    async def _exchanged(self, sent: Sent) -> Received:
        import httpcore2

        if Origin.of(sent.url) not in self._origins:
            raise OutboundError("host", reached=False)
        pool = await self._connections.pool()
        try:
            request = httpcore2.Request(sent.method, sent.url, headers=_lines(sent), content=sent.body)
            response = await pool.handle_async_request(request)
            try:
                return await self._read(response)
            finally:
                await response.aclose()
        except AddressRefused as error:
            raise OutboundError("host", reached=False) from error
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout) as error:
            raise OutboundError("unreachable", reached=False, at=_whom(sent)) from error
        except httpcore2.TimeoutException as error:
            raise OutboundError("timeout", reached=True) from error
        except httpcore2.LocalProtocolError:
            # Its text quotes what could not be sent, and that may be a secret.
            raise OutboundError("broken", reached=False) from None
        except httpcore2.RemoteProtocolError:
            # Its text quotes what came, and that may be what was sent.
            raise OutboundError("broken", reached=True) from None
        except (httpcore2.NetworkError, OSError) as error:
            raise OutboundError("unreachable", reached=True, at=_whom(sent)) from error

    async def _read(self, response: Response) -> Received:
        headers = _named(response.headers)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._most_bytes:
            raise OutboundError("large", reached=True)
        intake = Intake(headers.get("content-encoding", ""), self._most_bytes)
        async for piece in response.aiter_stream():
            intake.take(piece)
        return Received(response.status, headers, intake.whole())


def _whom(sent: Sent) -> str:
    """Who is called, spelt as in the request: what is bound in it is found by its letters."""
    parts = urlsplit(sent.url)
    return f"{parts.scheme}://{parts.netloc}"


def _lines(sent: Sent) -> list[tuple[bytes, bytes]]:
    lines = [(b"Host", urlsplit(sent.url).netloc.encode("ascii"))]
    lines += [(name.encode("ascii"), value.encode("utf-8")) for name, value in sent.headers]
    if sent.body is not None:
        lines.append((b"Content-Length", str(len(sent.body)).encode()))
    return lines


def _named(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    named: dict[str, Any] = {}
    for name, value in headers:
        named.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return named
