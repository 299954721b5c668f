"""Backups: made while the office works, restored whole or not at all, into either engine."""

from __future__ import annotations

import errno
import os
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import apsw
import orjson
import psycopg
import pytest

from engross.ledger import OfficeKey
from engross.ledger.verify import verify
from engross.replies import Failed, Invalid, codes
from engross.store import STORE_ROOM, Blobs, Transaction, open_store, room
from engross.store.archive import Archive, Packing, back_up, restore
from engross.store.snapshot import Snapshot, Table
from tests.bed.postgres import PostgresServer
from tests.ledger.cards import Desk, busy
from tests.store.archives import MANIFEST, Contents, contents, everything, files_under, repacked
from tests.store.notes import ROOMS, write_note

Location = str | Path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An office's data folder, with a key and a few blobs."""
    folder = tmp_path / "data"
    (folder / "keys").mkdir(parents=True)
    for tenant in ("acme", "blue"):
        for content in (b"", b"hello", tenant.encode() * 100_000):
            Blobs(folder / "blobs", tenant).put(content)
    return folder


@pytest.fixture
def desk(location: Location, data: Path) -> Iterator[Desk]:
    """A little history of two tenants, sealed with the office's key."""
    desk = Desk(location, OfficeKey.at(data / "keys" / "office.key"))
    busy(desk)
    yield desk
    desk.close()


@pytest.fixture
def archive(desk: Desk, data: Path, tmp_path: Path) -> Path:
    """A backup of that."""
    back_up(desk.store, data, tmp_path / "backup.zip", public_key=desk.key.public)
    return tmp_path / "backup.zip"


@pytest.fixture
def sqlite_archive(data: Path, tmp_path: Path) -> Path:
    """A backup made by SQLite, for tests of the format."""
    desk = Desk(tmp_path / "office.db", OfficeKey.at(data / "keys" / "office.key"))
    busy(desk)
    back_up(desk.store, data, tmp_path / "backup.zip", public_key=desk.key.public)
    desk.close()
    return tmp_path / "backup.zip"


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: PostgresServer) -> Iterator[Location]:
    """A place for a restored store, of the engine the test asks for."""
    if request.param == "sqlite":
        yield tmp_path / "restored" / "office.db"
        return
    dsn = postgres_server.create_database()
    yield dsn
    postgres_server.drop_database(dsn)


into_each = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)


@pytest.mark.requirement("ECO-08")
@into_each
def test_a_restored_store_is_the_same_row_by_row_and_file_by_file(
    archive: Path, location: Location, place: Location, data: Path, tmp_path: Path, desk: Desk
) -> None:
    restore(archive, place, tmp_path / "restored")
    assert everything(place) == everything(location)
    restored = files_under(tmp_path / "restored")
    restored.pop("office.db", None)
    assert restored == files_under(data)
    assert (tmp_path / "restored" / "keys" / "office.key").stat().st_mode & 0o777 == 0o600
    for folder in ("", "blobs", "keys"):
        assert (tmp_path / "restored" / folder).stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("ECO-08", "REL-12")
@into_each
def test_a_restored_store_verifies_and_its_ledger_goes_on(
    archive: Path, place: Location, tmp_path: Path, desk: Desk
) -> None:
    manifest = restore(archive, place, tmp_path / "restored")
    old = max(row["position"] for row in desk.rows("SELECT position FROM receipts WHERE tenant = :tenant"))
    assert manifest.position >= old
    key = OfficeKey.at(tmp_path / "restored" / "keys" / "office.key")
    again = Desk(place, key)
    receipt = again.write_card("new", 0, "after")
    assert receipt.position > manifest.position
    again.seal()
    again.close()
    report = verify(place, public_key=desk.key.public)
    assert report.ok
    assert report.total.unsealed == 0


