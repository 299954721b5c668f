"""The one writer of a SQLite store: group commit.

SQLite has one write lock, and making a commit durable costs a sync of the disk whether it holds one change or
sixty. So one thread owns the lock. It takes every unit that waits, runs them in one `BEGIN IMMEDIATE` transaction,
commits once, and only then answers any of them, those that failed included: what a unit read may have been a
neighbour's change that was not durable yet.

    savepoints             a unit that raises takes back its own changes and nobody else's. But inside a savepoint
                           SQLite copies every page before it changes it, which costs as much as the change. So only a
                           unit that says it is tentative gets one, with its first change. Should another have to take
                           something back, the batch is rolled back and run once more, this time all of it tentative.
                           So it is when a row stands in the way of another: a unit may therefore write first and look
                           only when it is run again, if what it would look for is hardly ever there
    answer after COMMIT    nothing is acknowledged that a power cut could undo; if COMMIT fails, the batch fails
    batch lost             some errors make SQLite roll the whole transaction back; the culprit fails, the others
                           run again
    astray                 a file that was deleted or replaced under the office takes commits all the same, and nobody
                           would find them: from then on every batch fails
    overstaying            an overseer interrupts a unit that runs too long; if its Python code does not come back
                           either, the overseer closes its connection, which rolls back, and another writer takes
                           over its neighbours and the queue

A unit is interrupted or deposed only while it runs, and the lock of `Shift` decides whether it does: a batch on its
way to COMMIT can no longer be taken away, so nothing runs twice.

Two processes may each have a writer on one file: `BEGIN IMMEDIATE` takes turns between them, and the ledger's head
is read again at the start of every batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread

import apsw

from engross.replies import Failed

from .failures import sqlite_failure, timed_out, unavailable
from .port import Insert, Params, Row, Statement
from .rows import Connection, Selecting, Severed
from .sql import for_apsw, one_row
from .tickets import Ticket, deliver

LARGEST_BATCH = 64
ATTEMPTS = 3
GRACE_SECONDS = 0.5

Queue = SimpleQueue["Sequence[Ticket] | None"]
"""What was handed in together is one entry: sixteen would cost as much as a statement."""


class Spoilt(BaseException):
    """A unit without a savepoint has to take something back. Not an error: no unit's own code may shrug it off."""


class SqliteTransaction(Selecting):
    """One unit's view of the writer's connection."""

    __slots__ = ("_counter", "_since", "position", "saved")

    def __init__(self, connection: Connection, tenant: str, position: int, *, tentative: bool = True) -> None:
        self._connection = connection
        self.tenant = tenant
        self.position = position
        # SQLite's own count knows of every row that was changed, by whatever kind of statement.
        self._counter = connection.total_changes
        self._since = self._counter()
        self.saved = tentative
        if tentative:
            connection.execute("SAVEPOINT unit")

    def rows(self, sql: str, params: Params) -> list[Row]:
        """All rows of a query."""
        try:
            return Selecting.rows(self, sql, params)
        except apsw.Error as error:
            self._sever_if_lost(error)
            raise

    # With one writer there are no conflicts to stay out of.
    peek = rows

    def execute(self, sql: str, params: Params) -> int:
        """Run a statement and count the rows it touched."""
        params["tenant"] = self.tenant
        numbered, values = for_apsw(sql)
        try:
            self._connection.run(numbered, values(params))
        except apsw.Error as error:
            self._sever_if_lost(error)
            raise
        return self._connection.changes()

    def execute_all(self, statements: Iterable[Statement]) -> None:
        """Run several statements."""
        run, tenant = self._connection.run, self.tenant
        try:
            for statement in statements:
                if isinstance(statement, Insert):
                    sql, rows = one_row(statement.table, statement.columns), statement.rows
                    self._connection.executemany(sql, [(tenant, *row) for row in rows])
                    continue
                sql, params = statement
                params["tenant"] = tenant
                numbered, values = for_apsw(sql)
                run(numbered, values(params))
        except apsw.Error as error:
            self._sever_if_lost(error)
            raise

    def rewind(self) -> None:
        """Forget everything this unit did, and go on as if it had just begun."""
        if self.saved or self.is_severed:
            self._connection.execute("ROLLBACK TO unit")
            self._since = self._counter()
        elif self.wrote:
            raise Spoilt

    def release(self) -> None:
        """Make this unit's changes part of the batch; not those of a unit that went on without its connection."""
        if self.saved or self.is_severed:
            self._connection.execute("RELEASE unit")

    def claim(self, name: str) -> bool:
        """The write lock is already held, so nobody else can hold this one."""
        return True

    def watermark(self) -> int:
        """The writer sees everything there is."""
        return self.position - 1

    @property
    def is_trial(self) -> bool:
        """Whether it runs without a savepoint, in the hope that it can."""
        return not self.saved

    @property
    def wrote(self) -> bool:
        """Whether this unit takes up its position in the ledger."""
        return self._counter() != self._since

    @property
    def is_severed(self) -> bool:
        """Whether it can do nothing any more."""
        return isinstance(self._connection, Severed)

    def _sever_if_lost(self, error: apsw.Error) -> None:
        # A unit that shrugs the error off must not go on where each statement would commit by itself.
        if not self._connection.in_transaction:
            self.sever(error)

    def sever(self, error: apsw.Error) -> None:
        """From now on answer every statement with an error."""
        self._connection = Severed(error)


