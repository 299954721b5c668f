"""Receipts: for every commit, who did what by which flow, under which policy, approved by whom.

A receipt is written in the transaction of the change it vouches for, and says nothing that the change does not show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypedDict, Unpack

import orjson
from msgspec import Struct

from engross.calls import Context, Decision, Principal
from engross.store import Params, Reading

from .canonical import canonical

INSERT = "INSERT INTO receipts (tenant, position, digest, body) VALUES (:tenant, :position, :digest, :body)"


class Receipt(Struct, frozen=True, gc=False):
    """The proof of one commit."""

    position: int
    digest: str
    text: str

    @property
    def body(self) -> dict[str, Any]:
        """What the receipt says."""
        said: dict[str, Any] = orjson.loads(self.text)
        return said

    def row(self) -> Params:
        """The receipt as a row."""
        return {"position": self.position, "digest": self.digest, "body": self.text}


class More(TypedDict, total=False):
    """What only some receipts say."""

    author: Mapping[str, Any] | None
    approvers: Sequence[str]
    approval: Mapping[str, Any] | None
    proposal: str | None
    plans: Sequence[Mapping[str, Any]]
    switches: Sequence[str]


@lru_cache(maxsize=1024)
def _spelled(principal: Principal) -> orjson.Fragment:
    """A principal as receipts show it; the same few make nearly all calls."""
    return orjson.Fragment(canonical(principal.as_data()))


def receipt_for(
    context: Context,
    *,
    position: int,
    flow_version: str,
    arguments_digest: str,
    facts: tuple[int, str],
    decision: Decision,
    **more: Unpack[More],
) -> Receipt:
    """Draw up the receipt of a commit; of its facts it holds how many there are and their digest."""
    body: dict[str, Any] = {
        "tenant": context.tenant,
        "position": position,
        "message_id": context.message_id,
        "time": context.occurred_at,
        "flow": context.flow,
        "flow_version": flow_version,
        "principal": _spelled(context.principal),
        "surface": context.surface,
        "arguments_digest": arguments_digest,
        "facts": facts[0],
        "facts_digest": facts[1],
        "policy_version": decision.policy_version,
        "tier": decision.tier,
        "because": decision.because,
        "correlation_id": context.correlation_id,
        "traceparent": context.trace.traceparent,
    }
    if context.client_request_id:
        body["client_request_id"] = context.client_request_id
    if context.reason:
        body["reason"] = context.reason
    for name, value in more.items():
        if value:
            body[name] = value
    text = canonical(body)
    return Receipt(position, sha256(text).hexdigest(), text.decode())


def receipt_at(reading: Reading, position: int) -> Receipt | None:
    """The receipt of the commit at a position."""
    rows = reading.rows(
        "SELECT position, digest, body FROM receipts WHERE tenant = :tenant AND position = :position",
        {"position": position},
    )
    return _receipt(rows[0]) if rows else None


def last_receipt(reading: Reading, *, after: int, upto: int) -> Receipt | None:
    """The last receipt of a stretch of the ledger."""
    rows = reading.rows(
        "SELECT position, digest, body FROM receipts"
        " WHERE tenant = :tenant AND position > :after AND position <= :upto ORDER BY position DESC LIMIT 1",
        {"after": after, "upto": upto},
    )
    return _receipt(rows[0]) if rows else None


def latest_receipts(reading: Reading, most: int) -> list[Receipt]:
    """The last receipts, the latest first."""
    rows = reading.rows(
        "SELECT position, digest, body FROM receipts WHERE tenant = :tenant ORDER BY position DESC LIMIT :most",
        {"most": most},
    )
    return [_receipt(row) for row in rows]


def receipts_between(reading: Reading, after: int, upto: int, *, most: int) -> list[Receipt]:
    """Receipts of a stretch of the ledger, in order."""
    rows = reading.rows(
        "SELECT position, digest, body FROM receipts"
        " WHERE tenant = :tenant AND position > :after AND position <= :upto ORDER BY position LIMIT :most",
        {"after": after, "upto": upto, "most": most},
    )
    return [_receipt(row) for row in rows]


def _receipt(row: Mapping[str, Any]) -> Receipt:
    return Receipt(row["position"], row["digest"], row["body"])