@into_each
def test_ledger_positions_go_on_behind_any_old_one(place: Location, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "office.db")
    desk.write_card("one", 0, "first")
    desk.close()
    apsw.Connection(str(tmp_path / "office.db")).execute("UPDATE positions SET head = 5000000000")
    desk = Desk(tmp_path / "office.db")
    high = desk.write_card("one", 1, "second").position
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    desk.close()
    restore(tmp_path / "backup.zip", place, tmp_path / "restored")
    again = Desk(place)
    assert again.store.read("acme", lambda reading: reading.watermark()) >= high
    assert again.write_card("one", 2, "third").position > high > 5_000_000_000
    again.close()


@into_each
def test_values_of_every_kind_survive(location: Location, place: Location, tmp_path: Path) -> None:
    values: list[dict[str, Any]] = [
        {"id": "empty", "body": "", "number": 0, "bytes": b""},
        {"id": "nothing", "body": None, "number": None, "bytes": None},
        {"id": "large", "body": "x" * 600_000, "number": 2**63 - 1, "bytes": bytes(range(256)) * 2000},
        {
            "id": "odd \t\n\\ '\" \\N äöü 漢 😀",
            "body": '{"base64": "eA=="}',
            "number": -(2**63),
            "bytes": b"\\N\n",
        },
    ]
    store = open_store(location, ROOMS)

    def work(transaction: Transaction) -> None:
        for row in values:
            transaction.execute(
                "INSERT INTO notes (tenant, id, body, number, bytes) VALUES (:tenant, :id, :body, :number, :bytes)",
                dict(row),
            )

    store.write("acme", work)
    store.write("acme", lambda transaction: transaction.execute("INSERT INTO tenants VALUES (:tenant, '')", {}))
    back_up(store, tmp_path, tmp_path / "backup.zip")
    store.close()
    restore(tmp_path / "backup.zip", place, tmp_path / "restored")
    assert everything(place) == everything(location)


def test_numbers_that_json_does_not_know_survive(tmp_path: Path) -> None:
    step = room("own", [("own", "CREATE TABLE own (id $integer PRIMARY KEY, x REAL)")])
    store = open_store(tmp_path / "office.db", [*STORE_ROOM, *step])
    values = [float("inf"), float("-inf"), 0.1, -0.0, 1e300]

    def work(transaction: Transaction) -> None:
        for number, value in enumerate(values):
            transaction.execute("INSERT INTO own VALUES (:n, :x)", {"n": number, "x": value})

    store.write("acme", work)
    back_up(store, tmp_path, tmp_path / "backup.zip")
    store.close()
    restore(tmp_path / "backup.zip", tmp_path / "new" / "office.db", tmp_path / "new")
    assert [row[1] for row in everything(tmp_path / "new" / "office.db")["own"]] == values


def test_other_types_of_postgres_survive(postgres_server: PostgresServer, tmp_path: Path) -> None:
    columns = "j JSONB, t TIMESTAMPTZ, n NUMERIC, b BOOLEAN, f DOUBLE PRECISION"
    own = f"CREATE TABLE own (id BIGINT PRIMARY KEY, {columns})"
    steps = [*STORE_ROOM, *room("own", [("own", own)])]
    old, new = postgres_server.create_database(), postgres_server.create_database()
    store = open_store(old, steps)
    one = "(1, '{\"a\": [1]}', '2026-11-16 01:02:03.4+00', 1.10, true, 0.1)"
    insert = f"INSERT INTO own VALUES {one}, (2, NULL, NULL, NULL, NULL, NULL)"
    store.write("acme", lambda transaction: transaction.execute(insert, {}))
    back_up(store, tmp_path, tmp_path / "backup.zip")
    store.close()
    restore(tmp_path / "backup.zip", new, tmp_path / "restored")
    with psycopg.connect(old) as before, psycopg.connect(new) as after:
        query = "SELECT * FROM own ORDER BY id"
        assert before.execute(query).fetchall() == after.execute(query).fetchall()
    postgres_server.drop_database(old)
    postgres_server.drop_database(new)


