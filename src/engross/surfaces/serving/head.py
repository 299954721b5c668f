"""The head of a request: what the guard decides by."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from starlette.types import Scope

from engross.replies import Invalid, codes
from engross.surfaces.arrived import BLANKS, Headers, headers_of, is_sound

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


def read_head(scope: Scope) -> Headers:
    """The headers of a request, if they leave no doubt where it goes, from where, and how long its body is."""
    headers = headers_of(scope)
    if is_sound(scope):
        return headers
    given = scope["headers"]
    if len(headers) != len(given):
        _refuse_repeated(given)
    if len(given) > MOST_HEADERS:
        raise Invalid(codes.LIMIT_EXCEEDED, {"what": "The number of headers", "limit": MOST_HEADERS})
    if sum(map(len, chain.from_iterable(given))) > MOST_HEADER_BYTES:
        raise Invalid(codes.LIMIT_EXCEEDED, {"what": "The size of the headers", "limit": MOST_HEADER_BYTES})
    if not headers.get(b"host"):
        raise _malformed("no Host header")
    length, coding = headers.get(b"content-length"), headers.get(b"transfer-encoding")
    if length is not None and (coding is not None or not length.isdigit() or len(length) > 18):
        raise _malformed("no telling how long the body is")
    if coding is not None and coding.lower() != b"chunked":
        raise _malformed("the only Transfer-Encoding is chunked")
    return headers


def bearer(authorization: bytes) -> str:
    """The token in an Authorization header. Another kind of credential is none that we accept."""
    scheme, _, token = authorization.partition(b" ")
    token = token.strip(BLANKS)
    if scheme.lower() != b"bearer" or not token:
        hint = "Send the token, and nothing else, as Authorization: Bearer TOKEN."
        raise Invalid(codes.AUTH_INVALID, suggestions={"hint": hint})
    return token.decode("latin-1")


def header(scope: Scope, wanted: bytes) -> str | None:
    """The first header of a name."""
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None)


def _refuse_repeated(given: Iterable[tuple[bytes, bytes]]) -> None:
    seen = set()
    repeated = b""
    for name, _ in given:
        repeated = name if name in ONCE and name in seen else repeated
        seen.add(name)
    if repeated:
        raise _malformed(f"more than one header {repeated.decode()}")


def _malformed(problem: str) -> Invalid:
    return Invalid(codes.MALFORMED_INPUT, {"problem": problem})
