"""One call of a tool under way: its trace, its clock, its outcome, and the one line it leaves in the log."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType

from . import codes
from .calllog import log_end, log_interrupted
from .coded import Coded, reply_of
from .crashes import record_crash
from .envelopes import serialise
from .legacy import judged
from .reply import Reply, reply
from .trace import Trace, current_trace, tracing
from .worker import DeadlinePassed


class Running:
    """Entered around the call itself; afterwards `settle` turns what happened into a Reply."""

    def __init__(
        self, tool: str, strict: bool | None, timeout: float | None, max_bytes: int, request_id: object
    ) -> None:
        outer = current_trace()
        self.trace = Trace.new() if outer is None else outer.child()
        self.result: object = None
        self._tool = tool
        self._strict = strict
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._request_id = request_id
        self._failure: Exception | None = None
        self._started = perf_counter()

    def __enter__(self) -> Running:
        self._tracing = tracing(self.trace)
        self._tracing.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, stack: TracebackType | None
    ) -> bool:
        self._tracing.__exit__(None, None, None)
        if isinstance(failure, Exception):
            self._failure = failure
            return True
        if failure is not None:
            # Cancelled or interrupted from outside: that is no outcome of the tool, and it goes on upwards.
            log_interrupted(self._tool, self._elapsed_ms(), self.trace, failure)
        return False

    def settle(self) -> Reply:
        """The Reply of the call: traced, sendable and logged."""
        try:
            answer = self._sendable(self._traced(self._outcome()))
        except Exception as failure:
            answer = self._traced(self._crashed(failure))
        log_end(answer)
        return answer

    def _outcome(self) -> Reply:
        if isinstance(self._failure, DeadlinePassed):
            return self._timed_out()
        if self._failure is not None:
            return self._crashed(self._failure)
        return judged(self.result, self._tool, self._strict)

    def _timed_out(self) -> Reply:
        data: dict[str, object] = {"outcome": "unknown", "timeout_seconds": self._timeout}
        if type(self._request_id) is str and self._request_id.isascii():
            data["client_request_id"] = self._request_id
        return reply(codes.TIMEOUT, data=data)

    def _crashed(self, failure: Exception) -> Reply:
        answer = reply_of(failure)
        if answer.reply_type == "E" or (isinstance(failure, Coded) and failure.is_incomplete):
            record_crash(self.trace.trace_id, failure, self._tool)
        return answer

    def _sendable(self, answer: Reply) -> Reply:
        size = len(serialise(answer))
        if size <= self._max_bytes:
            return answer
        # The work may well be done and only its answer too long, so the answer's own code is told.
        sizes = {"size": size, "limit": self._max_bytes}
        return self._traced(reply(codes.RESPONSE_TOO_LARGE, sizes, {"answered": answer.code}))

    def _traced(self, answer: Reply) -> Reply:
        return answer.traced(self.trace, self._tool, self._elapsed_ms())

    def _elapsed_ms(self) -> float:
        return round((perf_counter() - self._started) * 1000, 3)
