"""Proposals as callers read them: a page of outlines, or one with everything a reviewer has to see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.governance import OPEN, Audience, Proposal, StoredPlan, difference, list_proposals
from engross.ledger import Reader
from engross.pipeline import Fittings, moved_since

from .approval import approval_binding, judged_today
from .carried_out import carried_out
from .cursor import read_cursor, write_cursor
from .plans import flows_moved

PAGE = 50
_NOT_IN_AN_OUTLINE = ("operations", "decisions", "approvals")


def page(reader: Reader, arguments: Mapping[str, Any], audience: Audience | None) -> dict[str, Any]:
    """The proposals that an audience sees, in the order they were opened, and where the next page begins."""
    limit = arguments.get("limit", PAGE)
    found = list_proposals(
        reader,
        status=arguments.get("status"),
        author=arguments.get("author"),
        target=arguments.get("target"),
        risk=arguments.get("risk"),
        after=read_cursor(arguments.get("cursor")),
        most=limit + 1,
        audience=audience,
    )
    shown = found[:limit]
    more = len(found) > limit
    return {
        "proposals": [_outline(reader, proposal) for proposal in shown],
        "next_cursor": write_cursor(shown[-1].created_at, shown[-1].id) if more else None,
    }


def whole(fittings: Fittings, reader: Reader, proposal: Proposal) -> dict[str, Any]:
    """What it would change, on what it builds, who decided what, and the token for whoever may approve it."""
    moved = _moved(fittings, reader, proposal)
    facts = [fact for plan in proposal.plans for fact in plan.facts]
    shown: dict[str, Any] = {
        "proposal": {
            **proposal.as_data(reader.now),
            "operations": [_operation(plan) | carried_out(reader, proposal, plan) for plan in proposal.plans],
            "based_on": proposal.base,
            "stale": bool(moved),
            "moved": moved,
        },
        **difference(facts),
    }
    if not moved and _may_approve(fittings, reader, proposal):
        binding = approval_binding(fittings, reader.context, proposal)
        shown["approval_token"] = fittings.tokens.make("approve", binding, proposal.expires_at)
    return shown


def _outline(reader: Reader, proposal: Proposal) -> dict[str, Any]:
    data = proposal.as_data(reader.now)
    return {name: value for name, value in data.items() if name not in _NOT_IN_AN_OUTLINE}


def _moved(fittings: Fittings, reader: Reader, proposal: Proposal) -> list[dict[str, Any]]:
    if proposal.current_status(reader.now) not in OPEN:
        return []
    return [*moved_since(reader, proposal), *flows_moved(fittings, proposal)]


def _may_approve(fittings: Fittings, reader: Reader, proposal: Proposal) -> bool:
    if not proposal.allows("review", reader.now) or reader.context.principal.id in proposal.approvals:
        return False
    today = judged_today(fittings, reader.context, proposal)
    if today.verdict == "deny":
        return False
    allowed = fittings.policy.may_approve(reader.context, proposal.author, today.tier, proposal.flows)
    return allowed.verdict == "commit"


def _operation(plan: StoredPlan) -> dict[str, Any]:
    return {
        "ordinal": plan.ordinal,
        "operation": plan.flow,
        "version": plan.flow_version,
        "arguments": plan.arguments,
        "preview": plan.answer,
        "risk_tier": plan.tier,
        "warnings": list(plan.warnings),
        "policy_version": plan.policy_version,
    }
