"""A reach flow: it calls other systems, so no transaction can hold it.

    lease     under its key, committed before the call goes out: from now on a retry knows that somebody is at it;
              what had to be confirmed spends its token with it
    call      holding no transaction, on a worker, until the deadline
    settle    a fact, the receipt and the answer under the key

What the flow refuses (Invalid, Denied) was not done, and the lease is given back; so it is after a failure that says
`outcome: not_done` about itself. Of anything else nobody knows whether the other system acted: the lease stays, and
once it has run out only a flow that is idempotent runs again under that key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from engross.calls import Answer, Context, Decision, Errand, Plan, derived_id
from engross.flows import Checked, Flow
from engross.ledger import REACHED, Unit, key_row, keys, release_key
from engross.replies import Denied, Failed, Invalid, Reply, freeze, reply_of
from engross.store import Transaction

from .answers import Remembered
from .fittings import Fittings
from .govern import govern, require_confirmation
from .perform import Performed, as_answer
from .record import Recorded, record_commit, record_proposal, take_note
from .remember import (
    flight_key,
    keeping_key,
    lead_or_replay,
    recall,
    replayed,
    request_fingerprint,
    settled,
)
from .steps import Steps, Work, Write
from .write import Call, Rehearsed, rehearsal, rehearsed_replay

NOT_DONE = "not_done"
"""The outcome of a call that failed before it could change anything."""


class Reaching(NamedTuple):
    """What a reach flow holds: the call, and the key that it should hand on to the other system."""

    context: Context
    key: str


class Outgoing(NamedTuple):
    """A checked and judged call of a reach flow, on its way out."""

    context: Context
    flow: Flow
    plan: Plan
    decision: Decision
    mark: str | None


def reach(fittings: Fittings, context: Context, flow: Flow, checked: Checked) -> Steps[Reply]:
    """Walk the rest of the path of a reach flow."""
    arguments = checked.arguments
    plan = Plan(flow.ref, flow.version, arguments, (), {}, flow.tier, {}, tuple(checked.warnings))
    decision = govern(fittings, context, flow, plan)
    mark = None if context.client_request_id is None else request_fingerprint(context, arguments)
    out = Outgoing(context, flow, plan, decision, mark)
    if context.dry_run:
        return (yield from _tried_out(fittings, out))
    if mark is None:
        return (yield from _carried_out(fittings, out))
    again = yield from lead_or_replay(fittings, context, mark)
    if again is not None:
        return again
    try:
        return (yield from _carried_out(fittings, out))
    finally:
        fittings.flights.end(flight_key(context))


def _tried_out(fittings: Fittings, out: Outgoing) -> Steps[Reply]:
    context, flow, plan, decision, mark = out
    call = Call(context, flow, plan.arguments, (), None, mark, decision)
    found = yield Write(
        fittings.store,
        context.tenant,
        lambda unit: _taken_back(fittings, out, unit),
        tentative=True,
    )
    if found is not None:
        return rehearsed_replay(plan.arguments, found)
    if not flow.rehearses:
        return rehearsal(fittings, call, Rehearsed(Performed(plan, Answer({})), decision))
    reaching = Reaching(context, context.client_request_id or context.message_id)
    answer = as_answer(flow, (yield from _reached(fittings, reaching, flow, dict(plan.arguments))))
    plan = replace(plan, answer=answer.data, warnings=(*plan.warnings, *answer.warnings))
    return rehearsal(fittings, call, Rehearsed(Performed(plan, answer), decision))


def run_errand(fittings: Fittings, context: Context, errand: Errand, decision: Decision) -> Steps[Reply]:
    """Carry out a call that was approved with a proposal, in its author's name, under a key of its own."""
    flow = fittings.catalogue.flow(errand.flow)
    author = Context.from_data(
        errand.author, tenant=context.tenant, trace=context.trace.child(), causation_id=context.message_id
    )
    # The author asked for it then, but it happens now: leases and keys count from the present, and its fact must not
    # have the id of one that the asking made.
    author = replace(
        author,
        client_request_id=errand.key,
        deadline=context.deadline,
        occurred_at=context.occurred_at,
        message_id=derived_id(author.message_id, 0),
    )
    decision = replace(decision, confirm=False)
    plan = Plan(flow.ref, flow.version, errand.arguments, (), {}, flow.tier, {})
    mark = request_fingerprint(author, errand.arguments)
    return (yield from _carried_out(fittings, Outgoing(author, flow, plan, decision, mark)))


