"""Heads of answers: what every one of them says, made once, and what only some say."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

Header = tuple[bytes, bytes]

NOSNIFF = (b"x-content-type-options", b"nosniff")
NO_STORE = (b"cache-control", b"no-store")
SAFETY = (
    NOSNIFF,
    (b"referrer-policy", b"no-referrer"),
    NO_STORE,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""What every answer says to a browser, unless the surface that gives the answer says otherwise."""
UNUSUAL = frozenset(name for name, _ in SAFETY if name != NO_STORE[0])
"""What makes a head another than the usual one, if somebody says it."""


class Usual(NamedTuple):
    """What all answers of one media type have in their heads."""

    headers: tuple[Header, ...]
    lines: bytes
    """The same as it goes over the wire."""


@lru_cache(maxsize=64)
def usual_head(media_type: str) -> Usual:
    """The usual head of a media type. How long an answer may be kept differs, and is no part of it."""
    about = ((b"content-type", media_type.encode("latin-1")), (b"vary", b"accept"))
    headers = (*about, *(pair for pair in SAFETY if pair is not NO_STORE))
    return Usual(headers, as_lines(headers))


def as_lines(headers: Iterable[Header]) -> bytes:
    """Headers as they go over the wire."""
    return b"".join([part for name, value in headers for part in (name, b": ", value, b"\r\n")])
