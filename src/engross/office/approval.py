"""Who may approve a proposal, what policy asks for today, and what an approval is bound to."""

from __future__ import annotations

from msgspec.structs import replace

from engross.calls import Context, Decision
from engross.governance import Binding, Proposal, refusal
from engross.ledger import digest
from engross.pipeline import Fittings, author_context


def may_decide(fittings: Fittings, context: Context, proposal: Proposal, tier: int) -> Decision:
    """Refuse a reviewer who may not decide about this proposal; else what lets them."""
    decision = fittings.policy.may_approve(context, proposal.author, tier, proposal.flows)
    if decision.verdict == "deny":
        raise refusal(decision, context.flow)
    return decision


def judged_today(fittings: Fittings, context: Context, proposal: Proposal) -> Decision:
    """What policy says about the proposal by now: the first denial of a plan, else the highest tier and its approvals.

    The plans were judged when they were made. Policy, knobs and flows may have changed since.
    """
    tier, needed = proposal.tier, 1
    for plan in proposal.plans:
        flow = fittings.catalogue.find(plan.flow)
        if flow is None:
            continue
        author = replace(author_context(context, plan, proposal.id), commit_mode="proposal")
        decision = fittings.policy.judge(author, flow, plan.tier, len(plan.facts))
        if decision.verdict == "deny":
            return decision
        tier, needed = max(tier, decision.tier), max(needed, decision.approvals_required)
    return Decision("propose", tier, fittings.policy.version, needed)


def approval_binding(fittings: Fittings, context: Context, proposal: Proposal) -> Binding:
    """What a reviewer was shown: these operations in this version of the proposal, on this ground, by this policy."""
    return Binding(
        tenant=context.tenant,
        principal=context.principal.id,
        flows={plan.flow: _version(fittings, plan.flow) for plan in proposal.plans},
        arguments=digest([[plan.flow, plan.arguments, plan.facts_digest] for plan in proposal.plans]),
        policy=fittings.policy.version,
        base={**proposal.base, f"proposals/{proposal.id}": proposal.version},
    )


def _version(fittings: Fittings, ref: str) -> str:
    flow = fittings.catalogue.find(ref)
    return flow.version if flow else "gone"
