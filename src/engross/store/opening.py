"""Opening a store: find the engine, bring the tables up to date, start it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engross.replies import Failed, codes

from .failures import postgres_failure, sqlite_failure, translated
from .migrations import Migration, migrate

if TYPE_CHECKING:
    from .postgres import PostgresStore
    from .sqlite import SqliteStore

POSTGRES_SCHEMES = ("postgresql://", "postgres://")


def open_store(
    location: str | Path,
    migrations: Sequence[Migration],
    *,
    unit_seconds: float = 5.0,
    upgrade: bool = True,
    vfs: str | None = None,
) -> SqliteStore | PostgresStore:
    """A running store at a PostgreSQL address or in a SQLite file."""
    store = _engine(location, unit_seconds, vfs)
    bring_up_to_date(store, migrations, dry_run=not upgrade)
    store.open()
    return store


def bring_up_to_date(
    store: SqliteStore | PostgresStore, migrations: Sequence[Migration], *, dry_run: bool
) -> list[Migration]:
    """Run what is pending; with `dry_run`, refuse a store that is behind."""
    with translated(postgres_failure if store.engine == "postgres" else sqlite_failure):
        connection = store.connect()
        try:
            steps = migrate(connection, store.engine, migrations, dry_run=dry_run)
        finally:
            connection.close()
    if dry_run and steps:
        raise Failed(
            codes.MIGRATION_PENDING, data={"pending": [f"{s.room} {s.number} {s.name}" for s in steps]}
        )
    return steps


def _engine(location: str | Path, unit_seconds: float, vfs: str | None) -> SqliteStore | PostgresStore:
    if isinstance(location, str) and location.startswith(POSTGRES_SCHEMES):
        from .postgres import PostgresStore

        return PostgresStore(location, unit_seconds=unit_seconds)
    from .sqlite import SqliteStore

    return SqliteStore(Path(location), unit_seconds=unit_seconds, vfs=vfs)
