"""Bytes on their way to an office or from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from secrets import token_hex
from typing import IO, NamedTuple

from engross.plainfile import plain_target

PIECE = 1 << 18
ANY_KIND = "application/octet-stream"
UNNAMED = "file"

Content = bytes | str | PathLike[str] | IO[bytes]
"""What can be uploaded: bytes as they are, the path of a file, an open stream."""


class Upload(NamedTuple):
    """A file to be kept, and what is told about it."""

    content: Content
    name: str
    media_type: str
    client_request_id: str | None = None

    @classmethod
    def of(cls, content: Content, name: str | None, media_type: str | None, client_request_id: str | None) -> Upload:
        """The file, under the name that was given, or that it has."""
        from mimetypes import guess_type

        called = name or _name_of(content)
        return cls(content, called, media_type or guess_type(called)[0] or ANY_KIND, client_request_id)


@contextmanager
def opened(content: Content) -> Iterator[tuple[IO[bytes], int | None]]:
    """The content as a stream, and its size where that is known."""
    if isinstance(content, bytes):
        yield BytesIO(content), len(content)
    elif isinstance(content, str | PathLike):
        with open(content, "rb") as file:
            yield file, os.fstat(file.fileno()).st_size
    else:
        yield content, None


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """What a stream holds, piece by piece."""
    while piece := stream.read(PIECE):
        yield piece


@dataclass
class Arriving:
    """A file on its way; it becomes one when it is whole."""

    file: IO[bytes]
    whole: bool = False


@contextmanager
def arriving_at(target: str | PathLike[str]) -> Iterator[Arriving]:
    """A file that takes the target's place if it gets whole, and else leaves it as it was."""
    plain = plain_target(target)
    staged = f"{plain}.{token_hex(4)}.part"
    with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
        arriving = Arriving(file)
        try:
            yield arriving
        finally:
            file.close()
            if arriving.whole:
                os.replace(staged, plain)
            else:
                os.unlink(staged)


def _name_of(content: Content) -> str:
    path = content if isinstance(content, str | PathLike) else getattr(content, "name", None)
    return os.path.basename(path) if isinstance(path, str | PathLike) and os.path.basename(path) else UNNAMED