def test_a_search_index_of_sqlite_is_made_again_and_filled_by_its_triggers(tmp_path: Path) -> None:
    steps = room(
        "own",
        [
            (
                "own",
                "CREATE TABLE own (id $integer PRIMARY KEY, words $text);"
                "CREATE VIRTUAL TABLE found USING fts5(words, content='own', content_rowid='id');"
                "CREATE TRIGGER own_found AFTER INSERT ON own BEGIN"
                " INSERT INTO found (rowid, words) VALUES (new.id, new.words); END",
            )
        ],
    )
    store = open_store(tmp_path / "office.db", [*STORE_ROOM, *steps])
    store.write("acme", lambda transaction: transaction.execute("INSERT INTO own VALUES (7, 'red green')", {}))
    back_up(store, tmp_path, tmp_path / "backup.zip")
    store.close()
    restore(tmp_path / "backup.zip", tmp_path / "new" / "office.db", tmp_path / "new")
    connection = apsw.Connection(str(tmp_path / "new" / "office.db"))
    assert connection.execute("SELECT rowid FROM found WHERE found MATCH 'green'").get == 7


@pytest.mark.requirement("ECO-08")
def test_all_tables_are_of_one_moment_though_writers_go_on(
    desk: Desk, data: Path, tmp_path: Path, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(location)
    add_table = Packing.add_table

    def write_first(packing: Packing, table: Table, snapshot: Snapshot, tenant: str | None) -> None:
        desk.write_card(f"during {table.name}", 0, "too late")
        desk.seal()
        add_table(packing, table, snapshot, tenant)

    monkeypatch.setattr(Packing, "add_table", write_first)
    back_up(desk.store, data, tmp_path / "backup.zip")
    restore(tmp_path / "backup.zip", tmp_path / "restored" / "office.db", tmp_path / "restored")
    assert everything(tmp_path / "restored" / "office.db") == before


@pytest.mark.requirement("REL-12")
@pytest.mark.faults
def test_a_backup_under_load_holds_what_was_acknowledged_and_verifies(desk: Desk, data: Path, tmp_path: Path) -> None:
    started, stop = Event(), Event()

    def keep_writing(writer: int) -> int:
        number = 0
        while not stop.is_set():
            desk.write_card(f"{writer}/{number}", 0, "busy", "acme" if writer % 2 else "blue")
            number += 1
            if number == 3:
                started.set()
        return number

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(keep_writing, writer) for writer in range(4)]
        assert started.wait(30)
        acknowledged = desk.write_card("before the backup", 0, "title").position
        manifest = back_up(desk.store, data, tmp_path / "backup.zip")
        stop.set()
        assert all(writer.result() for writer in writers)
    assert manifest.position >= acknowledged
    place = tmp_path / "restored" / "office.db"
    restore(tmp_path / "backup.zip", place, tmp_path / "restored")
    assert verify(place, public_key=desk.key.public).ok
    assert verify(tmp_path / "backup.zip", public_key=desk.key.public).ok
    assert acknowledged in {row[1] for row in everything(place)["receipts"]}


def test_memory_stays_flat_however_many_rows_there_are(location: Location, tmp_path: Path) -> None:
    store = open_store(location, ROOMS, unit_seconds=50)

    def work(transaction: Transaction) -> None:
        transaction.execute("INSERT INTO tenants VALUES (:tenant, '')", {})
        for number in range(20_000):
            write_note(transaction, f"{number:06}", "x" * 2_000)

    store.write("acme", work, timeout=50)
    tracemalloc.start()
    try:
        back_up(store, tmp_path, tmp_path / "backup.zip")
        restore(tmp_path / "backup.zip", tmp_path / "new" / "office.db", tmp_path / "new")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    store.close()
    assert peak < 12_000_000, "of forty million bytes"


def test_the_manifest_says_what_is_there(archive: Path, desk: Desk, store_kind: str) -> None:
    manifest = orjson.loads(contents(archive)[MANIFEST])
    assert manifest["format"] == 1
    assert manifest["engine"] == store_kind
    assert manifest["tenants"] == ["acme", "blue"]
    assert manifest["tenant"] is None
    assert manifest["public_key"] == desk.key.public
    assert manifest["files"]["tables/receipts.jsonl"]["rows"] == 24
    assert manifest["files"].keys() == contents(archive).keys() - {MANIFEST}


