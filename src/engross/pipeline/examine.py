"""Beside the check: what else is wrong with a call that does not have the shape of its flow.

A caller who may not make the call at all, or makes one too many, hears that instead: no better arguments would help.
So a call that is refused here counts like any other. The flow is asked only if it can look at a part of its arguments,
and in a unit that leaves nothing. Whatever comes of the look, the call is refused: a look that fails adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from engross.flows import Flow, Misshapen
from engross.ledger import Unit
from engross.replies import Denied, Invalid, Issue, Trace, record_crash
from engross.store import Transaction

from .admit import admit
from .allow import allow, own_only
from .draft import growing_proposal, see_draft
from .fittings import Fittings
from .request import Request
from .steps import Steps, Write


def examined(fittings: Fittings, request: Request, flow: Flow, refused: Misshapen, trace: Trace) -> Steps[Invalid]:
    """The refusal, with all that the flow itself has to say against the rest of the call."""
    context = admit(fittings, request, flow, refused.controls, trace)
    allow(fittings, context, flow, request.is_counted)
    examiner, rest = flow.examiner, refused.rest
    if examiner is None or rest is None:
        return refused

    def look(transaction: Transaction) -> tuple[Issue, ...]:
        unit = Unit(transaction, context, fittings.book)
        try:
            if context.proposal_id is not None:
                see_draft(fittings, unit, growing_proposal(fittings, unit, context))
            return tuple(cast(Iterable[Issue], examiner(unit, rest.checked.arguments, rest.told)))
        except Invalid as against:
            return against.issues
        finally:
            unit.rewind()

    try:
        own_only(context, flow, rest.checked.arguments)
        found = yield Write(fittings.store, context.tenant, look, tentative=True, deadline=context.deadline)
    except Denied:
        return refused
    except Exception as crash:
        record_crash(context.trace.trace_id, crash, flow.ref)
        return refused
    return refused.joined(found)
