"""A plain function on a thread of its own, so that a deadline can be kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context

from .crashes import record_crash


class DeadlinePassed(Exception):
    """Our own deadline, as opposed to a TimeoutError of the tool's."""


class Worker:
    """Runs one piece of work; past its deadline it is left behind, since Python cannot stop a thread."""

    def __init__(self, work: Callable[[], object], tool: str, trace_id: str) -> None:
        self._work = work
        self._context = copy_context()
        self._tool = tool
        self._trace_id = trace_id
        self._lock = threading.Lock()
        self._left_behind = False
        self._outcome: tuple[object, BaseException | None] | None = None

    def result_within(self, seconds: float) -> object:
        """What the work returns, or raises; DeadlinePassed when it takes longer."""
        thread = threading.Thread(target=self._run, name=f"tool {self._tool}", daemon=True)
        thread.start()
        thread.join(seconds)
        with self._lock:
            outcome = self._outcome
            self._left_behind = outcome is None
        if outcome is None:
            raise DeadlinePassed
        result, failure = outcome
        if failure is not None:
            raise failure
        return result

    def _run(self) -> None:
        result, failure = None, None
        try:
            result = self._context.run(self._work)
        except BaseException as raised:
            failure = raised
        with self._lock:
            self._outcome = result, failure
            late = self._left_behind
        if late and failure is not None:
            record_crash(self._trace_id, failure, self._tool)
