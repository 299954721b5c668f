"""What a client says its bytes are: in the query, or in the headers of RFC 9530 and of the one before it."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import NoReturn

from engross.replies import Invalid, codes

from .asked import Asked

SHA256 = "sha256"
DIGEST_SIZE = 32
_HEX = re.compile("[0-9a-fA-F]{64}")
# sha-256=:base64: among others, in Content-Digest and Repr-Digest; SHA-256=base64 in Digest.
_MEMBER = re.compile(r"(?:^|,)\s*sha-256\s*=\s*:?([A-Za-z0-9+/=]*):?\s*(?=,|$)", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|,)\s*sha-256\b", re.IGNORECASE)
_HEADERS = (b"content-digest", b"repr-digest", b"digest")


def announced(asked: Asked, in_query: str | None) -> str | None:
    """The digest that the bytes should have, in hex. What is said several times has to be the same."""
    said = set(_said(asked, in_query))
    if len(said) > 1:
        _refuse("the digests that were announced differ")
    return said.pop() if said else None


def structured_digest(content_hash: str) -> str:
    """The value of a Repr-Digest header."""
    return f"sha-256=:{b64encode(bytes.fromhex(content_hash)).decode()}:"


def _said(asked: Asked, in_query: str | None) -> Iterator[str]:
    if in_query is not None:
        if not _HEX.fullmatch(in_query):
            raise Invalid(codes.VALIDATION_ERROR, {"problem": "sha256 takes 64 hexadecimal digits"}, field=SHA256)
        yield in_query.lower()
    for name in _HEADERS:
        text = asked.header(name)
        # Other algorithms are for others.
        if text is not None and _NAMED.search(text):
            yield _decoded(text)


def _decoded(text: str) -> str:
    found = _MEMBER.search(text)
    try:
        digest = b64decode(found[1], validate=True) if found else b""
    except binascii.Error:
        digest = b""
    if len(digest) != DIGEST_SIZE:
        _refuse("a SHA-256 that was announced is none")
    return digest.hex()


def _refuse(problem: str) -> NoReturn:
    raise Invalid(codes.MALFORMED_INPUT, {"problem": problem})
