"""Threads for code that may take its time: preparing, reading, calling other systems."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock
from typing import TypeVar

T = TypeVar("T")


class Workers:
    """A pool that starts with the first piece of work, and does not run dry when some of it hangs."""

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have the work done, in the caller's own context variables."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._most, thread_name_prefix="engross-work")
            return self._pool.submit(copy_context().run, work)

    def abandon(self, work: Future[T]) -> None:
        """Give up on work that hangs: what comes next gets threads that are free."""
        if work.cancel():
            return
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)

    def close(self) -> None:
        """Take no more work."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
