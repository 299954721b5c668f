"""The Redis server that the processes of an office may share: its address is read here and nowhere else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from engross.extras import require
from engross.replies import Failed, codes

if TYPE_CHECKING:
    from redis import ConnectionPool

SCHEMES = ("redis://", "rediss://", "redis+unix://")
PATIENCE_SECONDS = 0.25
"""No call waits for Redis longer than that, unless the address says otherwise."""
NO_ADDRESS = "it is not the address of a Redis server, or has a port or an option that there is not"
HOW_IT_IS_NAMED = (
    "Give it as redis://host:6379/0, with rediss:// for TLS, or as redis+unix:///path/to/redis.sock. A password goes "
    "before the host, as in redis://:password@host:6379/0, with %2F, %3F, %23 and %40 for /, ?, # and @."
)


def connections(address: str) -> ConnectionPool:
    """Connections to the server, of which none is made yet; Failed where the address is none of a Redis."""
    require("redis", setting="redis")
    if address.startswith(SCHEMES):
        # What is wrong with it is not told: the library's own words hold pieces of the address, and so of a password.
        with suppress(Exception):
            return _pool(address)
    told = {"setting": "redis", "problem": NO_ADDRESS, "hint": HOW_IT_IS_NAMED}
    raise Failed(codes.CONFIG_INVALID, {"setting": "redis"}, data=told)


def _pool(address: str) -> ConnectionPool:
    from redis import ConnectionPool, UnixDomainSocketConnection
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    pool = ConnectionPool.from_url(
        address.removeprefix("redis+"),
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    # Only a connection looks at its options; it is not connected yet.
    probe = pool.connection_class(**pool.connection_kwargs)
    if isinstance(probe, UnixDomainSocketConnection) and not probe.path:
        raise ValueError("no path")
    return pool
