"""Bringing a proposal up to date: its plans performed again on what is there now, as a new proposal.

Never silently over somebody's change: where a field that a plan sets was set by somebody else meanwhile, the
proposal is refused and the overlap named. What comes out needs a review of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from engross.calls import Decision, FactDraft, Plan, instant_after
from engross.governance import Proposal, StoredPlan, add_plan, move, open_proposal, refusal
from engross.ledger import Fact, Unit, drafts_digest, history
from engross.pipeline import Fittings, author_context, moved_since
from engross.replies import Invalid, codes

from .plans import Pieces, flow_of, perform_plan


def rebase(
    fittings: Fittings,
    unit: Unit,
    proposal: Proposal,
    plans: Sequence[StoredPlan],
    pieces: Pieces,
    **why: Any,
) -> str:
    """Make a new proposal of these plans and let the old one point to it; the new one's id."""
    _refuse_overlap(unit, proposal, plans)
    fresh = [_fresh(fittings, unit, proposal, plan, pieces) for plan in plans]
    unit.rewind()
    made = f"prop_{unit.context.message_id}"
    knobs = fittings.knobs.for_(unit.context.tenant, unit.context.pins.get("model_id"))
    open_proposal(
        unit,
        made,
        {
            "status": "draft" if proposal.status == "draft" else "proposed",
            "author": proposal.author.as_data(),
            "summary": proposal.summary,
            "reason": proposal.reason,
            "expires_at": instant_after(unit.now, days=knobs.proposal_ttl_days),
            "rebased_from": proposal.id,
        },
    )
    for ordinal, (plan, approvals) in enumerate(fresh):
        add_plan(unit, made, ordinal + 1, plan._replace(ordinal=ordinal), approvals)
    by = unit.context.principal.id
    move(unit, proposal, "ProposalRebased", "rebased", rebased_to=made, by=by, **why)
    return made


def _fresh(
    fittings: Fittings, unit: Unit, proposal: Proposal, old: StoredPlan, pieces: Pieces
) -> tuple[StoredPlan, int]:
    """The plan as it would be made today, judged again, and the approvals it needs."""
    flow = flow_of(fittings, old)
    plan = (
        Plan(flow.ref, flow.version, old.arguments, (), {}, flow.tier, {}, old.warnings)
        if flow.kind == "reach"
        else perform_plan(fittings, unit, proposal, old, pieces).plan
    )
    author = replace(author_context(unit.context, old, proposal.id), commit_mode="proposal")
    decision = fittings.policy.judge(author, flow, plan.tier, len(plan.facts))
    if decision.verdict == "deny":
        raise refusal(decision, flow.ref)
    return _stored(old, plan, decision), max(1, decision.approvals_required)


def _stored(old: StoredPlan, plan: Plan, decision: Decision) -> StoredPlan:
    return old._replace(
        flow_version=plan.flow_version,
        facts=plan.facts,
        facts_digest=drafts_digest(plan.facts),
        base=plan.base,
        tier=decision.tier,
        answer=plan.answer,
        warnings=plan.warnings,
        policy_version=decision.policy_version,
    )


def _refuse_overlap(unit: Unit, proposal: Proposal, plans: Sequence[StoredPlan]) -> None:
    overlaps = [overlap for moved in moved_since(unit, proposal) if (overlap := _overlap(unit, moved, plans))]
    if overlaps:
        raise Invalid(
            codes.PROPOSAL_STALE,
            {"proposal_id": proposal.id},
            field="proposal_id",
            suggestions={
                "changed_aggregates": overlaps,
                "hint": "The same was changed meanwhile: read it again and propose anew.",
            },
        )


def _overlap(unit: Unit, moved: Mapping[str, Any], plans: Sequence[StoredPlan]) -> dict[str, Any] | None:
    aggregate, _, name = moved["subject"].partition("/")
    ours = [fact for plan in plans for fact in plan.facts if (fact.aggregate, fact.subject) == (aggregate, name)]
    theirs = history(unit.reading, aggregate, name, after_version=moved["from"])
    both = _fields(ours) & _fields(theirs)
    if not ours or (not both and not _is_whole(ours) and not _is_whole(theirs)):
        return None
    fields = sorted(both or _fields(ours) or _fields(theirs))
    return {**moved, "fields": fields, "gone": theirs[-1].ends}


def _fields(facts: Iterable[FactDraft | Fact]) -> set[str]:
    return {field for fact in facts for field in fact.fields}


def _is_whole(facts: Iterable[FactDraft | Fact]) -> bool:
    """A fact that names no field is about all of its subject: that it ended, for one."""
    return any(not fact.fields for fact in facts)
