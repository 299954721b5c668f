"""The one kind of answer that crosses a boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from .entry import Entry
from .frozen import EMPTY, FrozenDict, freeze
from .registry import REGISTRY, UnknownCode
from .trace import Trace

# Every structured answer carries the reply itself under this name, so data cannot use it.
RESERVED = "reply"


@final
@dataclass(frozen=True, slots=True, init=False)
class Reply:
    """One outcome of one call: the code says what happened, its type says what to do next."""

    code: str
    params: FrozenDict
    data: FrozenDict
    trace: Trace | None
    tool: str | None
    duration_ms: float | None
    entry: Entry = field(repr=False, compare=False)

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise TypeError("a Reply is made by reply(code, params, data), nowhere else")

    def __init_subclass__(cls) -> None:
        raise TypeError("there is one kind of Reply")

    def traced(self, trace: Trace, tool: str | None = None, duration_ms: float | None = None) -> Reply:
        """The same outcome, now saying which call it belongs to and how long that took."""
        return _make(self.entry, self.params, self.data, trace, tool, duration_ms)

    @property
    def reply_type(self) -> str:
        """S, I, D or E."""
        return self.entry.type

    @property
    def message_key(self) -> str:
        """The registry's name for the code."""
        return self.entry.key

    @property
    def message(self) -> str:
        """Text for people; never branch on it."""
        return REGISTRY.message(self.code, self.params)

    @property
    def layer(self) -> str:
        """Who decided: WA, EN, CT or MCP."""
        return self.entry.layer

    @property
    def http_status(self) -> int:
        """The status for HTTP callers."""
        return self.entry.http

    @property
    def retryable(self) -> bool:
        """May a runtime repeat the call with the same key?"""
        if "retryable" in self.data:
            return self.data["retryable"] is True
        return self.entry.retryable

    @property
    def ok(self) -> bool:
        """Was it done as asked?"""
        return self.entry.type == "S"

    @property
    def trace_id(self) -> str | None:
        """The W3C trace id of the call, once known."""
        return None if self.trace is None else self.trace.trace_id

    @property
    def span_id(self) -> str | None:
        """The span of the call, once known."""
        return None if self.trace is None else self.trace.span_id

    @property
    def traceparent(self) -> str | None:
        """The W3C header of the call, once known."""
        return None if self.trace is None else self.trace.traceparent

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (self.code, self.params, self.data, self.trace, self.tool, self.duration_ms)


def reply(code: str, params: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None) -> Reply:
    """The only way to make a Reply; type, key and message follow from the code."""
    entry = REGISTRY.entry(code)
    if entry.status == "retired":
        raise UnknownCode(f"{code} is retired" + (f"; use {entry.replaced_by}" if entry.replaced_by else ""))
    fields = freeze(data) if data else EMPTY
    if RESERVED in fields:
        raise ValueError(f"data cannot have a field {RESERVED!r}: that is where the reply itself is sent")
    return _make(entry, freeze(params) if params else EMPTY, fields, None, None, None)


class _Making:
    """A Reply that is being made, and takes its fields as anything does: past the guard they cost three times that."""

    __slots__ = ("code", "data", "duration_ms", "entry", "params", "tool", "trace")

    code: str
    params: FrozenDict
    data: FrozenDict
    trace: Trace | None
    tool: str | None
    duration_ms: float | None
    entry: Entry


def _make(
    entry: Entry,
    params: FrozenDict,
    data: FrozenDict,
    trace: Trace | None,
    tool: str | None,
    duration_ms: float | None,
) -> Reply:
    made = _Making()
    made.code = entry.code
    made.params = params
    made.data = data
    made.trace = trace
    made.tool = tool
    made.duration_ms = duration_ms
    made.entry = entry
    made.__class__ = Reply  # type: ignore[assignment]
    return made  # type: ignore[return-value]


def restored(
    code: str,
    params: FrozenDict,
    data: FrozenDict,
    trace: Trace | None,
    tool: str | None,
    duration_ms: float | None,
) -> Reply:
    """A Reply that was made before, elsewhere; its code may be retired by now."""
    return _make(REGISTRY.entry(code), params, data, trace, tool, duration_ms)
