"""The root of a Merkle tree, with leaves and nodes hashed apart as in RFC 6962."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def merkle_root(digests: Sequence[str]) -> str:
    """The root over digests in hex, in their order."""
    level = [sha256(b"\x00" + bytes.fromhex(digest)).digest() for digest in digests]
    if not level:
        return sha256(b"").hexdigest()
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [sha256(b"\x01" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex()
