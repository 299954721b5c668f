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
        left_over = level[len(level) & ~1 :]
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [sha256(b"\x01" + left + right).digest() for left, right in pairs] + left_over
    return level[0].hex()


class MerkleTree:
    """The same root over digests that come one by one: holds one node per level, however many come."""

    def __init__(self) -> None:
        self.leaves = 0
        self._levels: list[bytes | None] = []

    def add(self, digest: str) -> None:
        """The next leaf."""
        self.leaves += 1
        node = sha256(b"\x00" + bytes.fromhex(digest)).digest()
        for height, left in enumerate(self._levels):
            if left is None:
                self._levels[height] = node
                return
            node = sha256(b"\x01" + left + node).digest()
            self._levels[height] = None
        self._levels.append(node)

    def root(self) -> str:
        """The root over everything so far."""
        root: bytes | None = None
        for left in self._levels:
            if left is not None:
                root = left if root is None else sha256(b"\x01" + left + root).digest()
        return (root or sha256(b"").digest()).hex()
