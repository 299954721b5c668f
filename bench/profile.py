"""`python -m bench.profile`: in which rooms the time of a write is spent.

Writes are driven on one thread, inside one transaction, so that neither the disk nor waiting counts. The profiler makes
every call of a function dearer than it is, so read the shares, not the sums.
"""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from tempfile import TemporaryDirectory
from typing import Any

from engross.store import Transaction
from engross.store.sqlite import SqliteStore
from engross.store.writer import SqliteTransaction
from engross.surfaces.client import connect

from .notes import note, notes

WRITES = 3000
ROOMS = ("replies", "calls", "flows", "governance", "ledger", "pipeline", "office", "surfaces")


def main() -> None:
    """Print the share of every room."""
    with TemporaryDirectory() as folder, connect(folder, notes()) as client:
        store = client.office.store
        assert isinstance(store, SqliteStore)
        store.write = Inline(store).write  # type: ignore[method-assign]
        for _ in range(300):
            client.call("notes.keep-note", note())
        profiler = cProfile.Profile()
        profiler.enable()
        for _ in range(WRITES):
            client.call("notes.keep-note", note())
        profiler.disable()
        del store.write
    shares = by_room(pstats.Stats(profiler))
    whole = sum(shares.values())
    for room, seconds in shares.most_common():
        print(f"{room:12} {seconds / whole:6.1%}")


class Inline:
    """The writer's work, on the caller's own thread, in a transaction that never ends."""

    def __init__(self, store: SqliteStore) -> None:
        self._connection = store.connect()
        self._connection.execute("BEGIN IMMEDIATE")
        self._position = 1_000_000

    def write(self, tenant: str, work: Any, **_: Any) -> Any:
        """Do the work."""
        self._position += 1
        transaction: Transaction = SqliteTransaction(self._connection, tenant, self._position, tentative=False)
        return work(transaction)


def by_room(stats: pstats.Stats) -> Counter[str]:
    """The time spent in each room's own code, and in the libraries that it calls itself."""
    shares: Counter[str] = Counter()
    for (file, _, name), (_, _, own, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if "execute" in name and "apsw" in name:
            shares["SQL"] += own
        elif file == "~":
            for (caller, _, _), spent in callers.items():
                shares[_room(caller)] += spent[2]
        else:
            shares[_room(file)] += own
    return shares


def _room(file: str) -> str:
    _, is_ours, place = file.rpartition("/src/engross/")
    if is_ours:
        room = place.partition("/")[0]
        return room if room in ROOMS else "store"
    return "the domain" if "/bench/" in file else "libraries"


if __name__ == "__main__":
    main()
