"""The Redis server that the processes of an office may share: its address is read here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from engross.extras import require
from engross.replies import Failed, codes

if TYPE_CHECKING:
    from redis import ConnectionPool

SCHEMES = ("redis://", "rediss://", "redis+unix://")
PATIENCE_SECONDS = 0.25
"""No call waits for Redis longer than that, unless the address says otherwise."""
LONGEST_PATIENCE_SECONDS = 3600.0


def _text(value: str) -> str:
    if not value:
        raise ValueError("nothing")
    return value


def _word(value: str) -> str:
    """What the server takes as a name."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError("no name")
    return _text(value)


def _count(value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise ValueError("no count")
    return int(value)


def _some(value: str) -> int:
    if not (count := _count(value)):
        raise ValueError("none")
    return count


def _seconds(value: str) -> float:
    seconds = float(value)
    if not 0 < seconds <= LONGEST_PATIENCE_SECONDS:
        raise ValueError("no time to wait")
    return seconds


def _truth(value: str) -> bool:
    return {"true": True, "false": False}[value.lower()]


OPTIONS: Final[Mapping[str, Callable[[str], object]]] = {
    "db": _count,
    "username": _text,
    "password": _text,
    "client_name": _word,
    "socket_timeout": _seconds,
    "socket_connect_timeout": _seconds,
    "max_connections": _some,
    "health_check_interval": _count,
    "protocol": _count,
}
"""What may follow `?`, by redis-py's names. The others are objects in its code, or change what it answers with."""
TLS_OPTIONS: Final[Mapping[str, Callable[[str], object]]] = {
    "ssl_ca_certs": _text,
    "ssl_ca_path": _text,
    "ssl_ca_data": _text,
    "ssl_certfile": _text,
    "ssl_keyfile": _text,
    "ssl_password": _text,
    "ssl_cert_reqs": _text,
    "ssl_check_hostname": _truth,
}
"""And what besides with `rediss://`."""
NO_ADDRESS = "it is not the address of a Redis server, or has a port, a database or an option that there is not"
HOW_IT_IS_NAMED = (
    "Give it as redis://host:6379/0, with rediss:// for TLS, or as redis+unix:///path/to/redis.sock. A password goes "
    "before the host, as in redis://:password@host:6379/0, with %2F, %3F, %23 and %40 for /, ?, # and @. After ? it "
    f"takes {', '.join(OPTIONS)}; with rediss:// also {', '.join(TLS_OPTIONS)}."
)


def connections(address: str) -> ConnectionPool:
    """Connections to the server, of which none is made yet; Failed where the address is none of a Redis."""
    require("redis", setting="redis")
    if address.startswith(SCHEMES):
        # What is wrong with it is not told: words about it hold pieces of the address, and so of a password.
        with suppress(Exception):
            return _pool(address)
    told = {"setting": "redis", "problem": NO_ADDRESS, "hint": HOW_IT_IS_NAMED}
    raise Failed(codes.CONFIG_INVALID, {"setting": "redis"}, data=told)


def _pool(address: str) -> ConnectionPool:
    """The library's own reader takes any option, and passes over what it does not understand; so it is not asked."""
    from redis import Connection, ConnectionPool, SSLConnection, UnixDomainSocketConnection
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    url = urlsplit(address)
    kinds = {"redis": Connection, "rediss": SSLConnection, "redis+unix": UnixDomainSocketConnection}
    usual = {"socket_timeout": PATIENCE_SECONDS, "socket_connect_timeout": PATIENCE_SECONDS}
    said: dict[str, Any] = {**usual, **_place(url), **_options(url)}
    pool = ConnectionPool(connection_class=kinds[url.scheme], retry=Retry(NoBackoff(), 0), **said)
    # Only a connection looks at what its options are together; it is not connected yet.
    pool.connection_class(**pool.connection_kwargs)
    return pool


def _place(url: SplitResult) -> dict[str, object]:
    """Where the server is."""
    if url.fragment:
        raise ValueError("a piece that leads nowhere")
    if url.scheme == "redis+unix":
        if url.netloc.rpartition("@")[2]:
            raise ValueError("a host, or a path that begins without a slash")
        return {"path": _text(unquote(url.path))}
    return {"host": unquote(url.hostname or "localhost"), "port": 6379 if url.port is None else _some(str(url.port))}


def _options(url: SplitResult) -> dict[str, object]:
    """What else the address says, each of it once."""
    given = [(name, unquote(word)) for name, word in (("username", url.username), ("password", url.password)) if word]
    if url.scheme != "redis+unix" and url.path not in ("", "/"):
        given.append(("db", url.path.removeprefix("/")))
    given += parse_qsl(url.query, keep_blank_values=True)
    if len(dict(given)) < len(given):
        raise ValueError("two values for one option")
    readers = {**OPTIONS, **TLS_OPTIONS}
    return {name: readers[name](word) for name, word in given}
