"""Connections that go to the address which was looked at. TLS still asks for the name."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from httpcore2 import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream, ConnectError

from .address import AddressRefused, Allowed


class CheckedNetwork(AsyncNetworkBackend):
    """Resolves a name once, refuses what may not be called, and connects to an address that it has seen."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._wires = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to one of the addresses behind a name."""
        addresses = await resolved(host, port)
        for address in addresses:
            if not self._allowed.permits(host, address):
                raise AddressRefused(host)
        failure: Exception = ConnectError("the name leads nowhere")
        for address in addresses:
            try:
                return await self._wires.connect_tcp(address, port, timeout, local_address, socket_options)
            except ConnectError as error:
                failure = error
        raise failure

    async def connect_unix_socket(self, *_: Any, **__: Any) -> AsyncNetworkStream:
        """There are no upstreams at sockets of this machine."""
        raise AddressRefused("unix socket")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._wires.sleep(seconds)


async def resolved(host: str, port: int) -> list[str]:
    """All addresses of a name, each once, in the resolver's order."""
    import asyncio

    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConnectError("the name leads nowhere") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
