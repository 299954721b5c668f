"""PostgreSQL: one unit is one SERIALIZABLE transaction on a pooled connection, retried whole.

A unit's position in the ledger is its transaction id (plus a shift that a restored store carries). Transaction ids
are given in order, so everything below the oldest one still running is settled: that is the watermark behind which
feeds and seals read, and a slow transaction's facts are never skipped.

Units run on a pool of threads of ours, so that a caller whose unit hangs gets its answer all the same; the server
ends the transaction of a connection that sits idle inside one.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, groupby
from operator import itemgetter
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from engross.replies import Failed

from .failures import postgres_failure, timed_out, translated, unavailable
from .migrations import Migration
from .port import Engine, Insert, Params, ReadWork, RequeueError, Row, Statement, T, TooLong, WriteWork
from .sql import about_tenant, as_one, for_psycopg, many_rows
from .tenancy import tenant_name
from .threads import Threads

if TYPE_CHECKING:
    Raw = psycopg.Connection[Row]

RETRIED = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)
UNIQUE_ATTEMPTS = 4
REQUEUE_SECONDS = 2.0
# PostgreSQL takes 65,535 parameters at a time, and a longer text is not worth keeping.
LARGEST_TRIP = 200
MOST_PARAMETERS = 30_000
ROWS_AT_ONCE = 20
MANY_ALIKE = 50

# Why nobody could connect is told by the failure that comes of it; the pool would write it to any terminal besides.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

# A database that other tools moved to a younger server would give out positions that the ledger already holds.
SHIFT_PAST_THE_LEDGER = """
BEGIN;
SET LOCAL statement_timeout = 0;
DO $$ DECLARE t record; own bigint; top bigint := 0; upcoming bigint; BEGIN
  IF to_regclass('receipts') IS NULL THEN RETURN; END IF;
  FOR t IN SELECT tenant FROM tenants LOOP
    PERFORM set_config('engross.tenant', t.tenant, true);
    SELECT max(position) INTO own FROM receipts WHERE tenant = t.tenant;
    top := greatest(top, own);
  END LOOP;
  upcoming := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  UPDATE positions SET shift = top + 1 - upcoming WHERE shift + upcoming <= top;
END $$;
COMMIT
"""


# Nobody sees the rows of two tenants at once, so the server itself asks for one after the other: a single trip.
ASK_OF_EACH = """
DO $$ DECLARE one text; found text[] := '{{}}'; BEGIN
  FOR one IN SELECT tenant FROM tenants ORDER BY tenant LOOP
    PERFORM set_config('engross.tenant', one, true);
    IF EXISTS ({question}) THEN found := found || one; END IF;
  END LOOP;
  PERFORM set_config('engross.found', found::text, true);
END $$;
SELECT current_setting('engross.found')::text[] AS found
"""


class PostgresReading:
    """A consistent look at one tenant's rows."""

    engine: Engine = "postgres"

    def __init__(self, connection: Raw, tenant: str) -> None:
        self._connection = connection
        self.tenant = tenant

    def rows(self, sql: str, params: Params) -> list[Row]:
        """All rows of a query."""
        params["tenant"] = self.tenant
        return self._connection.execute(for_psycopg(sql), params).fetchall()

    def watermark(self) -> int:
        """The last position below which no transaction is still running."""
        row = self._connection.execute(
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + shift - 1 AS settled FROM positions"
        ).fetchone()
        return int(row["settled"]) if row else 0

    def state(self) -> str:
        """Names what is committed, by the transactions that this look can see."""
        row = self._connection.execute("SELECT pg_current_snapshot()::text AS seen").fetchone()
        return str(row["seen"]) if row else ""


