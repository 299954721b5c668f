"""Why something is what it is: the facts about it, who wanted and who approved them, and the receipts that prove it.

Every domain knows by itself which facts those are; what is told about each of them is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engross.store import Reading

from .facts import Fact, facts_about

PROPOSALS = "proposals"

Stated = tuple[Fact, Mapping[str, Any]]
"""A fact, and the body of its receipt."""


def reasons_of(reading: Reading, found: Sequence[Stated]) -> list[dict[str, Any]]:
    """Facts as whoever asks why is told about them."""
    wishes = told_reasons(reading, (receipt for _, receipt in found))
    return [_reason(fact, receipt, wishes) for fact, receipt in found]


def told_reasons(reading: Reading, receipts: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What the authors of the proposals behind receipts gave as their reason: the first fact of each says it."""
    told: dict[str, str] = {}
    for proposal in sorted({receipt["proposal"] for receipt in receipts if receipt.get("proposal")}):
        for fact, _ in facts_about(reading, PROPOSALS, proposal, after_version=0, most=1):
            if fact.payload and fact.payload.get("reason"):
                told[proposal] = fact.payload["reason"]
    return told


def responsibility(receipt: Mapping[str, Any], wishes: Mapping[str, str]) -> dict[str, Any]:
    """Who wanted a commit, by which flow, why, in which proposal, and who approved it."""
    return {
        "by": receipt.get("author") or receipt["principal"],
        "flow": receipt["flow"],
        "reason": wishes.get(receipt.get("proposal", "")) or receipt.get("reason"),
        "proposal": receipt.get("proposal"),
        "approvers": receipt.get("approvers", []),
    }


def proof(fact: Fact, receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Where the receipt lies that vouches for a fact, and what it says about the facts of its commit."""
    return {"position": fact.position, "facts_digest": receipt.get("facts_digest")}


def worth_telling(versions: Sequence[int], limit: int) -> Sequence[int]:
    """Of too many versions the newest, and the first of all if it is among them."""
    newest = versions[-limit:]
    return [versions[0], *newest[1:]] if versions[0] == 1 and len(newest) > 1 else newest


def last_setters(reasons: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Which fact set each field last, of reasons in their order."""
    return {field: one["fact_id"] for one in reasons for field in one["fields"]}


def _reason(fact: Fact, receipt: Mapping[str, Any], wishes: Mapping[str, str]) -> dict[str, Any]:
    told = {
        "fact": fact.type,
        "fact_id": fact.id,
        "subject": fact.subject,
        "version": fact.version,
        "position": fact.position,
        "time": fact.time,
        # What waited for somebody's decision is on the record later than it was said.
        "committed_at": receipt["time"] if receipt["time"] != fact.time else None,
        "fields": list(fact.fields),
        "payload": fact.payload,
        "erased": fact.payload is None,
        **responsibility(receipt, wishes),
        "flow_version": receipt["flow_version"],
        "plans": _plans(receipt),
        "receipt": proof(fact, receipt),
    }
    return {name: value for name, value in told.items() if value is not None}


def _plans(receipt: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The flows whose plans were committed, each once, where the commit is that of a proposal."""
    made_by = dict.fromkeys((plan["flow"], plan["version"]) for plan in receipt.get("plans", ()))
    return [{"flow": flow, "version": version} for flow, version in made_by] or None
