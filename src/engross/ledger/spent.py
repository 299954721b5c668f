"""Tokens that have confirmed something: each confirms one commit, and this is how the office knows that it did.

A spent token has a row among the keys. So it is spent in the transaction of what it confirms, in every process at once,
and the row goes when keys do, long after the token has run out. The row holds the token's digest, and a fingerprint of
the client request id that it was spent under: a call that was not done, and is made again under its id, goes on with
the confirmation it has.
"""

from __future__ import annotations

from engross.calls import Context, days_after
from engross.store import Params

from .canonical import digest, fingerprint
from .keys import INSERT, KEPT_DAYS, find_key
from .unit import Unit

OPERATION = "confirm_token"
"""Where a key's row names its flow. No flow is called so: every flow's name has a dot."""

SPEND = f"{INSERT} ON CONFLICT (tenant, operation, key) DO NOTHING"


def spend_token(unit: Unit, token: str) -> bool:
    """Let a token confirm this call; False if it has confirmed another."""
    return unit.transaction.execute(SPEND, _row(unit.context, token)) > 0 or can_spend(unit, token)


def can_spend(unit: Unit, token: str) -> bool:
    """Whether a token has confirmed no other call so far."""
    stored = find_key(unit.transaction, OPERATION, digest(token))
    if stored is None:
        return True
    return unit.context.client_request_id is not None and stored.fingerprint == _request(unit.context)


def _row(context: Context, token: str) -> Params:
    return {
        "operation": OPERATION,
        "key": digest(token),
        "principal": context.principal.id,
        "fingerprint": _request(context),
        "state": "done",
        "position": None,
        "answer": None,
        "created_at": context.occurred_at,
        "expires_at": days_after(context.occurred_at, KEPT_DAYS),
    }


def _request(context: Context) -> str:
    return fingerprint([context.flow, context.client_request_id])
