"""Connections that are kept open, for one event loop each."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, TypeAlias
from weakref import finalize

from .address import Allowed

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from httpcore2 import AsyncConnectionPool

IDLE_SECONDS = 20.0

Pools: TypeAlias = "dict[AbstractEventLoop, tuple[AsyncConnectionPool, AsyncGenerator[None]]]"


class Connections:
    """A pool for every event loop that calls out. A pool ends with its loop, or when nobody can use it any more."""

    def __init__(self, allowed: Allowed, most: int, *, tls: bool) -> None:
        self._allowed = allowed
        self._tls = tls
        self._most = most
        self._pools: Pools = {}
        # What is garbage is collected in any order, and sockets should not go before they are closed.
        finalize(self, _close, self._pools)

    async def pool(self) -> AsyncConnectionPool:
        """The pool of the running loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        held = self._pools.get(loop)
        if held is None:
            # No await between looking and keeping: on one loop nobody comes in between.
            pool = self._opened()
            life = _life(self._pools, loop, pool)
            held = self._pools[loop] = (pool, life)
            await anext(life)
        return held[0]

    def _opened(self) -> AsyncConnectionPool:
        from httpcore2 import AsyncConnectionPool, default_ssl_context

        from .network import CheckedNetwork

        return AsyncConnectionPool(
            # Made once: a pool without one makes one for every connection, and that takes its time.
            ssl_context=default_ssl_context() if self._tls else None,
            max_connections=self._most,
            max_keepalive_connections=self._most,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=CheckedNetwork(self._allowed),
        )


async def _life(pools: Pools, loop: AbstractEventLoop, pool: AsyncConnectionPool) -> AsyncGenerator[None]:
    """A loop that ends closes its generators, and with this one the connections."""
    try:
        yield
    finally:
        pools.pop(loop, None)
        await pool.aclose()


def _close(pools: Pools) -> None:
    for loop, (_, life) in list(pools.items()):
        if loop.is_running():
            loop.call_soon_threadsafe(loop.create_task, life.aclose())
