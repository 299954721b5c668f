"""The calls that are under way, and how those ended that did: for whoever counts them or writes them down.

Nobody reads while a call is answered. When a turn of the event loop is over, all that ended in it are read together.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import length_hint

from msgspec import Struct

from engross.office import Request
from engross.replies import Reply

from .gathering import Gathering

_log = logging.getLogger("engross.daybook")


class Ended(Struct, frozen=True):
    """A call that is over."""

    request: Request
    answer: Reply | None
    """None if the caller did not wait for it."""
    at: int
    """When, in nanoseconds since the epoch."""


Reader = Callable[[Iterable[Ended]], None]
"""Reads them in their order. One that fails over a call is asked to go on behind it."""


class Daybook:
    """Kept by every desk of an office together."""

    def __init__(self, readers: Iterable[Reader] = ()) -> None:
        self.readers = list(readers)
        self.closing: list[Callable[[], None]] = []
        """What those who read do when there is no more to read."""
        self.under_way = 0
        self._ended: Gathering[Ended] = Gathering(self._read)

    def begin(self) -> None:
        """A call begins."""
        self.under_way += 1

    def end(self, request: Request, answer: Reply | None) -> None:
        """A call ended."""
        self.under_way -= 1
        self._keep(request, answer)

    def note(self, request: Request, answer: Reply) -> None:
        """A call was answered that no flow ever saw."""
        self._keep(request, answer)

    def close(self) -> None:
        """Have the last calls read."""
        self._ended.flush()
        for close in self.closing:
            close()

    def _keep(self, request: Request, answer: Reply | None) -> None:
        if self.readers:
            self._ended.put(Ended(request, answer, time.time_ns()))

    def _read(self, ended: Sequence[Ended]) -> None:
        for read in self.readers:
            _have_read(read, iter(ended))


def _have_read(read: Reader, ended: Iterator[Ended]) -> None:
    """What befalls those who read must befall neither the calls nor another reader, nor cost it more than one call."""
    left = -1
    # Whoever fails before looking at any would do so for ever.
    while left != (left := length_hint(ended)):
        try:
            read(ended)
            return
        except Exception as failure:
            _log.error("a reader failed: %s", type(failure).__name__)
