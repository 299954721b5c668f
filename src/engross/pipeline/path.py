"""The path that every call of every flow walks: admit, check, allow, then remember, perform, govern and record.

Exceptions steer inside; here, at the boundary, every one of them becomes a Reply.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import orjson

from engross.calls import Context
from engross.flows import Flow, Misshapen, shortened
from engross.ledger import Reader
from engross.replies import Coded, Failed, Reply, Trace, codes, extended, freeze, log_end, record_crash, reply, reply_of
from engross.store import Reading

from .admit import admit
from .afterwards import afterwards
from .allow import allow, own_only
from .check import check, require_key
from .dialects import in_dialect
from .examine import examined
from .fittings import Fittings
from .reach import reach
from .read import read
from .record import bearable
from .remember import remember_suggestions
from .request import Request
from .steps import CRASHES, Look, Step, Steps, Work, time_left
from .write import write

SUGGEST_SECONDS = 2.0
LITTLE = 2_000
"""In bytes: so little more that the answer need not be measured again."""


def walk(fittings: Fittings, request: Request) -> Steps[Reply]:
    """Answer one call."""
    started = time.perf_counter_ns()
    tool = shortened(request.flow)
    trace = Trace.from_headers(request.traceparent, request.tracestate)
    try:
        answer = yield from _stages(fittings, request, trace)
    except Coded as refusal:
        answer = reply_of(in_dialect(refusal, fittings.catalogue.at_hand(request.flow, request.hidden)))
        if refusal.__cause__ is not None or refusal.is_incomplete:
            record_crash(trace.trace_id, refusal, tool)
    except CRASHES as crash:
        answer = reply_of(crash)
        record_crash(trace.trace_id, crash, tool)
    answer = answer.traced(trace, tool, (time.perf_counter_ns() - started) // 1000 / 1000)
    log_end(answer)
    return answer


def _stages(fittings: Fittings, request: Request, trace: Trace) -> Steps[Reply]:
    if fittings.workers.are_closed:
        raise Failed(codes.OFFICE_UNREACHABLE, data={"problem": "the office was closed"})
    flow = fittings.catalogue.flow(request.flow, request.hidden)
    try:
        checked = check(flow, request.arguments)
    except Misshapen as refused:
        raise (yield from examined(fittings, request, flow, refused, trace)) from None
    context = admit(fittings, request, flow, checked.controls, trace)
    allow(fittings, context, flow, request.is_counted)
    own_only(context, flow, checked.arguments)
    if flow.kind == "read":
        return (yield from read(fittings, context, flow, checked))
    require_key(fittings, context)
    if flow.kind == "reach":
        return (yield from reach(fittings, context, flow, checked))
    answer, recorded = yield from write(fittings, context, flow, checked)
    if recorded is not None and (recorded.publishes or recorded.errands):
        answer = yield from afterwards(fittings, context, recorded)
    if flow.concluder is not None and answer.ok and set(answer.data.get("published", {}).values()) - {"done"}:
        answer = yield from _conclude(fittings, context, flow, answer)
    if flow.suggester is not None and answer.ok and (context.dry_run or "suggestions" not in answer.data):
        answer = yield from _suggest(fittings, context, flow, answer)
    return answer


def _conclude(fittings: Fittings, context: Context, flow: Flow, answer: Reply) -> Steps[Reply]:
    """What the flow makes of files that are not there as promised."""
    concluder = flow.concluder
    assert concluder is not None

    def conclude(reading: Reading) -> Mapping[str, Any] | None:
        return cast(Mapping[str, Any] | None, concluder(Reader(reading, context), answer.data))

    more = yield Work(
        fittings.workers,
        lambda: fittings.store.read(context.tenant, conclude, timeout=time_left(context)),
        context.deadline or 0.0,
    )
    return reply(answer.code, answer.params, {**answer.data, **more}) if more else answer


def _suggest(fittings: Fittings, context: Context, flow: Flow, answer: Reply) -> Steps[Reply]:
    """Next steps, computed when the outcome is certain. Failing to think of any changes nothing."""
    suggester = flow.suggester
    assert suggester is not None
    data: Mapping[str, Any] = answer.data
    told = {**data["answer"], "warnings": data["warnings"]} if context.dry_run else data

    def think(reading: Reading) -> list[Any]:
        return list(cast(Iterable[Any], suggester(Reader(reading, context), told)))

    try:
        if flow.suggests_alone:
            found = list(cast(Iterable[Any], suggester(told)))
        else:
            found = yield _look(fittings, context, flow, think)
        text = orjson.dumps(found)
        if len(text) < LITTLE:
            more = extended(freeze(data), suggestions=found)
        else:
            more, _ = bearable({**data, "suggestions": found}, fittings.most_reply_bytes)
        if context.client_request_id is not None and not context.dry_run:
            remember_suggestions(fittings, context, text.decode())
        return reply(answer.code, answer.params, more)
    except CRASHES as error:
        record_crash(context.trace.trace_id, error, flow.ref)
        return answer


def _look(fittings: Fittings, context: Context, flow: Flow, think: Callable[[Reading], list[Any]]) -> Step:
    """Where a suggester gets to look at the store, for as long as it is waited for."""
    deadline = min(context.deadline or 0.0, time.monotonic() + SUGGEST_SECONDS)
    if flow.suggests_inline:
        return Look(fittings.store, context.tenant, think, fittings.workers, deadline)
    return Work(fittings.workers, lambda: fittings.store.read(context.tenant, think, timeout=SUGGEST_SECONDS), deadline)
