"""Policy: may they call it, what becomes of it, may they approve it.

The policies themselves are Cedar text (policies/*.cedar and the operator's own). An answer depends on nothing
but what is written into the question, so it is remembered under exactly that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from hashlib import sha256
from pathlib import Path

import orjson

from engross.calls import Context, Decision, Principal
from engross.flows import Flow
from engross.replies import codes

from .grant import Grant
from .judgement import (
    MCP,
    denied,
    flow_entity,
    judged_approval,
    judged_call,
    judged_plan,
    principal_entity,
    proposal_entity,
    raised_tier,
)
from .knobs import Knobs
from .policy_files import laid_over, schema_text, shipped_policies
from .rules import Rules

Types = frozenset[str | None]
"""The types of what a plan changes; None among them is what has no type that its domain knows of."""

MODEL_PIN = "model_id"
REMEMBERED = 4096
# These are no policies: nobody can lay anything over them.
READ_ONLY = ("office read_only",)
PEOPLE_APPROVE = ("office approving is for people",)


class Policy:
    """The policies and knobs in force. Decides; never raises for a denial, only when it cannot decide."""

    def __init__(
        self,
        folder: Path | None = None,
        knobs: Knobs | None = None,
        *,
        read_only: bool = False,
        remembered: int = REMEMBERED,
    ) -> None:
        """`folder` holds the operator's own policies; `remembered` is how many decisions are kept at most."""
        self.knobs = knobs or Knobs()
        self.read_only = read_only
        self._texts = shipped_policies() if folder is None else laid_over(folder)
        self.version = _version(self._texts, self.knobs)
        self._remembered = remembered
        self._decisions: dict[Hashable, Decision] = {}
        self._grants: dict[Hashable, tuple[Grant, ...]] = {}
        # The shipped policies are proven by tests and cost a library's import: they can wait for a question.
        self._rules: Rules | None = None if folder is None else Rules(self._texts)

    def may_call(self, context: Context, flow: Flow) -> Decision:
        """May this principal call this flow at all? `commit` stands for yes. Does not depend on arguments."""
        if self.read_only and not flow.semantics.safe:
            return denied(codes.READ_ONLY, flow.tier, self.version, READ_ONLY)
        key = (
            flow,
            context.principal,
            context.tenant,
            context.surface,
            context.break_glass,
            context.reason is not None,
        )
        found = self._decisions.get(key)
        if found is None:
            found = self._remember(key, self._judge_call(context, flow))
        return found

    def judge(
        self, context: Context, flow: Flow, tier: int, facts: int, types: Callable[[], Types] | None = None
    ) -> Decision:
        """What becomes of a plan of this tier with so many facts: commit, propose or deny.

        `types` finds the types of what the plan changes; it is asked only where a grant is about types.
        """
        if self.read_only and not flow.semantics.safe:
            return denied(codes.READ_ONLY, tier, self.version, READ_ONLY)
        knobs = self.knobs
        model = context.pins.get(MODEL_PIN)
        if knobs.tenants:
            knobs = knobs.for_(context.tenant, model)
        granted = self._granted_tier(context, flow, knobs, types) if knobs.direct_commit_grants else 0
        key = (
            flow,
            context.principal,
            context.tenant,
            context.surface,
            context.break_glass,
            context.reason is not None,
            tier,
            facts,
            context.commit_mode,
            context.proposal_id is not None,
            context.dry_run,
            model,
            granted,
        )
        found = self._decisions.get(key)
        if found is None:
            found = self._remember(key, self._judge_plan(context, flow, knobs, tier, facts, granted))
        return found

    def looks_at_types(self, context: Context, flow: Flow) -> bool:
        """May it matter to a decision about this caller and this flow what types of things are changed?"""
        knobs = self.knobs.for_(context.tenant, context.pins.get(MODEL_PIN))
        if not knobs.direct_commit_grants:
            return False
        return any(grant.types is not None for grant in self._covering(context, flow, knobs))

    def may_approve(self, context: Context, author: Principal, tier: int, flows: tuple[str, ...]) -> Decision:
        """May this principal approve a proposal of that author? `commit` stands for yes."""
        if self.read_only:
            return denied(codes.READ_ONLY, tier, self.version, READ_ONLY)
        if context.principal.type != "human" or context.surface in MCP:
            return denied(codes.PEOPLE_ONLY, tier, self.version, PEOPLE_APPROVE)
        model = context.pins.get(MODEL_PIN)
        key = (
            "approve",
            context.principal,
            context.tenant,
            context.surface,
            context.reason is not None,
            model,
            author.id,
            author.type,
            tier,
            flows,
        )
        found = self._decisions.get(key)
        if found is None:
            knobs = self.knobs.for_(context.tenant, model)
            found = self._remember(key, self._judge_approval(context, knobs, author, tier, flows))
        return found

    def needs_confirmation(self, context: Context, tier: int) -> bool:
        """Would a direct commit at this tier have to be confirmed, if it were no dry run?"""
        return tier >= self.knobs.for_(context.tenant, context.pins.get(MODEL_PIN)).confirm_tier

    def _judge_call(self, context: Context, flow: Flow) -> Decision:
        circumstances = {
            "tier": flow.tier,
            "surface": context.surface,
            "reason_given": context.reason is not None,
            "break_glass": context.break_glass,
            "break_glass_roles": self.knobs.for_(context.tenant).break_glass_roles,
        }
        (answer,) = self._in_force().ask(principal_entity(context), ["call"], flow_entity(flow), circumstances)
        return judged_call(answer, context.principal, flow, self.version)

    def _judge_plan(self, context: Context, flow: Flow, knobs: Knobs, tier: int, facts: int, granted: int) -> Decision:
        raised = raised_tier(flow, tier, facts, knobs)
        circumstances = {
            "tier": raised,
            "facts": facts,
            "surface": context.surface,
            "model": context.pins.get(MODEL_PIN, ""),
            "commit_mode": context.commit_mode or "",
            "default_mode": knobs.default_mode,
            "granted_tier": granted,
            "single_operator": knobs.single_operator,
            "reason_given": context.reason is not None,
            "break_glass": context.break_glass,
            "break_glass_roles": knobs.break_glass_roles,
        }
        commit, propose = self._in_force().ask(
            principal_entity(context), ["commit", "propose"], flow_entity(flow), circumstances
        )
        return judged_plan(commit, propose, context, knobs, raised, self.version)

    def _judge_approval(
        self, context: Context, knobs: Knobs, author: Principal, tier: int, flows: tuple[str, ...]
    ) -> Decision:
        circumstances = {
            "tier": tier,
            "surface": context.surface,
            "single_operator": knobs.single_operator,
            "reason_given": context.reason is not None,
        }
        (answer,) = self._in_force().ask(
            principal_entity(context), ["approve"], proposal_entity(author, tier, flows), circumstances
        )
        return judged_approval(answer, tier, self.version)

    def _granted_tier(self, context: Context, flow: Flow, knobs: Knobs, types: Callable[[], Types] | None) -> int:
        """How far the grants for this caller reach now."""
        covering = self._covering(context, flow, knobs)
        changed = types() if types and any(grant.types is not None for grant in covering) else frozenset()
        reaching = (grant.tier_at(context.occurred_at) for grant in covering if grant.allows(changed))
        return max(reaching, default=0)

    def _covering(self, context: Context, flow: Flow, knobs: Knobs) -> tuple[Grant, ...]:
        """The grants that name this caller and this flow. Grants end, so only that is kept."""
        key = (flow, context.principal, context.tenant, context.pins.get(MODEL_PIN))
        covering = self._grants.get(key)
        if covering is None:
            covering = tuple(grant for grant in knobs.direct_commit_grants if grant.covers(context.principal, flow.ref))
            if len(self._grants) >= self._remembered:
                self._grants.clear()
            self._grants[key] = covering
        return covering

    def _remember(self, key: Hashable, decision: Decision) -> Decision:
        if len(self._decisions) >= self._remembered:
            self._decisions.clear()
        if self._remembered:
            self._decisions[key] = decision
        return decision

    def _in_force(self) -> Rules:
        if self._rules is None:
            self._rules = Rules(self._texts)
        return self._rules


def _version(texts: Mapping[str, str], knobs: Knobs) -> str:
    """A digest of everything that a decision is made from."""
    content = {"policies": texts, "schema": schema_text(), "knobs": knobs.decisive()}
    return f"sha256:{sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()}"
