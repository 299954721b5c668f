"""Working inside a proposal: a call that names one sees what it holds, and a write adds to it."""

from __future__ import annotations

from engross.calls import Context
from engross.governance import Proposal, audience_of, find_proposal
from engross.ledger import Unit
from engross.replies import Denied, codes

from .fittings import Fittings
from .perform import author_context, refuse_stale


def growing_proposal(fittings: Fittings, unit: Unit, context: Context) -> Proposal:
    """The proposal that a write named, when it may still grow and the caller is its author."""
    proposal = _named(fittings, unit, context)
    proposal.require("extend", context.occurred_at)
    if proposal.author.id != context.principal.id:
        hint = "Leave proposal_id out, and make a proposal of your own."
        raise Denied(codes.WRITE_DENIED, data={"because": ["only its author adds to a proposal"], "hint": hint})
    return proposal


def undecided_proposal(fittings: Fittings, unit: Unit, context: Context) -> Proposal:
    """The proposal that a read named, while it is undecided."""
    proposal = _named(fittings, unit, context)
    proposal.require_open(context.occurred_at)
    return proposal


def _named(fittings: Fittings, unit: Unit, context: Context) -> Proposal:
    return find_proposal(unit, context.proposal_id or "", audience_of(fittings.catalogue, context.principal))


def see_draft(fittings: Fittings, unit: Unit, proposal: Proposal) -> None:
    """Lay what a proposal holds over the unit, so that a flow sees it."""
    refuse_stale(unit, proposal)
    for plan in proposal.plans:
        child = unit.under(author_context(unit.context, plan, proposal.id))
        for fact in plan.facts:
            child.append_draft(fittings.book.upcast_draft(fact))
