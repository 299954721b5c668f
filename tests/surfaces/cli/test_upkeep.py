"""The command line: what an operator does, and how the program ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from engross.office.built_in import DOMAINS
from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES, Offices, shelf
from tests.store.archives import Contents, repacked
from tests.surfaces.cli.shell import run
from tests.surfaces.cli.shell import spawn as engross


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a closed office with two books."""
    folder = tmp_path / "office"
    with connect(folder, shelf()) as office:
        assert office.shelf.add_book(title="Dune").ok
        assert office.shelf.add_book(title="Emma").ok
    return folder


@pytest.mark.requirement("NEW-04")
def test_verify_is_silent_about_nothing_and_ends_with_0(data: Path) -> None:
    done = engross("verify", "--data", data, "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["verified"], answer["reply"]["message_key"]) == (0, True, "VERIFIED")
    assert (answer["counts"]["receipts"], answer["counts"]["unsealed"]) == (2, 0)
    assert {unknown["kind"] for unknown in answer["unknown"]} == {"cut_off_tail", "key_from_store"}


@pytest.mark.requirement("NEW-04")
def test_verify_ends_with_1_when_a_receipt_was_changed(data: Path) -> None:
    tampered = apsw.Connection(str(data / "office.db"))
    tampered.execute("UPDATE receipts SET body = replace(body, 'shelf', 'shelv') WHERE position = 1")
    tampered.close()
    done = engross("verify", "--data", data, "--json")
    assert done.returncode == 1
    assert [finding["position"] for finding in json.loads(done.stdout)["findings"]][:1] == [1]


@pytest.mark.requirement("NEW-04")
def test_a_cut_off_end_is_seen_against_a_checkpoint(data: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.json"
    assert engross("verify", "--data", data, "--save-checkpoint", checkpoint).returncode == 0
    cut = apsw.Connection(str(data / "office.db"))
    for table in ("receipts", "facts", "seals"):
        cut.execute(f"DELETE FROM {table}")
    cut.close()
    assert engross("verify", "--data", data).returncode == 0
    assert engross("verify", "--data", data, "--checkpoint", checkpoint).returncode == 1


@pytest.mark.requirement("ECO-08", "NEW-04")
def test_a_backup_restores_to_an_office_that_verifies_and_goes_on(data: Path, tmp_path: Path) -> None:
    saved, other = tmp_path / "shelf.backup", tmp_path / "restored"
    assert engross("backup", saved, "--data", data).returncode == 0
    assert engross("verify", saved).returncode == 0
    assert engross("restore", saved, "--data", other).returncode == 0
    assert engross("verify", "--data", other).returncode == 0
    with connect(other, shelf()) as office:
        assert [book["title"] for book in office.shelf.list_books().data["books"]] == ["Dune", "Emma"]
        assert office.shelf.add_book(title="Ulysses").ok


@pytest.mark.requirement("ECO-08")
def test_the_export_of_one_tenant_verifies_by_itself_and_holds_no_key(data: Path, tmp_path: Path) -> None:
    with connect(data, shelf(), tenant="umbrella") as office:
        assert office.shelf.add_book(title="Ulysses").ok
    export = tmp_path / "umbrella.export"
    assert engross("backup", export, "--data", data, "--tenant", "umbrella").returncode == 0
    done = engross("verify", export, "--json")
    assert (done.returncode, list(json.loads(done.stdout)["tenants"])) == (0, ["umbrella"])
    assert b"office.key" not in export.read_bytes()
    assert b"Dune" not in export.read_bytes()


@pytest.mark.requirement("ECO-08", "NEW-04")
@pytest.mark.parametrize("left_out", [("--tenant", "main"), ("--without-keys",)], ids=["one tenant", "without keys"])
def test_an_office_restored_without_its_key_carries_on_with_one_of_its_own(
    data: Path, tmp_path: Path, left_out: tuple[str, ...]
) -> None:
    export, other, checkpoint = tmp_path / "export", tmp_path / "restored", tmp_path / "checkpoint.json"
    assert engross("backup", export, "--data", data, *left_out).returncode == 0
    assert engross("restore", export, "--data", other).returncode == 0
    with connect(other, shelf()) as office:
        assert engross("verify", "--data", other).returncode == 0
        assert engross("doctor", "--data", other).returncode == 0
        assert office.shelf.add_book(title="Ulysses").ok
        new = office.office.public_key
    done = engross("verify", "--data", other, "--json", "--save-checkpoint", checkpoint)
    answer = json.loads(done.stdout)
    old, last = answer["tenants"]["main"]["keys"]
    assert (done.returncode, answer["public_key"], last["public_key"]) == (0, new, new)
    assert {"handed_over", "key_from_store"} <= {unknown["kind"] for unknown in answer["unknown"]}
    assert engross("verify", "--data", other, "--checkpoint", checkpoint).returncode == 0
    assert engross("verify", "--data", other, "--public-key", old["public_key"]).returncode == 1
    both = ("--public-key", old["public_key"], "--public-key", new)
    assert engross("verify", "--data", other, *both).returncode == 0
    assert engross("backup", tmp_path / "second", "--data", other, *left_out).returncode == 0
    assert engross("verify", tmp_path / "second").returncode == 0


@pytest.mark.requirement("NEW-04")
def test_an_export_that_does_not_verify_is_not_taken_over(data: Path, tmp_path: Path) -> None:
    tampered = apsw.Connection(str(data / "office.db"))
    tampered.execute("UPDATE seals SET signature = upper(signature)")
    tampered.close()
    export, other = tmp_path / "export", tmp_path / "restored"
    assert engross("backup", export, "--data", data, "--tenant", "main").returncode == 0
    assert engross("restore", export, "--data", other).returncode == 0
    with connect(other, shelf()) as office:
        assert office.shelf.add_book(title="Ulysses").ok
    done = engross("verify", "--data", other, "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, {finding["kind"] for finding in answer["findings"]}) == (1, {"seal_unsigned"})
    assert (len(answer["tenants"]["main"]["keys"]), answer["counts"]["unsealed"]) == (1, 1)
    assert engross("doctor", "--data", other).returncode == 1


@pytest.mark.requirement("ECO-08")
def test_migrate_says_what_it_would_do_and_then_does_it(data: Path) -> None:
    store = apsw.Connection(str(data / "office.db"))
    for table in ("proposals", "proposal_plans", "proposal_reviews", "proposal_subjects"):
        store.execute(f"DROP TABLE {table}")
    store.execute("DELETE FROM migrations WHERE room = 'proposals'")
    store.close()
    planned = json.loads(engross("migrate", "--data", data, "--dry-run", "--json").stdout)["would_run"]
    assert {step["room"] for step in planned} == {"proposals", *DOMAINS}
    assert json.loads(engross("migrate", "--data", data, "--json").stdout)["ran"] == planned
    assert json.loads(engross("migrate", "--data", data, "--json").stdout)["ran"] == []
    for words in ([], ["--dry-run"]):
        assert engross("migrate", "--data", data, *words).stdout == "the tables are up to date\n"


def test_every_answer_names_a_trace(data: Path, tmp_path: Path) -> None:
    for words in (["migrate", "--dry-run"], ["verify"], ["backup", tmp_path / "office.backup"], ["doctor"]):
        told = json.loads(engross(*words, "--data", data, "--json").stdout)
        assert len(told["reply"]["trace_id"]) == 32, words
    refused = json.loads(engross("verify", tmp_path / "nowhere", "--json").stdout)
    assert (refused["reply"]["reply_type"], len(refused["reply"]["trace_id"])) == ("I", 32)


@pytest.mark.requirement("ECO-08")
def test_migrate_knows_the_tables_of_capabilities(tmp_path: Path) -> None:
    with connect(tmp_path / "office") as office:
        assert office.record.read_facts().ok
    words = ("migrate", "--data", tmp_path / "office", "--capability", EXAMPLES / "04-the-whole.py", "--json")
    planned = json.loads(engross(*words, "--dry-run").stdout)["would_run"]
    assert {step["room"] for step in planned} == {"shelf", *DOMAINS}
    assert json.loads(engross(*words).stdout)["ran"] == planned
    (tmp_path / "office" / "capabilities").mkdir()
    (tmp_path / "office" / "capabilities" / "shelf.py").write_bytes((EXAMPLES / "04-the-whole.py").read_bytes())
    assert json.loads(engross("migrate", "--data", tmp_path / "office", "--json").stdout)["ran"] == []
    broken = engross("migrate", "--data", tmp_path / "office", "--capability", tmp_path / "gone.py", "--json")
    assert (broken.returncode, json.loads(broken.stdout)["reply"]["message_key"]) == (4, "CONFIG_INVALID")


OF_AN_OFFICE = [
    *("migrate", "backup x", "verify", "facts", "facts --follow", "why x", "download x -"),
    *(
        "proposals list",
        "proposals show x",
        "proposals approve x",
        "proposals reject x",
        "token list",
        "token revoke x",
    ),
    *("model show", "model export", "model check", "model diff x", "memory show x", "memory why x y"),
    *("memory history x", "memory search x", "memory export", "doc log x", "doc blame x", "doc undo x"),
    "doc diff x --old 1",
]


@pytest.mark.parametrize("command", OF_AN_OFFICE)
def test_a_folder_without_an_office_is_refused_and_left_alone(command: str, tmp_path: Path) -> None:
    done = run(*command.split(), "--data", tmp_path / "nowhere", "--json")
    assert (done.code, done.key) == (2, "RECORD_NOT_FOUND")
    assert (done.json["field"], list(done.json["suggestions"])) == ("data", ["hint"])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_only_prepared_is_no_office(tmp_path: Path) -> None:
    (tmp_path / "capabilities").mkdir()
    assert run("facts", "--data", tmp_path, "--json").key == "RECORD_NOT_FOUND"
    assert [path.name for path in tmp_path.iterdir()] == ["capabilities"]


def test_a_wrong_folder_gets_no_key_of_its_own_beside_a_database_that_is_there(
    tmp_path: Path, postgres_dsn: str
) -> None:
    with connect(tmp_path / "office", store=postgres_dsn) as office:
        assert office.record.read_facts().ok
    refused = run("facts", "--data", tmp_path / "ofice", "--store", postgres_dsn, "--json")
    assert (refused.code, refused.key) == (2, "RECORD_NOT_FOUND")
    assert not (tmp_path / "ofice").exists()
    assert run("facts", "--data", tmp_path / "office", "--store", postgres_dsn, "--json").key == "READ_OK"


def test_a_broken_backup_is_invalid_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"PK not really")
    done = engross("restore", tmp_path / "broken", "--data", tmp_path / "office", "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (2, "BACKUP_INVALID")
    assert not (tmp_path / "office").exists()


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_backup_is_restored_into_folders_alone(data: Path, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    place.write_bytes(b"mine") if kind == "file" else place.symlink_to(tmp_path / "nowhere")
    assert engross("backup", tmp_path / "saved", "--data", data).returncode == 0
    done = engross("restore", tmp_path / "saved", "--data", place, "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (2, "PLACE_NOT_EMPTY")
    assert (place.is_symlink(), (tmp_path / "nowhere").exists()) == (kind != "file", False)


def everything_in(folder: Path) -> dict[str, object]:
    """All that is in a folder and when each of it was touched, its own time included."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in (folder, *folder.rglob("*"))
    }


@pytest.mark.parametrize("left", ["everything", "the store alone"])
def test_a_backup_is_never_restored_over_an_office(offices: Offices, tmp_path: Path, left: str) -> None:
    office = offices.open()
    assert office.shelf.add_book(title="Dune").ok
    office.close()
    where = ["--data", offices.folder, *(["--store", offices.store] if offices.store else [])]
    assert engross("backup", tmp_path / "saved", *where).returncode == 0
    key = offices.folder / "keys" / "office.key"
    held = key.read_bytes()
    if left == "the store alone":
        key.unlink()
    before = everything_in(offices.folder)
    done = engross("restore", tmp_path / "saved", *where, "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["reply"]["message_key"]) == (2, "PLACE_NOT_EMPTY")
    assert answer["suggestions"]["hint"]
    assert everything_in(offices.folder) == before
    told = engross("restore", tmp_path / "saved", *where)
    assert (told.returncode, told.stderr.startswith("PLACE_NOT_EMPTY"), "hint:" in told.stderr) == (2, True, True)
    key.write_bytes(held)
    assert [book["title"] for book in offices.open().shelf.list_books().data["books"]] == ["Dune"]


def test_a_newer_store_is_refused_clearly(data: Path) -> None:
    store = apsw.Connection(str(data / "office.db"))
    store.execute("INSERT INTO migrations SELECT room, 99, name, source, digest, applied_at FROM migrations LIMIT 1")
    store.close()
    done = engross("migrate", "--data", data, "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (4, "STORE_NEWER")


@pytest.mark.parametrize("command", ["facts", "migrate"])
def test_a_read_only_office_whose_tables_are_behind_is_left_as_it_is(data: Path, command: str) -> None:
    with closing(apsw.Connection(str(data / "office.db"))) as store:
        store.execute("DELETE FROM migrations WHERE room = 'ledger' AND number > 1")
    done = engross(command, "--data", data, "--json", env={"ENGROSS_READ_ONLY": "true"})
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["reply"]["message_key"]) == (4, "MIGRATION_PENDING")
    assert all(step.startswith("ledger ") for step in answer["pending"])
    dry = engross("migrate", "--dry-run", "--data", data, "--json", env={"ENGROSS_READ_ONLY": "true"})
    still = [step["room"] for step in json.loads(dry.stdout)["would_run"]]
    assert still.count("ledger") == len(answer["pending"]) > 0


def test_the_doctor_finds_that_a_read_only_office_does_not_open_over_tables_that_are_behind(data: Path) -> None:
    with closing(apsw.Connection(str(data / "office.db"))) as store:
        store.execute("DELETE FROM migrations WHERE room = 'ledger' AND number > 1")
    found = {}
    for closed in ("false", "true"):
        done = engross("doctor", "--data", data, "--json", env={"ENGROSS_READ_ONLY": closed})
        found[closed] = [check["status"] for check in json.loads(done.stdout)["checks"] if check["check"] == "tables"]
    assert found == {"false": ["warn"], "true": ["fail"]}


def test_people_get_text_and_refusals_go_to_the_other_stream(data: Path, tmp_path: Path) -> None:
    assert engross("verify", "--data", data).stdout.splitlines()[-1] == "verified"
    refused = engross("migrate", "--data", tmp_path / "nowhere")
    assert refused.stdout == ""
    assert refused.stderr.startswith("RECORD_NOT_FOUND")


@pytest.mark.requirement("ECO-08")
def test_an_office_on_postgresql_is_backed_up_and_restored_into_a_file(
    offices: Offices, tmp_path: Path, store_kind: str
) -> None:
    office = offices.open()
    assert office.shelf.add_book(title="Dune").ok
    office.close()
    where = ["--data", offices.folder, *(["--store", offices.store] if offices.store else [])]
    assert engross("backup", tmp_path / "saved", *where).returncode == 0
    assert engross("restore", tmp_path / "saved", "--data", tmp_path / "moved").returncode == 0
    with connect(tmp_path / "moved", shelf()) as moved:
        assert [book["title"] for book in moved.shelf.list_books().data["books"]] == ["Dune"]
        assert moved.shelf.add_book(title="Emma").ok


WRITES = {"backup": ["backup"], "checkpoint": ["verify", "--save-checkpoint"]}


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to(path)])
def test_what_is_no_plain_file_is_not_written_over(
    data: Path, tmp_path: Path, words: list[str], make: Callable[[Path], object]
) -> None:
    target = tmp_path / "target"
    make(target)
    before = target.lstat()
    done = engross(*words, target, "--data", data, "--json")
    refused = json.loads(done.stdout)
    field = "target" if words == ["backup"] else "save_checkpoint"
    assert (done.returncode, refused["reply"]["message_key"]) == (2, "VALIDATION_ERROR")
    assert [error["field"] for error in refused["errors"]] == [field]
    assert (target.lstat().st_ino, target.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert sorted(tmp_path.iterdir()) == [data, target]


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("place", ["no folder/target", "office/office.db/target", "x" * 300])
def test_where_nothing_can_be_written_the_caller_is_told_so(
    data: Path, tmp_path: Path, words: list[str], place: str
) -> None:
    done = engross(*words, tmp_path / place, "--data", data, "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (2, "VALIDATION_ERROR")


def test_what_is_found_in_a_backup_is_told_with_as_much_of_its_place_as_there_is(data: Path, tmp_path: Path) -> None:
    def spoil(files: Contents) -> None:
        files["tables/receipts.jsonl"] = b"no rows at all\n"
        row = json.loads(files["tables/seals.jsonl"].splitlines()[0])
        stray = json.dumps(["nobody" if value == "main" else value for value in row]).encode()
        files["tables/seals.jsonl"] += stray + b"\n"

    saved = tmp_path / "saved.zip"
    assert engross("backup", saved, "--data", data).returncode == 0
    done = engross("verify", repacked(saved, spoil))
    assert done.returncode == 1
    found = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert found[0].startswith("FOUND unreadable in main: ")
    assert found[-1] == "FOUND out_of_order: 1 row of seals not in the right place"
    assert "None" not in done.stdout


def test_a_file_that_is_not_there_is_told_as_such(data: Path, tmp_path: Path) -> None:
    for words in ([tmp_path / "nofile"], ["--data", data, "--checkpoint", tmp_path / "nofile"]):
        done = engross("verify", *words)
        assert (done.returncode, done.stdout) == (2, "")
        first, *others = done.stderr.splitlines()
        assert str(tmp_path / "nofile") in first
        hint = others[-1]
        assert "engross backup" in hint or "--save-checkpoint" in hint
        assert "export" not in done.stderr


def test_a_folder_without_an_office_is_none_to_verify(tmp_path: Path) -> None:
    done = engross("verify", tmp_path, "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (2, "RECORD_NOT_FOUND")


@pytest.mark.parametrize("content", [b"", b"aggregate = None\n", b"SQLite format 3\0" + bytes(84)])
def test_what_is_neither_a_backup_nor_a_database_of_an_office_is_no_damaged_store(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "parcels.py"
    file.write_bytes(content)
    done = engross("verify", file, "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (2, "BACKUP_INVALID")


def test_a_database_of_somebody_else_is_no_ledger_to_verify(tmp_path: Path) -> None:
    store = apsw.Connection(str(tmp_path / "other.db"))
    store.execute("CREATE TABLE books (title TEXT)")
    store.close()
    done = engross("verify", tmp_path / "other.db", "--json")
    assert (done.returncode, json.loads(done.stdout)["reply"]["message_key"]) == (2, "BACKUP_INVALID")


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
def test_a_link_stays_and_the_file_behind_it_is_written(data: Path, tmp_path: Path, words: list[str]) -> None:
    there, link = tmp_path / "there", tmp_path / "link"
    link.symlink_to("there")
    for _ in ("leading nowhere", "to a file"):
        assert engross(*words, link, "--data", data).returncode == 0
        assert (link.is_symlink(), there.is_symlink(), there.stat().st_size > 0) == (True, False, True)
        there.write_bytes(b"")


def test_a_backup_without_the_key_that_should_be_there_is_refused(data: Path, tmp_path: Path) -> None:
    key = data / "keys" / "office.key"
    key.rename(tmp_path / "moved")
    key.symlink_to(tmp_path / "gone")
    done = engross("backup", tmp_path / "saved", "--data", data, "--json")
    assert json.loads(done.stdout)["reply"]["message_key"] == "CONFIG_INVALID"
    assert not (tmp_path / "saved").exists()


def test_a_crash_of_the_program_is_told_by_its_trace_and_no_stack(data: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import engross.office.maintenance as office\noffice.verify = None\n")
    paths = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(tmp_path)}
    done = engross("verify", "--data", data, "--json", env=paths)
    assert (done.returncode, "Traceback" in done.stderr) == (4, False)
    told = json.loads(done.stdout)["reply"]
    assert told["message_key"] == "SYS_CRASH"
    crashes = [json.loads(line) for line in (tmp_path / "state" / "engross" / "crashes.jsonl").read_text().splitlines()]
    assert [crash["trace_id"] for crash in crashes] == [told["trace_id"]]
    in_words = engross("verify", "--data", data, env=paths).stderr
    assert str(tmp_path / "state" / "engross" / "crashes.jsonl") in in_words
    (line,) = re.findall(r"^  to_read_it: (.*)$", in_words, re.MULTILINE)
    shown = subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.endswith("TypeError: 'NoneType' object is not callable\n\n")
