"""The doctor: everything an office needs is looked at, nothing is changed, and what is wrong is said with a remedy."""

from __future__ import annotations

import os
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from engross.surfaces.client import connect
from tests.bed.offices import Offices, shelf
from tests.bed.unprivileged import Unprivileged
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import COMMAND, Done, Shell, plain, run, spawn

UNIT_SECONDS = 5.0
CHECKS = [
    *("python", "sqlite", "environment", "data folder", "disk", "key", "policies", "capabilities", "store", "tables"),
    *("facts", "seals", "clock", "tokens", "redis", "otlp", "port"),
]


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found: int = listening.getsockname()[1]
    return found


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """The folder of an office with a book in it."""
    folder = tmp_path / "office"
    with connect(folder, shelf()) as opened:
        assert opened.shelf.add_book(title="Dune").ok
    return folder


def examined(*words: object, **options: Any) -> tuple[Done, dict[str, str]]:
    done = run("doctor", "--json", *words, **options)
    return done, {check["check"]: check["status"] for check in done.json["checks"]}


@pytest.mark.requirement("ECO-03")
def test_a_sound_office_passes_every_check(shell: Shell, port: int) -> None:
    assert shell.run("shelf", "add-book", "--title", "Dune", "--json").code == 0
    assert shell.run("token", "create", "scout", "--to", shell.folder / "tokens.txt").code == 0
    done = shell.run("doctor", "--port", port, "--json")
    assert done.code == 0
    assert done.json["healthy"] is True
    assert {check["check"]: check["status"] for check in done.json["checks"]} == dict.fromkeys(CHECKS, "ok")
    text = shell.run("doctor", "--port", port).out
    assert text.count("\n") == len(CHECKS)
    assert "the newest one of every tenant holds" in text


@pytest.mark.requirement("ECO-03")
def test_before_there_is_an_office_nothing_fails_and_nothing_is_made(tmp_path: Path, port: int) -> None:
    done, checks = examined("--data", tmp_path / "nowhere", "--port", port)
    assert (done.code, checks["data folder"]) == (0, "warn")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("ECO-03")
def test_every_complaint_comes_with_a_remedy(office: Path) -> None:
    (office / "keys" / "office.key").chmod(0o644)
    office.chmod(0o755)
    done, checks = examined("--data", office)
    assert (done.code, checks["key"], checks["data folder"]) == (1, "fail", "warn")
    assert all(check["advice"] for check in done.json["checks"] if check["status"] != "ok")
    text = run("doctor", "--data", office)
    assert text.code == 1
    assert "chmod 600" in text.out


def broken_policy(office: Path) -> None:
    (office / "policies").mkdir()
    (office / "policies" / "mine.cedar").write_text("permit (everything)")


def broken_knob(office: Path) -> None:
    (office / "policies").mkdir()
    (office / "policies" / "knobs.toml").write_text("confirm_teir = 2")


def broken_capability(office: Path) -> None:
    (office / "capabilities").mkdir()
    (office / "capabilities" / "mine.py").write_text("import nothing_of_this_name")


def broken_key(office: Path) -> None:
    (office / "keys" / "office.key").write_bytes(b"short")


def lost_policies(office: Path) -> None:
    (office / "policies").symlink_to(office / "gone")


def lost_key(office: Path) -> None:
    (office / "keys" / "office.key").unlink()
    (office / "keys" / "office.key").symlink_to(office / "gone")


def lost_store(office: Path) -> None:
    (office / "office.db").unlink()
    (office / "office.db").symlink_to(office / "gone")


def lost_tokens(office: Path) -> None:
    (office / "tokens").symlink_to(office / "gone")


def other_key(office: Path) -> None:
    (office / "keys" / "office.key").write_bytes(os.urandom(32))


def changed_receipt(office: Path) -> None:
    store = apsw.Connection(str(office / "office.db"))
    store.execute("UPDATE receipts SET digest = replace(digest, substr(digest, 1, 4), 'beef')")
    store.close()


def lost_seal(office: Path) -> None:
    store = apsw.Connection(str(office / "office.db"))
    store.execute("UPDATE seals SET body = replace(body, '\"receipts\":1', '\"receipts\":2')")
    store.close()


