"""Writes on PostgreSQL beside bare psycopg sending the same statements, retried where the server asks for it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from engross.store.postgres import RETRIED
from engross.surfaces.client import Client, connect
from tests.bed.postgres import PostgresServer

from .claims import Claim
from .notes import Statements, note, notes, varied
from .rounds import interleaved

CALLERS = 8
UNITS = 800
ROUNDS = 7


def measure() -> list[Claim]:
    """The claim about PostgreSQL."""
    server = PostgresServer(durable=True)
    try:
        with TemporaryDirectory() as folder:
            return _measured(server, Path(folder))
    finally:
        server.stop()


def _measured(server: PostgresServer, folder: Path) -> list[Claim]:
    dsn, bare_dsn = server.create_database(), server.create_database()
    connect(folder / "bare", notes(), store=bare_dsn).close()
    with connect(folder / "office", notes(), store=dsn) as client:
        bare = Bare(bare_dsn, sent_statements(client))
        rates = interleaved(
            {
                "bare psycopg": lambda: rate(bare.unit),
                "office": lambda: rate(lambda _: called(client)),
            },
            rounds=ROUNDS,
        )
        bare.close()
    ratio = rates["office"] / rates["bare psycopg"]
    return [Claim("PostgreSQL with 8 callers against bare psycopg", ratio, "at least", 0.5, rates, "commits/s")]


def sent_statements(client: Client) -> Statements:
    """Everything that one call of keep-note sends to the server, from its first look at the key to COMMIT."""
    seen: Statements = []
    execute = psycopg.Connection.execute

    def watched(self: Any, sql: Any, params: Any = None, **options: Any) -> Any:
        seen.append((str(sql), dict(params or {})))
        return execute(self, sql, params, **options)

    psycopg.Connection.execute = watched  # type: ignore[method-assign, assignment]
    try:
        client.call("notes.keep-note", note())
        seen.clear()
        client.call("notes.keep-note", note())
    finally:
        psycopg.Connection.execute = execute  # type: ignore[method-assign]
    return [(sql, params) for sql, params in seen if sql]


class Bare:
    """psycopg and the statements, and nothing else."""

    def __init__(self, dsn: str, statements: Statements) -> None:
        self._connections = [psycopg.connect(dsn, autocommit=True) for _ in range(CALLERS)]
        self._statements = statements
        self._numbers = itertools.count(1)

    def unit(self, caller: int) -> None:
        """One unit of work, until it is committed."""
        statements = varied(self._statements, next(self._numbers))
        connection = self._connections[caller]
        while True:
            try:
                for sql, params in statements:
                    connection.execute(sql, params or None)
                return
            except RETRIED:
                connection.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the connections."""
        for connection in self._connections:
            connection.close()


def called(client: Client) -> None:
    """One call, answered after it is committed."""
    reply = client.call("notes.keep-note", note())
    assert reply.ok, reply


def rate(unit: Callable[[int], None]) -> float:
    """Units per second with eight callers on threads."""

    def caller(number: int) -> None:
        for _ in range(UNITS // CALLERS):
            unit(number)

    started = time.perf_counter()
    with ThreadPoolExecutor(CALLERS) as threads:
        list(threads.map(caller, range(CALLERS)))
    return UNITS / (time.perf_counter() - started)
