"""Waiting for a run: on an event loop by awaiting it there, on a thread by leaving it to the process's own loop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Lock, Thread
from typing import Any

from engross.replies import Failed, codes

GRACE_SECONDS = 0.5


class Running:
    """A step of the pipeline: a run that is started when somebody waits for it."""

    __slots__ = ("_deadline", "_start")

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Any]], deadline: float | None) -> None:
        self._start = start
        self._deadline = deadline

    def block(self) -> Any:
        """Wait on this thread."""
        loop = own_loop()
        if asyncio._get_running_loop() is loop:
            raise RuntimeError("code on an event loop awaits acall; call would wait for itself")
        future = asyncio.run_coroutine_threadsafe(self._start(), loop)
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic()) + GRACE_SECONDS
        try:
            return future.result(left)
        except FutureTimeout:
            if future.done():
                raise
            raise Failed(codes.TIMEOUT, data={"timeout_seconds": left}) from None
        finally:
            # Also when whoever waits is interrupted.
            future.cancel()

    async def wait(self) -> Any:
        """Wait on this event loop."""
        return await self._start()


_lock = Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def own_loop() -> asyncio.AbstractEventLoop:
    """The loop that runs for callers who have none. One in each process; it ends with it."""
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = asyncio.new_event_loop()
            Thread(target=_run, args=(loop,), name="engross-outbound", daemon=True).start()
            _loops[os.getpid()] = loop
        return loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