def newer_store(office: Path) -> None:
    store = apsw.Connection(str(office / "office.db"))
    store.execute("INSERT INTO migrations SELECT room, 99, name, source, digest, applied_at FROM migrations LIMIT 1")
    store.close()


def no_database(office: Path) -> None:
    for file in office.glob("office.db*"):
        file.unlink()
    (office / "office.db").write_bytes(b"this is no database at all" * 100)


def open_token(office: Path) -> None:
    (office / "tokens").mkdir()
    (office / "tokens" / "owner.token").write_text("egr_x")
    (office / "tokens" / "owner.token").chmod(0o644)


BROKEN = {
    "policies": broken_policy,
    "policies ": broken_knob,
    "capabilities": broken_capability,
    "key": broken_key,
    "seals": other_key,
    "seals ": changed_receipt,
    "seals  ": lost_seal,
    "tables": newer_store,
    "store": no_database,
    "tokens": open_token,
    "policies  ": lost_policies,
    "key ": lost_key,
    "store ": lost_store,
    "tokens ": lost_tokens,
}


@pytest.mark.requirement("ECO-03")
@pytest.mark.parametrize(
    ("check", "harm"),
    [(name.strip(), harm) for name, harm in BROKEN.items()],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_what_is_broken_fails_and_the_rest_is_still_looked_at(office: Path, check: str, harm: Any) -> None:
    harm(office)
    done, checks = examined("--data", office)
    assert (done.code, done.json["healthy"], checks[check]) == (1, False, "fail")
    assert list(checks) == CHECKS
    assert checks["python"] == "ok"


@pytest.mark.requirement("ECO-03")
def test_steps_that_are_pending_are_a_warning_or_a_failure_as_the_settings_say(office: Path) -> None:
    _, checks = examined("--data", office, "--capability", SHELF)
    assert checks["tables"] == "ok"
    store = apsw.Connection(str(office / "office.db"))
    store.execute("DELETE FROM migrations WHERE room = 'shelf'")
    store.close()
    done, checks = examined("--data", office, "--capability", SHELF)
    assert (done.code, checks["tables"]) == (0, "warn")
    done, checks = examined("--data", office, "--capability", SHELF, env={"ENGROSS_MIGRATE": "no"})
    assert (done.code, checks["tables"]) == (1, "fail")


@pytest.mark.requirement("ECO-03")
def test_facts_of_an_aggregate_that_is_not_there_are_a_warning(shell: Shell, port: int) -> None:
    assert shell.run("shelf", "add-book", "--title", "Dune", "--json").code == 0
    done = run("doctor", "--port", port, "--json", *shell.here)
    (facts,) = (check for check in done.json["checks"] if check["check"] == "facts")
    assert (done.code, facts["status"]) == (0, "warn")
    assert "shelf" in facts["what"]
    assert "--capability" in facts["advice"]
    assert shell.run("memory", "ingest", SHELF, "--no-interpret").code == 0
    done = shell.run("doctor", "--port", port, "--json", env={"ENGROSS_DOMAINS": "documents"})
    (facts,) = (check for check in done.json["checks"] if check["check"] == "facts")
    assert (facts["status"], "memory" in facts["what"], "shelf" in facts["what"]) == ("warn", True, False)
    assert "ENGROSS_DOMAINS" in facts["advice"]


@pytest.mark.requirement("ECO-03")
def test_a_port_that_is_taken_and_a_redis_that_is_away_are_warnings(office: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        done, checks = examined("--data", office, "--port", number, env={"ENGROSS_REDIS": "redis://127.0.0.1:1"})
    assert (done.code, checks["port"], checks["redis"]) == (0, "warn", "warn")


@pytest.mark.requirement("ECO-03")
def test_a_redis_that_answers_is_fine(office: Path, redis_url: str) -> None:
    assert examined("--data", office, env={"ENGROSS_REDIS": redis_url})[1]["redis"] == "ok"


@pytest.mark.requirement("ECO-03")
def test_a_server_that_is_away_fails(tmp_path: Path) -> None:
    done, checks = examined("--data", tmp_path / "office", "--store", "postgresql://nobody@127.0.0.1:1/none")
    assert (done.code, checks["store"], checks["tables"]) == (1, "fail", "fail")


@pytest.mark.requirement("ECO-03")
def test_a_server_that_is_away_is_waited_for_and_told_once(tmp_path: Path) -> None:
    began = time.monotonic()
    done = spawn("doctor", "--data", tmp_path / "office", "--store", "postgres://me:secret@127.0.0.1:1/x")
    assert (done.returncode, done.stderr) == (1, "")
    assert time.monotonic() - began < 2 * UNIT_SECONDS
    assert done.stdout.count("STORE_UNAVAILABLE") == 1
    assert "ENGROSS_STORE" in done.stdout
    assert "secret" not in done.stdout
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line.startswith("fail")}
    assert list(lines) == ["store", "tables", "facts", "seals", "clock"]
    assert all("what store found" in line for name, line in lines.items() if name != "store")


@pytest.mark.requirement("ECO-03")
def test_one_wrong_knob_is_told_once_and_in_words(office: Path) -> None:
    broken_knob(office)
    told = run("doctor", "--data", office).out
    assert told.count("CONFIG_INVALID") == 1
    assert "did you mean: confirm_tier" in told
    assert str(office / "policies" / "knobs.toml") in told
    assert "{" not in told
    failing = [line.split()[1] for line in told.splitlines() if line.startswith("fail")]
    assert failing[0] == "policies"
    assert told.count("what policies found") == len(failing) - 1 > 0


@pytest.mark.requirement("ECO-03")
def test_a_clock_behind_the_last_commit_is_a_warning(offices: Offices) -> None:
    offices.clock.moment = datetime.now(UTC) + timedelta(days=2)
    client = offices.open()
    assert client.shelf.add_book(title="From the future").ok
    client.close()
    where = ["--data", offices.folder, *(["--store", offices.store] if offices.store else [])]
    assert examined(*where)[1]["clock"] == "warn"


@pytest.mark.requirement("ECO-03")
def test_a_folder_that_cannot_be_written_fails(office: Path, unprivileged: Unprivileged) -> None:
    import subprocess

    office.chmod(0o500)
    try:
        command = unprivileged.command([*COMMAND, "doctor", "--data", str(office), "--json"])
        done = subprocess.run(command, capture_output=True, text=True, env=plain(), check=False)
    finally:
        office.chmod(0o700)
    answer = Done(done.returncode, done.stdout, done.stderr)
    assert answer.code == 1
    assert {"check": "data folder", "status": "fail"}.items() <= answer.json["checks"][3].items()


@pytest.mark.requirement("ECO-03")
def test_an_issuer_that_makes_no_sense_or_is_away_fails(office: Path) -> None:
    for settings in (
        {"ENGROSS_AUDIENCE": "x"},
        {"ENGROSS_ISSUER": "https://login.example.org"},
        {"ENGROSS_ISSUER": "http://127.0.0.1:1", "ENGROSS_AUDIENCE": "x"},
    ):
        done, checks = examined("--data", office, env=settings)
        assert done.code == 1
        assert [name for name, status in checks.items() if status == "fail"] == ["tokens"], settings


@pytest.mark.requirement("ECO-03")
def test_looking_changes_nothing(office: Path) -> None:
    before = {path: path.read_bytes() for path in office.rglob("*") if path.is_file() and "-shm" not in path.name}
    assert run("doctor", "--data", office).code == 0
    after = {path: path.read_bytes() for path in office.rglob("*") if path.is_file() and "-shm" not in path.name}
    assert {path.name for path in before} <= {path.name for path in after}
    assert after[office / "office.db"] == before[office / "office.db"]


def test_a_setting_that_is_none_is_an_error(office: Path) -> None:
    done = run("doctor", "--data", office, "--json", env={"ENGROSS_CALL_SECONDS": "soon"})
    assert (done.code, done.key) == (4, "CONFIG_INVALID")


def test_variables_that_are_no_settings_are_named(office: Path) -> None:
    done = run("doctor", "--data", office, "--json", env={"ENGROSS_SERVICE_HOST": "10.0.0.1", "ENGROSS_TOKEN": "egr_x"})
    (found,) = [check for check in done.json["checks"] if check["check"] == "environment"]
    assert (done.code, found["status"]) == (0, "warn")
    assert "ENGROSS_SERVICE_HOST" in found["what"]
    assert "ENGROSS_TOKEN" not in found["what"]
