"""Threads for work that may hang.

The standard library's pool waits for all of its threads when the process ends, so one piece of work that hangs
would keep the process alive for ever. These threads end with it, and one that hangs can be replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
Task = tuple["Future[Any]", Callable[[], Any]]


class Threads:
    """At most so many threads, each started when there is work for it."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._lock = Lock()
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._threads = 0
        self._unfinished = 0
        self._left_behind: set[Future[Any]] = set()
        self._closed = False

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have the work done; RuntimeError once they are closed."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("these threads are closed")
            self._tasks.put((future, work))
            self._unfinished += 1
            self._start_one_if_short()
        return future

    def abandon(self, future: Future[Any]) -> None:
        """Leave work that hangs to itself: another thread takes the place of its own."""
        if future.cancel():
            return
        with self._lock:
            if future.done() or future in self._left_behind:
                return
            self._left_behind.add(future)
            self._threads -= 1
            self._unfinished -= 1
            self._start_one_if_short()

    def close(self, *, dropping: bool = False) -> None:
        """Take no more work, and do what was taken, unless that is to be dropped. Waits for nothing."""
        with self._lock:
            self._closed = True
            if dropping:
                self._drop()
            for _ in range(self._threads):
                self._tasks.put(None)

    def _start_one_if_short(self) -> None:
        if self._threads < min(self._unfinished, self._most):
            self._threads += 1
            Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, work = task
            _settle(future, work)
            with self._lock:
                if future in self._left_behind:
                    self._left_behind.discard(future)
                    return
                self._unfinished -= 1
            # Else what it did and gave would live on until the next task comes.
            del task, future, work

    def _drop(self) -> None:
        try:
            while task := self._tasks.get_nowait():
                task[0].cancel()
                self._unfinished -= 1
        except Empty:
            return


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
