"""Taking a body in, piece by piece, and no more of it than is wanted, packed or not."""

from __future__ import annotations

import zlib
from typing import Protocol

from .exchange import OutboundError

_GZIP_OR_ZLIB = 47


class Unpacker(Protocol):
    """Part of zlib's object."""

    @property
    def unused_data(self) -> bytes:
        """What came behind the end."""

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
        self._packed_size = 0
        self._pieces: list[bytes] = []
        self._encoding = encoding.strip().lower()
        self._unpacker = _unpacker(self._encoding)

    def take(self, piece: bytes) -> None:
        """The next piece, as it came."""
        self._packed_size += len(piece)
        if self._packed_size > self._most:
            # What unpacks into nothing is taken in all the same.
            raise OutboundError("large", reached=True)
        if self._unpacker is None:
            self._keep(piece)
        while self._unpacker is not None and piece:
            if self._unpacker.eof:
                # Several packed bodies in a row are one body.
                self._unpacker = _unpacker(self._encoding)
                continue
            try:
                self._keep(self._unpacker.decompress(piece, self._most - self._size + 1))
            except zlib.error as error:
                raise OutboundError("broken", reached=True) from error
            piece = self._unpacker.unused_data

    def whole(self) -> bytes:
        """All of it."""
        if self._unpacker is not None and self._packed_size and not self._unpacker.eof:
            raise OutboundError("broken", reached=True)
        return b"".join(self._pieces)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._most:
            raise OutboundError("large", reached=True)
        self._pieces.append(piece)


def _unpacker(encoding: str) -> Unpacker | None:
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(_GZIP_OR_ZLIB)
    raise OutboundError("broken", reached=True)
