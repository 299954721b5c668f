"""Governance: what becomes of a call that is well formed. Committed, proposed or denied, and how often."""

from .audience import Audience, audience_of, reviews
from .diff import diff, diff_text, difference
from .grant import Grant
from .judgement import refusal
from .knobs import Knobs
from .limits import Limits
from .policy import Policy
from .proposal import OPEN, TRANSITIONS, Proposal, StoredPlan
from .proposals import (
    NAMESPACE,
    add_plan,
    find_proposal,
    list_proposals,
    move,
    open_proposal,
    overdue_proposals,
    proposals_aggregate,
    proposals_touching,
    seen_proposals,
)
from .token import Binding, PlanTokens, token_refused

__all__ = [
    "NAMESPACE",
    "OPEN",
    "TRANSITIONS",
    "Audience",
    "Binding",
    "Grant",
    "Knobs",
    "Limits",
    "PlanTokens",
    "Policy",
    "Proposal",
    "StoredPlan",
    "add_plan",
    "audience_of",
    "diff",
    "diff_text",
    "difference",
    "find_proposal",
    "list_proposals",
    "move",
    "open_proposal",
    "overdue_proposals",
    "proposals_aggregate",
    "proposals_touching",
    "refusal",
    "reviews",
    "seen_proposals",
    "token_refused",
]
