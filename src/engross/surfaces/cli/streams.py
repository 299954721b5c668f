"""The standard streams as commands find them: all three are there, and output that nobody took is told as such.

A shell may start a command with a stream closed (`>&-`), or with one that takes nothing (`>/dev/full`).
"""

from __future__ import annotations

import os
import sys
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from typing import Any

from engross.replies import Invalid, codes

UNTAKEN = 4
"""The exit code of a command whose answer nobody could be given."""
GIVE_SOMETHING = "Give the command something to read: a file by <, or what another program writes by |."
WRONG_WAY = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_RDONLY))
"""Each stream, how it is used, and how it is opened where it is closed: reading or writing it goes on failing."""


class Untaken(OSError):
    """Standard output took nothing."""


class _Input(FileIO):
    """Standard input. Whoever gave nothing that can be read is told so, whatever command wanted it."""

    def readinto(self, buffer: Any, /) -> int:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise _unread(error) from None

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise _unread(error) from None


class _Output(FileIO):
    """Standard output. What goes wrong with it is told apart from what goes wrong with any other file, and told once.

    Who was told may go on without it, as a server does; what is left in a buffer must not speak up at the end.
    """

    _is_lost = False

    def write(self, content: Any, /) -> int:
        if self._is_lost:
            return len(content)
        try:
            return super().write(content)
        except OSError as error:
            self._is_lost = True
            if isinstance(error, BrokenPipeError):
                # Whoever read it had enough; the libraries know what to do about that.
                raise
            raise Untaken(error.errno, error.strerror) from error


class _Error(FileIO):
    """Standard error. Where nobody hears what is said there, the command goes on all the same."""

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError:
            return len(content)


def take_streams() -> None:
    """Put streams in place that commands can rely on. A character that a terminal cannot show is shown by its code."""
    for name, mode, way in WRONG_WAY:
        # Without it the next file that is opened would have the number of a standard stream.
        if getattr(sys, name) is None:
            number = os.open(os.devnull, way)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    reader = BufferedReader(_Input(sys.stdin.fileno(), closefd=False))
    sys.stdin = TextIOWrapper(reader, encoding=sys.stdin.encoding, errors=sys.stdin.errors)
    sys.stdout = _written_by(_Output, sys.stdout)
    sys.stderr = _written_by(_Error, sys.stderr)


def _unread(error: OSError) -> Invalid:
    problem = f"standard input cannot be read: {error.strerror}"
    return Invalid(codes.MALFORMED_INPUT, {"problem": problem}, suggestions={"hint": GIVE_SOMETHING})


def _written_by(kind: type[FileIO], stream: Any) -> TextIOWrapper:
    return TextIOWrapper(
        BufferedWriter(kind(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through,
    )
