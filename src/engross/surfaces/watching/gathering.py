"""What can wait until a turn of the event loop is over is then done for all calls of the turn together.

Code that has just run is run once more for a fraction of what the first time costs, and one trip to the system serves
them all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

T = TypeVar("T")


class Gathering(Generic[T]):
    """Collects things during a turn, and hands them on at its end; where no loop runs, at once."""

    def __init__(self, hand_on: Callable[[list[T]], None]) -> None:
        self._hand_on = hand_on
        # Collecting garbage may end a call, and put it here, while its own thread is in here already.
        self._lock = RLock()
        self._things: list[T] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that will hand them on."""

    def put(self, thing: T) -> None:
        """One more."""
        with self._lock:
            self._things.append(thing)
            # A loop that was closed meanwhile never gets to it.
            if self._loop is not None and not self._loop.is_closed():
                return
            loop = self._loop = _running_loop()
        if loop is None:
            self._end()
        else:
            loop.call_soon(self._end)

    def flush(self) -> None:
        """Hand on what is there, now: no loop may get to it any more."""
        self._end()

    def _end(self) -> None:
        with self._lock:
            self._loop = None
            things, self._things = self._things, []
        self._hand_on(things)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
