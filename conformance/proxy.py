"""Adds a bearer token to every request, since the suite sends none; everything else goes through byte for byte."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType

MOST_HEAD_BYTES = 65_536
END_OF_HEAD = b"\r\n\r\n"


class TokenProxy:
    """Listens on a free port of this machine and hands on to another port of it."""

    def __init__(self, upstream_port: int, token: str) -> None:
        self._upstream_port = upstream_port
        self._added = f"Authorization: Bearer {token}\r\nConnection: close".encode()
        self._ready = Event()
        self._thread = Thread(target=self._serve, name="token-proxy", daemon=True)
        self.port = 0

    def __enter__(self) -> TokenProxy:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.run(self._listen())

    async def _listen(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0, limit=MOST_HEAD_BYTES)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()

    async def _carry(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        """One request and its answer: the server is asked to close afterwards, so no second one follows."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await client.readuntil(END_OF_HEAD)
            server, to_server = await asyncio.open_connection("127.0.0.1", self._upstream_port)
            to_server.write(self._with_token(head))
            ways = {
                asyncio.create_task(_pump(client, to_server)),
                asyncio.create_task(_pump(server, to_client)),
            }
            try:
                # Whoever hangs up first ends it for both.
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                to_server.close()
        to_client.close()

    def _with_token(self, head: bytes) -> bytes:
        first, *rest = head.removesuffix(END_OF_HEAD).split(b"\r\n")
        kept = [line for line in rest if not line.lower().startswith((b"connection:", b"authorization:"))]
        return b"\r\n".join([first, *kept, self._added]) + END_OF_HEAD


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while block := await source.read(65_536):
            sink.write(block)
            await sink.drain()
