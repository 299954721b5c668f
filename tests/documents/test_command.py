"""`engross doc`: files and folders checked and formatted, documents written and traced back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.bed.unprivileged import Unprivileged
from tests.documents.archive import PLAN, digest
from tests.surfaces.cli.shell import COMMAND, Done, Terminal, plain, run, spawn

LOOSE = "===PLAN===\nFLOW::a -> b\n===END===\n"
CANONICAL = "===PLAN===\nFLOW::a→b\n===END===\n"
DOMAINS = {"ENGROSS_DOMAINS": "documents"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Good, loose, bad and other files."""
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "good.oct.md").write_text(PLAN)
    (folder / "deep" / "loose.oct.md").write_text(LOOSE)
    (folder / "readme.md").write_text("# no document\n")
    (folder / ".hidden" / "bad.oct.md").write_text("A: b\n")
    return folder


def doc(tmp_path: Path, *words: object, input: str | None = None) -> Done:
    """A command about documents and the office in a folder."""
    return run("doc", *words, "--data", tmp_path / "office", input=input, env=DOMAINS)


def test_a_text_in_the_place_of_a_file_is_answered_by_what_is_wanted(tmp_path: Path) -> None:
    refused = doc(tmp_path, "write", "plan.oct.md", "--content", PLAN, "--json")
    assert (refused.code, refused.key, refused.json["field"]) == (2, "VALIDATION_ERROR", "content")
    assert "standard input" in refused.json["suggestions"]["hint"]
    assert PLAN.splitlines()[0] not in refused.out + doc(tmp_path, "write", "plan.oct.md", "--content", PLAN).err


def test_folders_are_searched_for_documents_and_good_ones_end_with_nothing(tmp_path: Path, folder: Path) -> None:
    done = doc(tmp_path, "validate", folder, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["summary"] == {"files": 2, "with_errors": 0}
    assert [Path(one["path"]).name for one in told["files"]] == ["good.oct.md", "loose.oct.md"]
    assert not (tmp_path / "office").exists()


def test_what_is_wrong_ends_with_one_and_is_told_as_compilers_do(tmp_path: Path, folder: Path) -> None:
    bad = folder / "bad.oct.md"
    bad.write_text("===D===\nA: b\nB::2026-01-31\n===END===\n")
    done = doc(tmp_path, "validate", folder, "--check")
    assert done.code == 1
    assert [line.split(" ")[:2] for line in done.out.splitlines()] == [
        [f"{bad}:3:4:", "E_UNQUOTED_TIMESTAMP"],
        [f"{bad}:2:2:", "E001"],
    ]
    assert doc(tmp_path, "validate", folder / "good.oct.md", "--schema", "META", "--check").code == 0
    assert doc(tmp_path, "validate", folder / "good.oct.md", "--schema", "NOTHING", "--check").code == 1
    assert doc(tmp_path, "validate", folder / "deep", "--schema", "META").code == 1


def test_repairs_are_made_in_the_files_when_asked_for(tmp_path: Path, folder: Path) -> None:
    bad = folder / "bad.oct.md"
    bad.write_text("===D===\nA: b\n===END===\n")
    bad.chmod(0o640)
    assert doc(tmp_path, "validate", bad, "--fix", "--check").code == 1
    assert bad.read_text() == "===D===\nA: b\n===END===\n"
    assert doc(tmp_path, "validate", bad, "--fix").code == 0
    assert bad.read_text() == "===D===\nA::b\n===END===\n"
    assert stat.S_IMODE(bad.stat().st_mode) == 0o640


def test_formatting_says_or_does_what_would_change(tmp_path: Path, folder: Path) -> None:
    loose = folder / "deep" / "loose.oct.md"
    assert doc(tmp_path, "fmt", folder, "--check").code == 1
    shown = doc(tmp_path, "fmt", folder, "--diff")
    assert shown.code == 0
    assert "+FLOW::a→b" in shown.out
    assert loose.read_text() == LOOSE
    assert doc(tmp_path, "fmt", folder).code == 0
    assert loose.read_text() == CANONICAL
    assert doc(tmp_path, "fmt", folder, "--check").code == 0
    assert not (tmp_path / "office").exists()
    assert doc(tmp_path, "fmt", "-", input=LOOSE).out == CANONICAL


def test_where_there_are_no_documents_that_is_said(tmp_path: Path) -> None:
    for words in (["fmt"], ["fmt", "--check"], ["fmt", "--diff"], ["validate"], ["validate", "--check"]):
        done = doc(tmp_path, *words, tmp_path)
        assert (done.code, done.out) == (0, "no documents: their names end in .oct.md or .octave\n")
    assert json.loads(doc(tmp_path, "fmt", "--check", tmp_path, "--json").out)["files"] == []


def test_a_check_shows_what_would_change_if_that_is_asked_for_too(tmp_path: Path, folder: Path) -> None:
    shown = doc(tmp_path, "fmt", folder, "--check", "--diff")
    assert shown.code == 1
    assert "NOT_CANONICAL" in shown.out
    assert "+FLOW::a→b" in shown.out
    assert (folder / "deep" / "loose.oct.md").read_text() == LOOSE


def test_a_repair_that_was_asked_for_and_not_made_is_not_offered_again(tmp_path: Path) -> None:
    bad = tmp_path / "bad.oct.md"
    bad.write_text("===D===\nA: b\nsome prose\n===END===\n")
    assert "--fix" in doc(tmp_path, "validate", bad).out
    done = doc(tmp_path, "validate", bad, "--fix")
    assert done.code == 1
    assert "W001 ': ' -> '::'" in done.out
    assert "--fix" not in done.out
    assert bad.read_text() == "===D===\nA: b\nsome prose\n===END===\n"


def test_a_document_of_the_office_is_formatted_through_it(tmp_path: Path) -> None:
    assert doc(tmp_path, "write", "plan.oct.md", "--content", "-", input=PLAN).code == 0
    file = tmp_path / "office" / "documents" / "main" / "plan.oct.md"
    file.write_text(LOOSE)
    assert doc(tmp_path, "fmt", file).code == 0
    assert file.read_text() == CANONICAL
    log = json.loads(doc(tmp_path, "log", file, "--json").out)
    assert [one["kind"] for one in log["versions"]] == ["written", "found", "written"]


def test_bad_files_are_told_one_by_one_and_nothing_stops_the_rest(tmp_path: Path, folder: Path) -> None:
    (folder / "binary.oct.md").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(folder / "pipe.oct.md")
    (folder / "link.oct.md").symlink_to(tmp_path / "nowhere")
    with (folder / "huge.oct.md").open("wb") as huge:
        huge.truncate(100 * 1024 * 1024)
    done = doc(tmp_path, "validate", folder, "--json")
    assert done.code == 1
    codes = {
        Path(one["path"]).name: [error["code"] for error in one["errors"]] for one in json.loads(done.out)["files"]
    }
    assert codes == {
        "good.oct.md": [],
        "loose.oct.md": [],
        "binary.oct.md": ["E_ENCODING"],
        "pipe.oct.md": ["E_READ"],
        "link.oct.md": ["E_READ"],
        "huge.oct.md": ["E_TOO_LARGE"],
    }


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, folder: Path, unprivileged: Unprivileged) -> None:
    (folder / "deep").chmod(0o000)
    command = unprivileged.command([*COMMAND, "doc", "validate", str(folder), "--check"])
    import subprocess

    done = subprocess.run(command, capture_output=True, text=True, env=plain(), cwd=tmp_path)
    (folder / "deep").chmod(0o700)
    assert done.returncode == 1
    assert "E_READ" in done.stdout


