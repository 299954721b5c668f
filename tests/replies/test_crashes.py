"""Stacks go to disk under the trace id, for their owner's eyes only; callers see a clean E."""

from __future__ import annotations

import logging
import multiprocessing
import os
import stat
import threading
from pathlib import Path

import pytest

from engross.replies import configure_crash_log, crash_log, crashes, record_crash
from engross.replies.crashes import CrashLog, default_folder, redact

from .watching import crashes_in

TOKEN = f"egr_6d61696e_tok_0197fb2e-0000-7000-8000-000000000000_{'de' * 32}"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjbGFyYSJ9.hunter2"


@pytest.fixture(autouse=True)
def own_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(crashes, "_configured", None)
    configure_crash_log(tmp_path / "log")
    return tmp_path / "log"


def failure(text: str = "boom") -> ValueError:
    try:
        raise ValueError(text)
    except ValueError as raised:
        return raised


@pytest.mark.requirement("REP-05")
def test_a_stack_is_filed_under_its_trace_id(own_log: Path) -> None:
    record_crash("t" * 32, failure(), "getCard")
    (record,) = crashes_in(own_log)
    assert (record["trace_id"], record["tool"], record["error"]) == ("t" * 32, "getCard", "ValueError")
    assert "boom" in record["stack"]
    assert "test_crashes.py" in record["stack"]
    assert record["at"].endswith("+00:00")


@pytest.mark.requirement("REP-05")
def test_only_the_owner_may_read_it_even_if_it_was_open_before(own_log: Path) -> None:
    own_log.mkdir()
    (own_log / "crashes.jsonl").touch(mode=0o644)
    record_crash(None, failure())
    assert stat.S_IMODE((own_log / "crashes.jsonl").stat().st_mode) == 0o600
    configure_crash_log(own_log / "fresh")
    record_crash(None, failure())
    assert stat.S_IMODE((own_log / "fresh").stat().st_mode) == 0o700
    assert stat.S_IMODE((own_log / "fresh" / "crashes.jsonl").stat().st_mode) == 0o600


@pytest.mark.requirement("REP-05")
def test_the_log_is_turned_over_when_it_grows_too_long(own_log: Path) -> None:
    configure_crash_log(own_log, max_bytes=1, keep=2)
    for number in range(5):
        record_crash(str(number), failure())
    assert [record["trace_id"] for record in crashes_in(own_log)] == ["4"]
    assert sorted(path.name for path in own_log.iterdir()) == [
        "crashes.jsonl",
        "crashes.jsonl.1",
        "crashes.jsonl.2",
    ]
    assert '"2"' in (own_log / "crashes.jsonl.2").read_text()
    assert {stat.S_IMODE(path.stat().st_mode) for path in own_log.iterdir()} == {0o600}


def test_without_old_files_the_long_one_is_dropped(own_log: Path) -> None:
    configure_crash_log(own_log, max_bytes=1, keep=0)
    for number in range(3):
        record_crash(str(number), failure())
    assert [path.name for path in own_log.iterdir()] == ["crashes.jsonl"]
    assert [record["trace_id"] for record in crashes_in(own_log)] == ["2"]


def test_all_of_a_group_and_its_causes_are_filed(own_log: Path) -> None:
    group = ExceptionGroup("several", [failure("first"), failure("second")])
    group.__cause__ = failure("the cause")
    record_crash(None, group)
    stack = crashes_in(own_log)[0]["stack"]
    assert all(text in stack for text in ("first", "second", "the cause"))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ('{"api_key": "hunter2"}', "hunter2"),
        ("Authorization: hunter2", "hunter2"),
        ("Bearer abc.def-ghi", "abc.def-ghi"),
        ("postgresql://office:hunter2@db/x", "hunter2"),
        ("Authorization: Bearer hunter2", "hunter2"),
        ("{'authorization': 'Basic hunter2'}", "hunter2"),
        (f"GET /v1/{TOKEN}/x", "de" * 32),
        (f"{TOKEN[:60]}...", TOKEN[9:60]),
        (f"it said {JWT}, and left", "hunter2"),
        (f"{JWT[:-7]}...", "eyJzdWIi"),
    ],
)
def test_what_looks_like_a_secret_is_blacked_out(own_log: Path, text: str, secret: str) -> None:
    assert secret not in redact(text)
    record_crash(None, failure(text))
    record_crash(None, failure(), text)
    assert secret not in (own_log / "crashes.jsonl").read_text()


