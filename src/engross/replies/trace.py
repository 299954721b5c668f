"""W3C trace context: which request a reply belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

from engross.chance import drawn

MAX_MEMBERS = 32
MAX_STATE = 4096
_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII | re.DOTALL)
_IDS = re.compile(r"[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{16}", re.ASCII)
_STATE = re.compile(r"[\x20-\x7e\t]+")
_NO_TRACE = "0" * 32
_NO_SPAN = "0" * 16


class Trace(Struct, frozen=True, gc=False):
    """Where one call stands: its trace, its own span, and the span that called it."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    sampled: bool = True
    tracestate: str | None = None

    @classmethod
    def new(cls) -> Trace:
        """A trace that starts here."""
        ids = drawn(24).hex()
        return cls(ids[:32], ids[32:])

    @classmethod
    def from_headers(cls, traceparent: object = None, tracestate: object = None) -> Trace:
        """A span of our own in the caller's trace; what is malformed is ignored and a new trace starts."""
        found = _PARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
        if found is None:
            return cls.new()
        version, trace_id, parent, flags, more = found.groups()
        # A later version may append fields; version 00 may not, and ff is forbidden.
        if version == "ff" or (version == "00" and more) or trace_id == _NO_TRACE or parent == _NO_SPAN:
            return cls.new()
        return cls(trace_id, drawn(8).hex(), parent, bool(int(flags, 16) & 1), _carried(tracestate))

    @classmethod
    def restored(
        cls, trace_id: str, span_id: str, parent_span_id: str | None, sampled: bool, tracestate: str | None
    ) -> Trace:
        """A trace as somebody else wrote it down; raises ValueError where it cannot be one."""
        ids = (trace_id, span_id, span_id if parent_span_id is None else parent_span_id)
        if not _IDS.fullmatch("-".join(ids)) or type(sampled) is not bool:
            raise ValueError("not a trace")
        return cls(trace_id, span_id, parent_span_id, sampled, _carried(tracestate))

    def child(self) -> Trace:
        """A span of its own under this one."""
        return Trace(self.trace_id, drawn(8).hex(), self.span_id, self.sampled, self.tracestate)

    @property
    def traceparent(self) -> str:
        """The header that hands this span on."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


def _carried(tracestate: object) -> str | None:
    if not isinstance(tracestate, str) or len(tracestate) > MAX_STATE or not _STATE.fullmatch(tracestate):
        return None
    return tracestate if tracestate.count(",") < MAX_MEMBERS else None


_CURRENT: ContextVar[Trace | None] = ContextVar("engross_trace", default=None)


def current_trace() -> Trace | None:
    """The trace of the call that is running here, if any."""
    return _CURRENT.get()


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Make a trace the current one for a while; safe across threads and tasks."""
    token = _CURRENT.set(trace)
    try:
        yield trace
    finally:
        _CURRENT.reset(token)
