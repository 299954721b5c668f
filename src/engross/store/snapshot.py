"""One consistent look at all rows of a store, whoever they belong to: what backups and verification read.

Writers go on meanwhile: a SQLite reader keeps its place in the write-ahead log, a PostgreSQL one its snapshot. Rows
come one by one, in the order of their keys, so that a store of any size fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import apsw

from engross.replies import Failed, Invalid, codes

from .failures import sqlite_failure, translated, unavailable
from .log import holds_all
from .opening import is_postgres, postgres_at
from .port import Engine
from .rows import Connection
from .sqlite import SqliteStore

if TYPE_CHECKING:
    from .postgres import PostgresStore, Raw

Values = Sequence[Any]
ROWS_AT_A_TIME = 2000
# Values of other types are read, and written back, as the text PostgreSQL shows for them.
PLAIN_TYPES = {"text", "bigint", "integer", "bytea", "boolean", "double precision"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table as its rows are read: the columns, and the key they are ordered by."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()

    @property
    def of_tenants(self) -> bool:
        """Whether each row belongs to a tenant."""
        return "tenant" in self.columns

    @property
    def order(self) -> str:
        """The clause that puts the rows in the order of the key."""
        return f" ORDER BY {', '.join(map(quoted, self.key))}" if self.key else ""


def quoted(name: str) -> str:
    """A name as both engines take it."""
    return '"' + name.replace('"', '""') + '"'


class Snapshot(Protocol):
    """The rows as they were when the look began."""

    engine: Engine

    def tenants(self) -> list[str]:
        """Everybody who has rows, in order."""

    def tables(self) -> list[Table]:
        """All tables, in the order they were made."""

    def damaged(self) -> list[str]:
        """Tables with rows of a tenant whose name is no text."""

    def rows(self, table: Table, tenant: str | None = None) -> Iterator[Values]:
        """A table's rows, those of one tenant or of all."""

    def head(self) -> int:
        """The last ledger position that may have been given out."""

    def disturbed(self) -> bool:
        """Whether somebody changed the store under a look that could not hold still."""

    def close(self) -> None:
        """End the look."""


class SqliteSnapshot:
    """A look at a SQLite file."""

    engine: Engine = "sqlite"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        try:
            connection.execute("BEGIN")
            self._head = int(connection.execute("SELECT head FROM positions").get)
        except BaseException:
            # One that is left open, if only by the traceback, decides how the next one of this process may read.
            connection.close(True)
            raise

    def tenants(self) -> list[str]:
        """Everybody who has rows, in order."""
        return sorted({name for table in self._of_tenants() for name in self._owners(table)})

    def damaged(self) -> list[str]:
        """Tables with rows of a tenant whose name is no text."""
        return [table.name for table in self._of_tenants() if not all(map(_is_text, self._names(table)))]

    def tables(self) -> list[Table]:
        """All tables, in the order they were made. What SQLite derives from others (search indexes) is none."""
        names = self._connection.execute(
            "SELECT s.name FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name AND l.schema = 'main'"
            " WHERE s.type = 'table' AND l.type = 'table' AND s.name NOT LIKE 'sqlite~_%' ESCAPE '~'"
            " ORDER BY s.rowid"
        )
        return [self._table(str(name)) for (name,) in names.fetchall()]

    def rows(self, table: Table, tenant: str | None = None) -> Iterator[Values]:
        """A table's rows, those of one tenant or of all."""
        columns = ", ".join(map(quoted, table.columns))
        where = "" if tenant is None else " WHERE tenant = :tenant"
        sql = f"SELECT {columns} FROM {quoted(table.name)}{where}{table.order}"
        with translated(sqlite_failure):
            yield from self._connection.execute(sql, {"tenant": tenant} if where else {})

    def head(self) -> int:
        """The last ledger position that was given out."""
        return self._head

    def disturbed(self) -> bool:
        """Never: the write-ahead log keeps what this look sees."""
        return False

    def close(self) -> None:
        """End the look."""
        self._connection.close(True)

    def _table(self, name: str) -> Table:
        about = self._connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
        key = sorted((place, str(column)) for column, place in about if place)
        return Table(name, tuple(str(column) for column, _ in about), tuple(column for _, column in key))

    def _of_tenants(self) -> list[Table]:
        return [table for table in self.tables() if table.of_tenants]

    def _owners(self, table: Table) -> list[str]:
        return [name.decode() for name in self._names(table) if _is_text(name)]

    def _names(self, table: Table) -> Iterator[bytes]:
        # From one name to the next by the key, instead of over all rows; as bytes, since a damaged name is no text.
        following = f"SELECT CAST(min(tenant) AS BLOB) FROM {quoted(table.name)} WHERE tenant > CAST(? AS TEXT)"
        name: Any = b""
        while (name := self._connection.execute(following, (name,)).get) is not None:
            yield name


