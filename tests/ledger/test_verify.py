"""Verification from outside: what it finds, what it counts, what it says it cannot know."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import apsw
import orjson
import psycopg
import pytest

from engross.ledger import OfficeKey, Unit, erase_subject
from engross.ledger.report import FindingKind
from engross.ledger.verify import Checkpoint, Report, Walk, source_at, verify
from engross.replies import Failed, Invalid, codes
from engross.store.archive import back_up, restore
from tests.bed.postgres import PostgresServer
from tests.bed.unprivileged import Unprivileged
from tests.ledger.cards import Desk, busy
from tests.store.archives import Contents, files_under, repacked

Location = str | Path
Tamper = Callable[[str], None]


@pytest.fixture
def tamper(location: Location, request: pytest.FixtureRequest) -> Tamper:
    """Changes rows behind the office's back."""

    def on_sqlite(sql: str) -> None:
        apsw.Connection(str(location)).execute(sql).fetchall()

    def on_postgres(sql: str) -> None:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        with psycopg.connect(server.superuser_dsn(str(location))) as connection:
            connection.execute(sql.encode())

    return on_sqlite if isinstance(location, Path) else on_postgres


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Desk]:
    """A busy office's data folder, with SQLite."""
    desk = Desk(tmp_path / "office.db")
    busy(desk)
    yield desk
    desk.close()


def kinds(report: Report) -> set[str]:
    return {finding.kind for finding in report.findings}


def unknown(report: Report) -> set[str]:
    return {each.kind for each in report.unknown}


@pytest.mark.requirement("NEW-04")
def test_a_ledger_that_nobody_touched_verifies_and_is_counted(desk: Desk, location: Location, tmp_path: Path) -> None:
    busy(desk)
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    for source in (location, tmp_path / "backup.zip"):
        report = verify(source, public_key=desk.key.public)
        assert report.ok
        assert report.findings == ()
        total = report.total
        assert (total.receipts, total.facts, total.erased, total.seals) == (24, 26, 4, 6)
        assert (total.sealed, total.unsealed) == (24, 0)
        assert report.chains.keys() == {"acme", "blue"}
        assert unknown(report) == {"cut_off_tail"}
        assert report.key_source == "given"


@pytest.mark.requirement("GOV-03")
def test_an_erased_payload_is_no_finding(desk: Desk, location: Location) -> None:
    desk.write_card("one", 0, "personal")
    desk.seal()
    desk.commit(lambda unit: erase_subject(unit, "cards", "one", 1))
    desk.write_card("one", 2, "again")
    desk.commit(lambda unit: erase_subject(unit, "cards", "one", 3))
    desk.seal()
    report = verify(location, public_key=desk.key.public)
    assert report.ok
    assert report.total.erased == 2


def test_receipts_that_are_not_sealed_yet_are_told(desk: Desk, location: Location) -> None:
    busy(desk)
    desk.write_card("late", 0, "t")
    desk.write_card("later", 0, "t")
    report = verify(location, public_key=desk.key.public)
    assert report.ok
    assert report.total.unsealed == 2
    assert unknown(report) == {"cut_off_tail", "unsealed_receipts"}


def test_a_store_without_a_single_seal_has_no_checkpoint(desk: Desk, location: Location) -> None:
    desk.write_card("one", 0, "t")
    report = verify(location)
    assert report.ok
    assert (report.public_key, report.key_source) == (None, None)
    with pytest.raises(ValueError, match="seal"):
        report.checkpoint()


def test_an_empty_store_verifies(desk: Desk, location: Location) -> None:
    report = verify(location)
    assert report.ok
    assert report.total.receipts == 0


def test_a_key_that_came_from_the_store_itself_is_told(desk: Desk, location: Location, tmp_path: Path) -> None:
    busy(desk)
    report = verify(location)
    assert report.ok
    assert (report.public_key, report.key_source) == (desk.key.public, "store")
    assert "key_from_store" in unknown(report)
    back_up(desk.store, tmp_path, tmp_path / "backup.zip", public_key=desk.key.public)
    assert verify(tmp_path / "backup.zip").key_source == "store"


