"""Many callers at once, in two processes on one store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.faults.audit import audit
from tests.faults.crowd import run_together
from tests.faults.nursery import Nursery
from tests.faults.writer import Orders, Task, open_office

pytestmark = pytest.mark.faults
CALLERS = 50
WRITERS = 20


@pytest.fixture
def place(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str | None, str]:
    """A fresh store on each engine in turn: data folder, address, pages."""
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else None
    return str(tmp_path / "office"), store, str(tmp_path / "pages")


@pytest.fixture
def repetitions(full_length: bool) -> int:
    """How often a race is run."""
    return 50 if full_length else 2


def add_book(key: str, title: str) -> Task:
    return Task(key, "shelf.add-book", {"title": title})


@pytest.mark.timeout(1800)
@pytest.mark.requirement("REL-02")
def test_a_hundred_callers_with_one_key_in_two_processes_make_one_commit(
    place: tuple[str, str | None, str], tmp_path: Path, nursery: Nursery, repetitions: int
) -> None:
    for number in range(repetitions):
        key = f"one-key-{number}"
        orders = Orders(*place, [add_book(key, f"Dune {number}")] * CALLERS, CALLERS // 2, CALLERS // 2)
        first, second = run_together(nursery, tmp_path, [orders, orders])
        answers = [*first, *second]
        assert len(answers) == 2 * CALLERS
        assert {answer["code"] for answer in answers} <= {"CREATED", "REQUEST_IN_PROGRESS"}
        told = [answer for answer in answers if answer["type"] == "S"]
        assert len({answer["digest"] for answer in told}) == 1
        assert [answer["replay"] for answer in told].count(False) == 1
    with open_office(*place) as client:
        books = audit(client)
        assert len(books.facts) == repetitions


@pytest.mark.timeout(1800)
@pytest.mark.requirement("REL-02")
def test_of_two_payloads_under_one_key_one_is_committed_and_the_other_refused(
    place: tuple[str, str | None, str], tmp_path: Path, nursery: Nursery, repetitions: int
) -> None:
    for number in range(repetitions):
        key = f"one-key-{number}"
        crowd = [
            Orders(*place, [add_book(key, title)] * CALLERS, CALLERS // 2, CALLERS // 2)
            for title in (f"Dune {number}", f"Emma {number}")
        ]
        answers = [answer for process in run_together(nursery, tmp_path, crowd) for answer in process]
        codes = Counter(answer["code"] for answer in answers)
        assert codes.keys() <= {"CREATED", "IDEMPOTENCY_KEY_REUSED", "REQUEST_IN_PROGRESS"}
        told = [answer for answer in answers if answer["type"] == "S"]
        assert len({answer["digest"] for answer in told}) == 1
        assert [answer["replay"] for answer in told].count(False) == 1
    with open_office(*place) as client:
        assert len(audit(client).facts) == repetitions


@pytest.mark.timeout(1800)
@pytest.mark.requirement("REL-03")
def test_two_processes_with_twenty_writers_each_keep_every_write(
    place: tuple[str, str | None, str], tmp_path: Path, nursery: Nursery, full_length: bool
) -> None:
    each = 2000 if full_length else 100
    tasks = [
        [add_book(f"process-{process}-{number}", f"Book {process} {number}") for number in range(each)]
        for process in range(2)
    ]
    crowd = [Orders(*place, own, threads=WRITERS, coroutines=0, attempts=10) for own in tasks]
    answers = [answer for process in run_together(nursery, tmp_path, crowd) for answer in process]
    assert Counter(answer["code"] for answer in answers) == {"CREATED": 2 * each}
    with open_office(*place, unit_seconds=600) as client:
        books = audit(client)
        assert books.keyed.keys() == {task.key for own in tasks for task in own}
        assert len(books.facts) == 2 * each


@pytest.mark.timeout(1800)
@pytest.mark.requirement("REL-03")
def test_writers_of_two_processes_that_change_one_thing_lose_no_change(
    place: tuple[str, str | None, str], tmp_path: Path, nursery: Nursery, full_length: bool
) -> None:
    with open_office(*place) as client:
        made = client.call("shelf.add-book", {"title": "Dune"})
        assert made.data is not None
        book = made.data["book"]["id"]
    each = 400 if full_length else 40
    tasks = [
        [
            Task(
                f"process-{process}-{number}",
                "shelf.change-book",
                {"id": book, "notes": f"{process} {number}"},
            )
            for number in range(each)
        ]
        for process in range(2)
    ]
    crowd = [Orders(*place, own, threads=WRITERS, coroutines=0, attempts=10) for own in tasks]
    answers = [answer for process in run_together(nursery, tmp_path, crowd) for answer in process]
    assert Counter(answer["code"] for answer in answers) == {"UPDATED": 2 * each}
    with open_office(*place, unit_seconds=600) as client:
        books = audit(client)
        assert [fact["version"] for fact in books.facts] == list(range(1, 2 * each + 2))
