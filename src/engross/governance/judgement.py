"""Judgement: how the rules' answers become a decision, and a decision a refusal."""

from __future__ import annotations

from engross.calls import Context, Decision, Principal
from engross.flows import Flow
from engross.replies import REGISTRY, Denied, codes

from .knobs import Knobs
from .rules import Answer, Entity

CRITICAL = 4
HIGH = 3
MCP = ("mcp-stdio", "mcp-http")
_ROLES = {
    codes.WRITE_DENIED: "the role agent, contributor, curator or admin",
    codes.CALL_DENIED: "the role viewer, agent, contributor, curator or admin",
}
"""Whom the shipped policies let in where none of them says no."""
_ASKED_FOR = {
    codes.READ_ONLY: "an office that is not read-only",
    codes.PEOPLE_ONLY: "a person, and another way in than MCP",
    codes.SELF_APPROVAL: "somebody else than the author",
    codes.APPROVAL_REQUIRED: "the approval of a curator or admin: send it with commit_mode proposal, or without any",
}
"""What no role of the caller's own would help with."""


def principal_entity(context: Context) -> Entity:
    """Who asks, as policies see it."""
    principal = context.principal
    attrs = {
        "id": principal.id,
        "roles": sorted(principal.roles),
        "scopes": sorted(principal.scopes),
        "tenant": context.tenant,
    }
    return Entity(principal.type.capitalize(), principal.id, attrs)


def flow_entity(flow: Flow) -> Entity:
    """What is called, as policies see it."""
    semantics = flow.semantics
    deletes = flow.effect == "delete"
    attrs = {
        "ref": flow.ref,
        "aggregate": flow.aggregate.namespace,
        "kind": flow.kind,
        "effect": flow.effect or "",
        "tier": flow.tier,
        "posture": flow.posture,
        "safe": semantics.safe,
        "destructive": deletes if semantics.destructive is None else semantics.destructive,
        "people_only": flow.people_only,
    }
    return Entity("Flow", flow.ref, attrs)


def proposal_entity(author: Principal, tier: int, flows: tuple[str, ...]) -> Entity:
    """What waits for approval, as policies see it."""
    attrs = {"author": author.id, "author_type": author.type, "tier": tier, "flows": sorted(set(flows))}
    return Entity("Proposal", "proposal", attrs)


def raised_tier(flow: Flow, tier: int, facts: int, knobs: Knobs) -> int:
    """A change of very many things is of high risk. Appending very many is not: nothing is lost by it."""
    is_bulk = facts > knobs.bulk_threshold and flow.posture != "direct" and not flow.semantics.safe
    return max(tier, HIGH) if is_bulk else tier


def asks_for_proposal(context: Context) -> bool:
    """Does the caller want a proposal, whatever may be committed?"""
    return context.proposal_id is not None or context.commit_mode not in (None, "direct")


def judged_call(answer: Answer, principal: Principal, flow: Flow, version: str) -> Decision:
    """May the flow be called? The verdict `commit` stands for yes."""
    if answer.allowed:
        return Decision("commit", flow.tier, version, because=answer.because)
    code = answer.denial or _call_denial(principal, flow)
    return denied(code, flow.tier, version, answer.because, answer.advice)


def judged_plan(commit: Answer, propose: Answer, context: Context, knobs: Knobs, tier: int, version: str) -> Decision:
    """Commit what may be committed and is not asked for as a proposal; else propose; else deny."""
    if commit.allowed and not asks_for_proposal(context):
        confirm = tier >= knobs.confirm_tier and not context.dry_run
        return Decision("commit", tier, version, confirm=confirm, because=commit.because)
    if propose.allowed:
        insists = context.commit_mode == "direct" and not asks_for_proposal(context)
        if insists and knobs.on_direct_denied == "deny":
            because = (*commit.because, "knob on_direct_denied")
            return denied(codes.APPROVAL_REQUIRED, tier, version, because, commit.advice)
        return Decision("propose", tier, version, knobs.approvals(tier), because=propose.because)
    refusals = [propose] if commit.allowed else [propose, commit]
    because = tuple(sorted({policy for answer in refusals for policy in answer.because}))
    told = max(refusals, key=lambda answer: (answer.denial is not None, answer.advice is not None))
    missing = codes.INSUFFICIENT_SCOPE if tier >= CRITICAL and not because else codes.WRITE_DENIED
    return denied(told.denial or missing, tier, version, because, told.advice)


def judged_approval(answer: Answer, tier: int, version: str) -> Decision:
    """May the proposal be approved? The verdict `commit` stands for yes."""
    if answer.allowed:
        return Decision("commit", tier, version, because=answer.because)
    missing = codes.WRITE_DENIED if answer.because else codes.INSUFFICIENT_SCOPE
    return denied(answer.denial or missing, tier, version, answer.because, answer.advice)


def denied(code: str, tier: int, version: str, because: tuple[str, ...], advice: str | None = None) -> Decision:
    """A denial with its code, and what whoever wrote the policy advises."""
    return Decision("deny", tier, version, because=because, denial=code, advice=advice)


def refusal(decision: Decision, flow: str) -> Denied:
    """What a denied caller gets to hear."""
    code = decision.denial or codes.WRITE_DENIED
    entry = REGISTRY.entry(code)
    required = _required(decision, code)
    known = {"flow": flow, "required": required}
    params = {name: known[name] for name in entry.params if name in known}
    hint = decision.advice or entry.advice
    return Denied(code, params, data={"because": list(decision.because), "required": required, "hint": hint})


def _required(decision: Decision, code: str) -> str:
    """What is missing: nobody but whoever wrote a policy knows what that asks for."""
    if code in _ASKED_FOR:
        return _ASKED_FOR[code]
    if decision.because:
        return f"what the policy {decision.because[0]} asks for"
    return "the role admin" if decision.tier >= CRITICAL else _ROLES.get(code, "the role curator or admin")


def _call_denial(principal: Principal, flow: Flow) -> str:
    """Why nothing permits the call."""
    if flow.semantics.safe or not principal.roles:
        return codes.CALL_DENIED
    return codes.INSUFFICIENT_SCOPE if flow.tier >= CRITICAL else codes.WRITE_DENIED