def test_one_tenant_can_be_verified_alone(desk: Desk, location: Location, tmp_path: Path, tamper: Tamper) -> None:
    busy(desk)
    tamper("UPDATE receipts SET digest = 'x' WHERE tenant = 'blue'")
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    for source in (location, tmp_path / "backup.zip"):
        for tenant, fine in (("acme", True), ("blue", False)):
            report = verify(source, public_key=desk.key.public, tenant=tenant)
            assert report.ok == fine
            assert report.chains.keys() == {tenant}


FIRST = "tenant = 'acme' AND position = (SELECT min(position) FROM receipts WHERE tenant = 'acme')"
SECOND = "tenant = 'acme' AND position = (SELECT max(position) FROM receipts WHERE tenant = 'acme')"
CASES = {
    "a receipt's words": (f"UPDATE receipts SET body = replace(body, 'ada', 'eve') WHERE {FIRST}", {"receipt_altered"}),
    "a receipt's digest": (
        f"UPDATE receipts SET digest = upper(digest) WHERE {FIRST}",
        {"receipt_altered", "receipts_differ"},
    ),
    "a receipt is no JSON": (f"UPDATE receipts SET body = 'x' WHERE {FIRST}", {"receipt_altered"}),
    "a receipt is gone": (f"DELETE FROM receipts WHERE {FIRST}", {"fact_unclaimed", "receipts_differ"}),
    "a receipt moved": (
        f"UPDATE receipts SET position = position + 100000000 WHERE {FIRST}",
        {"receipt_moved", "fact_unclaimed"},
    ),
    "a receipt moved to another tenant": (
        f"UPDATE receipts SET tenant = 'blue' WHERE {FIRST}",
        {"receipt_moved", "fact_unclaimed"},
    ),
    "a receipt was made up": (
        "INSERT INTO receipts SELECT tenant, position + 100000000, digest, body FROM receipts WHERE tenant = 'acme'",
        {"receipt_moved", "facts_differ"},
    ),
    "a fact is gone": (f"DELETE FROM facts WHERE {FIRST}", {"facts_differ", "version_gap"}),
    "a fact was made up": (
        "INSERT INTO facts SELECT tenant, position, 77, id, aggregate, type, schema_version, 'new', 1, ends, fields,"
        f" causation, time, digest, salt, payload FROM facts WHERE {FIRST}",
        {"facts_differ"},
    ),
    "a fact without a commit": (
        "INSERT INTO facts SELECT tenant, position + 100000000, 0, id, aggregate, type, schema_version, 'new', 1, ends,"
        f" fields, causation, time, digest, salt, payload FROM facts WHERE {FIRST}",
        {"fact_unclaimed"},
    ),
    "a fact's subject": (f"UPDATE facts SET subject = 'other' WHERE {FIRST}", {"facts_differ", "version_gap"}),
    "a fact's time": (f"UPDATE facts SET time = '1999' WHERE {SECOND}", {"facts_differ"}),
    "a fact's cause": (f"UPDATE facts SET causation = '' WHERE {SECOND}", {"facts_differ"}),
    "a fact's end": (f"UPDATE facts SET ends = 1 - ends WHERE {SECOND}", {"facts_differ"}),
    "a fact's end is no answer": ("UPDATE facts SET ends = 3 WHERE tenant = 'acme' AND ends = 1", {"facts_differ"}),
    "facts changed places": (
        "UPDATE facts SET ordinal = 2 - ordinal + 1000 WHERE tenant = 'acme' AND position = "
        "(SELECT position FROM facts WHERE tenant = 'acme' AND ordinal = 2)",
        {"facts_differ"},
    ),
    "a payload": (f"UPDATE facts SET payload = replace(payload, 'red', 'tan') WHERE {SECOND}", {"payload_altered"}),
    "a salt": (f"UPDATE facts SET salt = NULL WHERE {SECOND}", {"payload_altered"}),
    "a payload was taken": (f"UPDATE facts SET payload = NULL, salt = NULL WHERE {SECOND}", {"payload_missing"}),
    "an erasure's own payload was taken": (
        "UPDATE facts SET payload = NULL, salt = NULL WHERE tenant = 'acme' AND type = 'Erased'",
        {"payload_altered", "payload_missing"},
    ),
    "a version was skipped": (
        "UPDATE facts SET version = version + 1 WHERE tenant = 'acme' AND subject = 'card-3'",
        {"version_gap", "facts_differ"},
    ),
    "a seal's words": (
        "UPDATE seals SET body = replace(body, '2026', '2027') WHERE number = 2",
        {"seal_altered", "seal_unsigned"},
    ),
    "a seal's digest": ("UPDATE seals SET digest = upper(digest) WHERE number = 2", {"seal_altered", "chain_broken"}),
    "a seal's signature": ("UPDATE seals SET signature = upper(signature) WHERE number = 2", {"seal_unsigned"}),
    "a seal is no JSON": ("UPDATE seals SET body = '[' WHERE number = 2", {"seal_altered", "seal_missing"}),
    "a seal is gone": ("DELETE FROM seals WHERE number = 2", {"seal_missing", "chain_broken"}),
    "the first seal is gone": ("DELETE FROM seals WHERE number = 1", {"seal_missing", "chain_broken"}),
    "a seal has another number": ("UPDATE seals SET number = 9 WHERE number = 3", {"seal_missing", "seal_altered"}),
}