class PostgresTransaction(PostgresReading):
    """One unit of work. It begins with the first statement that is part of it."""

    def __init__(self, connection: Raw, tenant: str) -> None:
        super().__init__(connection, tenant)
        self._position: int | None = None

    @property
    def position(self) -> int:
        """Where in the ledger this unit would be."""
        if self._position is None:
            self._begin("")
        assert self._position is not None
        return self._position

    @property
    def is_trial(self) -> bool:
        """A row in the way is found by looking for it first, here as in the second run that it would cost."""
        return False

    @property
    def begun(self) -> bool:
        """Whether there is anything to commit or to roll back."""
        return self._position is not None

    def rows(self, sql: str, params: Params) -> list[Row]:
        """All rows of a query."""
        if self._position is None:
            self._begin("")
        return super().rows(sql, params)

    def peek(self, sql: str, params: Params) -> list[Row]:
        """Rows as they are committed, without a part in this unit's conflicts with others.

        A serializable transaction that looks for a row and finds none has read the whole page of the index where it
        would be, and collides with everybody who writes to that page.
        """
        if self._position is not None:
            return super().rows(sql, params)
        self._connection.execute(f"SELECT set_config('engross.tenant', '{self.tenant}', false)")
        return super().rows(sql, params)

    def execute(self, sql: str, params: Params) -> int:
        """Run a statement and count the rows it touched."""
        if self._position is None:
            self._begin("")
        params["tenant"] = self.tenant
        return self._connection.execute(for_psycopg(sql), params).rowcount

    def execute_all(self, statements: Iterable[Statement]) -> None:
        """Run several statements as one: a trip to the server costs more than the rows."""
        rest: list[tuple[str, Params]] = []
        for sql, group in groupby(chain.from_iterable(map(_in_texts, statements)), key=itemgetter(0)):
            alike = list(group)
            if len(alike) < MANY_ALIKE:
                rest += alike
                continue
            # Long runs of one statement are quicker one after the other, without waiting in between.
            self._together(rest)
            rest = []
            self._one_after_the_other(sql, [params for _, params in alike])
        self._together(rest)

    def _together(self, statements: Sequence[tuple[str, Params]]) -> None:
        for some in _trips(statements):
            together = as_one([sql for sql, _ in some])
            params = {f"{name}_{n}": value for n, (_, own) in enumerate(some) for name, value in own.items()}
            self.execute(together, params)

    def _one_after_the_other(self, sql: str, rows: Sequence[Params]) -> None:
        if self._position is None:
            self._begin("")
        for row in rows:
            row["tenant"] = self.tenant
        with self._connection.cursor() as cursor:
            cursor.executemany(for_psycopg(sql), rows)

    def rewind(self) -> None:
        """Forget everything this unit did, and go on as if it had just begun."""
        if self._position is not None:
            self._connection.execute("ROLLBACK")
            self._position = None

    def claim(self, name: str) -> bool:
        """Take the named lock until the unit ends; False when another process holds it."""
        number = int.from_bytes(sha256(f"{self.tenant}/{name}".encode()).digest()[:8], signed=True)
        lock = f"pg_try_advisory_xact_lock({number})"
        if self._position is None:
            return self._begin(f", {lock} AS held")
        row = self._connection.execute(f"SELECT {lock} AS held").fetchone()
        return bool(row and row["held"])

    def _begin(self, more: str) -> bool:
        # The tenant's name is checked to be harmless as a literal; a text without parameters is one trip.
        cursor = self._connection.execute(
            "BEGIN ISOLATION LEVEL SERIALIZABLE;"
            f"SELECT set_config('engross.tenant', '{self.tenant}', true),"
            f" pg_current_xact_id()::text::bigint + (SELECT shift FROM positions) AS position{more}"
        )
        cursor.nextset()
        row = cursor.fetchone()
        assert row is not None
        self._position = int(row["position"])
        return bool(row.get("held"))


def _trips(statements: Sequence[tuple[str, Params]]) -> Iterator[Sequence[tuple[str, Params]]]:
    """Statements as they go to the server together."""
    start = parameters = 0
    for end, (_, params) in enumerate(statements):
        parameters += len(params)
        if end - start >= LARGEST_TRIP or parameters > MOST_PARAMETERS:
            yield statements[start:end]
            start, parameters = end, len(params)
    if start < len(statements):
        yield statements[start:]


def _in_texts(statement: Statement) -> Iterable[tuple[str, Params]]:
    if not isinstance(statement, Insert):
        return [statement]
    table, columns, rows = statement
    texts = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        sql, names = many_rows(table, columns, len(some))
        texts.append((sql, dict(zip(names, chain.from_iterable(some), strict=True))))
    return texts


@dataclass(slots=True)
class Running(Generic[T]):
    """Work on its way, and the connection it holds at the moment."""

    tenant: str
    work: Callable[[Any], T]
    connection: Raw | None = None
    lock: Lock = field(default_factory=Lock)
    seconds: float | None = None
    """How long it may take, where that is more than others may."""

    def hold(self, connection: Raw | None) -> None:
        """Take a connection, or let go of it; waits while one is being taken away."""
        with self.lock:
            self.connection = connection


