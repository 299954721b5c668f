"""Units that share a transaction: nobody can tell the difference."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import sleep
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.replies import Coded, Failed, Invalid, codes
from engross.store import Transaction, open_store
from engross.store.sqlite import SqliteStore
from tests.store.notes import INSERT, ROOMS, note, notes, rows, write_note
from tests.store.test_contract import together

IDS = "SELECT id FROM notes WHERE tenant = :tenant ORDER BY id"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = open_store(tmp_path / "office.db", ROOMS, unit_seconds=20)
    assert isinstance(store, SqliteStore)
    yield store
    store.close()


def at_once(store: SqliteStore, *works: Callable[[Transaction], Any]) -> list[Any]:
    """What units of one batch answer."""
    return asyncio.run(together(store, *works, gate=Event(), entered=Event()))


def seen(transaction: Transaction) -> list[str]:
    return [row["id"] for row in transaction.rows(IDS, {})]


def test_whoever_looks_sees_what_it_and_its_neighbours_added(store: SqliteStore) -> None:
    def look(transaction: Transaction) -> list[str]:
        write_note(transaction, "mine")
        return seen(transaction)

    assert at_once(store, note("a"), note("b"), look, note("c"))[2] == ["a", "b", "mine"]
    assert notes(store) == ["a", "b", "c", "mine"]


def test_a_change_finds_the_rows_that_were_added_before_it(store: SqliteStore) -> None:
    def change(transaction: Transaction) -> int:
        write_note(transaction, "b", number=1)
        changed = transaction.execute("UPDATE notes SET number = number + 1 WHERE tenant = :tenant", {})
        write_note(transaction, "c", number=1)
        return changed

    assert at_once(store, note("a", number=1), change)[1] == 2
    found = rows(store, "SELECT id, number FROM notes WHERE tenant = :tenant ORDER BY id")
    assert [tuple(row.values()) for row in found] == [("a", 2), ("b", 2), ("c", 1)]


@pytest.mark.parametrize("how", ["is refused", "takes them back"])
def test_a_unit_that_does_not_want_its_rows_any_more_has_the_batch_run_again_with_care(
    store: SqliteStore, how: str
) -> None:
    runs: dict[str, int] = {}

    def counted(name: str) -> Callable[[Transaction], int]:
        def work(transaction: Transaction) -> int:
            runs[name] = runs.get(name, 0) + 1
            return note(name)(transaction)

        return work

    def unwanted(transaction: Transaction) -> None:
        write_note(transaction, "unwanted")
        if how == "is refused":
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "note", "id": "x"})
        transaction.rewind()

    answers = at_once(store, counted("a"), unwanted, counted("b"))
    assert isinstance(answers[1], Invalid if how == "is refused" else type(None))
    assert runs == {"a": 2, "b": 1}, "before it, and after it"
    assert notes(store) == ["a", "b"]


def test_a_row_that_is_in_the_way_of_another_fails_its_own_unit_alone(store: SqliteStore) -> None:
    store.write("acme", note("there"))
    answers = at_once(store, note("a"), note("there"), note("b"))
    assert isinstance(answers[1], apsw.ConstraintError)
    assert [isinstance(answers[n], int) for n in (0, 2)] == [True, True]
    assert notes(store) == ["a", "b", "there"]


@pytest.mark.parametrize(
    "value", [pytest.param({}, id="no value"), pytest.param(2**64, id="too large"), pytest.param("\ud800", id="half")]
)
def test_a_value_that_cannot_be_written_fails_its_own_unit_alone(store: SqliteStore, value: object) -> None:
    def wrong(transaction: Transaction) -> None:
        transaction.execute(INSERT, {"id": "wrong", "body": value, "number": 0})

    answers = at_once(store, note("a"), wrong, note("b"))
    assert isinstance(answers[1], Exception)
    assert not isinstance(answers[1], Coded)
    assert notes(store) == ["a", "b"]


def test_a_unit_that_was_interrupted_adds_nothing_any_more_and_is_not_run_twice(tmp_path: Path) -> None:
    store = open_store(tmp_path / "office.db", ROOMS, unit_seconds=1)
    assert isinstance(store, SqliteStore)
    runs: list[int] = []

    def overstay(transaction: Transaction) -> None:
        runs.append(transaction.position)
        with suppress(apsw.InterruptError):
            for number in count():
                write_note(transaction, f"{number:05}")
                sleep(0.01)

    answers = at_once(store, note("before"), overstay, note("behind"))
    assert isinstance(answers[1], Failed)
    assert answers[1].code == codes.TIMEOUT
    assert len(runs) == 1, "its neighbours would wait for it once more"
    assert notes(store) == ["before", "behind"]
    store.close()


ID = st.sampled_from("abcde")
STEP = st.one_of(
    st.tuples(st.just("add"), ID, st.integers(0, 9)),
    st.tuples(st.just("change"), ID, st.integers(0, 9)),
    st.tuples(st.just("end"), ID),
    st.tuples(st.just("look")),
    st.tuples(st.just("back")),
    st.tuples(st.just("refuse")),
)


def carry_out(steps: list[tuple[Any, ...]]) -> Callable[[Transaction], Any]:
    """The work that these steps are."""

    def work(transaction: Transaction) -> list[Any]:
        told: list[Any] = []
        for kind, *about in steps:
            match kind:
                case "add":
                    write_note(transaction, about[0], number=about[1])
                case "change":
                    sql = "UPDATE notes SET number = :n WHERE tenant = :tenant AND id = :id"
                    told.append(transaction.execute(sql, {"id": about[0], "n": about[1]}))
                case "end":
                    sql = "DELETE FROM notes WHERE tenant = :tenant AND id = :id"
                    told.append(transaction.execute(sql, {"id": about[0]}))
                case "look":
                    told.append(transaction.rows("SELECT id, number FROM notes WHERE tenant = :tenant", {}))
                case "back":
                    transaction.rewind()
                    told.clear()
                case _:
                    raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "note", "id": "x"})
        return told

    return work


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(STEP, max_size=6), min_size=2, max_size=6))
def test_units_of_a_batch_end_as_if_they_had_come_one_by_one(units: list[list[tuple[Any, ...]]]) -> None:
    with TemporaryDirectory() as folder:
        batch, alone = (open_store(Path(folder) / f"{name}.db", ROOMS, unit_seconds=20) for name in "ab")
        assert isinstance(batch, SqliteStore)
        together_told = [_told(answer) for answer in at_once(batch, *map(carry_out, units))]
        alone_told = [_alone(alone, carry_out(steps)) for steps in units]
        everything = "SELECT id, number FROM notes WHERE tenant = :tenant ORDER BY id"
        assert rows(batch, everything) == rows(alone, everything)
        assert together_told == alone_told
        batch.close()
        alone.close()


def _alone(store: Any, work: Callable[[Transaction], Any]) -> Any:
    try:
        return store.write("acme", work, tentative=True)
    except Exception as error:
        return _told(error)


def _told(answer: Any) -> Any:
    return type(answer).__name__ if isinstance(answer, Exception) else answer
