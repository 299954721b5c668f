"""Stage 7, record: facts, receipt and the answer under its key, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from engross.calls import Answer, Context, Decision, Errand, FactDraft, Plan, instant_after
from engross.flows import Flow
from engross.governance import (
    Proposal,
    StoredPlan,
    add_plan,
    difference,
    find_proposal,
    open_proposal,
)
from engross.ledger import Unit, key_row, receipt_for, write_commit
from engross.replies import Failed, FrozenDict, Reply, codes, freeze, reply

from .answers import Remembered
from .draft import growing_proposal
from .errands import promise_errand
from .fittings import Fittings
from .remember import flight_key

EFFECT_CODES: Mapping[str | None, str] = {
    "create": codes.CREATED,
    "update": codes.UPDATED,
    "delete": codes.DELETED,
    None: codes.DONE,
}
SUMMARISED = 3
NAMING = ("name", "title")
LONGEST_NAME = 40
MOST_NAMED = 1000
"""How many facts an answer names; of more it says how many there are."""


class Recorded(Struct, frozen=True, gc=False):
    """A commit that is on its way to the disk, and what to answer once it is there."""

    reply: Reply
    decision: Decision
    remembered: Remembered | None = None
    publishes: tuple[str, ...] = ()
    errands: tuple[Errand, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether anything was written down: a call without a key that changed nothing leaves no trace."""
        return self.remembered is not None or self.reply.data["position"] is not None


def take_note(fittings: Fittings, context: Context, recorded: Recorded) -> None:
    """What this process should know of a commit once it is durable."""
    if recorded.kept:
        fittings.entered.add(context.tenant)
        fittings.unsealed.add(context.tenant)
        fittings.stir(context.tenant)
    if recorded.remembered is not None:
        fittings.answers.put(flight_key(context), recorded.remembered)


def record_commit(
    fittings: Fittings,
    unit: Unit,
    flow: Flow,
    plan: Plan,
    answer: Answer,
    decision: Decision,
    mark: str | None,
) -> Recorded:
    """Make the plan the record."""
    stated = unit.stated
    changed = bool(stated or unit.publications or flow.kind == "reach")
    code = answer.code or (EFFECT_CODES[flow.effect] if changed else codes.NO_EFFECT)
    data = {
        **answer.data,
        "status": "committed" if changed else "unchanged",
        "warnings": [*plan.warnings, *_unkeyed_warning(unit.context, flow)],
        "facts": [unit.fact_id(ordinal) for ordinal in range(min(stated, MOST_NAMED))],
        "position": unit.transaction.position if changed else None,
        "idempotent_replay": False,
    }
    if stated > MOST_NAMED:
        data["facts_in_all"] = stated
    return _write(fittings, unit, flow, plan, answer, decision, mark, code=code, params=answer.params, data=data)


def record_proposal(
    fittings: Fittings, unit: Unit, flow: Flow, plan: Plan, decision: Decision, mark: str | None
) -> Recorded:
    """Keep the plan as a proposal of its own, or as the next plan of the one that was named."""
    context = unit.context
    proposal = growing_proposal(fittings, unit, context) if context.proposal_id else _opened(fittings, unit, plan)
    needed = max(1, decision.approvals_required)
    plan = replace(plan, tier=decision.tier)
    stored = StoredPlan.of(
        plan, context, ordinal=len(proposal.plans), kind=flow.kind, policy_version=decision.policy_version
    )
    add_plan(unit, proposal.id, proposal.version, stored, needed)
    data = {
        **plan.answer,
        "status": "proposed",
        "proposal": {
            "id": proposal.id,
            "status": proposal.status,
            "risk_tier": max(proposal.tier, plan.tier),
            "approvals_required": max(proposal.approvals_required, needed),
            "expires_at": proposal.expires_at,
        },
        **difference(plan.facts),
        # A flow that shows by itself what would change knows better.
        **({"diff": plan.answer["diff"]} if plan.answer.get("diff") else {}),
        "warnings": list(plan.warnings),
        "facts": [written.fact.id for written in unit.written],
        "position": unit.transaction.position,
        "idempotent_replay": False,
    }
    params = {"proposal_id": proposal.id}
    answer = Answer(plan.answer, receipt={"proposal": proposal.id})
    return _write(
        fittings,
        unit,
        flow,
        plan,
        answer,
        decision,
        mark,
        code=codes.PROPOSAL_RECORDED,
        params=params,
        data=data,
    )


