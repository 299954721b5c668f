"""Stage 6, govern: commit, propose or deny? And if it is to be committed at once: was it confirmed?"""

from __future__ import annotations

from functools import partial
from typing import Any

from engross.calls import Context, Decision, Plan, instant_after
from engross.flows import Flow
from engross.governance import Binding, difference, refusal
from engross.ledger import Unit, can_spend, digest, spend_token
from engross.replies import Denied, codes

from .fittings import Fittings

CONFIRM_MINUTES = 10


def govern(
    fittings: Fittings,
    context: Context,
    flow: Flow,
    plan: Plan,
    expected: Decision | None = None,
    unit: Unit | None = None,
) -> Decision:
    """Judge the plan. A denial is raised; a proposal that is named is always added to.

    `expected` is what was decided about a single fact of the flow's own tier; `unit` is where the plan was performed.
    """
    size = plan.size
    if expected is not None and size == 1 and plan.tier == flow.tier:
        decision = expected
    else:
        types = None if unit is None else partial(types_changed, fittings, unit, plan)
        decision = fittings.policy.judge(context, flow, plan.tier, size, types)
    if decision.verdict == "deny":
        raise refusal(decision, flow.ref)
    return decision


def types_changed(fittings: Fittings, unit: Unit, plan: Plan) -> frozenset[str | None]:
    """The types of all that a plan is about, as their domains tell them apart."""
    subjects = {(fact.aggregate, fact.subject) for fact in plan.facts}
    found = {fittings.book.type_of(unit, *subject) for subject in subjects}
    return frozenset([*found, *([None] if plan.unseen else [])])


def require_confirmation(fittings: Fittings, unit: Unit, plan: Plan, decision: Decision) -> None:
    """A direct commit of high risk happens only with the token of exactly this plan, and spends it.

    A dry run asks for none and spends none, but one that was given must be right for it too.
    """
    context = unit.context
    if decision.verdict != "commit" or not (decision.confirm or _would_be_due(fittings, context, decision)):
        return
    token = context.confirm_token
    if token is None:
        if not context.dry_run:
            raise _unconfirmed(fittings, context, plan, decision)
        return
    fittings.tokens.check(token, "confirm", binding(context, plan, decision), context.occurred_at)
    unspent = can_spend(unit, token) if context.dry_run else spend_token(unit, token)
    if not unspent:
        raise _unconfirmed(fittings, context, plan, decision, confirm_token_used=True)


def _unconfirmed(fittings: Fittings, context: Context, plan: Plan, decision: Decision, **more: Any) -> Denied:
    """What is to be confirmed, and the token to do it with."""
    return Denied(
        codes.CONFIRMATION_REQUIRED,
        data={
            "risk_tier": decision.tier,
            **difference(plan.facts, plan.unseen),
            **confirmation(fittings, context, plan, decision),
            **more,
        },
    )


def _would_be_due(fittings: Fittings, context: Context, decision: Decision) -> bool:
    return context.dry_run and fittings.policy.needs_confirmation(context, decision.tier)


def confirmation(fittings: Fittings, context: Context, plan: Plan, decision: Decision) -> dict[str, Any]:
    """A token that confirms this plan once, within ten minutes."""
    expires_at = instant_after(context.occurred_at, seconds=CONFIRM_MINUTES * 60)
    bound = binding(context, plan, decision)
    token = fittings.tokens.make("confirm", bound, expires_at, made_by=context.message_id)
    return {"confirm_token": token, "confirm_token_expires_at": expires_at}


def binding(context: Context, plan: Plan, decision: Decision) -> Binding:
    """What a confirmation is bound to."""
    return Binding(
        tenant=context.tenant,
        principal=context.principal.id,
        flows={plan.flow: plan.flow_version},
        arguments=digest(plan.arguments),
        policy=decision.policy_version,
        # What a plan makes has another id in every call; once it exists it is a base like any other.
        base={subject: version for subject, version in plan.base.items() if version},
    )
