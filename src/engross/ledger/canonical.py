"""One byte form for equal values, and its digest."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from hashlib import blake2b, sha256
from typing import Any

import orjson


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no blanks."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(value: Any) -> str:
    """SHA-256 of the canonical form."""
    return sha256(canonical(value)).hexdigest()


def keyed_digest(key: bytes) -> Callable[[Any], str]:
    """`digest` with a secret: nobody else finds out by guessing what was digested."""
    return lambda value: blake2b(canonical(value), digest_size=32, key=key).hexdigest()


def fingerprint(value: Any) -> str:
    """`digest`, blind to how a text's accents are composed: what a retry by another client may change."""
    text = canonical(value)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.decode()).encode()
    return sha256(text).hexdigest()
