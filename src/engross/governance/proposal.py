"""A proposal as data: the plans it holds, who said what about it, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from engross.calls import Context, FactDraft, Plan, Principal
from engross.ledger import drafts_digest
from engross.replies import Invalid, codes

Status = Literal["draft", "proposed", "in_review", "accepted", "rejected", "withdrawn", "rebased"]

Move = Literal["extend", "submit", "review", "withdraw", "rebase"]

OPEN: tuple[Status, ...] = ("draft", "proposed", "in_review")

TRANSITIONS: Mapping[Status, tuple[Move, ...]] = {
    "draft": ("extend", "submit", "withdraw", "rebase"),
    "proposed": ("extend", "review", "withdraw", "rebase"),
    "in_review": ("review", "withdraw", "rebase"),
    "accepted": (),
    "rejected": (),
    "withdrawn": (),
    "rebased": (),
}


class StoredPlan(NamedTuple):
    """A plan as a proposal keeps it, with all that is needed to perform it again."""

    ordinal: int
    flow: str
    flow_version: str
    kind: str
    arguments: Mapping[str, Any]
    author: Mapping[str, Any]
    facts: tuple[FactDraft, ...]
    facts_digest: str
    base: Mapping[str, int]
    tier: int
    answer: Mapping[str, Any]
    warnings: tuple[Mapping[str, Any], ...]
    policy_version: str

    @classmethod
    def of(cls, plan: Plan, context: Context, *, ordinal: int, kind: str, policy_version: str) -> StoredPlan:
        """The plan of a call, ready to be kept."""
        return cls(
            ordinal=ordinal,
            flow=plan.flow,
            flow_version=plan.flow_version,
            kind=kind,
            arguments=plan.arguments,
            author=context.as_data(),
            facts=plan.facts,
            facts_digest=drafts_digest(plan.facts),
            base=plan.base,
            tier=plan.tier,
            answer=plan.answer,
            warnings=plan.warnings,
            policy_version=policy_version,
        )

    def as_data(self) -> dict[str, Any]:
        """The plan as the payload of a fact."""
        return {
            "ordinal": self.ordinal,
            "flow": self.flow,
            "flow_version": self.flow_version,
            "kind": self.kind,
            "arguments": self.arguments,
            "author": self.author,
            "facts": [{**f.as_data(), "before": f.before, "fields": f.fields} for f in self.facts],
            "facts_digest": self.facts_digest,
            "base": self.base,
            "tier": self.tier,
            "answer": self.answer,
            "warnings": self.warnings,
            "policy_version": self.policy_version,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> StoredPlan:
        """The plan that `as_data` wrote down."""
        facts = tuple(FactDraft(**{**fact, "fields": tuple(fact["fields"])}) for fact in data["facts"])
        return cls(**{**data, "facts": facts, "warnings": tuple(data["warnings"])})


class Review(NamedTuple):
    """What one reviewer decided."""

    reviewer: str
    decision: Literal["approve", "reject", "request_changes"]
    rationale: str | None
    time: str
    standing: bool
    """Whether it is about what the proposal holds now: an approval lapses when the proposal goes back to its author."""


class Proposal(NamedTuple):
    """One or more plans that wait for somebody's decision."""

    id: str
    version: int
    status: Status
    author: Principal
    tier: int
    approvals_required: int
    summary: str
    reason: str | None
    created_at: str
    updated_at: str
    expires_at: str
    rebased_from: str | None
    rebased_to: str | None
    plans: tuple[StoredPlan, ...]
    reviews: tuple[Review, ...]

    @property
    def approvals(self) -> tuple[str, ...]:
        """Who has approved what the proposal holds now."""
        return tuple(review.reviewer for review in self.reviews if review.decision == "approve" and review.standing)

    @property
    def base(self) -> dict[str, int]:
        """The versions the proposal builds on, less what it makes itself."""
        base: dict[str, int] = {}
        for plan in self.plans:
            for subject, version in plan.base.items():
                base.setdefault(subject, version)
        return base

    @property
    def flows(self) -> tuple[str, ...]:
        """The flows it would carry out."""
        return tuple(plan.flow for plan in self.plans)

    def current_status(self, now: str) -> Status:
        """The status, with the time that has passed taken into account."""
        return "withdrawn" if self.status in OPEN and self.expires_at <= now else self.status

    def allows(self, move: Move, now: str) -> bool:
        """Whether the proposal's state allows a move."""
        return move in TRANSITIONS[self.current_status(now)]

    def require(self, move: Move, now: str) -> None:
        """Refuse a move that the proposal's state does not allow."""
        if not self.allows(move, now):
            raise self._refusal(now)

    def require_open(self, now: str) -> None:
        """Refuse a proposal that is decided or given up."""
        if self.current_status(now) not in OPEN:
            raise self._refusal(now)

    def _refusal(self, now: str) -> Invalid:
        status = self.current_status(now)
        return Invalid(
            codes.PROPOSAL_STATE,
            {"proposal_id": self.id, "state": status},
            field="proposal_id",
            suggestions={"allowed_transitions": list(TRANSITIONS[status])},
        )

    def as_data(self, now: str) -> dict[str, Any]:
        """The proposal as callers see it."""
        return {
            "id": self.id,
            "version": self.version,
            "status": self.current_status(now),
            "proposed_by": {"actor_type": self.author.type, "actor_id": self.author.id},
            "summary": self.summary,
            "reason": self.reason,
            "risk_tier": self.tier,
            "approvals_required": self.approvals_required,
            "approvals": list(self.approvals),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "expires_at": self.expires_at,
            "rebased_from": self.rebased_from,
            "rebased_to": self.rebased_to,
            "operations": [
                {"ordinal": plan.ordinal, "operation": plan.flow, "version": plan.flow_version} for plan in self.plans
            ],
            "decisions": [
                {
                    "reviewer": review.reviewer,
                    "decision": review.decision,
                    "rationale": review.rationale,
                    "time": review.time,
                    "standing": review.standing,
                }
                for review in self.reviews
            ],
        }