@pytest.mark.parametrize("text", ["egress_token_count", "integr_al", "eyJ", "/v1/shelf/add-book", "tok_1"])
def test_what_only_begins_like_a_secret_is_left(text: str) -> None:
    assert redact(text) == text


def test_whoever_prints_the_log_is_told_what_a_terminal_would_obey(own_log: Path) -> None:
    obeyed = "\x1b[2J\x9b31m\u202e"
    record_crash(None, failure(f"two\nlines{obeyed}"), f"GET /{obeyed}")
    (record,) = crashes_in(own_log)
    assert record["tool"] == r"GET /\x1b[2J\x9b31m\u202e"
    assert r"two\nlines\x1b[2J\x9b31m\u202e".replace(r"\n", "\n") in record["stack"]


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("raised", [Mute(), ValueError("\ud800"), ValueError("x" * 1_000_000)])
def test_every_exception_can_be_filed_and_none_fills_the_disk(own_log: Path, raised: Exception) -> None:
    record_crash("t", raised)
    (record,) = crashes_in(own_log)
    assert record["error"] == type(raised).__name__
    assert len(record["stack"]) < 70_000


def test_an_exception_whose_stack_cannot_be_shown_is_filed_by_its_name(
    own_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import traceback

    def broken(*args: object) -> list[str]:
        raise RecursionError

    monkeypatch.setattr(traceback, "format_exception", broken)
    record_crash("t", failure())
    assert crashes_in(own_log)[0]["error"] == "ValueError"


@pytest.mark.requirement("REP-05")
def test_a_disk_that_refuses_changes_nothing_for_the_caller(own_log: Path, caplog: pytest.LogCaptureFixture) -> None:
    own_log.write_text("a file where the folder should be")
    with caplog.at_level(logging.ERROR, "engross.crashes"):
        record_crash("t" * 32, failure("secret text"), "getCard")
    (line,) = caplog.records
    assert "t" * 32 in line.getMessage()
    assert "secret text" not in line.getMessage()


def test_even_a_broken_logger_changes_nothing(own_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_log.write_text("a file where the folder should be")

    def broken(*args: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(logging.getLogger("engross.crashes"), "error", broken)
    record_crash("t", failure())


def test_a_link_in_place_of_the_log_is_not_followed(own_log: Path, tmp_path: Path) -> None:
    own_log.mkdir()
    target = tmp_path / "elsewhere"
    target.write_text("")
    (own_log / "crashes.jsonl").symlink_to(target)
    record_crash(None, failure())
    assert target.read_text() == ""


def test_until_told_otherwise_it_lies_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashes, "_configured", None)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert crash_log().path == tmp_path / "engross" / "crashes.jsonl"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".local" / "state" / "engross"


def crash_often() -> None:
    for _ in range(20):
        record_crash("t", failure("y" * 500))


def test_threads_do_not_tear_each_others_lines(own_log: Path) -> None:
    configure_crash_log(own_log, max_bytes=20_000, keep=500)
    threads = [threading.Thread(target=crash_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lines_in(own_log) == 80


def write_some(folder: Path) -> None:
    log = CrashLog(folder, max_bytes=2_000, keep=500)
    for _ in range(30):
        log.write({"from": os.getpid(), "padding": "x" * 400})


def test_processes_share_a_log_and_lose_nothing_when_it_is_turned_over(own_log: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=write_some, args=(own_log,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert lines_in(own_log) == 60


def lines_in(folder: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in folder.iterdir())