def test_a_file_that_is_not_there_is_a_wrong_command(tmp_path: Path) -> None:
    assert doc(tmp_path, "validate", tmp_path / "none.oct.md").code == 2
    assert doc(tmp_path, "eject", tmp_path / "none.oct.md").code == 2


def test_a_document_is_shown_in_other_formats(tmp_path: Path, folder: Path) -> None:
    shown = run("doc", "eject", folder / "good.oct.md", "--format", "json")
    assert json.loads(shown.out)["SERVER"]["PORT"] == 5432
    part = run("doc", "eject", folder / "good.oct.md", "--mode", "executive")
    assert "SERVER" not in part.out
    assert "SERVER" in part.err
    assert "TYPE::SESSION_LOG" in run("doc", "eject", "--schema", "SESSION_LOG").out
    assert run("doc", "eject").code == 2
    assert run("doc", "eject", folder / "good.oct.md", "--format", "pdf").code == 2


def test_two_files_are_compared_by_what_they_say(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other.oct.md"
    other.write_text(CANONICAL)
    loose = folder / "deep" / "loose.oct.md"
    assert doc(tmp_path, "diff", loose, other).code == 0
    assert doc(tmp_path, "diff", loose).code == 1
    assert "-STATUS::DRAFT" in doc(tmp_path, "diff", folder / "good.oct.md", other).out


def test_a_document_is_written_changed_traced_and_taken_back(tmp_path: Path, folder: Path) -> None:
    made = doc(tmp_path, "write", "plan.oct.md", "--content", folder / "good.oct.md", "--schema", "META", "--json")
    assert (made.code, made.json["status"], made.json["validation_status"]) == (0, "success", "VALIDATED")
    changed = doc(
        tmp_path,
        *("write", "plan.oct.md", "--changes", '{"STATUS":"DONE"}', "--base-hash", digest(PLAN), "-m", "It is"),
    )
    assert changed.code == 0
    assert "+STATUS::DONE" in changed.out
    stale = doc(tmp_path, "write", "plan.oct.md", "--changes", '{"STATUS":"X"}', "--base-hash", digest(PLAN), "--json")
    assert (stale.code, stale.json["errors"][0]["code"]) == (2, "E_HASH")
    dry = doc(tmp_path, "write", "plan.oct.md", "--changes", '{"STATUS":"X"}', "--dry-run")
    assert dry.code == 0
    log = doc(tmp_path, "log", "plan.oct.md")
    assert "It is" in log.out
    blamed = doc(tmp_path, "blame", "plan.oct.md", "--field", "STATUS")
    assert len(blamed.out.splitlines()) == 1
    assert "STATUS::DONE" in blamed.out
    compared = doc(tmp_path, "diff", "plan.oct.md", "--old", "1", "--new", "2")
    assert compared.code == 1
    assert "+STATUS::DONE" in compared.out
    assert doc(tmp_path, "undo", "plan.oct.md").code == 0
    assert doc(tmp_path, "diff", "plan.oct.md", "--old", "1", "--new", "3").code == 0
    assert "back to 1" in doc(tmp_path, "log", "plan.oct.md").out
    assert (tmp_path / "office" / "documents" / "main" / "plan.oct.md").read_text() == PLAN
    assert doc(tmp_path, "undo", "plan.oct.md", "--version", "1").code == 0
    assert doc(tmp_path, "log", "none.oct.md").code == 2


def test_taking_the_only_version_back_asks_first(tmp_path: Path) -> None:
    doc(tmp_path, "write", "plan.oct.md", "--content", "-", input=PLAN)
    file = tmp_path / "office" / "documents" / "main" / "plan.oct.md"
    assert doc(tmp_path, "undo", "plan.oct.md").code == 3
    assert file.exists()
    assert doc(tmp_path, "undo", "plan.oct.md", "--yes").code == 0
    assert not file.exists()


def test_roots_are_named_on_the_command_line(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    done = doc(tmp_path, "write", root / "a.oct.md", "--content", "-", "--root", root, input=PLAN)
    assert done.code == 0
    assert (root / "a.oct.md").read_text() == PLAN
    assert doc(tmp_path, "write", "/etc/a.oct.md", "--content", "-", "--root", root, input=PLAN).code == 2


def test_schemas_are_listed_and_described(tmp_path: Path) -> None:
    assert "SESSION_LOG" in run("doc", "schemas").out
    assert json.loads(run("doc", "schemas", "META", "--json-schema").out)["properties"]["TYPE"]
    assert run("doc", "schemas", "META", "--grammar").out.startswith("root ::=")
    assert run("doc", "schemas", "NOTHING").code == 2


def test_schemas_of_the_office_are_used_without_naming_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "office" / "schemas"
    folder.mkdir(parents=True)
    (folder / "ticket.oct.md").write_text('===TICKET===\nFIELDS:\n  NAME::["fix it"∧REQ]\n===END===\n')
    (folder / "broken.oct.md").write_text("A::[\n")
    file = tmp_path / "a.oct.md"
    file.write_text("===A===\nTICKET:\n  SIZE::1\n===END===\n")
    assert "TICKET.NAME" in doc(tmp_path, "validate", file, "--schema", "TICKET").out
    assert "TYPE::TICKET" in doc(tmp_path, "eject", "--schema", "TICKET").out
    listed = doc(tmp_path, "schemas").out.splitlines()
    assert [line.split()[0] for line in listed if line.startswith(("TICKET", "BROKEN"))] == ["BROKEN", "TICKET"]
    assert not next(line for line in listed if line.startswith("BROKEN")).endswith(("-", "BROKEN"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "TICKET" not in doc(tmp_path, "schemas", "--schemas", elsewhere).out


def test_a_row_of_files_shows_how_far_it_is_on_a_terminal(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.oct.md").write_text(PLAN)
    terminal = Terminal("doc", "validate", tmp_path)
    terminal.until("30 documents")
    assert terminal.end() == 0
    assert "documents" in terminal.shown


def test_the_command_runs_as_a_process_without_making_an_office(tmp_path: Path, folder: Path) -> None:
    done = spawn("doc", "fmt", "--check", str(folder), cwd=tmp_path)
    assert done.returncode == 1
    assert "NOT_CANONICAL" in done.stdout
    assert not (tmp_path / "engross-data").exists()
