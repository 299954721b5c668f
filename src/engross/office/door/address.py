"""Addresses that may be asked for keys: over TLS, or on this machine."""

from __future__ import annotations


def is_safe(address: str) -> bool:
    """Whether nobody on the way can change what an address answers."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host = parts.hostname
        parts.port  # noqa: B018  a port that is none raises
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment or not address.isprintable() or " " in address:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
