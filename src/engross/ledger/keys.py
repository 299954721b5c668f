"""The authoritative memory of client request ids: the second of the two layers of idempotency.

A key belongs to (tenant, operation). It is looked up first in the write's own transaction, under a lock on its name,
and its row is written with the change it stands for: both are there or neither is. If two processes get past each
other all the same, the primary key makes the slower one start over, and then it finds the row.

A `leased` row is a promise: a flow that calls other systems committed it before it called out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from engross.calls import Context, instant_after
from engross.store import Params, Reading, Transaction

KEPT_DAYS = 7
KeyState = Literal["done", "leased", "erased"]

SELECT = (
    "SELECT principal, fingerprint, state, position, answer, created_at, expires_at FROM keys"
    " WHERE tenant = :tenant AND operation = :operation AND key = :key"
)
UPSERT = (
    "INSERT INTO keys (tenant, operation, key, principal, fingerprint, state, position, answer, created_at, expires_at)"
    " VALUES (:tenant, :operation, :key, :principal, :fingerprint, :state, :position, :answer, :created_at, :expires_at)"
    " ON CONFLICT (tenant, operation, key) DO UPDATE SET principal = excluded.principal,"
    " fingerprint = excluded.fingerprint, state = excluded.state, position = excluded.position,"
    " answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at"
)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """What is remembered of the call that first used a key."""

    principal: str
    fingerprint: str
    state: KeyState
    position: int | None
    answer: Mapping[str, Any] | None
    created_at: str
    expires_at: str


def find_key(reading: Reading, operation: str, key: str, now: str) -> StoredKey | None:
    """The live row of a key. One past its time is as good as none, purged or not; a lease is judged by its holder."""
    rows = reading.rows(SELECT, {"operation": operation, "key": key})
    if not rows:
        return None
    row = rows[0]
    if row["state"] != "leased" and row["expires_at"] <= now:
        return None
    answer = row.pop("answer")
    return StoredKey(answer=None if answer is None else orjson.loads(answer), **row)


def key_row(
    context: Context,
    fingerprint: str,
    *,
    state: KeyState,
    position: int | None,
    answer: bytes | None,
    lasts_seconds: float | None = None,
) -> Params:
    """The row that remembers this call under its key."""
    ends = (
        instant_after(context.occurred_at, days=KEPT_DAYS)
        if lasts_seconds is None
        else instant_after(context.occurred_at, seconds=lasts_seconds)
    )
    return {
        "operation": context.flow,
        "key": context.client_request_id,
        "principal": context.principal.id,
        "fingerprint": fingerprint,
        "state": state,
        "position": position,
        "answer": None if answer is None else answer.decode(),
        "created_at": context.occurred_at,
        "expires_at": ends,
    }


def release_key(transaction: Transaction, operation: str, key: str) -> None:
    """Forget a lease whose call did not happen."""
    transaction.execute(
        "DELETE FROM keys WHERE tenant = :tenant AND operation = :operation AND key = :key AND state = 'leased'",
        {"operation": operation, "key": key},
    )


def purge_keys(transaction: Transaction, now: str, *, most: int = 1000) -> int:
    """Drop keys past their time, a batch of them."""
    return transaction.execute(
        "DELETE FROM keys WHERE tenant = :tenant AND key IN ("
        " SELECT key FROM keys WHERE tenant = :tenant AND expires_at <= :now AND state <> 'leased' LIMIT :most)"
        " AND expires_at <= :now AND state <> 'leased'",
        {"now": now, "most": most},
    )
