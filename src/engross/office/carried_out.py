"""What became of the calls to other systems that the approval of a proposal promised."""

from __future__ import annotations

from typing import Any

import orjson

from engross.governance import Proposal, StoredPlan
from engross.ledger import Reader, keys
from engross.store import states_of_effects


def errand_key(proposal: Proposal, plan: StoredPlan) -> str:
    """The key of such a call. No client request id has a slash, so nobody can take it beforehand."""
    return f"{proposal.id}/{plan.ordinal}"


def carried_out(reader: Reader, proposal: Proposal, plan: StoredPlan) -> dict[str, Any]:
    """How the call stands; its author, and who approved it, also read what came of it, as long as keys are kept."""
    if plan.kind != "reach":
        return {}
    key = errand_key(proposal, plan)
    state = states_of_effects(reader.reading, [key]).get(key)
    if state is None:
        return {}
    told: dict[str, Any] = {"state": state}
    kept = reader.row(keys.SELECT, operation=plan.flow, key=key)
    mine = reader.context.principal.id in (proposal.author.id, *proposal.approvals)
    if mine and kept is not None and kept["answer"] is not None:
        answer = orjson.loads(kept["answer"])
        told |= {"code": answer["code"], "data": answer["data"]}
    return {"carried_out": told}
