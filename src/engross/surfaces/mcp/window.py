"""Where requests come in: which desk, over which surface, and how to tell who is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import orjson
from mcp.server.context import ServerRequestContext

from engross.calls import Caller, Surface
from engross.flows import Flow, Tool
from engross.office import Request
from engross.replies import Reply, Trace, log_end
from engross.surfaces.desk import Desk

TOLD_IN_META = ("traceparent", "tracestate", "correlationId")
RequestContext: TypeAlias = ServerRequestContext[Any, Any]
Who: TypeAlias = Callable[[], Caller]


class Window(NamedTuple):
    """One way in to a desk."""

    desk: Desk
    who: Who
    surface: Surface

    def visit(self, context: RequestContext) -> Visit:
        """The request at hand, and who makes it."""
        headers: Mapping[str, str] = {} if context.request is None else context.request.headers
        return Visit(self.desk, self.who(), self.surface, circumstances(context.meta or {}, headers.get))


class Visit(NamedTuple):
    """One request of one caller."""

    desk: Desk
    caller: Caller
    surface: Surface
    circumstances: Mapping[str, Any]
    """Trace and correlation, as options of a call."""

    async def call(self, flow: str, arguments: Any, **options: Any) -> Reply:
        """Call a flow as this caller, in this request's trace."""
        return await self.desk.call(self.caller, flow, arguments, self.surface, **self.circumstances, **options)

    def reachable(self) -> Iterator[Tool]:
        """Every tool that this caller can use."""
        return self.desk.reachable(self.caller, self.surface)

    def may_use(self, tool: Tool) -> bool:
        """May this caller use the tool at all?"""
        return self.desk.office.may_call(self.caller, tool.flow, self.surface)

    def counted(self, flow: Flow) -> None:
        """Count a call that is answered here like those of other flows; Denied if there were too many."""
        self.desk.office.count_call(self.caller, flow, self.surface)

    def settle(self, answer: Reply, tool: str, arguments: Any, started: float) -> Reply:
        """An answer that no call gave, traced, logged and observed like one."""
        trace = Trace.from_headers(self.circumstances.get("traceparent"), self.circumstances.get("tracestate"))
        answer = answer.traced(trace, tool, round((time.perf_counter() - started) * 1000, 3))
        log_end(answer)
        request = Request(
            tool, arguments, self.caller.tenant, self.caller.principal, surface=self.surface, **self.circumstances
        )
        self.desk.daybook.note(request, answer)
        return answer


def whose(caller: Caller) -> str:
    """What is kept for a caller is for them and the very credential that they came with: others have another text."""
    return orjson.dumps([caller.tenant, caller.principal.id, caller.principal.type, caller.credential]).decode()


def circumstances(meta: Mapping[str, Any], header: Callable[[str], str | None]) -> dict[str, Any]:
    """What the caller says of trace and correlation; the rest of `_meta` and of the headers says nothing."""
    parent = meta.get("traceparent")
    if parent is not None:
        told = {"traceparent": parent, "tracestate": meta.get("tracestate")}
    else:
        told = {"traceparent": header("traceparent"), "tracestate": header("tracestate")}
    told["correlation_id"] = meta.get("correlationId") or header("x-correlation-id")
    return told
