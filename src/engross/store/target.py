"""An empty store on its way to being filled from a backup. Until `finish`, there is nothing to see of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import apsw

from engross.replies import Failed, Invalid, codes

from .blobs import put_in_place
from .failures import disk_failure, sqlite_failure, translated
from .migrations import GUARD, HISTORY, LOCK, Migration, make_tables
from .opening import is_postgres, postgres_at
from .port import Engine
from .snapshot import Table, Values, quoted
from .sql import definition

if TYPE_CHECKING:
    from .postgres import Raw


ELSEWHERE = (
    "The backup is fine, and what is there was left as it is. Name a data folder that is not there yet, or an empty"
    " database; or move away what is there."
)


class Target(Protocol):
    """Where the rows of a backup go."""

    def prepare(self, steps: Sequence[Migration]) -> None:
        """Make the tables."""

    def fill(self, table: Table, rows: Iterable[Values]) -> None:
        """Put rows in the place of what a table holds."""

    def finish(self, position: int) -> None:
        """Keep it all; ledger positions go on behind the one given."""

    def close(self) -> None:
        """Let go; what is not finished is gone."""


def unusable(problem: str) -> Invalid:
    """The backup will not do."""
    return Invalid(codes.BACKUP_INVALID, {"problem": problem})


def taken(problem: str) -> Invalid:
    """The place that a backup should go to will not do."""
    return Invalid(codes.PLACE_NOT_EMPTY, {"problem": problem}, suggestions={"hint": ELSEWHERE})


class SqliteTarget:
    """A SQLite file that gets its name when it is whole."""

    engine: Engine = "sqlite"

    def __init__(self, path: Path) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            # A link that leads nowhere is there too.
            if os.path.lexists(path.with_name(path.name + suffix)):
                raise taken(f"there is a store at {path.name} already")
        self._path = path
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".restoring", dir=path.parent)
        os.close(handle)
        self._staged = Path(name)
        self._connection = apsw.Connection(name)
        # Steps out of a backup make tables, and have no business with other files.
        self._connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.execute("PRAGMA journal_mode = OFF").fetchall()
        self._connection.execute("PRAGMA synchronous = OFF; BEGIN EXCLUSIVE")

    def prepare(self, steps: Sequence[Migration]) -> None:
        """Make the tables."""
        with _fitting(sqlite_failure):
            self._connection.execute(definition(HISTORY, self.engine))
            for step in steps:
                make_tables(self._connection, self.engine, step)

    def fill(self, table: Table, rows: Iterable[Values]) -> None:
        """Put rows in the place of what a table holds."""
        columns = ", ".join(map(quoted, table.columns))
        places = ", ".join("?" for _ in table.columns)
        with _fitting(sqlite_failure):
            self._connection.execute(f"DELETE FROM {quoted(table.name)}")
            self._connection.executemany(f"INSERT INTO {quoted(table.name)} ({columns}) VALUES ({places})", rows)

    def finish(self, position: int) -> None:
        """Keep it all; ledger positions go on behind the one given."""
        with _fitting(sqlite_failure):
            self._connection.execute("UPDATE positions SET head = ?", (position,))
            self._connection.execute("COMMIT")
            self._connection.close()
        with self._staged.open("rb") as file:
            os.fsync(file.fileno())
        put_in_place(self._staged, self._path)

    def close(self) -> None:
        """Let go; what is not finished is gone."""
        self._connection.close(True)
        self._staged.unlink(missing_ok=True)


class PostgresTarget:
    """A PostgreSQL database without tables, and one transaction that makes and fills them."""

    engine: Engine = "postgres"

    def __init__(self, connection: Raw) -> None:
        self._connection = connection
        connection.execute(LOCK[self.engine])
        if self._value("SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"):
            connection.close()
            raise taken("there are tables in that database already")

    def prepare(self, steps: Sequence[Migration]) -> None:
        """Make the tables."""
        with _fitting(_postgres_failure):
            self._connection.execute(definition(HISTORY, self.engine).encode())
            for step in steps:
                make_tables(self._connection, self.engine, step)

    def fill(self, table: Table, rows: Iterable[Values]) -> None:
        """Put rows in the place of what a table holds."""
        columns = ", ".join(map(quoted, table.columns))
        with _fitting(_postgres_failure), self._connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {quoted(table.name)}".encode())
            with cursor.copy(f"COPY {quoted(table.name)} ({columns}) FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)

    def finish(self, position: int) -> None:
        """Keep it all; ledger positions go on behind the one given."""
        with _fitting(_postgres_failure):
            # Positions are transaction ids plus the shift, and every id from now on is above this one.
            here = self._value("SELECT pg_current_xact_id()::text::bigint")
            self._connection.execute("UPDATE positions SET shift = %s", (max(0, position - here),))
            # Only now: COPY cannot write into tables under row-level security.
            self._connection.execute(GUARD)
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go; what is not finished is gone."""
        self._connection.close()

    def _value(self, sql: str) -> int:
        row = self._connection.execute(sql.encode()).fetchone()
        return int(next(iter(row.values()))) if row else 0


def target_at(location: str | Path) -> Target:
    """The place for a restored store: a SQLite path where nothing is, or the address of an empty database."""
    if is_postgres(location):
        store = postgres_at(location)
        with translated(_postgres_failure):
            return PostgresTarget(store.connect())
    with translated(disk_failure), translated(sqlite_failure):
        return SqliteTarget(Path(location))


@contextmanager
def _fitting(failure_of: Callable[[BaseException], BaseException]) -> Iterator[None]:
    """What is neither the store's fault nor the disk's is the backup's: its rows do not fit its own tables."""
    try:
        with translated(failure_of):
            yield
    except (Failed, Invalid, OSError):
        raise
    except Exception as error:
        raise unusable("its rows do not fit its own tables") from error


def _postgres_failure(error: BaseException) -> BaseException:
    from .failures import postgres_failure

    return postgres_failure(error)
