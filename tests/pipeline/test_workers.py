"""Threads that do other people's work: none of it can use them up, nor keep the process from ending."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest

from engross.pipeline import Workers
from engross.replies import Failed
from engross.store import Threads

PATIENCE = 20

# A hanging handler, then the end of the program. Arguments: which code hangs, data folder, store.
PROGRAM = """
import sys, threading
from engross.surfaces.client import connect
from tests.pipeline.board import Conduct, board

place, folder, store = sys.argv[1:]
conduct = Conduct()
setattr(conduct, place, lambda *_: threading.Event().wait())
with connect(folder, board(conduct), call_seconds=0.2, unit_seconds=0.2, store=store or None) as client:
    print((client.board.read_notes() if place == "read" else client.board.pin_note(text="a")).message_key)
"""


@pytest.fixture
def signal() -> Iterator[Event]:
    """Lets whatever hangs go on, at the latest when the test ends."""
    event = Event()
    yield event
    event.set()


def test_threads_start_when_there_is_work_and_no_more_than_allowed() -> None:
    threads = Threads(2, "few")
    started, go_on = [Event(), Event(), Event()], Event()

    def work(number: int) -> str:
        started[number].set()
        go_on.wait(PATIENCE)
        return current_thread().name

    futures = [threads.submit(partial(work, number)) for number in range(3)]
    assert started[0].wait(PATIENCE)
    assert started[1].wait(PATIENCE)
    assert not started[2].is_set()
    go_on.set()
    assert [future.result(PATIENCE) for future in futures] == ["few"] * 3
    threads.close()


def test_an_exception_is_the_callers_and_the_thread_goes_on() -> None:
    threads = Threads(1, "one")
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 / 0).result(PATIENCE)
    with pytest.raises(SystemExit):
        threads.submit(lambda: sys.exit(3)).result(PATIENCE)
    assert threads.submit(lambda: "still here").result(PATIENCE) == "still here"
    threads.close()


def test_work_that_is_left_to_itself_makes_room_for_what_waits_behind_it(signal: Event) -> None:
    threads = Threads(1, "one")
    seen: list[Thread] = []

    def hang() -> bool:
        seen.append(current_thread())
        return signal.wait(PATIENCE)

    hanging = threads.submit(hang)
    behind = threads.submit(current_thread)
    never = threads.submit(lambda: "never")
    threads.abandon(never)
    assert never.cancelled()
    threads.abandon(hanging)
    threads.abandon(hanging)
    assert behind.result(PATIENCE) is not seen[0]
    signal.set()
    assert hanging.result(PATIENCE) is True
    seen[0].join(PATIENCE)
    assert not seen[0].is_alive(), "its place is taken, so it ends when it comes back"
    assert threads.submit(current_thread).result(PATIENCE) is behind.result()
    threads.close()


def announced(begun: Event, signal: Event) -> Thread:
    begun.set()
    signal.wait(PATIENCE)
    return current_thread()


def test_closing_does_what_was_taken_or_drops_it_and_ends_the_threads(signal: Event) -> None:
    for dropping in (False, True):
        threads = Threads(1, "one")
        begun = Event()
        first = threads.submit(partial(announced, begun, signal))
        assert begun.wait(PATIENCE)
        second = threads.submit(current_thread)
        threads.close(dropping=dropping)
        with pytest.raises(RuntimeError):
            threads.submit(current_thread)
        if dropping:
            assert second.cancelled()
        signal.set()
        assert first.result(PATIENCE)
        if not dropping:
            second.result(PATIENCE).join(PATIENCE)
            assert not second.result().is_alive()
        signal.clear()


def test_workers_see_the_callers_context_variables_and_say_when_they_are_closed() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="nobody's")
    workers = Workers()
    token = variable.set("the caller's")
    assert workers.submit(variable.get).result(PATIENCE) == "the caller's"
    variable.reset(token)
    workers.close()
    with pytest.raises(Failed):
        workers.submit(variable.get)


@pytest.mark.parametrize("place", ["read", "prepare", "perform", "suggest"])
def test_a_process_ends_though_a_piece_of_code_hangs(
    place: str, tmp_path: Path, store_kind: str, request: pytest.FixtureRequest
) -> None:
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else ""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, place, str(tmp_path), store],
        env={"PYTHONPATH": f"{root / 'src'}:{root}", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ("CREATED" if place == "suggest" else "TIMEOUT")
