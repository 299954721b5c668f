"""Threads for code that may take its time: preparing, reading, calling other systems."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from engross.replies import Failed, codes
from engross.store import Threads

T = TypeVar("T")


class Workers:
    """Threads that do not run out when some of the work hangs."""

    def __init__(self, most: int = 16) -> None:
        self._threads = Threads(most, "engross-work")
        self.are_closed = False

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have the work done, in the caller's own context variables."""
        try:
            return self._threads.submit(partial(copy_context().run, work))
        except RuntimeError:
            raise Failed(codes.STORE_UNAVAILABLE) from None

    def abandon(self, work: Future[T]) -> None:
        """Give up on work that hangs: what comes next gets threads that are free."""
        self._threads.abandon(work)

    def close(self) -> None:
        """Take no more work."""
        self.are_closed = True
        self._threads.close(dropping=True)
