"""The authoritative memory of client request ids: the second of the two layers of idempotency.

A key belongs to (tenant, operation), and its row is written in the transaction of the change it stands for: both are
there or neither is. On PostgreSQL it is looked up first, and then its name is locked; if another process commits the
same key between the look and the lock, the primary key makes this one start over, and then it finds the row. The one
writer of SQLite starts with the change: where the primary key refuses the row, the unit is run again, and looks first.

A `leased` row is a promise: a flow that calls other systems committed it before it called out. Beside the keys stand
the tokens that were spent (`spent.py`), as rows without an answer.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from engross.calls import Context, days_after, instant_after
from engross.store import Params, Reading, Transaction

KEPT_DAYS = 7
KeyState = Literal["done", "leased", "erased"]

SELECT = (
    "SELECT principal, fingerprint, state, position, answer, created_at, expires_at FROM keys"
    " WHERE tenant = :tenant AND operation = :operation AND key = :key"
)
INSERT = (
    "INSERT INTO keys (tenant, operation, key, principal, fingerprint, state, position, answer, created_at, expires_at)"
    " VALUES (:tenant, :operation, :key, :principal, :fingerprint, :state, :position, :answer,"
    " :created_at, :expires_at)"
)
"""The primary key refuses it where there is a row already: what may be replaced is taken away before."""

PAST = "expires_at <= :now AND (state <> 'leased' OR created_at <= :week_ago)"


class StoredKey(NamedTuple):
    """What is remembered of the call that first used a key."""

    principal: str
    fingerprint: str
    state: KeyState
    position: int | None
    answer: str | None
    created_at: str
    expires_at: str

    def is_past(self, now: str) -> bool:
        """Whether the row is as good as none. What became of a lease is a question for as long as keys are kept."""
        return self._kept_until <= now

    @property
    def _kept_until(self) -> str:
        return self.expires_at if self.state != "leased" else days_after(self.created_at, KEPT_DAYS)


def find_key(transaction: Transaction, operation: str, key: str) -> StoredKey | None:
    """The row of a key, also one past its time."""
    rows = transaction.peek(SELECT, {"operation": operation, "key": key})
    if not rows:
        return None
    return StoredKey(**rows[0])


def clear_key(transaction: Transaction, operation: str, key: str, now: str) -> None:
    """Take away a row, or a lease, that is past its time."""
    transaction.execute(
        "DELETE FROM keys WHERE tenant = :tenant AND operation = :operation AND key = :key AND expires_at <= :now",
        {"operation": operation, "key": key, "now": now},
    )


def release_key(transaction: Transaction, operation: str, key: str, *, taken_at: str = "") -> None:
    """Take away a lease, or only the one that was taken at a moment."""
    transaction.execute(
        "DELETE FROM keys WHERE tenant = :tenant AND operation = :operation AND key = :key AND state = 'leased'"
        " AND (:taken_at = '' OR created_at = :taken_at)",
        {"operation": operation, "key": key, "taken_at": taken_at},
    )


def read_key(reading: Reading, operation: str, key: str) -> StoredKey | None:
    """The row of a key as it is committed, also one past its time."""
    rows = reading.rows(SELECT, {"operation": operation, "key": key})
    return StoredKey(**rows[0]) if rows else None


def key_row(
    context: Context,
    fingerprint: str,
    *,
    state: KeyState,
    position: int | None,
    answer: str | None,
    lasts_seconds: float | None = None,
) -> Params:
    """The row that remembers this call under its key."""
    ends = (
        days_after(context.occurred_at, KEPT_DAYS)
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
        "answer": answer,
        "created_at": context.occurred_at,
        "expires_at": ends,
    }


def erased_keys(reading: Reading, since: str) -> list[tuple[str, str]]:
    """The operations and keys of the calls since then whose answers were erased."""
    # An index has these rows and no others: the literal is how both engines know that it is enough.
    sql = "SELECT operation, key FROM keys WHERE tenant = :tenant AND state = 'erased' AND created_at > :since"
    return [(row["operation"], row["key"]) for row in reading.rows(sql, {"since": since})]


def are_keys_past(reading: Reading, now: str) -> bool:
    """Whether there is anything to purge."""
    sql = f"SELECT 1 AS found FROM keys WHERE tenant = :tenant AND {PAST} LIMIT 1"
    return bool(reading.rows(sql, {"now": now, "week_ago": days_after(now, -KEPT_DAYS)}))


def purge_keys(transaction: Transaction, now: str, *, most: int = 1000) -> int:
    """Drop keys past their time, a batch of them; how many those were."""
    return transaction.execute(
        f"DELETE FROM keys WHERE tenant = :tenant AND {PAST} AND (operation, key) IN ("
        f" SELECT operation, key FROM keys WHERE tenant = :tenant AND {PAST} LIMIT :most)",
        {"now": now, "week_ago": days_after(now, -KEPT_DAYS), "most": most},
    )
