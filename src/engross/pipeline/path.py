"""The path that every call of every flow walks: admit, check, allow, then remember, perform, govern and record.

Exceptions steer inside; here, at the boundary, every one of them becomes a Reply.
"""

from __future__ import annotations

import logging
import time

from engross.calls import Context
from engross.flows import Flow
from engross.ledger import Reader
from engross.replies import Coded, Reply, Trace, record_crash, reply, reply_of
from engross.store import publish

from .admit import admit
from .allow import allow
from .check import check, require_key
from .fittings import Fittings
from .reach import reach, run_errand
from .read import read
from .record import Recorded
from .request import Request
from .steps import Look, Steps, Work
from .write import write

_log = logging.getLogger("engross.calls")


def walk(fittings: Fittings, request: Request) -> Steps[Reply]:
    """Answer one call."""
    started = time.perf_counter()
    trace = Trace.from_headers(request.traceparent, request.tracestate)
    try:
        answer = yield from _stages(fittings, request, trace)
    except Coded as refusal:
        answer = reply_of(refusal)
        if refusal.__cause__ is not None:
            record_crash(trace.trace_id, refusal, request.flow)
    except Exception as crash:
        answer = reply_of(crash)
        record_crash(trace.trace_id, crash, request.flow)
    answer = answer.traced(trace, request.flow, round((time.perf_counter() - started) * 1000, 3))
    _note(answer)
    return answer


def _stages(fittings: Fittings, request: Request, trace: Trace) -> Steps[Reply]:
    flow = fittings.catalogue.flow(request.flow)
    checked = check(flow, request.arguments)
    context = admit(fittings, request, flow, checked.controls, trace)
    allow(fittings, context, flow)
    if flow.kind == "read":
        return (yield from read(fittings, context, flow, checked))
    require_key(fittings, context)
    if flow.kind == "reach":
        return (yield from reach(fittings, context, flow, checked))
    answer, recorded = yield from write(fittings, context, flow, checked)
    if recorded is not None:
        answer = yield from _afterwards(fittings, context, flow, recorded)
    if flow.suggester is not None and answer.ok:
        answer = yield from _suggest(fittings, context, flow, answer)
    return answer


def _afterwards(fittings: Fittings, context: Context, flow: Flow, recorded: Recorded) -> Steps[Reply]:
    """What follows a commit: files that were promised, and calls to other systems that were approved."""
    answer = recorded.reply
    if recorded.publishes:
        outcomes = yield Work(
            fittings.workers,
            lambda: publish(fittings.store, context.tenant, fittings.blobs(context.tenant)),
            context.deadline or 0.0,
        )
        answer = reply(answer.code, answer.params, {**(answer.data or {}), "published": outcomes})
    carried = []
    for errand in recorded.errands:
        decision = fittings.policy.judge(context, flow, flow.tier, 0)
        try:
            done = yield from run_errand(fittings, context, errand, decision)
        except Coded as refusal:
            done = reply_of(refusal)
        carried.append({"operation": errand.flow, "code": done.code, "message_key": done.message_key, "data": done.data})
    if carried:
        answer = reply(answer.code, answer.params, {**(answer.data or {}), "carried_out": carried})
    return answer


def _suggest(fittings: Fittings, context: Context, flow: Flow, answer: Reply) -> Steps[Reply]:
    """Next steps, computed when the outcome is certain. Failing to think of any changes nothing."""
    suggester = flow.suggester
    assert suggester is not None
    data = answer.data or {}
    try:
        found = yield Look(
            fittings.store,
            context.tenant,
            lambda reading: suggester(Reader(reading, context), data),
            fittings.workers,
            context.deadline or 0.0,
        )
        return reply(answer.code, answer.params, {**data, "suggestions": list(found)})
    except Exception as error:
        record_crash(context.trace.trace_id, error, flow.ref)
        return answer


def _note(answer: Reply) -> None:
    level = _LEVELS[answer.reply_type]
    if _log.isEnabledFor(level):
        _log.log(
            level,
            "tool_end",
            extra={
                "tool": answer.tool,
                "reply_type": answer.reply_type,
                "code": answer.code,
                "duration_ms": answer.duration_ms,
                "trace_id": answer.trace_id,
                "span_id": answer.span_id,
            },
        )


_LEVELS = {"S": logging.INFO, "I": logging.WARNING, "D": logging.WARNING, "E": logging.ERROR}

