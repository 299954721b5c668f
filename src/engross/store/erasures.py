"""Bytes that nobody refers to any more, taken off the disk for good.

    intend     a row says: these bytes may have lost their last reference         (in the transaction that erased one)
    settle     nobody refers to them: the row says `going`; somebody does: the row goes, and the bytes stay
                                                                                  (a transaction of its own)
    take away  the file is unlinked, and its folder synced                        (after COMMIT)
    forget     the row goes: not even the digest is left                          (a transaction of its own)

A crash between any two leaves a row, and whoever opens the office next goes on from there: every step done twice is
done once. One at a time settles and takes away, however many processes share the store.

Somebody may be about to refer to the same bytes anew. They are on the disk before any row names them, so whoever names
them asks, in the transaction that does, whether they are here to stay. Units run as if one came after the other: either
whoever settles sees the new reference, or whoever refers sees that the bytes are going or gone, and puts them there
once more. On PostgreSQL each of the two reads what the other one writes, and one of them runs again. That is why the
rows have a table of their own: a page that nobody else writes to makes nobody else collide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from .blobs import Blobs
from .failures import disk_failure, translated
from .port import Reading, Store, Transaction

Standing = Literal["held", "awaited", "free"]
"""What is with some bytes: a row refers to them; only something that is not done yet needs them; or nobody does."""
Judge = Callable[[Reading, str], Standing]
AT_ONCE = 20
"""How many are settled in one transaction: others wait meanwhile."""

# A row that is there is written once more as it is: whoever is about to settle it looks again at what was erased here.
_INTEND = (
    "INSERT INTO erasures (tenant, digest, state) VALUES (:tenant, :digest, 'pending')"
    " ON CONFLICT (tenant, digest) DO UPDATE SET state = erasures.state"
)
_STATE = "SELECT state FROM erasures WHERE tenant = :tenant AND digest = :digest"
_IN_STATE = "SELECT digest FROM erasures WHERE tenant = :tenant AND state = :state ORDER BY digest"
_GOING = "UPDATE erasures SET state = 'going' WHERE tenant = :tenant AND digest = :digest"
_FORGET = "DELETE FROM erasures WHERE tenant = :tenant AND digest = :digest"


def intend_erasure(transaction: Transaction, digests: Iterable[str]) -> None:
    """Have bytes looked at that may have lost their last reference, once this transaction is committed."""
    for digest in digests:
        transaction.execute(_INTEND, {"digest": digest})


def intend_unless_held(store: Store, tenant: str, digests: Sequence[str], judge: Judge) -> None:
    """The same for bytes that came in, and of which perhaps nothing came on the record."""
    if not digests:
        return
    found = store.read(tenant, lambda reading: [one for one in digests if judge(reading, one) != "held"])
    if found:
        store.write(tenant, lambda transaction: intend_erasure(transaction, found))


def are_here_to_stay(transaction: Reading, blobs: Blobs, digest: str) -> bool:
    """Whether a transaction that names these bytes will find them afterwards; if not, they have to be put anew."""
    rows = transaction.rows(_STATE, {"digest": digest})
    return not any(row["state"] == "going" for row in rows) and blobs.has(digest)


def tenants_with_erasures(store: Store) -> list[str]:
    """Those of whose bytes some may have to go."""
    return store.tenants("SELECT 1 FROM erasures WHERE tenant = :tenant")


def erase_unreferenced(store: Store, tenant: str, blobs: Blobs, judge: Judge) -> int:
    """Take away all bytes that nobody refers to any more; how many blobs that were. This is also recovery."""
    if not store.read(tenant, lambda reading: _is_due(reading, judge)):
        return 0
    with translated(disk_failure), blobs.one_eraser():
        for some in _parts(_in_state(store, tenant, "pending")):
            _settle(store, tenant, some, judge)
        going = _in_state(store, tenant, "going")
        for digest in going:
            blobs.erase(digest)
        store.write(tenant, lambda transaction: _forget(transaction, going))
    return len(going)


def _is_due(reading: Reading, judge: Judge) -> bool:
    """Whether anything can be done: bytes that are awaited wait for that to come to an end."""
    if reading.rows(_IN_STATE, {"state": "going"}):
        return True
    pending = reading.rows(_IN_STATE, {"state": "pending"})
    return any(judge(reading, row["digest"]) != "awaited" for row in pending)


def _in_state(store: Store, tenant: str, state: str) -> list[str]:
    rows = store.read(tenant, lambda reading: reading.rows(_IN_STATE, {"state": state}))
    return [row["digest"] for row in rows]


def _settle(store: Store, tenant: str, digests: Sequence[str], judge: Judge) -> None:
    def work(transaction: Transaction) -> None:
        for digest in digests:
            standing = judge(transaction, digest)
            if standing != "awaited":
                transaction.execute(_GOING if standing == "free" else _FORGET, {"digest": digest})

    store.write(tenant, work)


def _forget(transaction: Transaction, digests: Sequence[str]) -> None:
    for digest in digests:
        transaction.execute(_FORGET, {"digest": digest})


def _parts(digests: Sequence[str]) -> Iterable[Sequence[str]]:
    return (digests[start : start + AT_ONCE] for start in range(0, len(digests), AT_ONCE))
