"""Taking a body in, piece by piece, and no more of it than is wanted, packed or not."""

from __future__ import annotations

import zlib
from typing import Protocol

from .exchange import OutboundError

_GZIP_OR_ZLIB = 47


class Unpacker(Protocol):
    """Part of zlib's object."""

    def decompress(self, data: bytes, max_length: int = ...) -> bytes:
        """The next piece."""

    @property
    def eof(self) -> bool:
        """Is that all?"""


class Intake:
    """Collects a body up to a size; a small body that unpacks into a huge one ends there as well."""

    def __init__(self, encoding: str, most: int) -> None:
        self._most = most
        self._size = 0
        self._pieces: list[bytes] = []
        self._unpacker = _unpacker(encoding.strip().lower())

    def take(self, piece: bytes) -> None:
        """The next piece, as it came."""
        if self._unpacker is not None:
            try:
                piece = self._unpacker.decompress(piece, self._most - self._size + 1)
            except zlib.error as error:
                raise OutboundError("broken", reached=True) from error
        self._size += len(piece)
        if self._size > self._most:
            raise OutboundError("large", reached=True)
        self._pieces.append(piece)

    def whole(self) -> bytes:
        """All of it."""
        if self._unpacker is not None and self._size and not self._unpacker.eof:
            raise OutboundError("broken", reached=True)
        return b"".join(self._pieces)


def _unpacker(encoding: str) -> Unpacker | None:
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(_GZIP_OR_ZLIB)
    raise OutboundError("broken", reached=True)
