"""What follows a commit: files that it promised, and calls to other systems that it approved.

Both were written down in the commit's own transaction. Nothing that goes wrong here changes that the commit stands:
the answer stays a success and says what is still to come, and housekeeping takes that up again, after a crash too.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from engross.calls import Context, Decision, Errand
from engross.replies import Coded, Reply, Trace, record_crash, reply, reply_of
from engross.store import effect_states, mark_effects, publish

from .errands import abandoned_errands, errand_state
from .fittings import Fittings
from .reach import run_errand
from .record import Recorded
from .steps import Steps, Work, Write


def afterwards(fittings: Fittings, context: Context, recorded: Recorded) -> Steps[Reply]:
    """Keep what a commit promised; the answer says how that went."""
    more: dict[str, Any] = {}
    if recorded.publishes:
        more["published"] = yield from _published(fittings, context, recorded.publishes)
    if recorded.errands:
        more["carried_out"] = []
    for errand in recorded.errands:
        done = yield from _carried_out(fittings, context, errand, recorded.decision)
        more["carried_out"].append(
            {"operation": errand.flow, "code": done.code, "message_key": done.message_key, "data": done.data}
        )
    answer = recorded.reply
    return reply(answer.code, answer.params, {**answer.data, **more}) if more else answer


def take_up_errands(fittings: Fittings, context: Context) -> Steps[None]:
    """Carry out what was approved and then left, by a crash or by another system that was away."""
    promises = abandoned_errands(fittings.store, context.tenant, context.occurred_at, fittings.lease_seconds)
    for promise in promises:
        cause = replace(context, message_id=promise.cause, trace=Trace.new())
        yield from _carried_out(fittings, cause, promise.errand, promise.decision)


def _published(fittings: Fittings, context: Context, identifiers: tuple[str, ...]) -> Steps[dict[str, str]]:
    """What has become of the files of this commit: `done`, `pending` or `conflict`."""

    def work() -> dict[str, str]:
        try:
            publish(fittings.store, context.tenant, fittings.blobs(context.tenant))
        except Exception as failure:
            record_crash(context.trace.trace_id, failure, context.flow)
        return effect_states(fittings.store, context.tenant, identifiers)

    try:
        states: dict[str, str] = yield Work(fittings.workers, work, context.deadline or 0.0)
    except Exception as failure:
        record_crash(context.trace.trace_id, failure, context.flow)
        return dict.fromkeys(identifiers, "pending")
    return states


def _carried_out(fittings: Fittings, context: Context, errand: Errand, decision: Decision) -> Steps[Reply]:
    try:
        done = yield from run_errand(fittings, context, errand, decision)
    except Exception as failure:
        done = reply_of(failure)
        if not isinstance(failure, Coded) or failure.__cause__ is not None:
            record_crash(context.trace.trace_id, failure, errand.flow)
    state = errand_state(done)
    if state is not None:
        try:
            yield Write(fittings.store, context.tenant, lambda unit: mark_effects(unit, {errand.key: state}))
        except Exception as failure:
            # It is found under its key when it is taken up again.
            record_crash(context.trace.trace_id, failure, errand.flow)
    return done
