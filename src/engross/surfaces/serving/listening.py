"""Where a server listens: the socket, bound before anything else is done."""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from engross.replies import Failed, codes

BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """A socket at an address of this machine; Failed if it cannot be had."""
    try:
        family, _, _, _, address = min(_addresses(host, port), key=lambda found: found[0] != socket.AF_INET)
    except OSError:
        raise _unusable("host", f"there is no address for {host}") from None
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        # Two sockets may be bound to one address, but only one may listen: whoever is second learns it now.
        bound.listen(BACKLOG)
    except (OSError, OverflowError) as refusal:
        bound.close()
        raise _cannot_listen(refusal, host, port) from None
    return bound


def bind_unix(path: Path) -> socket.socket:
    """A Unix socket that only its owner may use."""
    try:
        _remove_leftover(path)
        return _bound_at(path)
    except OSError as refusal:
        raise _unusable("unix_socket", _why_no_socket(refusal, path)) from None


def is_loopback(host: str) -> bool:
    """Whether an address is for this machine alone, whatever its name says."""
    with suppress(OSError, UnicodeError):
        found = [address[4][0] for address in _addresses(host, 0)]
        return bool(found) and all(ip_address(str(one).partition("%")[0]).is_loopback for one in found)
    return False


def _addresses(host: str, port: int) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = list(
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    )
    return found


def _bound_at(path: Path) -> socket.socket:
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        bound.bind(str(path))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    finally:
        os.umask(before)
    return bound


def _why_no_socket(refusal: OSError, path: Path) -> str:
    if refusal.errno is None:
        # The system was never asked: there is no room for the path in what it is asked with.
        return f"a path of {len(os.fsencode(path))} bytes is too long for a socket: Linux takes 107, others fewer"
    return os.strerror(refusal.errno)


def _remove_leftover(path: Path) -> None:
    """A socket file whose server is gone is in the way; one whose server answers, or anything else, stays."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise _unusable("unix_socket", f"{path} is there already, and no socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            if probe.connect_ex(str(path)) == 0:
                raise _unusable("unix_socket", f"another server listens at {path}")
        path.unlink()


def _cannot_listen(refusal: OSError | OverflowError, host: str, port: int) -> Failed:
    number = refusal.errno if isinstance(refusal, OSError) else None
    if number == errno.EADDRINUSE:
        return _unusable("port", f"another program listens at {host}, port {port}")
    if number == errno.EACCES:
        return _unusable("port", f"this user may not listen at port {port}")
    if number == errno.EADDRNOTAVAIL:
        return _unusable("host", f"{host} is no address of this machine")
    return _unusable("port", f"port {port} cannot be used")


def _unusable(setting: str, problem: str) -> Failed:
    return Failed(codes.CONFIG_INVALID, {"setting": setting}, data={"setting": setting, "problem": problem})
