"""Stage 5, perform: run the flow's own code, and see what it would change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engross.calls import Answer, Context, FactDraft, Plan
from engross.flows import Flow
from engross.governance import Proposal, StoredPlan, find_proposal
from engross.ledger import Reader, Unit, drafts_digest
from engross.replies import Failed, Invalid, codes
from engross.store import Reading

from .fittings import Fittings


@dataclass(frozen=True, slots=True)
class Performed:
    """What came of running a flow."""

    plan: Plan
    answer: Answer


def prepare(fittings: Fittings, context: Context, flow: Flow, arguments: Mapping[str, Any]) -> Any:
    """The half of a record flow that runs off the writer. It sees what is committed."""
    preparer = flow.preparer
    if preparer is None:
        return arguments
    return fittings.store.read(context.tenant, lambda reading: preparer(Reader(reading, context), arguments))


def perform(
    unit: Unit,
    flow: Flow,
    arguments: Mapping[str, Any],
    prepared: Any,
    warnings: tuple[Mapping[str, Any], ...] = (),
) -> Performed:
    """Run the flow in the unit; the plan is what it appended."""
    held = len(unit.written)
    answer = as_answer(flow.handler(unit, prepared))
    facts = unit.drafts[held:]
    plan = Plan(
        flow=flow.ref,
        flow_version=flow.version,
        arguments=arguments,
        facts=facts,
        base=base_versions(facts),
        tier=flow.risk(arguments, facts) if flow.risk else flow.tier,
        answer=answer.data,
        warnings=(*warnings, *answer.warnings),
    )
    return Performed(plan, answer)


def as_answer(result: Any) -> Answer:
    """A flow may answer with a bare mapping, and with nothing else."""
    if isinstance(result, Answer):
        return result
    if isinstance(result, Mapping):
        return Answer(result)
    raise Failed(codes.NON_REPLY_RETURN, {"tool": "flow", "kind": type(result).__name__})


def base_versions(facts: Iterable[FactDraft]) -> dict[str, int]:
    """The version of every subject that the facts build on."""
    base: dict[str, int] = {}
    for fact in facts:
        base.setdefault(f"{fact.aggregate}/{fact.subject}", fact.version - 1)
    return base


def see_draft(unit: Unit, proposal_id: str) -> Proposal:
    """Lay what a proposal holds over the unit, so that the flow sees it."""
    proposal = find_proposal(unit, proposal_id)
    refuse_stale(unit, proposal)
    for plan in proposal.plans:
        author = author_context(unit.context, plan, proposal.id)
        child = unit.under(author)
        for fact in plan.facts:
            child.append_draft(fact)
    return proposal


def replay(unit: Unit, flow: Flow, plan: StoredPlan, prepared: Any, proposal: Proposal) -> Performed:
    """Perform a stored plan again as its author's call; it must come to what the reviewer was shown."""
    child = unit.under(author_context(unit.context, plan, proposal.id))
    performed = perform(child, flow, plan.arguments, prepared)
    if drafts_digest(performed.plan.facts) != plan.facts_digest:
        raise stale(proposal, moved=moved_since(unit, proposal))
    return performed


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
    return [
        {"subject": subject, "from": version, "to": current}
        for subject, version in proposal.base.items()
        if (current := current_version(reader.reading, subject)) != version
    ]


def current_version(reading: Reading, subject: str) -> int:
    """The committed version of `aggregate/subject`; 0 when there is none."""
    aggregate, _, name = subject.partition("/")
    rows = reading.rows(
        "SELECT max(version) AS version FROM facts"
        " WHERE tenant = :tenant AND aggregate = :aggregate AND subject = :subject",
        {"aggregate": aggregate, "subject": name},
    )
    return int(rows[0]["version"] or 0)


def stale(proposal: Proposal, moved: list[dict[str, Any]]) -> Invalid:
    """The proposal no longer fits what is there."""
    return Invalid(
        codes.PROPOSAL_STALE,
        {"proposal_id": proposal.id},
        field="proposal_id",
        suggestions={"changed_aggregates": moved, "hint": "Bring it up to date with rebaseProposal."},
    )

