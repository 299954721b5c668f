"""Seals: a signature, shortly after the commits, over the receipts since the last seal and over that seal.

Each tenant has its own chain of seals, so that one tenant's export verifies by itself. Sealing is a unit of work like
any other and reads behind the watermark; no writer waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from engross.store import Reading, Store, Transaction

from .canonical import canonical
from .merkle import merkle_root
from .signing import OfficeKey, of_another_key

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

LARGEST_SEAL = 10_000
RESTORED = "restored.json"
"""The file beside the key that says with which seals an office was restored whose key was not in the backup."""


class Seal(NamedTuple):
    """One link of a tenant's chain."""

    number: int
    digest: str
    signature: str
    body: Mapping[str, Any]


def last_seal(reading: Reading) -> Seal | None:
    """The end of the chain so far."""
    rows = reading.rows(
        "SELECT number, digest, signature, body FROM seals WHERE tenant = :tenant ORDER BY number DESC LIMIT 1",
        {},
    )
    return seal_of(rows[0]) if rows else None


def seal_of(row: Mapping[str, Any]) -> Seal:
    """The seal that a row holds."""
    return Seal(row["number"], row["digest"], row["signature"], orjson.loads(row["body"]))


def has_unsealed(reading: Reading) -> bool:
    """Whether there are receipts behind the end of the chain, settled or not."""
    last = last_seal(reading)
    sql = "SELECT 1 AS there FROM receipts WHERE tenant = :tenant AND position > :upto LIMIT 1"
    return bool(reading.rows(sql, {"upto": last.body["upto"] if last else 0}))


def newest_seals(store: Store) -> Iterator[Seal]:
    """The last seal of each tenant whose receipts were ever sealed."""
    for name in store.tenants("SELECT 1 AS there FROM seals WHERE tenant = :tenant"):
        seal = store.read(name, last_seal)
        if seal is not None:
            yield seal


def may_follow(seal: Seal, public_key: str | None, restored: Checkpoint | None) -> bool:
    """Whether a key may seal behind a seal: it made that one itself, or takes over from the key that did."""
    return seal.body["key"] == public_key or _is_restored(seal, restored)


def seal_receipts(
    transaction: Transaction, key: OfficeKey, now: str, restored: Checkpoint | None = None
) -> Seal | None:
    """Seal what is settled and not yet sealed. None when there is nothing, or another process is at it.

    A key that may not follow the last seal makes none: the ledger still verifies, and whoever has the right one seals
    what came in meanwhile.
    """
    if not transaction.claim("seal"):
        return None
    last = last_seal(transaction)
    upto_before = last.body["upto"] if last else 0
    (found,) = transaction.rows(
        "SELECT count(*) AS receipts, max(position) AS upto, string_agg(digest, ' ' ORDER BY position) AS digests"
        " FROM (SELECT position, digest FROM receipts WHERE tenant = :tenant AND position > :after"
        " AND position <= :upto ORDER BY position LIMIT :most) AS settled",
        {"after": upto_before, "upto": transaction.watermark(), "most": LARGEST_SEAL},
    )
    if not found["receipts"]:
        return None
    if last and not may_follow(last, key.public, restored):
        raise of_another_key()
    body: dict[str, Any] = {
        "tenant": transaction.tenant,
        "number": last.number + 1 if last else 1,
        "previous": last.digest if last else None,
        "after": upto_before,
        "upto": found["upto"],
        "receipts": found["receipts"],
        "root": merkle_root(found["digests"].split()),
        "time": now,
        "key": key.public,
    }
    if last and last.body["key"] != key.public:
        body["takes_over"] = last.body["key"]
    text = canonical(body)
    seal = Seal(body["number"], sha256(text).hexdigest(), key.sign(text), body)
    transaction.execute(
        "INSERT INTO seals (tenant, number, digest, signature, body)"
        " VALUES (:tenant, :number, :digest, :signature, :body)",
        {"number": seal.number, "digest": seal.digest, "signature": seal.signature, "body": text.decode()},
    )
    return seal


def _is_restored(seal: Seal, restored: Checkpoint | None) -> bool:
    """Whether a seal is the one with which a chain ended when the office was restored without its key."""
    pin = restored.pins.get(seal.body["tenant"]) if restored else None
    return pin is not None and (seal.number, seal.digest) == (pin.seal, pin.digest)
