"""What a reviewer's decision does to a proposal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engross.calls import Answer, Decision, Errand
from engross.governance import Proposal, StoredPlan, find_proposal, move, refusal, token_refused
from engross.ledger import Unit, drafts_digest
from engross.pipeline import Fittings, moved_since, refuse_stale, stale
from engross.replies import Invalid, codes

from .approval import approval_binding, judged_today, may_decide
from .carried_out import errand_key
from .plans import Pieces, flows_moved, perform_plan, require_flows
from .rebase import rebase


def turn_down(fittings: Fittings, unit: Unit, proposal: Proposal, arguments: Mapping[str, Any]) -> Answer:
    """Reject it for good, or hand it back to its author."""
    may_decide(fittings, unit.context, proposal, proposal.tier)
    rejects = arguments["decision"] == "reject"
    if not arguments.get("rationale", "").strip():
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "a rationale is needed"},
            field="rationale",
            suggestions={"hint": "Say why, so that the author can do better."},
        )
    if "operations" in arguments:
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "operations are chosen when approving"},
            field="operations",
            suggestions={"hint": "Leave operations out: a rejection is about the whole proposal."},
        )
    fact = "ProposalRejected" if rejects else "ProposalReviewed"
    move(unit, proposal, fact, "rejected" if rejects else "draft", **_decided(unit, arguments))
    return about(unit, proposal.id, codes.PROPOSAL_REJECTED if rejects else codes.PROPOSAL_CHANGES_REQUESTED)


def approve(fittings: Fittings, unit: Unit, proposal: Proposal, arguments: Mapping[str, Any], pieces: Pieces) -> Answer:
    """Count an approval of what was shown; the last one that is needed commits the plans."""
    today = judged_today(fittings, unit.context, proposal)
    if today.verdict == "deny":
        raise refusal(today, unit.context.flow)
    allowed = may_decide(fittings, unit.context, proposal, today.tier)
    require_flows(fittings, proposal)
    if "approval_token" not in arguments:
        # Nobody is shown a token for what has moved: that it has is what there is to say.
        _refuse_drift(fittings, unit, proposal)
    _refuse_second_approval(unit, proposal)
    _check_token(fittings, unit, proposal, arguments.get("approval_token"))
    _refuse_drift(fittings, unit, proposal)
    kept = _chosen(proposal, arguments.get("operations"))
    if len(kept) < len(proposal.plans):
        return _approve_in_part(fittings, unit, proposal, kept, pieces, arguments.get("rationale"))
    decided = _decided(unit, arguments)
    if len(proposal.approvals) + 1 < today.approvals_required:
        move(unit, proposal, "ProposalReviewed", "in_review", **decided)
        return about(unit, proposal.id, codes.PROPOSAL_APPROVED)
    results = [_committed(fittings, unit, proposal, plan, pieces) for plan in proposal.plans]
    move(unit, proposal, "ProposalAccepted", "accepted", **decided)
    answer = about(unit, proposal.id, codes.PROPOSAL_COMMITTED, results=results)
    return Answer(
        answer.data,
        answer.code,
        answer.params,
        receipt=_receipt(fittings, unit, proposal, allowed),
        errands=tuple(_errand(plan, proposal) for plan in proposal.plans if plan.kind == "reach"),
    )


def about(unit: Unit, proposal_id: str, code: str, **more: Any) -> Answer:
    """The proposal as it stands now, and what happened to it."""
    data = {"proposal": find_proposal(unit, proposal_id).as_data(unit.now), **more}
    return Answer(data, code, {"proposal_id": proposal_id}, receipt={"proposal": proposal_id})


def _decided(unit: Unit, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "reviewer": unit.context.principal.id,
        "decision": arguments["decision"],
        "rationale": arguments.get("rationale"),
    }


def _check_token(fittings: Fittings, unit: Unit, proposal: Proposal, token: str | None) -> None:
    if token is None:
        raise token_refused("approve")
    fittings.tokens.check(token, "approve", approval_binding(fittings, unit.context, proposal), unit.now)


def _refuse_drift(fittings: Fittings, unit: Unit, proposal: Proposal) -> None:
    """What was shown must still be what would happen, on the ground on which it was shown."""
    refuse_stale(unit, proposal)
    moved = flows_moved(fittings, proposal)
    if moved:
        raise Invalid(
            codes.PLAN_DRIFT,
            field="proposal_id",
            suggestions={"hint": "Bring it up to date with rebaseProposal."},
            data={"moved": moved},
        )


def _chosen(proposal: Proposal, ordinals: Sequence[int] | None) -> Sequence[StoredPlan]:
    if ordinals is None:
        return proposal.plans
    kept = [plan for plan in proposal.plans if plan.ordinal in ordinals]
    if not kept or len(kept) != len(set(ordinals)):
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "operations names what the proposal does not hold"},
            field="operations",
            suggestions={"allowed_values": [plan.ordinal for plan in proposal.plans]},
        )
    return kept


def _refuse_second_approval(unit: Unit, proposal: Proposal) -> None:
    if unit.context.principal.id in proposal.approvals:
        raise Invalid(
            codes.PROPOSAL_STATE,
            {"proposal_id": proposal.id, "state": "already approved by you"},
            field="proposal_id",
            suggestions={"hint": "Somebody else has to approve it too."},
        )


def _committed(fittings: Fittings, unit: Unit, proposal: Proposal, plan: StoredPlan, pieces: Pieces) -> dict[str, Any]:
    """One plan made the record; it must come to exactly the facts that the reviewer was shown."""
    if plan.kind == "reach":
        return {"operation": plan.flow, "answer": None}
    performed = perform_plan(fittings, unit, proposal, plan, pieces).plan
    if drafts_digest(performed.facts) != plan.facts_digest:
        raise stale(proposal, moved=moved_since(unit, proposal))
    return {"operation": plan.flow, "answer": performed.answer}


def _receipt(fittings: Fittings, unit: Unit, proposal: Proposal, allowed: Decision) -> dict[str, Any]:
    return {
        "proposal": proposal.id,
        "author": proposal.author.as_data(),
        "approvers": [*proposal.approvals, unit.context.principal.id],
        "approval": {"tier": allowed.tier, "because": list(allowed.because)},
        "plans": [
            {
                "flow": plan.flow,
                "version": plan.flow_version,
                "tier": plan.tier,
                "facts_digest": fittings.digest(plan.facts_digest),
            }
            for plan in proposal.plans
        ],
    }


def _errand(plan: StoredPlan, proposal: Proposal) -> Errand:
    return Errand(plan.flow, plan.arguments, plan.author, errand_key(proposal, plan))


def _approve_in_part(
    fittings: Fittings,
    unit: Unit,
    proposal: Proposal,
    kept: Sequence[StoredPlan],
    pieces: Pieces,
    rationale: str | None,
) -> Answer:
    """Nothing is committed yet: what is left is another plan, which nobody has been shown."""
    left_out = [plan.ordinal for plan in proposal.plans if plan not in kept]
    try:
        made = rebase(fittings, unit, proposal, kept, pieces, rationale=rationale, left_out=left_out)
    except Invalid as refused:
        raise Invalid(
            codes.VALIDATION_ERROR,
            {"problem": "these operations cannot be carried out without the others"},
            field="operations",
            details=refused.answer(),
        ) from None
    return about(unit, made, codes.PROPOSAL_REBASED, rebased_from=proposal.id, left_out=left_out)
