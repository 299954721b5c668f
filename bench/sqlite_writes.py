"""Writes on SQLite: group commit, and what the path around a write costs."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from engross.store.sqlite import SqliteStore
from engross.store.writer import SqliteTransaction
from engross.surfaces.client import Client, connect

from .claims import Claim
from .notes import Statements, note, notes, varied, written_rows
from .rounds import interleaved

CALLERS = 16
ONE, MANY = 300, 1600
ROUNDS = 9


def measure() -> list[Claim]:
    """All claims about writes on SQLite."""
    with TemporaryDirectory() as folder, connect(Path(folder) / "office", notes()) as client:
        rows = written_rows(client, SqliteTransaction)
        bare = Bare(Path(folder) / "bare", rows)
        rates = interleaved(
            {
                "bare of 16": lambda: rate(bare.insert, MANY, CALLERS),
                "office with 16": lambda: office_rate(client, MANY, CALLERS),
                "office with 1": lambda: office_rate(client, ONE, 1),
            },
            rounds=ROUNDS,
        )
        costs = interleaved(
            {
                "bare": lambda: cpu(lambda: bare.insert(ONE, 1), ONE),
                "office": lambda: cpu(lambda: call_one_by_one(client, ONE), ONE),
                "bare of 16": lambda: cpu(lambda: bare.insert(MANY, CALLERS), MANY),
                "office with 16": lambda: cpu(lambda: asyncio.run(call_together(client, MANY, CALLERS)), MANY),
            },
            rounds=ROUNDS,
        )
    many, one = rates["office with 16"], rates["office with 1"]
    return [
        Claim("group commit: 16 callers against one", many / one, "at least", 3, rates, "commits/s"),
        Claim("group commit: against bare apsw", many / rates["bare of 16"], "at least", 0.4, rates, "commits/s"),
        Claim("CPU of a write against its bare rows", costs["office"] / costs["bare"], "at most", 4, costs, "us CPU"),
    ]


class Bare:
    """A store of the same tables and settings that is written to without any ado."""

    def __init__(self, folder: Path, rows: Statements) -> None:
        connect(folder, notes()).close()
        self._connection = SqliteStore(folder / "office.db").connect()
        self._rows = rows
        self._numbers = itertools.count(1)

    def insert(self, units: int, together: int) -> None:
        """Insert the rows of so many writes, so many in a transaction."""
        execute = self._connection.execute
        for _ in range(units // together):
            execute("BEGIN IMMEDIATE")
            for _ in range(together):
                number = next(self._numbers)
                for sql, params in varied(self._rows, number):
                    execute(sql, params)
            execute("UPDATE positions SET head = ?", (number,))
            execute("COMMIT")


def rate(insert: object, units: int, together: int) -> float:
    """Units per second."""
    started = time.perf_counter()
    insert(units, together)  # type: ignore[operator]
    return units / (time.perf_counter() - started)


def office_rate(client: Client, units: int, callers: int) -> float:
    """Commits per second with so many concurrent callers."""
    started = time.perf_counter()
    asyncio.run(call_together(client, units, callers))
    return units / (time.perf_counter() - started)


async def call_together(client: Client, units: int, callers: int) -> None:
    """So many callers, each making its calls one after the other."""

    async def caller() -> None:
        for _ in range(units // callers):
            reply = await client.acall("notes.keep-note", note())
            assert reply.ok, reply

    await asyncio.gather(*(caller() for _ in range(callers)))


def call_one_by_one(client: Client, units: int) -> None:
    """One caller on a thread."""
    for _ in range(units):
        assert client.call("notes.keep-note", note()).ok


def cpu(work: object, units: int) -> float:
    """Microseconds of this process's CPU per unit."""
    started = time.process_time()
    work()  # type: ignore[operator]
    return (time.process_time() - started) / units * 1e6
