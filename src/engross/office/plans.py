"""A proposal's plans, performed again as their author's own calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Flow
from engross.governance import Proposal, StoredPlan
from engross.ledger import Reader, Unit
from engross.pipeline import Fittings, Performed, author_context, moved_since, perform
from engross.replies import Invalid, codes

from .built_in import DOMAINS

Pieces = Mapping[int, Any]


def prepare_plans(fittings: Fittings, reader: Reader, proposal: Proposal) -> Pieces:
    """What the flows prepare off the writer, by the plan's ordinal. A refusal is kept until the plan's turn comes."""
    return {plan.ordinal: _prepared(fittings, reader, proposal, plan) for plan in proposal.plans}


def perform_plan(fittings: Fittings, unit: Unit, proposal: Proposal, plan: StoredPlan, pieces: Pieces) -> Performed:
    """One plan again, with the author's ids and time. What the flow refuses by now makes the proposal stale."""
    flow = flow_of(fittings, plan)
    # A plan that was added after the others were prepared is prepared here.
    piece = pieces[plan.ordinal] if plan.ordinal in pieces else _prepared(fittings, unit, proposal, plan)
    try:
        if isinstance(piece, Invalid):
            raise piece
        author = author_context(unit.context, plan, proposal.id)
        return perform(unit.under(author), flow, plan.arguments, piece, plan.warnings)
    except Invalid as refusal:
        raise _no_longer_fits(unit, proposal, plan, refusal) from None


def flow_of(fittings: Fittings, plan: StoredPlan) -> Flow:
    """The plan's flow, while there is one."""
    flow = fittings.catalogue.find(plan.flow)
    if flow is None:
        raise _no_such_flow(fittings, plan)
    return flow


def require_flows(fittings: Fittings, proposal: Proposal) -> None:
    """Refuse a proposal with a flow that is not there: no other version of it could take its place."""
    for plan in proposal.plans:
        flow_of(fittings, plan)


def _no_such_flow(fittings: Fittings, plan: StoredPlan) -> Invalid:
    return Invalid(
        codes.UNKNOWN_OPERATION,
        {"operation": plan.flow},
        field="proposal_id",
        suggestions={"hint": _way_back(fittings, plan.flow.partition(".")[0])},
        data={"moved": [flow_moved(plan, None)]},
    )


def _way_back(fittings: Fittings, aggregate: str) -> str:
    """How a flow comes to be there again."""
    if aggregate in fittings.catalogue.namespaces:
        return (
            f"{aggregate} no longer has this flow: open the office with a version that has it, or reject the proposal."
        )
    if aggregate in DOMAINS:
        return f"This office was opened without the domain {aggregate}: name it in ENGROSS_DOMAINS."
    return "Open the office with the capability that has it: --capability FILE, or ENGROSS_CAPABILITIES."


def flow_moved(plan: StoredPlan, now: str | None) -> dict[str, Any]:
    """That a plan was made by another version of its flow; None stands for a flow that is not there."""
    return {"what": "flow", "flow": plan.flow, "from": plan.flow_version, "to": now}


def flows_moved(fittings: Fittings, proposal: Proposal) -> list[dict[str, Any]]:
    """Which flows of a proposal have another version by now."""
    moved = {}
    for plan in proposal.plans:
        flow = fittings.catalogue.find(plan.flow)
        version = flow.version if flow else None
        if version != plan.flow_version:
            moved[plan.flow] = flow_moved(plan, version)
    return list(moved.values())


def _prepared(fittings: Fittings, reader: Reader, proposal: Proposal, plan: StoredPlan) -> Any:
    flow = fittings.catalogue.find(plan.flow)
    if flow is None or flow.preparer is None:
        return plan.arguments
    author = author_context(reader.context, plan, proposal.id)
    try:
        return flow.preparer(Reader(reader.reading, author), plan.arguments)
    except Invalid as refusal:
        return refusal


def _no_longer_fits(unit: Unit, proposal: Proposal, plan: StoredPlan, refusal: Invalid) -> Invalid:
    return Invalid(
        codes.PROPOSAL_STALE,
        {"proposal_id": proposal.id},
        field="proposal_id",
        details={"operation": plan.ordinal, "flow": plan.flow, **refusal.answer()},
        suggestions={
            "changed_aggregates": moved_since(unit, proposal),
            "hint": "Its own flow refuses it by now: withdraw it, and propose what fits.",
        },
    )