@pytest.mark.requirement("NEW-04")
@pytest.mark.parametrize(("change", "expected"), CASES.values(), ids=CASES.keys())
def test_every_change_behind_the_offices_back_is_found(
    desk: Desk, location: Location, tamper: Tamper, tmp_path: Path, change: str, expected: set[str]
) -> None:
    busy(desk)
    tamper(change)
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    for source in (location, tmp_path / "backup.zip"):
        report = verify(source, public_key=desk.key.public)
        assert not report.ok
        assert expected <= kinds(report)
        with pytest.raises(ValueError, match="verifies"):
            report.checkpoint()


def test_a_payload_that_was_erased_and_is_there_again_is_found(desk: Desk, location: Location, tamper: Tamper) -> None:
    desk.write_card("one", 0, "personal")
    (row,) = desk.rows("SELECT salt, payload FROM facts WHERE tenant = :tenant")
    desk.commit(lambda unit: erase_subject(unit, "cards", "one", 1))
    salt = f"x'{row['salt'].hex()}'" if desk.store.engine == "sqlite" else f"'\\x{row['salt'].hex()}'::bytea"
    tamper(f"UPDATE facts SET payload = '{row['payload']}', salt = {salt} WHERE version = 1")
    report = verify(location)
    assert kinds(report) == {"payload_back"}


def test_a_finding_says_where(desk: Desk, location: Location, tamper: Tamper) -> None:
    desk.write_card("one", 0, "t")
    position = desk.write_card("two", 0, "t").position
    desk.seal()
    tamper(f"UPDATE receipts SET body = body || ' ' WHERE position = {position}")
    tamper("UPDATE seals SET signature = ''")
    report = verify(location, public_key=desk.key.public)
    assert {(finding.kind, finding.tenant, finding.position, finding.seal) for finding in report.findings} == {
        ("receipt_altered", "acme", position, None),
        ("seal_unsigned", "acme", None, 1),
    }
    assert report.as_data()["verified"] is False
    assert orjson.loads(orjson.dumps(report.as_data())) == report.as_data()


@pytest.mark.requirement("NEW-04")
def test_seals_of_another_key_are_found(desk: Desk, location: Location) -> None:
    busy(desk, ("acme",))
    report = verify(location, public_key=OfficeKey(b"x" * 32).public)
    assert kinds(report) == {"seal_by_other_key"}
    desk.key = OfficeKey(b"y" * 32)
    desk.write_card("new", 0, "t", "blue")
    desk.seal("blue")
    assert kinds(verify(location)) == {"seal_by_other_key"}, "the first chain's key has to be everybody's"


def test_a_report_does_not_grow_with_the_damage(desk: Desk, location: Location, tamper: Tamper) -> None:
    desk.commit(lambda unit: [unit.append("Written", str(n), 0, {"title": "t", "colour": None}) for n in range(1100)])
    tamper("UPDATE facts SET payload = 'x'")
    report = verify(location)
    assert len(report.findings) == 1000
    assert report.unlisted_findings == 100


