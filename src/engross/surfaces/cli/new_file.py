"""A file for a secret: sure to be there before the secret is made, and only its owner's."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from engross.replies import Invalid, codes

PRIVATE = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class NewFile:
    """An empty file that goes again unless something was written to it."""

    def __init__(self, path: Path, option: str) -> None:
        """Invalid if there can be no such file; the option is the one that named it."""
        try:
            self._file = open(os.open(path, _NEW, PRIVATE), "wb", buffering=0)  # noqa: SIM115
        except OSError as error:
            problem = f"{path} cannot be made: {error.strerror}"
            raise Invalid(codes.VALIDATION_ERROR, {"problem": problem}, field=option) from None
        self._path = path
        self._is_whole = False

    def write(self, text: str) -> None:
        """Write a line; raises OSError unless the disk keeps all of it."""
        line = f"{text}\n".encode()
        if self._file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(self._file.fileno())
        self._is_whole = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if not self._is_whole:
            self._path.unlink(missing_ok=True)
