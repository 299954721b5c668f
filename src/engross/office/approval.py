"""Who may approve a proposal, and what an approval is bound to."""

from __future__ import annotations

from engross.calls import Context
from engross.governance import Binding, Proposal, refusal
from engross.ledger import digest
from engross.pipeline import Fittings


def may_approve(fittings: Fittings, context: Context, proposal: Proposal) -> None:
    """Refuse a reviewer who may not decide about this proposal."""
    decision = fittings.policy.may_approve(context, proposal.author, proposal.tier, proposal.flows)
    if decision.verdict == "deny":
        raise refusal(decision, context.flow)


def approval_binding(fittings: Fittings, context: Context, proposal: Proposal) -> Binding:
    """What a reviewer was shown: these operations, in this version of the proposal, on this ground, under this policy."""
    return Binding(
        tenant=context.tenant,
        principal=context.principal.id,
        flows={f"{plan.ordinal} {plan.flow}": _version(fittings, plan.flow) for plan in proposal.plans},
        arguments=digest([[plan.arguments, plan.facts_digest] for plan in proposal.plans]),
        policy=fittings.policy.version,
        base={**proposal.base, f"proposals/{proposal.id}": proposal.version},
    )


def _version(fittings: Fittings, ref: str) -> str:
    flow = fittings.catalogue.find(ref)
    return flow.version if flow else "gone"
