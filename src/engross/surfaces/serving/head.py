"""The head of a request, read once: what the guard decides by."""

from __future__ import annotations

from typing import NamedTuple

from starlette.types import Scope

from engross.replies import Invalid, codes

BLANKS = b" \t"
MOST_HEADERS = 100
MOST_HEADER_BYTES = 65_536
ONCE = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"origin",
        b"transfer-encoding",
    }
)
"""Headers of which a second one would leave open which of the two counts."""


class Head(NamedTuple):
    """Where a request wants to go, from where, and with which credential."""

    path: str
    host: bytes
    origin: bytes | None
    authorization: bytes | None
    length: int | None
    chunked: bool


def read_head(scope: Scope) -> Head:
    """Read the headers, and leave them in the scope without the blanks that a parser kept at their ends."""
    headers: list[tuple[bytes, bytes]] = []
    found: dict[bytes, bytes] = {}
    repeated, size = b"", 0
    for name, value in scope["headers"]:
        value = value.strip(BLANKS)
        headers.append((name, value))
        size += len(name) + len(value)
        if name in ONCE:
            repeated = name if name in found else repeated
            found[name] = value
    scope["headers"] = headers
    if repeated:
        raise _malformed(f"more than one header {repeated.decode()}")
    if len(headers) > MOST_HEADERS:
        raise Invalid(codes.LIMIT_EXCEEDED, {"what": "The number of headers", "limit": MOST_HEADERS})
    if size > MOST_HEADER_BYTES:
        raise Invalid(codes.LIMIT_EXCEEDED, {"what": "The size of the headers", "limit": MOST_HEADER_BYTES})
    get = found.get
    if not get(b"host"):
        raise _malformed("no Host header")
    length = get(b"content-length")
    chunked = b"transfer-encoding" in found
    if length is not None and (chunked or not length.isdigit() or len(length) > 18):
        raise _malformed("no telling how long the body is")
    return Head(
        scope["path"],
        found[b"host"],
        get(b"origin"),
        get(b"authorization"),
        None if length is None else int(length),
        chunked,
    )


def bearer(authorization: bytes | None) -> str | None:
    """The token in an Authorization header. Another kind of credential is none that we accept."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(b" ")
    token = token.strip(BLANKS)
    if scheme.lower() != b"bearer" or not token:
        raise Invalid(codes.AUTH_INVALID)
    return token.decode("latin-1")


def header(scope: Scope, wanted: bytes) -> str | None:
    """The first header of a name."""
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None)


def _malformed(problem: str) -> Invalid:
    return Invalid(codes.MALFORMED_INPUT, {"problem": problem})
