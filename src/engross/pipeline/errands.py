"""Calls to other systems that a commit approved, as promises in the store."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from engross.calls import Decision, Errand, instant_after
from engross.ledger import Unit
from engross.replies import Reply, codes
from engross.store import Store, intend, pending_effects


class Promise(Struct, frozen=True, gc=False):
    """An errand with what approved it."""

    errand: Errand
    decision: Decision
    cause: str


def promise_errand(unit: Unit, errand: Errand, decision: Decision) -> None:
    """Write an errand down in the transaction that approves it."""
    body = {
        "errand": asdict(errand),
        "decision": asdict(decision),
        "cause": unit.context.message_id,
        "time": unit.now,
    }
    intend(unit.transaction, "errand", errand.key, body)


def abandoned_errands(store: Store, tenant: str, now: str, lease_seconds: float) -> list[Promise]:
    """Errands that whoever approved them should have carried out by now, in the order of their approval."""
    bodies = sorted(pending_effects(store, tenant, "errand").values(), key=lambda body: body["time"])
    return [_promise(body) for body in bodies if instant_after(body["time"], seconds=lease_seconds) <= now]


def errand_state(answer: Reply) -> str | None:
    """What an answer makes of an errand; None when it is to be taken up again."""
    if answer.ok:
        return "done"
    if answer.code == codes.OUTCOME_UNKNOWN:
        return "unknown"
    if answer.reply_type == "E" or answer.code == codes.REQUEST_IN_PROGRESS:
        return None
    return "refused"


def _promise(body: dict[str, Any]) -> Promise:
    decision = {**body["decision"], "because": tuple(body["decision"]["because"])}
    return Promise(Errand(**body["errand"]), Decision(**decision), body["cause"])