def test_a_backup_is_for_its_owner_only(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600


def test_the_key_can_be_left_out(desk: Desk, data: Path, tmp_path: Path) -> None:
    back_up(desk.store, data, tmp_path / "backup.zip", with_keys=False)
    assert not [name for name in contents(tmp_path / "backup.zip") if name.startswith("keys/")]
    restore(tmp_path / "backup.zip", tmp_path / "new" / "office.db", tmp_path / "new")
    assert not (tmp_path / "new" / "keys").exists()


def test_one_tenants_export_holds_nothing_of_another_and_no_key(
    desk: Desk, data: Path, tmp_path: Path, location: Location
) -> None:
    desk.write_card("secret", 0, "a secret of blue", "blue")
    back_up(desk.store, data, tmp_path / "export.zip", tenant="acme")
    files = contents(tmp_path / "export.zip")
    assert not [name for name in files if name.startswith("keys/")]
    assert [name for name in files if name.startswith("blobs/acme/")]
    assert not [name for name in files if "blue" in name]
    assert not [name for name, content in files.items() if b"blue" in content or b"secret" in content]
    place = tmp_path / "new" / "office.db"
    restore(tmp_path / "export.zip", place, tmp_path / "new")
    whole = everything(location)
    own = {name: [row for row in found if name == "migrations" or row[0] == "acme"] for name, found in whole.items()}
    assert everything(place) == own
    assert verify(tmp_path / "export.zip", public_key=desk.key.public).ok
    assert verify(place, public_key=desk.key.public).ok


def test_there_is_no_export_of_a_tenant_that_is_not_there(desk: Desk, data: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid) as raised:
        back_up(desk.store, data, tmp_path / "export.zip", tenant="nobody")
    assert raised.value.code == codes.RECORD_NOT_FOUND
    assert not (tmp_path / "export.zip").exists()


def test_a_damaged_blob_is_not_passed_on(desk: Desk, data: Path, tmp_path: Path) -> None:
    (tmp_path / "backup.zip").write_bytes(b"the last good one")
    next(path for path in data.glob("blobs/acme/*/*") if path.stat().st_size).write_bytes(b"spoilt")
    with pytest.raises(Failed) as raised:
        back_up(desk.store, data, tmp_path / "backup.zip")
    assert raised.value.code == codes.STORE_CORRUPT
    assert (tmp_path / "backup.zip").read_bytes() == b"the last good one"


@pytest.mark.faults
@pytest.mark.requirement("REL-04")
def test_a_backup_that_finds_no_room_leaves_nothing_behind(
    desk: Desk, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "there" / "backup.zip"
    target.parent.mkdir()

    def refuse(handle: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(Failed) as raised:
            back_up(desk.store, data, target)
    assert raised.value.code == codes.STORE_FULL
    assert list(target.parent.iterdir()) == []
    back_up(desk.store, data, target)


def alter(name: str, old: bytes, new: bytes) -> Callable[[Contents], None]:
    def spoil(files: Contents) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return spoil


def drop(prefix: str) -> Callable[[Contents], None]:
    def spoil(files: Contents) -> None:
        del files[next(name for name in files if name.startswith(prefix))]

    return spoil


def add(name: str, content: bytes = b"x") -> Callable[[Contents], None]:
    def spoil(files: Contents) -> None:
        files[name] = content

    return spoil


def manifest_with(**other: object) -> Callable[[Contents], None]:
    def spoil(files: Contents) -> None:
        files[MANIFEST] = orjson.dumps({**orjson.loads(files[MANIFEST]), **other})

    return spoil


def columns_of(table: str, *columns: str) -> Callable[[Contents], None]:
    def spoil(files: Contents) -> None:
        manifest = orjson.loads(files[MANIFEST])
        manifest["files"][f"tables/{table}.jsonl"]["columns"] = columns
        files[MANIFEST] = orjson.dumps(manifest)

    return spoil


def step(source: str) -> Callable[[Contents], None]:
    row = ["evil", 1, "evil", source, sha256(source.encode()).hexdigest(), "2026-01-01T00:00:00.000000Z"]

    def spoil(files: Contents) -> None:
        files["tables/migrations.jsonl"] += orjson.dumps(row) + b"\n"

    return spoil


DISHONEST = {
    "a row was changed": alter("tables/facts.jsonl", b"first 1", b"other 1"),
    "a row is missing": alter("tables/receipts.jsonl", b"\n", b""),
    "a key was changed": add("keys/office.key", b"x" * 32),
    "a table is missing": drop("tables/facts"),
    "a blob is missing": drop("blobs/"),
    "a file is too many": add("tables/more.jsonl"),
    "the manifest is missing": drop(MANIFEST),
    "the manifest is no JSON": add(MANIFEST, b"{"),
    "the manifest is no object": add(MANIFEST, b"[]"),
    "the manifest is of a newer program": manifest_with(format=2),
    "it was made before its last commit": manifest_with(position=1),
    "its position is before all": manifest_with(position=-1),
    "its position is the end of time": manifest_with(position=2**62),
    "the manifest has a field too many": manifest_with(more=1),
    "the position is no number": manifest_with(position="1; DROP TABLE facts"),
    "a tenant cannot be": manifest_with(tenants=["../x"]),
    "files are no files": manifest_with(files=7),
    "a column is SQL": columns_of("tenants", "tenant", "since) VALUES (1, 2); --"),
    "a column is missing": columns_of("tenants", "tenant"),
    "a column is no column": columns_of("tenants", "tenant", "other"),
}
HONEST = {
    "a file leads out": add("../outside", b"x"),
    "a blob leads out": add("blobs/acme/../../../outside", b"x"),
    "a key leads out": add("keys/..", b"x"),
    "a file is absolute": add("/tmp/outside", b"x"),
    "a file has a device's slashes": add("blobs\\acme\\x", b"x"),
    "a blob is not what its name says": add("blobs/acme/" + "0" * 64, b"x"),
    "there is no list of steps": drop("tables/migrations"),
    "a step was changed": alter("tables/migrations.jsonl", b"CREATE TABLE cards", b"CREATE TABLE other"),
    "a step is no step": step("7"),
    "a step is no SQL": step('"NONSENSE"'),
    "a row is no row": alter("tables/cards.jsonl", b"[", b'{"a":'),
    "a row has too few values": alter("tables/tenants.jsonl", b'["acme",', b"["),
    "a row is there twice": lambda files: files.update(
        {"tables/tenants.jsonl": files["tables/tenants.jsonl"].splitlines(keepends=True)[0] * 2}
    ),
    "a row has no key": alter("tables/cards.jsonl", b'"acme"', b"null"),
    "a value is tagged wrong": alter("tables/cards.jsonl", b'"base64"', b'"base65"'),
    "a value is no base64": alter("tables/cards.jsonl", b'{"base64":"', b'{"base64":"!'),
    "the last row is cut": lambda files: files.update({"tables/seals.jsonl": files["tables/seals.jsonl"][:-9]}),
}


def nothing_is_left(place: Location, folder: Path) -> bool:
    """Whether there is no trace of an attempt to restore."""
    if isinstance(place, Path):
        return not folder.exists()
    with psycopg.connect(place) as connection:
        found = connection.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
        return found.fetchone() == (0,) and not folder.exists()


@into_each
@pytest.mark.parametrize(
    ("spoil", "honest"),
    [
        *(pytest.param(spoil, False, id=name) for name, spoil in DISHONEST.items()),
        *(pytest.param(spoil, True, id=name) for name, spoil in HONEST.items()),
    ],
)
def test_a_damaged_or_hostile_backup_is_refused_and_leaves_nothing_behind(
    sqlite_archive: Path, place: Location, tmp_path: Path, spoil: Callable[[Contents], None], honest: bool
) -> None:
    spoilt = repacked(sqlite_archive, spoil, honest=honest)
    around = files_under(tmp_path)
    with pytest.raises(Invalid) as raised:
        restore(spoilt, place, tmp_path / "restored")
    assert raised.value.code == codes.BACKUP_INVALID
    assert nothing_is_left(place, tmp_path / "restored")
    assert files_under(tmp_path) == around
    restore(sqlite_archive, place, tmp_path / "restored")


@pytest.mark.parametrize("cut", [0, 10, 5_000, -30])
def test_a_backup_that_was_cut_off_is_refused(sqlite_archive: Path, tmp_path: Path, cut: int) -> None:
    sqlite_archive.write_bytes(sqlite_archive.read_bytes()[:cut])
    refused(sqlite_archive, tmp_path)


@pytest.mark.parametrize("where", ["all over", "in its table of contents"])
def test_bytes_that_the_disk_changed_are_noticed(sqlite_archive: Path, tmp_path: Path, where: str) -> None:
    whole = sqlite_archive.read_bytes()
    places = (
        range(0, len(whole), max(1, len(whole) // 60)) if where == "all over" else range(len(whole) - 100, len(whole))
    )
    original = everything(tmp_path / "office.db")
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 0x10
        sqlite_archive.write_bytes(changed)
        folder = tmp_path / f"restored-{place}"
        try:
            restore(sqlite_archive, folder / "office.db", folder)
        except Invalid:
            assert not folder.exists()
        else:
            assert everything(folder / "office.db") == original, "it was of no account"


def refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid) as raised:
        restore(archive, tmp_path / "restored" / "office.db", tmp_path / "restored")
    assert raised.value.code == codes.BACKUP_INVALID
    assert not (tmp_path / "restored").exists()


def test_a_file_that_is_not_there_is_no_backup(tmp_path: Path) -> None:
    refused(tmp_path / "none.zip", tmp_path)


def test_a_name_that_comes_twice_is_refused(sqlite_archive: Path, tmp_path: Path) -> None:
    with ZipFile(sqlite_archive, "a") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("tables/cards.jsonl", contents(sqlite_archive)["tables/cards.jsonl"])
    refused(sqlite_archive, tmp_path)


def test_a_size_that_cannot_be_is_refused_before_anything_is_read(sqlite_archive: Path, tmp_path: Path) -> None:
    with ZipFile(sqlite_archive, "a") as opened:
        info = opened.getinfo("tables/cards.jsonl")
        info.file_size = 10**12
        opened.comment = b"so that the directory is written anew"
    refused(sqlite_archive, tmp_path)


def test_files_that_share_their_bytes_are_refused(sqlite_archive: Path, tmp_path: Path) -> None:
    with ZipFile(sqlite_archive, "a") as opened:
        large = max(opened.infolist(), key=lambda info: info.compress_size)
        for info in opened.infolist():
            info.header_offset, info.compress_size = large.header_offset, sqlite_archive.stat().st_size
        opened.comment = b"so that the directory is written anew"
    refused(sqlite_archive, tmp_path)


def test_a_file_that_unfolds_to_more_than_it_says_is_not_read_to_its_end(
    sqlite_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "tables/cards.jsonl"
    bomb = repacked(sqlite_archive, add(name, b"x" * 50_000_000), honest=False)
    monkeypatch.setattr("engross.store.archive.BEST_RATIO", 10**9)
    with Archive(bomb) as opened:
        table = next(table for table in opened.manifest.tables if table.name == "cards")
        tracemalloc.start()
        with pytest.raises(Invalid):
            list(opened.rows(table))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_step_out_of_a_backup_reaches_no_other_file(sqlite_archive: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.db"
    apsw.Connection(str(victim)).execute("CREATE TABLE t (x)")
    before = victim.read_bytes()
    source = orjson.dumps(f"ATTACH '{victim}' AS v; DROP TABLE v.t").decode()
    refused(repacked(sqlite_archive, step(source)), tmp_path)
    assert victim.read_bytes() == before


@pytest.mark.parametrize("what", ["office.db", "office.db-wal", "blobs/acme/x", "keys/office.key"])
def test_nothing_is_restored_over_what_is_there(sqlite_archive: Path, tmp_path: Path, what: str) -> None:
    there = tmp_path / "restored" / what
    there.parent.mkdir(parents=True)
    there.write_bytes(b"mine")
    with pytest.raises(Invalid) as raised:
        restore(sqlite_archive, tmp_path / "restored" / "office.db", tmp_path / "restored")
    assert raised.value.code == codes.PLACE_NOT_EMPTY
    assert files_under(tmp_path / "restored") == {what: b"mine"}


@pytest.mark.parametrize("what", ["", "above", "office.db", "office.db-wal", "blobs", "keys"])
@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_file_or_a_link_that_leads_nowhere_is_no_empty_place(
    sqlite_archive: Path, tmp_path: Path, what: str, kind: str
) -> None:
    folder = tmp_path / "restored"
    there = folder if what == "above" else folder / what
    there.parent.mkdir(exist_ok=True)
    if kind == "file":
        there.write_bytes(b"mine")
    else:
        there.symlink_to("nowhere")
    wanted = folder / "below" / "it" if what == "above" else folder
    with pytest.raises(Invalid) as raised:
        restore(sqlite_archive, wanted / "office.db", wanted)
    assert raised.value.code == codes.PLACE_NOT_EMPTY
    assert there.name.removesuffix("-wal") in raised.value.params["problem"]
    assert there.is_symlink() if kind != "file" else there.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.rglob("*") if path != sqlite_archive and "restor" in path.name] == [
        "restored"
    ]


def test_nothing_is_restored_into_a_database_with_tables(
    sqlite_archive: Path, postgres_dsn: str, tmp_path: Path
) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute("CREATE TABLE mine (x int)")
    with pytest.raises(Invalid) as raised:
        restore(sqlite_archive, postgres_dsn, tmp_path / "restored")
    assert raised.value.code == codes.PLACE_NOT_EMPTY
    assert not (tmp_path / "restored").exists()


def test_empty_folders_of_an_office_are_no_hindrance(sqlite_archive: Path, tmp_path: Path) -> None:
    for part in ("blobs", "keys", "logs"):
        (tmp_path / "restored" / part).mkdir(parents=True)
    restore(sqlite_archive, tmp_path / "restored" / "office.db", tmp_path / "restored")
    assert (tmp_path / "restored" / "keys" / "office.key").exists()


@pytest.mark.faults
@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize("moment", range(1, 12))
def test_a_restore_that_finds_no_room_leaves_nothing_behind(
    sqlite_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    sync, calls = os.fsync, []

    def refuse(handle: int) -> None:
        calls.append(handle)
        if len(calls) == moment:
            raise OSError(errno.ENOSPC, "full")
        sync(handle)

    place = tmp_path / "restored" / "office.db"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        try:
            restore(sqlite_archive, place, tmp_path / "restored")
        except Failed as failure:
            assert failure.code == codes.STORE_FULL  # noqa: PT017 - a late moment may not come
            assert not (tmp_path / "restored").exists()
        else:
            assert len(calls) < moment
    if not place.exists():
        restore(sqlite_archive, place, tmp_path / "restored")


def test_a_disk_that_is_too_small_is_noticed_before_it_is_filled(
    sqlite_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=5))
    with pytest.raises(Failed) as raised:
        restore(sqlite_archive, tmp_path / "restored" / "office.db", tmp_path / "restored")
    assert raised.value.code == codes.STORE_FULL
    assert not (tmp_path / "restored").exists()


def test_steps_run_in_their_order_though_a_clock_jumped_back(tmp_path: Path) -> None:
    first, second = "CREATE TABLE own (x $integer)", "ALTER TABLE own ADD COLUMN y $integer"
    store = open_store(tmp_path / "office.db", [*STORE_ROOM, *room("own", [("one", first), ("two", second)])])
    connection = apsw.Connection(str(tmp_path / "office.db"))
    connection.execute("UPDATE migrations SET applied_at = '1999' WHERE room = 'own' AND number = 2")
    back_up(store, tmp_path, tmp_path / "backup.zip")
    store.close()
    restore(tmp_path / "backup.zip", tmp_path / "new" / "office.db", tmp_path / "new")
    assert everything(tmp_path / "new" / "office.db") == everything(tmp_path / "office.db")
