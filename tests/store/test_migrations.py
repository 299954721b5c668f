"""Tables come into being by steps, forward only."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest

from engross.ledger import LEDGER_ROOM
from engross.replies import Failed, codes
from engross.store import STORE_ROOM, Migration, migrate, open_store, room
from engross.store.opening import bring_up_to_date, is_postgres
from engross.store.postgres import PostgresStore
from engross.store.snapshot import snapshot_at
from engross.store.sqlite import SqliteStore
from tests.store.notes import NOTES, ROOMS, note, notes, rows
from tests.store.writing_processes import start

AnyStore = SqliteStore | PostgresStore
MORE = "ALTER TABLE notes ADD COLUMN colour $text"
STEPS = (*STORE_ROOM, *room("notes", [("notes", NOTES), ("colours", MORE)]))


def unopened(location: str | Path) -> AnyStore:
    if is_postgres(location):
        return PostgresStore(str(location))
    return SqliteStore(Path(location))


def tables(location: str | Path) -> dict[str, tuple[str, ...]]:
    """The tables with their columns, as an outsider sees them."""
    snapshot = snapshot_at(location)
    try:
        return {table.name: table.columns for table in snapshot.tables()}
    finally:
        snapshot.close()


@pytest.mark.requirement("ECO-08")
def test_a_store_is_brought_up_to_date_and_keeps_its_rows(location: str | Path) -> None:
    old = open_store(location, ROOMS)
    old.write("acme", note("one"))
    old.close()
    new = open_store(location, STEPS)
    assert rows(new, "SELECT id, colour FROM notes WHERE tenant = :tenant") == [{"id": "one", "colour": None}]
    new.close()
    open_store(location, STEPS).close()


@pytest.mark.requirement("ECO-08")
def test_a_dry_run_lists_the_steps_and_changes_nothing(location: str | Path) -> None:
    open_store(location, ROOMS).close()
    before = tables(location)
    store = unopened(location)
    connection = store.connect()
    steps = migrate(connection, store.engine, STEPS, dry_run=True)
    connection.close()
    assert [(step.room, step.number, step.name) for step in steps] == [("notes", 2, "colours")]
    assert tables(location) == before


def test_a_store_that_is_behind_is_refused_when_it_may_not_be_changed(location: str | Path) -> None:
    open_store(location, ROOMS).close()
    before = tables(location)
    with pytest.raises(Failed) as raised:
        open_store(location, STEPS, upgrade=False)
    assert raised.value.code == codes.MIGRATION_PENDING
    assert raised.value.data == {"pending": ["notes 2 colours"]}
    assert tables(location) == before
    open_store(location, ROOMS, upgrade=False).close()


def test_a_read_only_store_keeps_the_tables_it_has(location: str | Path) -> None:
    open_store(location, ROOMS).close()
    before = tables(location)
    with pytest.raises(Failed) as raised:
        open_store(location, STEPS, read_only=True)
    assert raised.value.code == codes.MIGRATION_PENDING
    assert raised.value.data is not None
    assert raised.value.data["pending"] == ["notes 2 colours"]
    with pytest.raises(Failed):
        bring_up_to_date(unopened(location), STEPS, dry_run=False, read_only=True)
    assert tables(location) == before


def test_a_read_only_store_gets_the_first_tables_of_all_and_of_a_room(location: str | Path) -> None:
    open_store(location, STORE_ROOM, read_only=True).close()
    store = open_store(location, STEPS, read_only=True)
    assert notes(store) == []
    store.close()


def test_a_store_of_a_newer_program_is_refused(location: str | Path) -> None:
    open_store(location, STEPS).close()
    with pytest.raises(Failed) as raised:
        open_store(location, ROOMS)
    assert raised.value.code == codes.STORE_NEWER


def test_a_store_with_rooms_that_the_program_does_not_have_is_opened(location: str | Path) -> None:
    open_store(location, [*ROOMS, *room("other", [("other", NOTES.replace("notes", "others"))])]).close()
    store = open_store(location, ROOMS)
    store.write("acme", note("one"))
    assert notes(store) == ["one"]
    store.close()


def test_a_step_that_was_edited_after_it_ran_is_refused(location: str | Path) -> None:
    open_store(location, STEPS).close()
    edited = (*STORE_ROOM, *room("notes", [("notes", NOTES), ("colours", MORE + " DEFAULT 'red'")]))
    with pytest.raises(Failed) as raised:
        open_store(location, edited)
    assert raised.value.code == codes.CONFIG_INVALID
    assert raised.value.data is not None
    assert raised.value.data["step"] == "colours"
    assert list(raised.value.data["suggestions"]) == ["hint"]


def test_a_step_that_fails_leaves_nothing_of_its_run(location: str | Path) -> None:
    open_store(location, STORE_ROOM).close()
    before = tables(location)
    broken = [
        *STORE_ROOM,
        *room("notes", [("notes", NOTES), ("broken", "CREATE TABLE half (x $integer); NONSENSE")]),
    ]
    with pytest.raises(Exception):  # noqa: B017, PT011 - each engine complains in its own words
        open_store(location, broken)
    assert tables(location) == before
    open_store(location, STEPS).close()


@pytest.mark.faults
def test_a_process_killed_in_the_middle_of_a_run_leaves_nothing_of_it(location: str | Path) -> None:
    open_store(location, STORE_ROOM).close()
    before = tables(location)
    with start("migrate-and-die", str(location)) as process:
        process.communicate()
    assert process.returncode == -9
    assert tables(location) == before
    store = open_store(location, STEPS)
    store.write("acme", note("one"))
    store.close()


@pytest.mark.faults
def test_two_processes_that_migrate_at_once_run_each_step_once(location: str | Path) -> None:
    processes: list[subprocess.Popen[str]] = [start("migrate", str(location)) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    ran = [step for steps in told for step in steps]
    assert len(ran) == len(set(ran)) == len(STEPS)


def test_every_step_of_a_text_runs_also_behind_one_that_gives_rows(location: str | Path) -> None:
    chatty = "CREATE TABLE one (x $integer); INSERT INTO one VALUES (1) RETURNING x; CREATE TABLE two (x $integer)"
    open_store(location, [*STORE_ROOM, *room("chatty", [("chatty", chatty)])]).close()
    assert {"one", "two"} <= tables(location).keys()


def test_steps_are_kept_with_their_text(location: str | Path) -> None:
    store = open_store(location, STEPS)
    found = rows(store, "SELECT room, number, digest FROM migrations ORDER BY room, number")
    store.close()
    assert [tuple(row.values()) for row in found] == sorted((s.room, s.number, s.digest) for s in STEPS)


def test_one_step_may_differ_between_the_engines(location: str | Path) -> None:
    step = Migration(
        "own",
        1,
        "own",
        {
            "sqlite": "CREATE TABLE of_sqlite (x $integer)",
            "postgres": "CREATE TABLE of_postgres (x $integer)",
        },
    )
    open_store(location, [*STORE_ROOM, step]).close()
    assert ("of_sqlite" in tables(location)) != ("of_postgres" in tables(location))


def test_all_tables_of_tenants_are_under_row_level_security(postgres_dsn: str) -> None:
    open_store(postgres_dsn, [*STORE_ROOM, *LEDGER_ROOM]).close()
    store = open_store(postgres_dsn, [*STORE_ROOM, *LEDGER_ROOM, *room("notes", [("notes", NOTES)])])
    store.close()
    with psycopg.connect(postgres_dsn) as connection:
        found = connection.execute(
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'"
            " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace"
        ).fetchall()
    secured: dict[str, bool] = dict(found)
    assert not secured.pop("tenants"), "the list of tenants belongs to all"
    assert secured.keys() == {"effects", "erasures", "facts", "receipts", "seals", "keys", "notes"}
    assert all(secured.values())


def test_bringing_a_store_up_to_date_says_what_was_done(location: str | Path) -> None:
    assert bring_up_to_date(unopened(location), STEPS, dry_run=False) == list(STEPS)
    assert bring_up_to_date(unopened(location), STEPS, dry_run=False) == []