def _write(
    fittings: Fittings,
    unit: Unit,
    flow: Flow,
    plan: Plan,
    answer: Answer,
    decision: Decision,
    mark: str | None,
    *,
    code: str,
    params: Mapping[str, Any],
    data: dict[str, Any],
) -> Recorded:
    context = unit.context
    position = unit.transaction.position if data["position"] is not None else None
    remembered, key = None, None
    if unit.publications:
        data["published"] = {publication.id: "pending" for publication in unit.publications}
    frozen, told = bearable(data, fittings.most_reply_bytes)
    if mark is not None:
        kept = {"code": code, "params": params, "data": orjson.Fragment(told), "trace_id": context.trace.trace_id}
        text = orjson.dumps(kept).decode()
        remembered = Remembered(context.principal.id, mark, text, position, context.occurred_at)
        key = key_row(context, mark, state="done", position=position, answer=text)
    receipt = None
    if position is not None:
        receipt = receipt_for(
            context,
            position=position,
            flow_version=flow.version,
            arguments_digest=fittings.digest(plan.arguments),
            facts=(unit.stated, unit.facts_digest()),
            decision=decision,
            switches=_switches(fittings, context),
            **answer.receipt,
        )
    for errand in answer.errands:
        promise_errand(unit, errand, decision)
    write_commit(unit, receipt, key, fittings.entered)
    published = tuple([publication.id for publication in unit.publications])
    return Recorded(reply(code, params, frozen), decision, remembered, published, answer.errands)


def bearable(data: dict[str, Any], limit: int) -> tuple[FrozenDict, bytes]:
    """The answer, frozen, and as text. One that could not be sent is refused, while nothing is written yet."""
    frozen = freeze(data)
    text = orjson.dumps(frozen)
    if len(text) > limit:
        raise Failed(codes.RESPONSE_TOO_LARGE, {"size": len(text), "limit": limit})
    return frozen, text


def _opened(fittings: Fittings, unit: Unit, plan: Plan) -> Proposal:
    context = unit.context
    knobs = fittings.knobs.for_(context.tenant, context.pins.get("model_id"))
    identifier = f"prop_{context.message_id}"
    open_proposal(
        unit,
        identifier,
        {
            "status": "draft" if context.commit_mode == "draft" else "proposed",
            "author": context.principal.as_data(),
            "summary": summary(plan),
            "reason": context.reason,
            "expires_at": instant_after(context.occurred_at, days=knobs.proposal_ttl_days),
            "rebased_from": None,
        },
    )
    return find_proposal(unit, identifier)


def summary(plan: Plan) -> str:
    """A proposal in a line: the flow, and what people know by name of what it would change."""
    named = ", ".join(map(_known_by, plan.facts[:SUMMARISED]))
    more = f" and {plan.size - SUMMARISED} more" if plan.size > SUMMARISED else ""
    return f"{plan.flow}: {named}{more}" if named else plan.flow


def _known_by(fact: FactDraft) -> str:
    """The name or the title of a subject, shortened: the one it had so far. Its id where it has neither."""
    for said in (fact.before or {}, fact.payload):
        for field in NAMING:
            if isinstance(name := said.get(field), str) and (line := " ".join(name.split())):
                return f'"{line}"' if len(line) <= LONGEST_NAME else f'"{line[:LONGEST_NAME]}…"'
    return fact.subject


def _switches(fittings: Fittings, context: Context) -> tuple[str, ...]:
    """What an auditor has to know was switched on when this was decided."""
    knobs = fittings.knobs.for_(context.tenant, context.pins.get("model_id"))
    return ("single_operator",) if knobs.single_operator else ()


def _unkeyed_warning(context: Context, flow: Flow) -> list[dict[str, Any]]:
    if context.client_request_id is not None or context.principal.type == "human" or flow.semantics.idempotent:
        return []
    return [
        {
            "code": "NO_CLIENT_REQUEST_ID",
            "message": f"{flow.ref} was called without a client_request_id; a repetition would not be recognised.",
            "field": "client_request_id",
            "suggestion": "Send a client_request_id, made once per intended change.",
        }
    ]