class LockFreeSnapshot(SqliteSnapshot):
    """A look at a file that is all there is: SQLite then reads it without making any file beside it."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._path = path
        self._state = self._looks()
        super().__init__(connection)

    def disturbed(self) -> bool:
        """Whether somebody wrote to the store meanwhile."""
        return self._looks() != self._state

    def _looks(self) -> tuple[bool, int, int, int]:
        about = self._path.stat()
        return holds_all(self._path), about.st_ino, about.st_size, about.st_mtime_ns


class PostgresSnapshot:
    """A look at a PostgreSQL database. Row-level security shows one tenant at a time, so each is asked for."""

    engine: Engine = "postgres"

    def __init__(self, connection: Raw) -> None:
        self._connection = connection
        self._cursors = 0
        self._expressions: dict[str, tuple[str, ...]] = {}
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._head = int(
            self._rows(
                "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint + shift - 1 AS head FROM positions"
            )[0]["head"]
        )

    def tenants(self) -> list[str]:
        """Everybody who has rows, in order."""
        return [row["tenant"] for row in self._rows("SELECT tenant FROM tenants ORDER BY tenant")]

    def damaged(self) -> list[str]:
        """None: PostgreSQL keeps nothing in a text that is none."""
        return []

    def tables(self) -> list[Table]:
        """All tables, in the order they were made."""
        found = self._rows(
            "SELECT c.oid, c.relname AS name FROM pg_class c"
            " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.oid"
        )
        return [self._table(row["name"], row["oid"]) for row in found]

    def rows(self, table: Table, tenant: str | None = None) -> Iterator[Values]:
        """A table's rows, those of one tenant or of all."""
        if not table.of_tenants:
            yield from self._stream(table, None)
            return
        for name in self.tenants() if tenant is None else [tenant]:
            self._connection.execute("SELECT set_config('engross.tenant', %s, true)", (name,))
            yield from self._stream(table, name)

    def head(self) -> int:
        """The last ledger position that may have been given out."""
        return self._head

    def disturbed(self) -> bool:
        """Never: the server keeps what this look sees."""
        return False

    def close(self) -> None:
        """End the look."""
        self._connection.close()

    def _stream(self, table: Table, tenant: str | None) -> Iterator[Values]:
        from psycopg.rows import tuple_row

        from .failures import postgres_failure

        self._cursors += 1
        columns = ", ".join(self._expressions.get(table.name) or map(quoted, table.columns))
        where = "" if tenant is None else " WHERE tenant = %s"
        with (
            translated(postgres_failure),
            self._connection.cursor(f"snapshot_{self._cursors}", row_factory=tuple_row) as cursor,
        ):
            cursor.itersize = ROWS_AT_A_TIME
            cursor.execute(
                f"SELECT {columns} FROM {quoted(table.name)}{where}{table.order}".encode(),
                (tenant,) if where else None,
            )
            yield from cursor

    def _table(self, name: str, oid: int) -> Table:
        columns = self._rows(
            "SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute"
            " WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            oid,
        )
        self._expressions[name] = tuple(
            quoted(row["name"]) if row["type"] in PLAIN_TYPES else f"{quoted(row['name'])}::text" for row in columns
        )
        return Table(name, tuple(row["name"] for row in columns), self._key(oid))

    def _key(self, table: int) -> tuple[str, ...]:
        found = self._rows(
            "SELECT a.attname AS name FROM pg_index i JOIN pg_attribute a"
            " ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)"
            " WHERE i.indrelid = %s AND i.indisprimary ORDER BY array_position(i.indkey::int2[], a.attnum)",
            table,
        )
        return tuple(row["name"] for row in found)

    def _rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        return self._connection.execute(sql.encode(), params or None).fetchall()


def snapshot_of(store: SqliteStore | PostgresStore) -> Snapshot:
    """A look at a running store, on a connection of its own."""
    if isinstance(store, SqliteStore):
        return SqliteSnapshot(store.connect())
    return PostgresSnapshot(store.connect())


def snapshot_at(location: str | Path) -> Snapshot:
    """A look from outside that changes nothing, whether or not anybody has the store open."""
    if is_postgres(location):
        return PostgresSnapshot(postgres_at(location).connect())
    with translated(sqlite_failure):
        return _file_snapshot(Path(location))


def snapshot_of_file(path: Path) -> Snapshot:
    """The same look at a file that somebody named, which may be anything."""
    try:
        with translated(sqlite_failure):
            return _file_snapshot(path)
    except (Failed, apsw.SQLError) as error:
        if isinstance(error, Failed) and error.code != codes.STORE_CORRUPT:
            raise
        problem = "it is damaged, or neither a backup nor the database of an office"
        raise Invalid(codes.BACKUP_INVALID, {"problem": problem}) from error


def _file_snapshot(path: Path) -> SqliteSnapshot:
    if not path.is_file():
        raise unavailable()
    if holds_all(path):
        return LockFreeSnapshot(_read_only(path, "immutable=1"), path)
    try:
        return SqliteSnapshot(_read_only(path, "mode=ro&readonly_shm=1"))
    except apsw.Error:
        # What lies beside the log has to be set right first, by a reader too, so SQLite has to be allowed to do it.
        return SqliteSnapshot(_read_only(path, "mode=ro"))


def _read_only(path: Path, how: str) -> Connection:
    address = f"file:{quote(str(path.resolve()))}?{how}"
    return Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True
