"""What a commit promises beyond the store: written down with it, kept after it, marked when it is kept.

A promise that is not marked was perhaps not kept, and is taken up again: keeping it twice must be keeping it
once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import orjson

from .port import Reading, Store, Transaction

EffectKind = Literal["publish", "errand"]
PENDING = "pending"


def intend(transaction: Transaction, kind: EffectKind, identifier: str, body: Mapping[str, Any]) -> None:
    """Promise something, in the transaction that makes it true."""
    transaction.execute(
        "INSERT INTO effects (tenant, id, kind, body, state) VALUES (:tenant, :id, :kind, :body, 'pending')",
        {"id": identifier, "kind": kind, "body": orjson.dumps(body).decode()},
    )


def tenants_in_debt(store: Store, kind: EffectKind) -> list[str]:
    """Those to whom something was promised that is not known to be done."""
    return store.tenants(f"SELECT 1 FROM effects WHERE tenant = :tenant AND state = 'pending' AND kind = '{kind}'")


def pending_effects(store: Store, tenant: str, kind: EffectKind) -> dict[str, dict[str, Any]]:
    """What was promised and is not known to be done: bodies by id."""
    sql = "SELECT id, body FROM effects WHERE tenant = :tenant AND state = 'pending' AND kind = :kind"
    rows = store.read(tenant, lambda reading: reading.rows(sql, {"kind": kind}))
    return {row["id"]: orjson.loads(row["body"]) for row in rows}


def mark_effects(transaction: Transaction, states: Mapping[str, str]) -> None:
    """Write down what has become of promises."""
    for identifier, state in states.items():
        transaction.execute(
            "UPDATE effects SET state = :state WHERE tenant = :tenant AND id = :id",
            {"state": state, "id": identifier},
        )


def effect_states(store: Store, tenant: str, identifiers: Collection[str]) -> dict[str, str]:
    """What has become of promises, by id."""
    return store.read(tenant, lambda reading: states_of_effects(reading, identifiers))


def states_of_effects(reading: Reading, identifiers: Collection[str]) -> dict[str, str]:
    """The same, for whoever is reading already."""
    sql = "SELECT state FROM effects WHERE tenant = :tenant AND id = :id"
    return {each: row["state"] for each in identifiers for row in reading.rows(sql, {"id": each})}
