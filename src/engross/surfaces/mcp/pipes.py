"""Standard input and output as lines of bytes.

A pipe or a socket is read and written by the event loop itself, without a thread for every line. A file or a terminal,
which no event loop can wait for, is left to threads.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from stat import S_ISFIFO, S_ISSOCK
from typing import BinaryIO, NamedTuple, Protocol

READ_SIZE = 64 * 1024
ENDS = 4096
"""So much of either end of a line that is too long is kept."""


class Wire(NamedTuple):
    """Where the client writes to, and where it reads from."""

    incoming: BinaryIO
    outgoing: BinaryIO


@contextmanager
def claimed() -> Iterator[Wire]:
    """The standard streams, for the protocol alone; everybody else gets nothing in, and standard error out."""
    sys.stdout.flush()
    kept = _private(0), _private(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        with (
            os.fdopen(_private(kept[0]), "rb", buffering=0) as incoming,
            os.fdopen(_private(kept[1]), "wb", buffering=0) as outgoing,
        ):
            yield Wire(incoming, outgoing)
    finally:
        # What was printed meanwhile still belongs to standard error.
        sys.stdout.flush()
        for descriptor, private in enumerate(kept):
            os.dup2(private, descriptor)
            os.close(private)


def _private(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


class Ending:
    """Ends the input before the client does. A signal may tell it, also before there is any input."""

    def __init__(self) -> None:
        self._is_told = False
        self._end: Callable[[], object] = lambda: None

    def tell(self) -> None:
        """There is no more input from now on."""
        self._is_told = True
        # Input that has ended anyway has no loop any more.
        with suppress(RuntimeError):
            self._end()

    def ends(self, end: Callable[[], object]) -> None:
        """What ends the input."""
        self._end = end
        if self._is_told:
            end()


class _Source(Protocol):
    async def read(self, size: int, /) -> bytes:
        """Some bytes; none at the end."""


class Overlong(NamedTuple):
    """A line that is too long: its two ends are all that is kept of it."""

    head: bytes
    tail: bytes


class Lines:
    """Lines of at most so many bytes. Of a longer one come its ends; blank ones are skipped."""

    def __init__(self, source: _Source, most: int) -> None:
        self._source = source
        self.most = most

    async def __aiter__(self) -> AsyncIterator[bytes | Overlong]:
        pending, head = bytearray(), b""
        while chunk := await self._source.read(READ_SIZE):
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                pending += part
                line = self._line(pending, head)
                pending, head = bytearray(), b""
                if line is not None:
                    yield line
            pending += rest
            if len(pending) > self.most:
                head = head or bytes(pending[:ENDS])
                del pending[:-ENDS]
        if (line := self._line(pending, head)) is not None:
            yield line

    def _line(self, pending: bytearray, head: bytes) -> bytes | Overlong | None:
        if head or len(pending) > self.most:
            return Overlong(head or bytes(pending[:ENDS]), bytes(pending[-ENDS:]))
        return bytes(pending) if pending.strip() else None


class Pen:
    """Writes messages. A client that has stopped reading is not written to, and that is no failure of ours."""

    def __init__(self, outgoing: BinaryIO, writer: asyncio.StreamWriter | None) -> None:
        self._outgoing = outgoing
        self._writer = writer
        self._one_at_a_time = asyncio.Lock()

    async def write(self, text: str) -> None:
        """Write one message with its end of line."""
        await self._write(text.encode("utf-8", "replace"))

    async def write_line(self, line: bytes) -> None:
        """Write one message that has no end of line yet."""
        await self._write(line + b"\n")

    async def _write(self, data: bytes) -> None:
        with suppress(OSError):
            if self._writer is None:
                async with self._one_at_a_time:
                    await asyncio.to_thread(self._outgoing.write, data)
            else:
                self._writer.write(data)
                await self._writer.drain()

    async def flush(self) -> None:
        """Nothing is held back."""

    def hurry(self, seconds: float) -> None:
        """Write for so long at the most: a client that has stopped reading would keep us for ever."""
        if self._writer is not None:
            asyncio.get_running_loop().call_later(seconds, self._writer.transport.abort)

    async def finish(self, seconds: float) -> None:
        """See to it that everything is written, if anybody reads it in that time."""
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._writer.wait_closed()


class _Threaded:
    """A file that is read by threads."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def read(self, size: int, /) -> bytes:
        """Some bytes; none at the end."""
        return await asyncio.to_thread(self._file.read, size)


class _Reading(asyncio.StreamReaderProtocol):
    """Tells when there is nothing more to read, whoever has not read yet what came."""

    def __init__(
        self, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]
    ) -> None:
        super().__init__(reader, loop=loop)
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:
        """The input is over."""
        super().connection_lost(exc)
        self._ended()


async def source_of(file: BinaryIO, ending: Ending, ended: Callable[[], None] = lambda: None) -> _Source:
    """Reads from a pipe by the event loop, until that is told to end; from anything else by threads, to its own end.

    `ended` is called when a pipe has.
    """
    if not _is_pipe(file):
        return _Threaded(file)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=READ_SIZE, loop=loop)
    transport, _ = await loop.connect_read_pipe(lambda: _Reading(reader, loop, ended), file)
    ending.ends(partial(loop.call_soon_threadsafe, transport.close))
    return reader


async def pen_for(file: BinaryIO) -> Pen:
    """Writes to a pipe by the event loop, to anything else by threads."""
    if not _is_pipe(file):
        return Pen(file, None)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop), file
    )
    return Pen(file, asyncio.StreamWriter(transport, protocol, None, loop))


def _is_pipe(file: BinaryIO) -> bool:
    mode = os.fstat(file.fileno()).st_mode
    return S_ISFIFO(mode) or S_ISSOCK(mode)
