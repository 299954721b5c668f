"""Stage 5, perform: run the flow's own code, and see what it would change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from engross.calls import Answer, Context, FactDraft, Plan
from engross.flows import Flow
from engross.governance import Proposal, StoredPlan
from engross.ledger import Reader, Unit, current_versions
from engross.replies import REGISTRY, Failed, Invalid, codes

from .fittings import Fittings
from .steps import time_left

HIGHEST_TIER = 4
WHAT_A_FLOW_RETURNS = "A flow returns a mapping, or an Answer whose data is a mapping and whose code is a success."


class Performed(Struct, frozen=True):
    """What came of running a flow."""

    plan: Plan
    answer: Answer
    changes: bool = True
    """Whether there is anything to commit, to propose or to confirm."""


def prepare(fittings: Fittings, context: Context, flow: Flow, arguments: Mapping[str, Any]) -> Any:
    """The half of a record flow that runs off the writer. It sees what is committed."""
    preparer = flow.preparer
    if preparer is None:
        return arguments
    return fittings.store.read(
        context.tenant, lambda reading: preparer(Reader(reading, context), arguments), timeout=time_left(context)
    )


def perform(
    unit: Unit,
    flow: Flow,
    arguments: Mapping[str, Any],
    prepared: Any,
    warnings: tuple[Mapping[str, Any], ...] = (),
) -> Performed:
    """Run the flow in the unit; the plan is what it appended."""
    held, entered = len(unit.written), unit.bulk.count
    answer = as_answer(flow, flow.handler(unit, prepared))
    facts = tuple([written.draft for written in unit.written[held:]])
    if unit.bulk.count > entered:
        facts += tuple(unit.bulk.first)
    unseen = max(0, unit.bulk.count - entered - len(unit.bulk.first)) if unit.bulk.count else 0
    tier = _risk(flow, arguments, facts) if flow.risk else flow.tier
    told = (*warnings, *answer.warnings)
    plan = Plan(flow.ref, flow.version, arguments, facts, base_versions(facts), tier, answer.data, told, unseen)
    return Performed(plan, answer, bool(facts or unit.publications or answer.errands))


def _risk(flow: Flow, arguments: Mapping[str, Any], facts: tuple[FactDraft, ...]) -> int:
    """What the flow itself makes of the risk; what is no tier is nothing that could be decided about."""
    assert flow.risk is not None
    tier = flow.risk(arguments, facts)
    if type(tier) is not int or not 1 <= tier <= HIGHEST_TIER:
        raise Failed(codes.POLICY_ERROR)
    return tier


def as_answer(flow: Flow, result: Any) -> Answer:
    """A flow may answer with a bare mapping, or with an Answer that is a success, and with nothing else."""
    if type(result) is dict:
        return Answer(result)
    if isinstance(result, Answer):
        if isinstance(result.data, Mapping) and (result.code is None or REGISTRY.entry(result.code).type == "S"):
            return result
    elif isinstance(result, Mapping):
        return Answer(result)
    kind = type(result).__name__
    wrong = TypeError(f"{flow.ref} returned {kind}. {WHAT_A_FLOW_RETURNS}")
    raise Failed(
        codes.NON_REPLY_RETURN, {"tool": flow.ref, "kind": kind}, data={"hint": WHAT_A_FLOW_RETURNS}
    ) from wrong


def base_versions(facts: Iterable[FactDraft]) -> dict[str, int]:
    """The version of every subject that the facts build on."""
    base: dict[str, int] = {}
    for fact in facts:
        base.setdefault(f"{fact.aggregate}/{fact.subject}", fact.version - 1)
    return base


def author_context(context: Context, plan: StoredPlan, proposal_id: str) -> Context:
    """The context in which a plan was made, inside the present call's trace."""
    return Context.from_data(plan.author, tenant=context.tenant, trace=context.trace, causation_id=proposal_id)


def refuse_stale(reader: Reader, proposal: Proposal) -> None:
    """Refuse a proposal whose ground has moved."""
    moved = moved_since(reader, proposal)
    if moved:
        raise stale(proposal, moved)


def moved_since(reader: Reader, proposal: Proposal) -> list[dict[str, Any]]:
    """Which subjects have another version now than the proposal builds on."""
    base = proposal.base
    current = current_versions(reader.reading, list(base))
    return [
        {"subject": subject, "from": version, "to": current[subject]}
        for subject, version in base.items()
        if current[subject] != version
    ]


def stale(proposal: Proposal, moved: list[dict[str, Any]]) -> Invalid:
    """The proposal no longer fits what is there."""
    return Invalid(
        codes.PROPOSAL_STALE,
        {"proposal_id": proposal.id},
        field="proposal_id",
        suggestions={"changed_aggregates": moved, "hint": "Bring it up to date with rebaseProposal."},
    )
