"""A record flow: remember, perform, govern and record, in one unit of work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from engross.calls import Context, Decision, Overtaken
from engross.flows import Checked, Flow
from engross.governance import difference
from engross.ledger import Unit
from engross.replies import Denied, Failed, Invalid, Reply, codes, reply
from engross.store import Transaction

from .answers import Remembered
from .check import too_large_to_review
from .draft import growing_proposal, see_draft
from .fittings import Fittings
from .govern import confirmation, govern, require_confirmation
from .perform import Performed, perform, prepare
from .record import Recorded, record_commit, record_proposal, take_note
from .remember import (
    committed,
    flight_key,
    keeping_key,
    lead_or_replay,
    recall,
    replayed,
    request_fingerprint,
)
from .steps import Look, Steps, Work, Write

MOST_ATTEMPTS = 50
"""How often a call is prepared anew because others were quicker."""


class Call(Struct, frozen=True):
    """A checked and allowed call of a record flow."""

    context: Context
    flow: Flow
    arguments: Mapping[str, Any]
    warnings: tuple[Mapping[str, Any], ...]
    prepared: Any
    mark: str | None
    expected: Decision | None
    """What is decided if it states one fact of the flow's own tier, as nearly every call does; None where that
    depends on what the fact is about."""


class Rehearsed(Struct, frozen=True):
    """What a call would have done."""

    performed: Performed
    decision: Decision


Outcome = Recorded | Remembered | Rehearsed


def write(fittings: Fittings, context: Context, flow: Flow, checked: Checked) -> Steps[tuple[Reply, Recorded | None]]:
    """Walk the rest of the path of a record flow."""
    if context.client_request_id is None:
        return (yield from _attempt(fittings, context, flow, checked, None))
    mark = request_fingerprint(context, checked.arguments)
    if context.dry_run:
        return (yield from _attempt(fittings, context, flow, checked, mark))
    again = yield from lead_or_replay(fittings, context, mark)
    if again is not None:
        return again, None
    try:
        return (yield from _attempt(fittings, context, flow, checked, mark))
    except Failed as failure:
        raise keeping_key(failure, context) from failure.__cause__
    finally:
        fittings.flights.end(flight_key(context))


def _attempt(
    fittings: Fittings, context: Context, flow: Flow, checked: Checked, mark: str | None
) -> Steps[tuple[Reply, Recorded | None]]:
    arguments = checked.arguments
    expected = fittings.policy.judge(context, flow, flow.tier, 1)
    certain = None if fittings.policy.looks_at_types(context, flow) else expected
    tentative = _may_take_back(context, expected)
    for left in reversed(range(MOST_ATTEMPTS)):
        is_prepared = flow.preparer is None
        try:
            prepared: Any = arguments
            if not is_prepared:
                prepared = yield Work(
                    fittings.workers, lambda: prepare(fittings, context, flow, arguments), context.deadline or 0.0
                )
                is_prepared = True
            call = Call(context, flow, arguments, checked.warnings, prepared, mark, certain)
            outcome: Outcome = yield Write(
                fittings.store,
                context.tenant,
                partial(_unit_of_work, fittings, call),
                tentative=tentative,
                deadline=context.deadline,
                bulk=flow.bulk,
            )
            break
        except Exception as failure:
            if left and isinstance(failure, Overtaken):
                continue
            # A unit that crashed has looked by itself, and of one that was lost a look may come too early.
            if mark is None or (is_prepared and not isinstance(failure, (Invalid, Denied))):
                raise
            outcome = yield from _done_before(fittings, context, flow, mark, failure)
            break
    if isinstance(outcome, Remembered):
        if context.dry_run:
            return rehearsed_replay(arguments, outcome), None
        return (yield from replayed(fittings, context, outcome)), None
    if isinstance(outcome, Rehearsed):
        return rehearsal(fittings, call, outcome), None
    take_note(fittings, context, outcome)
    return outcome.reply, outcome


def _done_before(fittings: Fittings, context: Context, flow: Flow, mark: str, failure: Exception) -> Steps[Remembered]:
    """What the key stands for already, whatever the call ends with by now; else that failure.

    What refuses it may be its own first run, committed by another process behind this one's back.
    """
    found: Remembered | None
    try:
        found = yield Look(
            fittings.store,
            context.tenant,
            lambda reading: committed(reading, context, flow, mark),
            fittings.workers,
            context.deadline or 0.0,
        )
    except Invalid:
        raise
    except Exception:
        # The first failure is what the caller has to hear of.
        found = None
    if found is None:
        raise failure
    return found


def _may_take_back(context: Context, expected: Decision) -> bool:
    """Whether the unit is likely to perform the flow and then not commit that."""
    if context.dry_run or context.proposal_id is not None:
        return True
    return expected.verdict != "commit" or (expected.confirm and context.confirm_token is None)


def _unit_of_work(fittings: Fittings, call: Call, transaction: Transaction) -> Outcome:
    unit = Unit(transaction, call.context, fittings.book)
    if call.mark is None:
        return _outcome(fittings, call, unit)
    if call.flow.bulk or not transaction.is_trial:
        # Doing all of a bulk write over again would cost far more than a look.
        return recall(unit, call.flow, call.mark) or _outcome(fittings, call, unit)
    try:
        return _outcome(fittings, call, unit)
    except BaseException:
        # What refuses it may be its own first run; and whatever it ends with by now, that one was done.
        unit.rewind()
        found = committed(transaction, call.context, call.flow, call.mark)
        if found is None:
            raise
        return found


def _outcome(fittings: Fittings, call: Call, unit: Unit) -> Outcome:
    if call.context.proposal_id is not None:
        see_draft(fittings, unit, growing_proposal(fittings, unit, call.context))
    performed = perform(unit, call.flow, call.arguments, call.prepared, call.warnings)
    decision = govern(fittings, call.context, call.flow, performed.plan, call.expected, unit)
    outcome = _recorded(fittings, call, unit, performed, decision)
    if call.context.dry_run:
        unit.rewind()
        return Rehearsed(performed, decision)
    return outcome


def _recorded(
    fittings: Fittings, call: Call, unit: Unit, performed: Performed, decision: Decision
) -> Recorded | Remembered:
    if decision.verdict == "commit":
        if performed.changes:
            require_confirmation(fittings, unit, performed.plan, decision)
        return record_commit(fittings, unit, call.flow, performed.plan, performed.answer, decision, call.mark)
    if performed.plan.unseen or performed.plan.size > Unit.most_held:
        raise too_large_to_review(performed.plan)
    unit.require_unbroken()
    unit.rewind()
    if call.mark is not None and (found := recall(unit, call.flow, call.mark)):
        return found
    if not performed.changes:
        # There is nothing that anybody could decide about.
        return record_commit(fittings, unit, call.flow, performed.plan, performed.answer, decision, call.mark)
    return record_proposal(fittings, unit, call.flow, performed.plan, decision, call.mark)


def rehearsal(fittings: Fittings, call: Call, rehearsed: Rehearsed) -> Reply:
    """The answer to a dry run: what would have been done, and nothing was."""
    plan, decision = rehearsed.performed.plan, rehearsed.decision
    mode = _mode(rehearsed)
    due = mode == "direct" and fittings.policy.needs_confirmation(call.context, decision.tier)
    # A token that came with the call was checked on the way.
    confirm = due and call.context.confirm_token is None
    data: dict[str, Any] = {
        "valid": True,
        "errors": [],
        "warnings": list(plan.warnings),
        "suggestions": [],
        "would": {
            "mode": mode,
            "risk_tier": decision.tier,
            "approvals_required": decision.approvals_required,
            "confirmation_required": confirm,
            **({"requests": list(rehearsed.performed.answer.would)} if call.flow.rehearses else {}),
        },
        "answer": plan.answer,
        "normalized": call.arguments,
        "based_on": plan.base,
        **difference(plan.facts, plan.unseen),
    }
    if confirm:
        data.update(confirmation(fittings, call.context, plan, decision))
    return reply(codes.VALIDATION_DONE, data=data)


def rehearsed_replay(arguments: Mapping[str, Any], found: Remembered) -> Reply:
    """The answer to a dry run of a call that was made already."""
    answer = found.answer["data"]
    data = {
        "valid": True,
        "errors": [],
        "warnings": answer["warnings"],
        "suggestions": [],
        "would": {"mode": "replay", "original_request_time": found.created_at},
        "answer": answer,
        "normalized": arguments,
    }
    return reply(codes.VALIDATION_DONE, data=data)


def _mode(rehearsed: Rehearsed) -> Literal["direct", "proposal", "unchanged"]:
    if not rehearsed.performed.changes:
        return "unchanged"
    return "direct" if rehearsed.decision.verdict == "commit" else "proposal"
