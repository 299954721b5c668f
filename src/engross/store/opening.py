"""Opening a store: find the engine, bring the tables up to date, start it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engross.extras import require
from engross.plainfile import stands_at
from engross.replies import Failed, codes

from .failures import FAILURES, translated, unavailable
from .migrations import Migration, migrate, pending

if TYPE_CHECKING:
    from .postgres import PostgresStore
    from .sqlite import SqliteStore

POSTGRES_SCHEMES = ("postgresql://", "postgres://")
READ_ONLY = "the office is read-only, which leaves the tables that are there as they are"


def open_store(
    location: str | Path,
    migrations: Sequence[Migration],
    *,
    unit_seconds: float = 5.0,
    upgrade: bool = True,
    read_only: bool = False,
    vfs: str | None = None,
) -> SqliteStore | PostgresStore:
    """A running store at a PostgreSQL address or in a SQLite file; `read_only` makes tables, and changes none."""
    # SQLite would follow a link that leads nowhere and begin anew there, as if nothing had ever been recorded.
    if not is_postgres(location) and stands_at(location) and not Path(location).exists():
        raise unavailable(file=str(location), problem="it is a link that leads nowhere")
    store = engine_at(location, unit_seconds=unit_seconds, vfs=vfs)
    _bring_up_to_date_or_refuse(store, migrations, upgrade=upgrade, read_only=read_only)
    store.open()
    return store


def ensure_tables(
    store: SqliteStore | PostgresStore, migrations: Sequence[Migration], *, upgrade: bool, read_only: bool
) -> None:
    """Make tables in a store that is running. Where they are there already, nothing waits for anything."""
    with translated(FAILURES[store.engine]):
        connection = store.connect()
        try:
            missing = pending(connection, migrations)
        finally:
            connection.close()
    if missing:
        _bring_up_to_date_or_refuse(store, migrations, upgrade=upgrade, read_only=read_only)


def _bring_up_to_date_or_refuse(
    store: SqliteStore | PostgresStore, migrations: Sequence[Migration], *, upgrade: bool, read_only: bool
) -> None:
    steps = bring_up_to_date(store, migrations, dry_run=not upgrade, read_only=read_only)
    if steps and not upgrade:
        raise _are_pending(steps)


def bring_up_to_date(
    store: SqliteStore | PostgresStore, migrations: Sequence[Migration], *, dry_run: bool, read_only: bool = False
) -> list[Migration]:
    """Run the steps that are pending; with `dry_run`, only say which they are.

    With `read_only` the first tables of the store, or of a room, are made, and those that are there stay as they are.
    """
    look = _refuse_to_change if read_only else store.require_room
    with translated(FAILURES[store.engine]):
        connection = store.connect()
        try:
            return migrate(connection, store.engine, migrations, dry_run=dry_run, look=look)
        finally:
            connection.close()


def _refuse_to_change(steps: Sequence[Migration]) -> None:
    if steps:
        raise _are_pending(steps, problem=READ_ONLY)


def _are_pending(steps: Sequence[Migration], **more: str) -> Failed:
    told = [f"{step.room} {step.number} {step.name}" for step in steps]
    return Failed(codes.MIGRATION_PENDING, data={"pending": told, **more})


def is_postgres(location: str | Path) -> bool:
    """Whether a location is the address of a PostgreSQL database."""
    return isinstance(location, str) and location.startswith(POSTGRES_SCHEMES)


def engine_at(
    location: str | Path, *, unit_seconds: float = 5.0, vfs: str | None = None
) -> SqliteStore | PostgresStore:
    """The store at a location, not started yet."""
    if is_postgres(location):
        return postgres_at(location, unit_seconds=unit_seconds)
    from .sqlite import SqliteStore

    return SqliteStore(Path(location), unit_seconds=unit_seconds, vfs=vfs)


def postgres_at(location: str | Path, *, unit_seconds: float = 5.0) -> PostgresStore:
    """The store at the address of a PostgreSQL database, not started yet."""
    require("postgres", setting="store")
    from .postgres import PostgresStore

    return PostgresStore(str(location), unit_seconds=unit_seconds)