class PostgresStore:
    """Rows of all tenants in one PostgreSQL database."""

    engine: Engine = "postgres"

    def __init__(self, dsn: str, *, unit_seconds: float = 5.0, connections: int = 10) -> None:
        self.dsn = dsn
        self._unit_seconds = unit_seconds
        self._pool: ConnectionPool[Raw] = ConnectionPool(
            dsn,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=unit_seconds,
            kwargs={"autocommit": True, "row_factory": dict_row},
            configure=self._configure,
            check=ConnectionPool.check_connection,
        )
        self._connections = connections
        self._threads = Threads(connections, "engross-unit")
        self._accepted: set[Future[Any]] = set()
        self._reads: dict[int, tuple[float, Running[Any]]] = {}

    def open(self) -> None:
        """Start the pool. The tables must be there."""
        try:
            self._pool.open(wait=True, timeout=self._unit_seconds)
            with self._pool.connection() as connection:
                connection.execute(SHIFT_PAST_THE_LEDGER)
        except psycopg.Error as error:
            self._pool.close()
            raise postgres_failure(error) from error

    def require_room(self, steps: Sequence[Migration]) -> None:
        """The disk is the server's, which takes back whatever it has no room for."""

    def connect(self) -> Raw:
        """A connection of its own, for migrations and backups."""
        try:
            return psycopg.connect(self.dsn, autocommit=True, row_factory=dict_row)
        except psycopg.Error as error:
            raise postgres_failure(error) from error

    def write(
        self,
        tenant: str,
        work: WriteWork[T],
        *,
        timeout: float | None = None,
        tentative: bool = False,
        long: float | None = None,
    ) -> T:
        """Do the work in one transaction and return after it is durable."""
        running = Running(tenant_name(tenant), work, seconds=long)
        future = self._submit(running)
        try:
            return future.result(timeout or self._patience)
        except FutureTimeout as error:
            if future.done():
                return future.result()
            self._abandon(running, future)
            raise timed_out(outcome="unknown") from error

    async def awrite(
        self,
        tenant: str,
        work: WriteWork[T],
        *,
        timeout: float | None = None,
        tentative: bool = False,
        long: float | None = None,
    ) -> T:
        """`write` for callers on an event loop."""
        import asyncio

        running = Running(tenant_name(tenant), work, seconds=long)
        future = self._submit(running)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), timeout or self._patience)
        except TimeoutError as error:
            if future.done() and not future.cancelled():
                return future.result()
            self._abandon(running, future)
            raise timed_out(outcome="unknown") from error

    def read(self, tenant: str, work: ReadWork[T], *, timeout: float | None = None) -> T:
        """Do the work on a consistent snapshot, on the caller's own thread."""
        running = Running(tenant_name(tenant), work)
        self._reclaim()
        try:
            with self._pool.connection() as connection:
                return self._read(running, connection, time.monotonic() + (timeout or self._patience))
        except Exception as error:
            failure = postgres_failure(error)
            if failure is error:
                raise
            raise failure from error

    def _read(self, running: Running[T], connection: Raw, until: float) -> T:
        running.hold(connection)
        self._reads[id(running)] = (until, running)
        try:
            connection.execute(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
                f"SELECT set_config('engross.tenant', '{running.tenant}', true)"
            )
            return running.work(PostgresReading(connection, running.tenant))
        finally:
            self._reads.pop(id(running), None)
            _roll_back(connection)
            running.hold(None)

    def _reclaim(self) -> None:
        """Before connections run short, take back those of reads that nobody waits for any more."""
        if len(self._reads) < self._connections // 2:
            return
        now = time.monotonic()
        for key, (until, running) in list(self._reads.items()):
            if until < now:
                self._reads.pop(key, None)
                Thread(target=self._take_away, args=(running,), daemon=True).start()

    def read_briefly(self, tenant: str, work: ReadWork[T]) -> T:
        """A trip to a server is never brief enough for an event loop's own thread."""
        raise TooLong

    def tenants(self, having: str | None = None) -> list[str]:
        """Everybody who ever wrote here; of them those for whom a query about `:tenant` finds rows."""
        with translated(postgres_failure), self._pool.connection() as connection:
            if having is None:
                return [row["tenant"] for row in connection.execute("SELECT tenant FROM tenants ORDER BY tenant")]
            cursor = connection.execute(ASK_OF_EACH.format(question=about_tenant(having, "one")))
            cursor.nextset()
            row = cursor.fetchone()
            return list(row["found"]) if row else []

    def figures(self) -> dict[str, float]:
        """How many connections there are, and who waits for one."""
        found = self._pool.get_stats()
        return {
            "store_connections": found.get("pool_size", 0),
            "store_connections_free": found.get("pool_available", 0),
            "store_waiting": found.get("requests_waiting", 0),
        }

    def close(self) -> None:
        """Finish what was accepted, then let go of everything."""
        self._threads.close()
        wait(list(self._accepted), timeout=self._patience)
        self._pool.close()

    @property
    def _patience(self) -> float:
        return self._unit_seconds * 2

    def _configure(self, connection: Raw) -> None:
        limit = int(self._unit_seconds * 1000)
        connection.execute(
            f"SET statement_timeout = {limit}; SET lock_timeout = {limit};"
            f"SET idle_in_transaction_session_timeout = {limit}; SET timezone = 'UTC';"
            # Reading a small table from end to end is quick, but counts as reading all of it, and every unit that
            # writes there would be a conflict. Where it has to be, it looks so dear that it would be compiled first.
            "SET enable_seqscan = off; SET jit = off"
        )

    def _submit(self, running: Running[T]) -> Future[T]:
        try:
            future = self._threads.submit(lambda: self._retried(running))
        except RuntimeError:
            raise unavailable() from None
        self._accepted.add(future)
        future.add_done_callback(self._accepted.discard)
        return future

    def _abandon(self, running: Running[Any], future: Future[Any]) -> None:
        """A unit that hangs may never come back, so those to come get another thread and another connection."""
        self._threads.abandon(future)
        if future.cancelled():
            return
        Thread(target=self._take_away, args=(running,), daemon=True).start()

    def _take_away(self, running: Running[Any]) -> None:
        with running.lock:
            if (connection := running.connection) is None:
                return
            # Whoever holds this lock is inside a statement, and the server ends those.
            with connection.lock:
                connection.close()
            self._pool.putconn(connection)

    def _retried(self, running: Running[T]) -> T:
        give_up = time.monotonic() + max(self._unit_seconds, running.seconds or 0.0)
        requeue_until = time.monotonic() + REQUEUE_SECONDS
        duplicates = 0
        for attempt in range(1_000):
            try:
                return self._once(running)
            except RequeueError as error:
                if time.monotonic() > requeue_until:
                    raise error.__cause__ or unavailable() from None
            except RETRIED as error:
                duplicates += isinstance(error, errors.UniqueViolation)
                if time.monotonic() > give_up or duplicates >= UNIQUE_ATTEMPTS:
                    raise unavailable(error) from error
            if attempt:
                time.sleep(random.uniform(0, min(0.05, 0.001 * 2 ** min(attempt, 6))))
        raise timed_out()

    def _once(self, running: Running[T]) -> T:
        committing = False
        self._reclaim()
        try:
            with self._pool.connection() as connection:
                running.hold(connection)
                try:
                    transaction = PostgresTransaction(connection, running.tenant)
                    value = running.work(transaction)
                    if transaction.begun:
                        _refuse_failed(connection)
                        committing = True
                        connection.execute("COMMIT")
                except BaseException:
                    _roll_back(connection)
                    raise
                finally:
                    running.hold(None)
                return value
        except (*RETRIED, RequeueError, Failed):
            raise
        except StopIteration as stop:
            # No future can carry one.
            raise RuntimeError("a flow let a StopIteration out") from stop
        except Exception as error:
            failure = postgres_failure(error, committing=committing)
            if failure is error:
                raise
            raise failure from error


def _refuse_failed(connection: Raw) -> None:
    """The server takes COMMIT of a transaction that has failed for ROLLBACK, and does not complain."""
    if connection.info.transaction_status == TransactionStatus.INERROR:
        raise errors.InFailedSqlTransaction("the unit went on after a statement that failed")


def _roll_back(connection: Raw) -> None:
    if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        connection.execute("ROLLBACK")
