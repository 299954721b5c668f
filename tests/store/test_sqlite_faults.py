"""SQLite on disks that fail, in folders that cannot be written, and with units that do not come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import apsw
import pytest

from engross.replies import Failed, codes
from engross.store import Store, Transaction, open_store
from engross.store.sqlite import SqliteStore
from tests.bed.unprivileged import Unprivileged
from tests.store.faulty import BROKEN, FULL, FaultyDisk
from tests.store.notes import ENDLESS, ROOMS, note, notes, write_note
from tests.store.test_contract import hang, together

pytestmark = pytest.mark.faults
FAULTS = [
    pytest.param("write", FULL, codes.STORE_FULL, id="full"),
    pytest.param("write", BROKEN, codes.STORE_UNAVAILABLE, id="write fails"),
    pytest.param("sync", BROKEN, codes.STORE_UNAVAILABLE, id="sync fails"),
]
# More than SQLite keeps in memory, so that a unit meets the disk before its end.
LARGE = "x" * 4_000_000


@pytest.fixture
def disk() -> Iterator[FaultyDisk]:
    disk = FaultyDisk()
    yield disk
    disk.unregister()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "office.db"


@pytest.fixture
def store(path: Path, disk: FaultyDisk) -> Iterator[SqliteStore]:
    store = open_store(path, ROOMS, unit_seconds=20, vfs=disk.name)
    assert isinstance(store, SqliteStore)
    yield store
    store.close()


def whole(path: Path) -> bool:
    """Whether SQLite itself finds nothing wrong with the file."""
    connection = apsw.Connection(str(path))
    return bool(connection.execute("PRAGMA integrity_check").get == "ok")


def outcome(store: Store, work) -> str | None:
    """The code that a unit fails with, if it does."""
    try:
        store.write("acme", work)
    except Failed as failure:
        return failure.code
    return None


def three(number: int) -> Callable[[Transaction], None]:
    def work(transaction: Transaction) -> None:
        for part in "abc":
            write_note(transaction, f"{number}{part}", body="y" * 3000)

    return work


@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize(("kind", "error", "code"), FAULTS)
def test_a_failing_disk_is_a_clean_failure_and_the_store_works_again_when_it_does(
    store: SqliteStore, disk: FaultyDisk, path: Path, kind, error, code
) -> None:
    store.write("acme", note("before"))
    disk.fail(kind, error)
    for number in range(3):
        with pytest.raises(Failed) as raised:
            store.write("acme", three(number))
        assert raised.value.code == code
    assert notes(store) == ["before"]
    disk.heal()
    store.write("acme", note("after"))
    assert notes(store) == ["after", "before"]
    assert whole(path)


@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize(("kind", "error", "code"), FAULTS)
def test_whenever_the_disk_fails_a_unit_is_there_whole_or_not_at_all(
    store: SqliteStore, disk: FaultyDisk, path: Path, kind, error, code, full_length: bool
) -> None:
    kept = []
    for moment in range(1, 40 if full_length else 12):
        disk.fail(kind, error, at=moment.__eq__)
        failure = outcome(store, three(moment))
        assert failure in (None, code)
        kept += [moment] if failure is None else []
        disk.heal()
    store.write("acme", note("after"))
    wanted = sorted(f"{moment}{part}" for moment in kept for part in "abc")
    assert notes(store) == sorted([*wanted, "after"])
    store.close()
    assert whole(path)
    again = open_store(path, ROOMS)
    assert notes(again) == sorted([*wanted, "after"]), "opening it anew brings nothing back and loses nothing"
    again.close()


def test_if_the_commit_fails_all_of_its_callers_are_told(store: SqliteStore, disk: FaultyDisk) -> None:
    entered, gate = Event(), Event()

    def fill_the_disk(transaction: Transaction) -> None:
        disk.fail("write", FULL)

    works = [note("a"), fill_the_disk, note("b")]
    answers = asyncio.run(together(store, *works, gate=gate, entered=entered))
    assert [isinstance(answer, Failed) and answer.code for answer in answers] == [codes.STORE_FULL] * 3
    disk.heal()
    assert notes(store) == []


def full_in_the_middle(disk: FaultyDisk):
    def work(transaction: Transaction) -> None:
        disk.fail("write", FULL)
        try:
            write_note(transaction, "large", LARGE)
        finally:
            disk.heal()

    return work


def test_a_unit_that_loses_the_batch_fails_alone(store: SqliteStore, disk: FaultyDisk) -> None:
    works = [note("a"), full_in_the_middle(disk), note("b")]
    answers = asyncio.run(together(store, *works, gate=Event(), entered=Event()))
    assert isinstance(answers[1], Failed)
    assert answers[1].code == codes.STORE_FULL
    assert [isinstance(answers[n], int) for n in (0, 2)] == [True, True]
    assert notes(store) == ["a", "b"]


def test_a_unit_that_shrugs_the_loss_off_writes_nothing_either(store: SqliteStore, disk: FaultyDisk) -> None:
    def work(transaction: Transaction) -> None:
        write_note(transaction, "before")
        with pytest.raises(apsw.FullError):
            full_in_the_middle(disk)(transaction)
        for attempt in (lambda: write_note(transaction, "after"), lambda: transaction.rows("SELECT 1", {})):
            with pytest.raises(apsw.FullError):
                attempt()

    with pytest.raises(Failed):
        store.write("acme", work)
    assert notes(store) == []
    store.write("acme", note("next"))
    assert notes(store) == ["next"]


def test_a_unit_whose_batch_is_lost_again_and_again_is_given_up(store: SqliteStore, disk: FaultyDisk) -> None:
    spoilers = [full_in_the_middle(disk) for _ in range(5)]
    answers = asyncio.run(together(store, note("a"), *spoilers, gate=Event(), entered=Event()))
    assert all(isinstance(answer, Failed) and answer.code == codes.STORE_FULL for answer in answers[1:])
    assert isinstance(answers[0], Failed), "after three tries"
    assert notes(store) == []


def test_a_look_at_a_disk_that_cannot_be_read_fails_cleanly(store: SqliteStore, disk: FaultyDisk, path: Path) -> None:
    store.write("acme", note("large", LARGE))
    disk.fail("read", BROKEN)
    with pytest.raises(Failed) as raised:
        store.read("acme", lambda reading: reading.rows("SELECT * FROM notes", {}))
    assert raised.value.code == codes.STORE_UNAVAILABLE
    disk.heal()
    assert notes(store) == ["large"]


def test_waiting_units_share_one_sync(store: SqliteStore, disk: FaultyDisk) -> None:
    works = [note(f"{number:02}") for number in range(50)]
    before = disk.counts["sync", "log"]
    answers = asyncio.run(together(store, *works, gate=Event(), entered=Event()))
    assert all(isinstance(answer, int) for answer in answers)
    assert disk.counts["sync", "log"] - before <= 2, "one for the unit that held the writer, one for fifty units"


def test_a_unit_that_wrote_nothing_costs_no_sync(store: SqliteStore, disk: FaultyDisk) -> None:
    before = disk.counts["sync", "log"]
    store.write("acme", lambda transaction: transaction.rows("SELECT id FROM notes WHERE tenant = :tenant", {}))
    assert disk.counts["sync", "log"] == before


def test_units_that_wait_while_no_writer_can_be_had_are_told_so(path: Path, disk: FaultyDisk) -> None:
    store = open_store(path, ROOMS, unit_seconds=1, vfs=disk.name)
    entered, stuck = Event(), Event()
    with ThreadPoolExecutor(2) as pool:
        hanging = pool.submit(store.write, "acme", hang(entered, stuck))
        assert entered.wait(15)
        disk.fail("open", apsw.CantOpenError)
        waiting = pool.submit(store.write, "acme", note("waiting"))
        first, second = hanging.exception(), waiting.exception()
    assert isinstance(first, Failed)
    assert first.code == codes.TIMEOUT
    assert isinstance(second, Failed)
    assert second.code == codes.STORE_UNAVAILABLE
    disk.heal()
    store.write("acme", note("after"))
    assert notes(store) == ["after"]
    stuck.set()
    store.close()


def test_a_unit_that_shrugs_off_being_interrupted_is_taken_back_and_not_run_twice(path: Path) -> None:
    store = open_store(path, ROOMS, unit_seconds=1)
    runs = []

    def come_back_when_interrupted(transaction: Transaction) -> None:
        runs.append(transaction.position)
        write_note(transaction, "late")
        with pytest.raises(apsw.InterruptError):
            transaction.rows(ENDLESS, {})

    assert outcome(store, come_back_when_interrupted) == codes.TIMEOUT
    assert len(runs) == 1
    store.write("acme", note("after"))
    assert notes(store) == ["after"]
    store.close()


@pytest.mark.requirement("REL-04")
def test_a_folder_that_cannot_be_written_is_a_clean_failure(tmp_path: Path, unprivileged: Unprivileged) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Failed) as raised:
        unprivileged.run(open_and_write, tmp_path / "office.db")
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("REL-04")
def test_a_file_that_cannot_be_written_is_a_clean_failure_and_works_again_later(
    path: Path, unprivileged: Unprivileged
) -> None:
    unprivileged.run(open_and_write, path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    with pytest.raises(Failed) as raised:
        unprivileged.run(open_and_write, path, "second")
    assert raised.value.code == codes.STORE_UNAVAILABLE
    path.parent.chmod(0o700)
    path.chmod(0o600)
    assert unprivileged.run(open_and_write, path, "third") == ["first", "third"]


def open_and_write(path: Path, identifier: str = "first") -> list[str]:
    store = open_store(path, ROOMS)
    try:
        store.write("acme", note(identifier))
        return notes(store)
    finally:
        store.close()


def gone(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    copy = path.with_name("copy.db")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)


@pytest.mark.requirement("REL-01")
@pytest.mark.parametrize("lose", [gone, replaced])
def test_nothing_is_acknowledged_into_a_file_that_nobody_will_find(path: Path, lose: Callable[[Path], None]) -> None:
    store = open_store(path, ROOMS)
    store.write("acme", note("one"))
    lose(path)
    assert outcome(store, note("two")) == codes.STORE_UNAVAILABLE
    assert outcome(store, note("three")) == codes.STORE_UNAVAILABLE
    store.close()
    again = open_store(path, ROOMS)
    assert outcome(again, note("two")) is None
    again.close()


def test_a_file_that_is_no_database_is_called_damaged(path: Path) -> None:
    path.write_bytes(b"This is not a database, but it is long enough to be taken for one." * 100)
    with pytest.raises(Failed) as raised:
        open_store(path, ROOMS)
    assert raised.value.code == codes.STORE_CORRUPT


def test_text_that_is_none_is_called_damage(store: SqliteStore, path: Path) -> None:
    store.write("acme", note("one"))
    with apsw.Connection(str(path)) as connection:
        connection.execute("UPDATE notes SET body = CAST(x'ff' AS TEXT)")

    def look(transaction: Transaction) -> None:
        transaction.rows("SELECT body FROM notes WHERE tenant = :tenant", {})

    with pytest.raises(Failed) as raised:
        store.write("acme", look)
    assert raised.value.code == codes.STORE_CORRUPT