def _carried_out(fittings: Fittings, out: Outgoing) -> Steps[Reply]:
    context, decision = out.context, out.decision
    if decision.verdict == "propose":
        outcome = yield Write(
            fittings.store,
            context.tenant,
            lambda unit: _propose(fittings, out, unit),
        )
        return (yield from _concluded(fittings, context, outcome))
    if out.mark is not None or decision.confirm:
        held = yield Write(
            fittings.store,
            context.tenant,
            lambda unit: _lease(fittings, out, unit),
        )
        if held is not None:
            return (yield from replayed(fittings, context, held))
    return (yield from _called(fittings, out))


def _called(fittings: Fittings, out: Outgoing) -> Steps[Reply]:
    context = out.context
    reaching = Reaching(context, context.client_request_id or context.message_id)
    try:
        result = yield from _reached(fittings, reaching, out.flow, dict(out.plan.arguments))
        outcome = yield Write(
            fittings.store,
            context.tenant,
            lambda unit: _settle(fittings, out, as_answer(out.flow, result), unit),
        )
    except (Invalid, Denied, Failed) as refusal:
        if isinstance(refusal, Failed) and (refusal.data or {}).get("outcome") != NOT_DONE:
            raise _unsettled(refusal, context) from refusal.__cause__
        if out.mark is not None:
            yield Write(fittings.store, context.tenant, lambda unit: _give_back(context, unit))
        raise
    except Exception as crash:
        answer = reply_of(crash)
        raise _unsettled(Failed(answer.code, answer.params), context) from crash
    return (yield from _concluded(fittings, context, outcome))


def _reached(fittings: Fittings, reaching: Reaching, flow: Flow, arguments: dict[str, Any]) -> Steps[Any]:
    """Run the flow's own code: on a worker, or, if it is a generator, wherever its own steps have it wait."""
    if flow.makes_calls:
        calling: Steps[Any] = flow.handler(reaching, arguments)  # type: ignore[assignment]
        return (yield from calling)
    deadline = reaching.context.deadline or 0.0
    return (yield Work(fittings.workers, lambda: flow.handler(reaching, arguments), deadline))


def _concluded(fittings: Fittings, context: Context, outcome: Recorded | Remembered) -> Steps[Reply]:
    if isinstance(outcome, Remembered):
        return (yield from replayed(fittings, context, outcome))
    take_note(fittings, context, outcome)
    return outcome.reply


def _unsettled(failure: Failed, context: Context) -> Failed:
    """The failure of a call that went out: what the other system did is not known."""
    unknown = Failed(failure.code, failure.params, data={**(failure.data or {}), "outcome": "unknown"})
    return keeping_key(unknown, context)


def _taken_back(fittings: Fittings, out: Outgoing, transaction: Transaction) -> Remembered | None:
    """What the call would do before anything goes out, as far as it is refused or was made already."""
    begin = _propose if out.decision.verdict == "propose" else _lease
    found = begin(fittings, out, transaction)
    transaction.rewind()
    return found if isinstance(found, Remembered) else None


def _lease(fittings: Fittings, out: Outgoing, transaction: Transaction) -> Remembered | None:
    context, flow, plan, decision, mark = out
    unit = Unit(transaction, context, fittings.book)
    if mark is not None and (found := recall(unit, flow, mark)):
        return found
    require_confirmation(fittings, unit, plan, decision)
    if mark is None:
        return None
    row = key_row(context, mark, state="leased", position=None, answer=None, lasts_seconds=fittings.lease_seconds)
    transaction.execute(keys.INSERT, row)
    return None


def _give_back(context: Context, transaction: Transaction) -> None:
    release_key(transaction, context.flow, context.client_request_id or "", taken_at=context.occurred_at)


def _propose(fittings: Fittings, out: Outgoing, transaction: Transaction) -> Recorded | Remembered:
    context, flow, plan, decision, mark = out
    unit = Unit(transaction, context, fittings.book)
    if mark is not None and (found := recall(unit, flow, mark)):
        return found
    return record_proposal(fittings, unit, flow, plan, decision, mark)


def _settle(fittings: Fittings, out: Outgoing, answer: Answer, transaction: Transaction) -> Recorded | Remembered:
    context, flow, plan, decision, mark = out
    unit = Unit(transaction, context, fittings.book)
    if mark is not None:
        if found := settled(unit, mark):
            # The lease ran out, the call was made again, and that one was quicker.
            return found
        release_key(transaction, context.flow, context.client_request_id or "")
    carried: Mapping[str, Any] = {
        "arguments_digest": fittings.digest(plan.arguments),
        "answer_digest": fittings.digest(freeze(answer.data)),
    }
    unit.append(REACHED, context.message_id, 0, carried)
    return record_commit(fittings, unit, flow, plan, answer, decision, mark)