class Shift:
    """One writer thread's time on the queue."""

    def __init__(self, connection: Connection, queue: Queue, finished: Event, inherited: Sequence[Ticket] = ()) -> None:
        self.connection = connection
        self.queue = queue
        self.finished = finished
        self.running: Ticket | None = None
        self.transaction: SqliteTransaction | None = None
        self.since = 0.0
        self.batch: list[Ticket] = list(inherited)
        self.deposed = False
        self.spoilt = False
        self.lock = Lock()
        self.thread = Thread(target=self._work, name="engross-writer", daemon=True)

    def start(self) -> None:
        """Begin to take units."""
        self.thread.start()

    def _work(self) -> None:
        self._run(self.batch)
        while not self.deposed:
            tickets = self.queue.get()
            if tickets is None:
                self.finished.set()
                return
            self._run(tickets)

    def _run(self, tickets: Sequence[Ticket]) -> None:
        while tickets and not self.deposed:
            tickets = self._batch(tickets)

    def _batch(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        """Run the given units and all that wait; return those that must run again."""
        self.batch = [*tickets]
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            if self.connection.is_astray:
                raise unavailable()
            head = first_head = self._head()
        except BaseException as error:
            return self._fail(error)
        while tickets:
            for ticket in tickets:
                if ticket.abandoned:
                    continue
                head = self._unit(ticket, head)
                if self.deposed:
                    return []
                if not self.connection.in_transaction:
                    return self._after_loss(ticket)
                if self.spoilt:
                    return self._again(ticket, alone=head == first_head)
            tickets = waiting(self.queue, LARGEST_BATCH - len(self.batch))
            self.batch += tickets
        try:
            if head != first_head:
                self.connection.execute("UPDATE positions SET head = ?", (head,))
            self.connection.execute("COMMIT")
        except BaseException as error:
            return self._fail(error, committing=True)
        deliver(self.batch)
        return []

    def _unit(self, ticket: Ticket, head: int) -> int:
        ticket.attempts += 1
        ticket.error = None
        transaction: SqliteTransaction | None = None
        try:
            transaction = SqliteTransaction(self.connection, ticket.tenant, head + 1, tentative=ticket.tentative)
            self.since = time.monotonic()
            self.transaction = transaction
            self.running = ticket
            try:
                ticket.value = ticket.work(transaction)
            finally:
                with self.lock:
                    self.running = None
            if not self.deposed:
                transaction.release()
            return head + 1 if transaction.wrote else head
        except BaseException as error:
            self._undo(ticket, transaction, error)
            return head

    def _undo(self, ticket: Ticket, transaction: SqliteTransaction | None, error: BaseException) -> None:
        if self.deposed:
            return
        ticket.error = None if isinstance(error, Spoilt) else sqlite_failure(error)
        if transaction is None or not self.connection.in_transaction:
            return
        if transaction.is_trial:
            if isinstance(error, apsw.ConstraintError):
                ticket.error = None
            self.spoilt = ticket.error is None or transaction.wrote
            return
        try:
            self.connection.execute("ROLLBACK TO unit")
            self.connection.execute("RELEASE unit")
        except apsw.Error:
            self._roll_back()

    def _again(self, culprit: Ticket, *, alone: bool) -> list[Ticket]:
        """One unit's changes cannot be told from its neighbours': all are taken back, and run with more care.

        A culprit that was interrupted, or that failed when nobody else had changed anything yet, has failed, and need
        not do so again.
        """
        self.spoilt = False
        self._roll_back()
        for ticket in self.batch:
            ticket.tentative = True
            ticket.attempts = max(0, ticket.attempts - 1)
        if culprit.error is None or not (alone or self._was_interrupted):
            return self.batch
        deliver([culprit])
        return [ticket for ticket in self.batch if ticket is not culprit]

    @property
    def _was_interrupted(self) -> bool:
        return self.transaction is not None and self.transaction.is_severed

    def _after_loss(self, culprit: Ticket) -> list[Ticket]:
        """The batch was rolled back because of one unit: that one fails, the others get another go."""
        others = [ticket for ticket in self.batch if ticket is not culprit]
        given_up = [ticket for ticket in others if ticket.attempts >= ATTEMPTS]
        for ticket in given_up:
            ticket.error = culprit.error
        deliver([culprit, *given_up])
        return [ticket for ticket in others if ticket not in given_up]

    def _fail(self, error: BaseException, *, committing: bool = False) -> list[Ticket]:
        self._roll_back()
        for ticket in self.batch:
            ticket.error = sqlite_failure(error, committing=committing)
        deliver(self.batch)
        return []

    def _roll_back(self) -> None:
        # On a failing disk this may fail as well; the transaction is over all the same.
        with suppress(apsw.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def _head(self) -> int:
        return int(self.connection.execute("SELECT head FROM positions").get)

    def interrupt(self, culprit: Ticket) -> None:
        """Stop the statement that a unit runs, and refuse it another one: a short one may end before it is stopped."""
        with self.lock:
            if self.running is culprit and self.transaction is not None:
                self.transaction.sever(apsw.InterruptError("the unit took too long"))
                self.connection.interrupt()

    def depose(self, culprit: Ticket) -> list[Ticket] | None:
        """Take the connection away from a unit that will not come back; None if it came back after all.

        The answer is the units to run again: nothing of this batch is kept.
        """
        with self.lock:
            if self.running is not culprit:
                return None
            self.deposed = True
        self._close()
        culprit.error = timed_out()
        deliver([culprit])
        return [ticket for ticket in self.batch if ticket is not culprit]

    def _close(self) -> None:
        while True:
            self.connection.interrupt()
            try:
                self.connection.close(True)
            except apsw.ThreadingViolationError:
                time.sleep(0.001)
            else:
                return


def waiting(queue: Queue, most: int) -> list[Ticket]:
    """The units that wait, about so many of them, without the end of the queue."""
    found: list[Ticket] = []
    with suppress(Empty):
        while len(found) < most:
            tickets = queue.get_nowait()
            if tickets is None:
                queue.put(None)
                break
            found += tickets
    return found


class Writer:
    """The queue in front of the writing thread, and the overseer behind it."""

    def __init__(self, open_connection: Callable[[], Connection], *, unit_seconds: float) -> None:
        self._open = open_connection
        self._unit_seconds = unit_seconds
        self._queue: Queue = SimpleQueue()
        self._door = Lock()
        self._closed = False
        self._finished = Event()
        self._shift = Shift(open_connection(), self._queue, self._finished)
        self._overseer = Thread(target=self._oversee, name="engross-overseer", daemon=True)
        self._shift.start()
        self._overseer.start()

    def put(self, ticket: Ticket) -> None:
        """Queue a unit of work."""
        with self._door:
            if self._closed:
                raise unavailable()
            self._queue.put([ticket])

    def put_all(self, tickets: Sequence[Ticket]) -> None:
        """Queue what an event loop collected."""
        with self._door:
            if not self._closed:
                for start in range(0, len(tickets), LARGEST_BATCH):
                    self._queue.put(tickets[start : start + LARGEST_BATCH])
                return
        for ticket in tickets:
            ticket.error = unavailable()
        deliver(tickets)

    def _oversee(self) -> None:
        pause = min(0.5, self._unit_seconds / 4)
        while not self._finished.wait(pause):
            shift = self._shift
            ticket = shift.running
            if ticket is not None and time.monotonic() - shift.since > max(self._unit_seconds, ticket.seconds or 0.0):
                self._end(shift, ticket)

    def _end(self, shift: Shift, ticket: Ticket) -> None:
        shift.interrupt(ticket)
        patience = time.monotonic() + GRACE_SECONDS
        while shift.running is ticket and time.monotonic() < patience:
            self._finished.wait(0.01)
        again = shift.depose(ticket)
        if again is not None:
            self._replace(again)

    def _replace(self, inherited: list[Ticket]) -> None:
        while True:
            try:
                connection = self._open()
                break
            except Failed as failure:
                inherited += waiting(self._queue, LARGEST_BATCH)
                for ticket in inherited:
                    ticket.error = failure
                deliver(inherited)
                inherited = []
                time.sleep(0.05)
        self._shift = Shift(connection, self._queue, self._finished, inherited)
        self._shift.start()

    def close(self) -> None:
        """Finish what was accepted, then stop."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        if self._finished.wait(self._unit_seconds * 6):
            self._shift.connection.close()
        self._overseer.join(timeout=1)
