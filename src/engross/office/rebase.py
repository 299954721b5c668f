"""Bringing a proposal up to date: its plans performed again on what is there now, as a new proposal.

Never silently over somebody's change: where a field that a plan sets was set by somebody else meanwhile, the proposal is
refused and the overlap named. What comes out needs a review of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engross.calls import Plan, instant_after
from engross.governance import Proposal, StoredPlan, add_plan, find_proposal, move, open_proposal
from engross.ledger import Reader, Unit, drafts_digest, fields_touched
from engross.pipeline import Fittings, author_context, current_version, perform
from engross.replies import Invalid, codes


def rebase(fittings: Fittings, unit: Unit, proposal: Proposal, plans: Sequence[StoredPlan]) -> str:
    """Make a new proposal of these plans and let the old one point to it; the new one's id."""
    _refuse_overlap(unit, proposal, plans)
    fresh = [_performed(fittings, unit, proposal, plan) for plan in plans]
    unit.rewind()
    made = f"prop_{unit.context.message_id}"
    knobs = fittings.knobs.for_(unit.context.tenant, unit.context.pins.get("model_id"))
    open_proposal(
        unit,
        made,
        {
            "status": "proposed",
            "author": proposal.author.as_data(),
            "summary": proposal.summary,
            "reason": proposal.reason,
            "expires_at": instant_after(unit.now, days=knobs.proposal_ttl_days),
            "rebased_from": proposal.id,
        },
    )
    for ordinal, (old, plan) in enumerate(zip(plans, fresh, strict=True)):
        follows = find_proposal(unit, made).version
        add_plan(unit, made, follows, _stored(fittings, old, plan, ordinal), proposal.approvals_required)
    move(unit, proposal, "ProposalRebased", "rebased", rebased_to=made)
    return made


def _performed(fittings: Fittings, unit: Unit, proposal: Proposal, plan: StoredPlan) -> Plan:
    flow = fittings.catalogue.flow(plan.flow)
    author = author_context(unit.context, plan, proposal.id)
    if flow.kind == "reach":
        return Plan(flow.ref, flow.version, plan.arguments, (), {}, plan.tier, {}, plan.warnings)
    prepared = plan.arguments if flow.preparer is None else flow.preparer(Reader(unit.reading, author), plan.arguments)
    return perform(unit.under(author), flow, plan.arguments, prepared, plan.warnings).plan


def _stored(fittings: Fittings, old: StoredPlan, plan: Plan, ordinal: int) -> StoredPlan:
    return replace(
        old,
        ordinal=ordinal,
        flow_version=plan.flow_version,
        facts=plan.facts,
        facts_digest=drafts_digest(plan.facts),
        base=plan.base,
        tier=plan.tier,
        answer=plan.answer,
        warnings=plan.warnings,
        policy_version=fittings.policy.version,
    )


def _refuse_overlap(unit: Unit, proposal: Proposal, plans: Sequence[StoredPlan]) -> None:
    overlaps = [overlap for subject, base in proposal.base.items() if (overlap := _overlap(unit, subject, base, plans))]
    if overlaps:
        raise Invalid(
            codes.PROPOSAL_STALE,
            {"proposal_id": proposal.id},
            field="proposal_id",
            suggestions={
                "changed_aggregates": overlaps,
                "hint": "The same fields were changed meanwhile: read them again and propose anew.",
            },
        )


def _overlap(unit: Unit, subject: str, base: int, plans: Sequence[StoredPlan]) -> dict[str, Any] | None:
    current = current_version(unit.reading, subject)
    if current == base:
        return None
    aggregate, _, name = subject.partition("/")
    ours = {
        field
        for plan in plans
        for fact in plan.facts
        if fact.aggregate == aggregate and fact.subject == name
        for field in fact.fields
    }
    both = sorted(ours & fields_touched(unit.reading, aggregate, name, since=base))
    return {"subject": subject, "from": base, "to": current, "fields": both} if both else None
