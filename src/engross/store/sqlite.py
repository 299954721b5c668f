"""SQLite, the embedded engine: one writer thread, any number of readers."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import apsw

from engross.replies import Coded, Failed, codes

from .failures import sqlite_failure, translated, unavailable
from .log import log_bytes
from .migrations import Migration
from .port import Engine, ReadWork, T, TooLong, WriteWork
from .rows import STEPS_BETWEEN_LOOKS, Connection, Selecting, at_second_look, never, take_turns
from .sql import about_tenant
from .tenancy import tenant_name
from .tickets import LoopTicket, Outbox, ThreadTicket
from .writer import Writer

LOG_PAGES = 4000
"""When the log has so many pages, 16 MB of them, they are moved into the file. A page that was written many times since
then is moved once, so that a longer log costs less; and whoever opens the office after a crash reads all of it."""


ROOM_TO_LAY_ANEW = 2
"""Tables that are laid anew stand in the log twice, as they are made and as they are taken away, and then in the file:
1.7 times the file was measured. With less it may be that they are made, and nobody can write from then on."""


NO_ROOM = "bringing the tables up to date needs room for them once more"


class SqliteStore:
    """Rows of all tenants in one SQLite file."""

    engine: Engine = "sqlite"

    def __init__(self, path: Path, *, unit_seconds: float = 5.0, vfs: str | None = None) -> None:
        self.path = path
        self._vfs = vfs
        self._unit_seconds = unit_seconds
        self._writer: Writer | None = None
        self._outbox = Outbox(lambda tickets: self._queue.put_all(tickets), self._patience)
        self._idle: deque[Connection] = deque()
        self._closed = False

    def open(self) -> None:
        """Start the writer. The tables must be there."""
        self._writer = Writer(self.connect, unit_seconds=self._unit_seconds)

    def connect(self) -> Connection:
        """A connection that may write."""
        if self._vfs is None:
            _make_private(self.path)
        try:
            connection = Connection(str(self.path), vfs=self._vfs)
            _turn_to_the_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            # What was erased must not be found in free pages. Rows that were moved may leave copies within others.
            connection.execute("PRAGMA secure_delete = ON")
            if self._vfs is None:
                connection.stay_at(self.path)
            return connection
        except apsw.Error as error:
            raise sqlite_failure(error) from error

    def require_room(self, steps: Sequence[Migration]) -> None:
        """Refuse steps that lay tables anew where the disk is too full for it, while there is a way back."""
        if not any(step.lays_anew(self.engine) for step in steps):
            return
        from shutil import disk_usage

        # The path may be a link to another disk. What a crash left in the log is not in the file yet.
        held = self.path.stat().st_size + log_bytes(self.path)
        needed, free = ROOM_TO_LAY_ANEW * held, disk_usage(self.path).free
        if free < needed:
            raise Failed(codes.STORE_FULL, data={"free_bytes": free, "needed_bytes": needed, "problem": NO_ROOM})

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
        ticket = ThreadTicket(tenant_name(tenant), work, tentative)
        ticket.seconds = long
        self._queue.put(ticket)
        value: T = ticket.wait(timeout or self._patience)
        return value

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

        ticket = LoopTicket(tenant_name(tenant), work, asyncio.get_running_loop(), tentative)
        if long is not None:
            # It is not one of those that share an alarm.
            ticket.seconds = long
            self._queue.put(ticket)
        else:
            self._outbox.put(ticket)
        if timeout is None:
            value: T = await ticket.future
            return value
        alarm = ticket.loop.call_later(timeout, ticket.give_up)
        try:
            value = await ticket.future
            return value
        finally:
            alarm.cancel()

    def read(self, tenant: str, work: ReadWork[T], *, timeout: float | None = None) -> T:
        """Do the work on a consistent snapshot, on the caller's own thread."""
        deadline = time.monotonic() + (timeout or self._patience)
        return self._read(tenant, work, lambda: time.monotonic() > deadline)

    def read_briefly(self, tenant: str, work: ReadWork[T]) -> T:
        """`read` for an event loop's own thread: raises `TooLong` rather than take long."""
        try:
            return self._read(tenant, work, at_second_look())
        except Coded as error:
            if isinstance(error.__cause__, apsw.InterruptError):
                raise TooLong from error
            raise

    def tenants(self, having: str | None = None) -> list[str]:
        """Everybody who ever wrote here; of them those for whom a query about `:tenant` finds rows."""
        some = "" if having is None else f"WHERE EXISTS ({about_tenant(having, 'everybody.tenant')})"
        with translated(sqlite_failure):
            connection = self._borrowed()
            try:
                sql = f"SELECT tenant FROM tenants AS everybody {some} ORDER BY tenant"
                return [row[0] for row in connection.execute(sql)]
            finally:
                self._give_back(connection)

    def figures(self) -> dict[str, float]:
        """The size of the file and of the log beside it."""
        return {"store_bytes": _size(self.path), "store_log_bytes": log_bytes(self.path)}

    def close(self) -> None:
        """Finish what was accepted, then let go of everything."""
        self._closed = True
        if self._writer is not None:
            self._writer.close()
        while self._idle:
            self._idle.pop().close()

    @property
    def _queue(self) -> Writer:
        if self._writer is None:
            raise unavailable()
        return self._writer

    @property
    def _patience(self) -> float:
        return self._unit_seconds * 6

    def _read(self, tenant: str, work: ReadWork[T], is_over: Callable[[], bool]) -> T:
        name = tenant_name(tenant)
        connection = self._borrowed()
        connection.is_over = is_over
        try:
            connection.execute("BEGIN")
            return work(Selecting(connection, name))
        except apsw.Error as error:
            failure = sqlite_failure(error)
            if failure is error:
                raise
            raise failure from error
        finally:
            self._give_back(connection)

    def _borrowed(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._open_reader()

    def _give_back(self, connection: Connection) -> None:
        connection.is_over = never
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _open_reader(self) -> Connection:
        if self._closed:
            raise unavailable()
        connection = self.connect()
        connection.execute("PRAGMA query_only = ON")
        connection.set_progress_handler(lambda: connection.is_over(), STEPS_BETWEEN_LOOKS)
        return connection


def _make_private(path: Path) -> None:
    """A new database is for its owner only; what SQLite puts beside it takes after it."""
    # Whatever else hinders us here hinders SQLite as well, and that tells it better.
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _turn_to_the_log(connection: Connection) -> None:
    """Have changes written to a log first. Of several who ask that of a new file, SQLite refuses all but one."""
    for tries in count():
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if not take_turns(tries):
                raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