@pytest.mark.requirement("NEW-04")
def test_a_checkpoint_shows_what_was_cut_off(desk: Desk, location: Location, tamper: Tamper, tmp_path: Path) -> None:
    busy(desk)
    upto = desk.rows("SELECT max(position) AS upto FROM receipts WHERE tenant = :tenant", "blue")[0]["upto"]
    desk.write_card("to be cut", 0, "t", "blue")
    desk.seal("blue")
    verify(location, public_key=desk.key.public).checkpoint().save(tmp_path / "checkpoint.json")
    checkpoint = Checkpoint.load(tmp_path / "checkpoint.json")
    for table in ("facts", "receipts"):
        tamper(f"DELETE FROM {table} WHERE tenant = 'blue' AND position > {upto}")
    tamper("DELETE FROM seals WHERE tenant = 'blue' AND number > 3")
    assert verify(location, public_key=desk.key.public).ok, "nothing in the store shows it"
    report = verify(location, checkpoint=checkpoint)
    assert [(finding.kind, finding.tenant) for finding in report.findings] == [("cut_off", "blue")]
    assert (report.key_source, unknown(report)) == ("checkpoint", {"tail_since_checkpoint"})
    assert verify(location, checkpoint=checkpoint, tenant="acme").ok


def test_a_checkpoint_shows_a_tenant_that_is_gone(
    desk: Desk, location: Location, tamper: Tamper, tmp_path: Path
) -> None:
    busy(desk)
    checkpoint = verify(location).checkpoint()
    for table in ("facts", "receipts", "seals", "cards", "tenants"):
        tamper(f"DELETE FROM {table} WHERE tenant = 'blue'")
    assert verify(location).ok
    assert kinds(verify(location, checkpoint=checkpoint)) == {"cut_off"}
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    assert kinds(verify(tmp_path / "backup.zip", checkpoint=checkpoint)) == {"cut_off"}


@pytest.mark.requirement("NEW-04")
def test_a_checkpoint_shows_a_history_that_was_written_anew_with_the_right_key(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "office.db")
    desk.write_card("one", 0, "t")
    desk.seal()
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    desk.write_card("two", 0, "what really happened")
    desk.seal()
    checkpoint = verify(tmp_path / "office.db").checkpoint()
    desk.close()
    restore(tmp_path / "backup.zip", tmp_path / "other" / "office.db", tmp_path / "other")
    other = Desk(tmp_path / "other" / "office.db")
    for number in range(3):
        other.write_card(f"other-{number}", 0, "what is told")
        other.seal()
    other.close()
    assert verify(tmp_path / "other" / "office.db", public_key=desk.key.public).ok
    assert kinds(verify(tmp_path / "other" / "office.db", checkpoint=checkpoint)) == {"rewritten"}


def test_a_checkpoint_of_long_ago_still_fits(desk: Desk, location: Location) -> None:
    busy(desk)
    checkpoint = verify(location).checkpoint()
    for number in range(3):
        desk.write_card(f"new-{number}", 0, "t")
        desk.seal()
    assert verify(location, checkpoint=checkpoint).ok


@pytest.mark.parametrize("content", [b"", b"[]", b'{"acme": 1}', b'{"acme": {"seal": 1}}', b"\xff", None])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "checkpoint.json").write_bytes(content)
    with pytest.raises(Invalid) as raised:
        Checkpoint.load(tmp_path / "checkpoint.json")
    assert raised.value.code == codes.BACKUP_INVALID


def test_a_data_folder_is_verified_by_its_name(office: Desk, tmp_path: Path) -> None:
    assert verify(tmp_path, public_key=office.key.public).total.receipts == 24
    assert verify(str(tmp_path)).ok


def test_a_folder_without_a_store_is_a_clean_failure(tmp_path: Path) -> None:
    with pytest.raises(Failed) as raised:
        verify(tmp_path)
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert list(tmp_path.iterdir()) == []


def traces(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file's bytes and time."""
    return {name: (content, (folder / name).stat().st_mtime_ns) for name, content in files_under(folder).items()}


def without_marks(found: dict[str, tuple[bytes, int]]) -> dict[str, tuple[bytes, int]]:
    """The same without the places where those who read a file that is being written note how far they are."""
    return {**found, "office.db-shm": (b"", 0)}


def killed_before_a_commit(office: Desk, folder: Path) -> Path:
    """The folder of an office whose process was killed when a log had its head, and nothing else yet."""
    copy = as_it_lies(folder)
    office.close()
    (copy / "office.db").write_bytes((folder / "office.db").read_bytes())
    os.truncate(copy / "office.db-wal", 32)
    return copy


def as_it_lies(folder: Path) -> Path:
    """A copy of a store, log and all, as a crash would leave it."""
    copy = folder / "copy"
    copy.mkdir()
    for name in ("office.db", "office.db-wal", "office.db-shm"):
        (copy / name).write_bytes((folder / name).read_bytes())
    return copy


@pytest.mark.requirement("REL-01")
@pytest.mark.parametrize("may_write", [True, False], ids=["may write", "may not write"])
def test_an_office_that_was_killed_before_a_commit_stood_in_its_log_is_verified(
    office: Desk, tmp_path: Path, unprivileged: Unprivileged, may_write: bool
) -> None:
    folder = killed_before_a_commit(office, tmp_path)
    before = traces(folder)
    if not may_write:
        for path in folder.iterdir():
            path.chmod(0o400)
        folder.chmod(0o500)
    assert unprivileged.run(count_receipts, folder) == 24
    folder.chmod(0o700)
    assert traces(folder) == before


def test_an_office_that_writes_again_under_the_hands_of_a_reader_is_noticed(
    office: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = killed_before_a_commit(office, tmp_path)
    run = Walk.run
    opened: list[Desk] = []

    def open_first(walk: Walk) -> None:
        if not opened:
            opened.append(Desk(folder / "office.db"))
            opened[0].write_card("meanwhile", 0, "t")
        run(walk)

    monkeypatch.setattr(Walk, "run", open_first)
    assert verify(folder).total.receipts == 25
    opened[0].close()


HOLDS = (
    "import apsw, sys; c = apsw.Connection(sys.argv[1]); print(c.execute('SELECT head FROM positions').get); input()"
)


@pytest.mark.requirement("REL-01")
def test_a_log_whose_index_somebody_left_half_written_is_read_though_others_have_it_open(
    office: Desk, tmp_path: Path
) -> None:
    folder = as_it_lies(tmp_path)
    argv = [sys.executable, "-u", "-c", HOLDS, str(folder / "office.db")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        with (folder / "office.db-shm").open("r+b") as index:
            index.write(bytes(48))
        report = verify(folder)
        other.communicate(b"\n")
    assert report.ok
    assert report.total.receipts == 24


@pytest.mark.parametrize("state", ["running", "closed", "crashed"])
def test_verifying_leaves_no_trace_in_the_folder(office: Desk, tmp_path: Path, state: str) -> None:
    folder = as_it_lies(tmp_path) if state == "crashed" else tmp_path
    if state == "closed":
        office.close()
    before = traces(folder)
    assert verify(folder).total.receipts == 24
    if state == "running":
        assert without_marks(traces(folder)) == without_marks(before)
    else:
        assert traces(folder) == before


@pytest.mark.parametrize("state", ["running", "closed"])
def test_a_folder_that_cannot_be_written_can_be_verified(
    office: Desk, tmp_path: Path, unprivileged: Unprivileged, state: str
) -> None:
    if state == "closed":
        office.close()
    for path in tmp_path.iterdir():
        path.chmod(0o400)
    tmp_path.chmod(0o500)
    assert unprivileged.run(count_receipts, tmp_path) == 24
    tmp_path.chmod(0o700)


def count_receipts(folder: Path) -> int:
    report = verify(folder)
    assert report.ok
    return report.total.receipts


def test_an_office_that_goes_on_working_is_verified_as_of_one_moment(
    desk: Desk, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy(desk)
    run = Walk.run

    def write_first(walk: Walk) -> None:
        desk.write_card(desk.context().message_id, 0, "meanwhile")
        desk.seal()
        run(walk)

    monkeypatch.setattr(Walk, "run", write_first)
    report = verify(location, public_key=desk.key.public)
    assert report.ok
    assert report.total.receipts == 24


def test_an_office_that_is_opened_meanwhile_is_noticed(
    office: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.close()
    run = Walk.run
    opened: list[Desk] = []

    def open_first(walk: Walk) -> None:
        if not opened:
            opened.append(Desk(tmp_path / "office.db"))
            opened[0].write_card("meanwhile", 0, "t")
        run(walk)

    monkeypatch.setattr(Walk, "run", open_first)
    report = verify(tmp_path)
    assert report.ok
    assert report.total.receipts == 25, "it began again, now that somebody is there to be waited for"
    opened[0].close()


def test_no_domain_and_no_office_is_needed() -> None:
    program = (
        "import sys, engross.ledger.verify, engross.store.archive\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('engross.')}\n"
        "print(' '.join(sorted(rooms & {'domains', 'declared', 'governance', 'pipeline', 'office', 'surfaces'})))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_text_that_cannot_be_read_is_a_finding(office: Desk, tmp_path: Path) -> None:
    apsw.Connection(str(tmp_path / "office.db")).execute(
        "UPDATE facts SET subject = CAST(x'ff' AS TEXT) WHERE tenant = 'acme' AND version = 1 AND subject = 'card-5'"
    )
    report = verify(tmp_path)
    assert [(finding.kind, finding.tenant) for finding in report.findings] == [("unreadable", "acme")]
    assert report.chains["blue"].receipts == 12, "the others are verified all the same"


def test_memory_stays_flat_however_long_the_ledger(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "office.db", unit_seconds=50)
    for commit in range(4):
        desk.commit(some_cards(commit, 1500))
    desk.seal()
    back_up(desk.store, tmp_path, tmp_path / "backup.zip")
    for source in (tmp_path / "office.db", tmp_path / "backup.zip"):
        tracemalloc.start()
        try:
            assert verify(source).total.facts == 6000
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8_000_000, "of thirty million bytes"
    desk.close()


def some_cards(commit: int, count: int) -> Callable[[Unit], None]:
    def work(unit: Unit) -> None:
        for number in range(count):
            unit.append("Written", f"{commit}/{number}", 0, {"title": "x" * 5000, "colour": None})

    return work


@pytest.fixture
def archive(office: Desk, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "keys").mkdir(parents=True)
    (folder / "keys" / "office.key").write_bytes(bytes(32))
    back_up(office.store, folder, tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


def test_a_backup_whose_files_changed_has_findings(archive: Path) -> None:
    def spoil(files: Contents) -> None:
        files["tables/cards.jsonl"] = files["tables/cards.jsonl"].replace(b"first", b"other")
        files["keys/office.key"] = b"x" * 32

    report = verify(repacked(archive, spoil, honest=False))
    assert [finding.kind for finding in report.findings] == ["unreadable", "unreadable"]


def test_a_backup_whose_ledger_changed_has_findings(archive: Path) -> None:
    def spoil(files: Contents) -> None:
        files["tables/receipts.jsonl"] = files["tables/receipts.jsonl"].replace(b"ada", b"eve")

    assert {"unreadable", "receipt_altered"} <= kinds(verify(repacked(archive, spoil, honest=False)))
    assert "receipt_altered" in kinds(verify(repacked(archive, spoil, honest=True)))


def test_rows_of_a_backup_that_changed_places_are_found(archive: Path) -> None:
    def spoil(files: Contents) -> None:
        for table in ("receipts", "facts", "seals"):
            name = f"tables/{table}.jsonl"
            files[name] = b"".join(reversed(files[name].splitlines(keepends=True)))

    assert "out_of_order" in kinds(verify(repacked(archive, spoil)))


def test_rows_of_a_tenant_that_the_backup_does_not_name_are_found(archive: Path) -> None:
    def spoil(files: Contents) -> None:
        manifest = orjson.loads(files["manifest.json"])
        files["manifest.json"] = orjson.dumps({**manifest, "tenants": ["acme"]})

    assert kinds(verify(repacked(archive, spoil))) == {"out_of_order"}


@pytest.mark.parametrize("table", ["facts", "receipts", "seals"])
def test_a_backup_without_a_ledger_cannot_pass(archive: Path, table: str) -> None:
    def spoil(files: Contents) -> None:
        del files[f"tables/{table}.jsonl"]

    assert not verify(repacked(archive, spoil)).ok


@pytest.mark.parametrize("kind", get_args(FindingKind))
def test_every_kind_of_finding_is_explained(kind: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "ledger.md"
    assert f"`{kind}`" in page.read_text("utf-8")


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "backup.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(Invalid) as raised:
        source_at(tmp_path / "backup.zip")
    assert raised.value.code == codes.BACKUP_INVALID
