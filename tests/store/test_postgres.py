"""What only PostgreSQL can get wrong: row-level security, overlapping units, a server that goes away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import psycopg
import pytest

from engross.replies import Failed, Invalid, codes
from engross.store import RequeueError, Store, Transaction, open_store
from engross.store.postgres import PostgresStore
from tests.bed.postgres import PostgresServer
from tests.ledger.cards import Desk
from tests.store.notes import ALL, INSERT, ROOMS, note, notes, rows, watermark, write_note


@pytest.fixture
def store(postgres_dsn: str) -> Iterator[PostgresStore]:
    store = open_store(postgres_dsn, ROOMS, unit_seconds=10)
    assert isinstance(store, PostgresStore)
    yield store
    store.close()


def test_a_query_without_a_condition_sees_one_tenant(store: PostgresStore) -> None:
    store.write("acme", note("ours"))
    store.write("blue", note("theirs"))
    assert rows(store, ALL, "acme") == [{"tenant": "acme", "id": "ours"}]
    assert store.write("acme", lambda transaction: transaction.rows(ALL, {})) == [{"tenant": "acme", "id": "ours"}]


@pytest.mark.parametrize("statement", ["UPDATE notes SET body = 'x'", "DELETE FROM notes"])
def test_a_change_without_a_condition_touches_one_tenant(store: PostgresStore, statement: str) -> None:
    store.write("acme", note("ours"))
    store.write("blue", note("theirs", "as it was"))
    assert store.write("acme", lambda transaction: transaction.execute(statement, {})) == 1
    assert rows(store, "SELECT body FROM notes", "blue") == [{"body": "as it was"}]


def test_nobody_can_write_rows_of_another_tenant(store: PostgresStore) -> None:
    theirs = INSERT.replace(":tenant,", "'blue',")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        store.write("acme", lambda transaction: transaction.execute(theirs, {"id": "x", "body": "", "number": 0}))
    assert notes(store, "blue") == []


def test_a_connection_without_a_tenant_sees_nothing(store: PostgresStore, postgres_dsn: str) -> None:
    store.write("acme", note("ours"))
    with psycopg.connect(postgres_dsn) as connection:
        assert connection.execute(ALL).fetchall() == []


def test_the_watermark_does_not_pass_a_slow_unit_though_a_later_one_is_done(store: PostgresStore) -> None:
    entered, gate = Event(), Event()

    def slow(transaction: Transaction) -> int:
        write_note(transaction, "slow")
        entered.set()
        assert gate.wait(8)
        return transaction.position

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(store.write, "acme", slow)
        assert entered.wait(8)
        later = store.write("blue", note("later"))
        meanwhile = watermark(store, "blue")
        inside = store.write("blue", lambda transaction: transaction.watermark())
        gate.set()
        position = holding.result()
    assert position < later
    assert meanwhile < position
    assert inside < position
    assert watermark(store) >= later


def test_units_that_overlap_are_run_again_whole(store: PostgresStore) -> None:
    store.write("acme", note("counter", number=0))
    first_has_read, second_is_done = Event(), Event()
    runs = []

    def one_more(transaction: Transaction) -> None:
        (row,) = transaction.rows("SELECT number FROM notes WHERE tenant = :tenant", {})
        runs.append(row["number"])
        if len(runs) == 1:
            first_has_read.set()
            assert second_is_done.wait(8)
        transaction.execute("UPDATE notes SET number = :n WHERE tenant = :tenant", {"n": row["number"] + 1})

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(store.write, "acme", one_more)
        assert first_has_read.wait(8)
        store.write("acme", one_more)
        second_is_done.set()
        first.result()
    assert runs == [0, 0, 1], "the first one was overtaken, and read again"
    assert rows(store, "SELECT number FROM notes") == [{"number": 2}]


def test_a_duplicate_is_tried_a_few_times_and_then_given_up(store: PostgresStore) -> None:
    store.write("acme", note("one"))
    runs = []

    def again(transaction: Transaction) -> None:
        runs.append(transaction.position)
        write_note(transaction, "one")

    with pytest.raises(Failed) as raised:
        store.write("acme", again)
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert len(runs) == 4
    store.write("acme", note("two"))


def test_statements_in_one_trip_fail_as_the_first_of_them_does(store: PostgresStore) -> None:
    store.write("acme", note("one"))
    runs = []

    def in_one_trip(transaction: Transaction) -> None:
        runs.append(1)
        transaction.execute_all([(INSERT, {"id": name, "body": "", "number": 0}) for name in ("two", "one", "three")])

    with pytest.raises(Failed):
        store.write("acme", in_one_trip)
    assert len(runs) == 4, "a duplicate is recognised inside a trip, too"
    assert notes(store) == ["one"]


def holder(entered: Event, gate: Event) -> Callable[[Transaction], None]:
    def work(transaction: Transaction) -> None:
        assert transaction.claim("name")
        entered.set()
        assert gate.wait(8)

    return work


def claimer(refused: Event) -> Callable[[Transaction], str]:
    def work(transaction: Transaction) -> str:
        if not transaction.claim("name"):
            refused.set()
            raise RequeueError from Invalid(codes.REQUEST_IN_PROGRESS)
        return "mine"

    return work


def test_a_unit_whose_lock_is_taken_waits_for_it_in_the_queue(store: PostgresStore) -> None:
    entered, gate, refused = Event(), Event(), Event()
    with ThreadPoolExecutor(2) as pool:
        holding = pool.submit(store.write, "acme", holder(entered, gate))
        assert entered.wait(8)
        waiting = pool.submit(store.write, "acme", claimer(refused))
        assert refused.wait(8)
        gate.set()
        holding.result()
        assert waiting.result() == "mine"


def test_a_unit_whose_lock_stays_taken_says_what_it_waited_for(store: PostgresStore) -> None:
    entered, gate = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(store.write, "acme", holder(entered, gate))
        assert entered.wait(8)
        with pytest.raises(Invalid) as raised:
            store.write("acme", claimer(Event()))
        gate.set()
        holding.result()
    assert raised.value.code == codes.REQUEST_IN_PROGRESS


def test_locks_of_two_tenants_are_two_locks(store: PostgresStore) -> None:
    entered, gate = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(store.write, "acme", holder(entered, gate))
        assert entered.wait(8)
        assert store.write("blue", claimer(Event())) == "mine"
        gate.set()
        holding.result()


def cut_off(server: PostgresServer, transaction: Transaction) -> None:
    """End the session of a unit from outside, and wait until it is gone."""
    (row,) = transaction.rows("SELECT pg_backend_pid() AS pid", {})
    assert server.administer(f"SELECT pg_terminate_backend({row['pid']}, 8000)").fetchone() == (True,)


@pytest.mark.requirement("REL-04")
@pytest.mark.faults
def test_a_connection_that_breaks_in_a_unit_is_a_clean_failure(
    store: PostgresStore, postgres_server: PostgresServer
) -> None:
    def work(transaction: Transaction) -> None:
        write_note(transaction, "lost")
        cut_off(postgres_server, transaction)
        write_note(transaction, "never sent")

    with pytest.raises(Failed) as raised:
        store.write("acme", work)
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert not raised.value.data
    store.write("acme", note("after"))
    assert notes(store) == ["after"]


@pytest.mark.faults
def test_of_a_commit_that_nobody_confirmed_the_outcome_is_unknown(
    store: PostgresStore, postgres_server: PostgresServer
) -> None:
    def work(transaction: Transaction) -> None:
        write_note(transaction, "unsure")
        cut_off(postgres_server, transaction)

    with pytest.raises(Failed) as raised:
        store.write("acme", work)
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert raised.value.data == {"outcome": "unknown"}
    store.write("acme", note("after"))


@pytest.mark.faults
def test_a_connection_that_breaks_under_a_look_is_a_clean_failure(
    store: PostgresStore, postgres_server: PostgresServer
) -> None:
    with pytest.raises(Failed) as raised:
        store.read("acme", lambda reading: cut_off(postgres_server, reading))  # type: ignore[arg-type]
    assert raised.value.code == codes.STORE_UNAVAILABLE
    assert notes(store) == []


@pytest.mark.requirement("REL-04")
@pytest.mark.faults
def test_a_server_that_is_killed_comes_back_with_everything_it_confirmed(
    postgres_dsn: str, postgres_server: PostgresServer
) -> None:
    store = open_store(postgres_dsn, ROOMS, unit_seconds=2)
    store.write("acme", note("before"))

    def lose_the_server(transaction: Transaction) -> None:
        write_note(transaction, "lost")
        postgres_server.kill()
        write_note(transaction, "never sent")

    try:
        with pytest.raises(Failed) as raised:
            store.write("acme", lose_the_server)
        assert raised.value.code == codes.STORE_UNAVAILABLE
        failure = attempt(store)
        assert failure is not None
        assert failure.code == codes.STORE_UNAVAILABLE
    finally:
        postgres_server.start()
    while (failure := attempt(store)) is not None:
        assert failure.code == codes.STORE_UNAVAILABLE
    assert notes(store) == ["after", "before"]
    store.close()


def attempt(store: Store) -> Failed | None:
    """Write a note; the failure, if it is one. A server on its way up may take several."""
    try:
        store.write("acme", note("after"))
    except Failed as failure:
        return failure
    return None


def test_a_server_that_is_not_there_is_a_clean_failure() -> None:
    with pytest.raises(Failed) as raised:
        open_store("postgresql:///nowhere?host=/nonexistent", ROOMS, unit_seconds=0.5)
    assert raised.value.code == codes.STORE_UNAVAILABLE


def test_a_database_that_was_moved_to_a_younger_server_goes_on_behind_its_ledger(
    postgres_dsn: str, postgres_server: PostgresServer
) -> None:
    desk = Desk(postgres_dsn)
    old = max(desk.write_card("one", 0, "first").position, desk.write_card("two", 0, "first", "blue").position)
    desk.close()
    with psycopg.connect(postgres_server.superuser_dsn(postgres_dsn)) as connection:
        # Transaction ids start over on another server; a lower shift looks the same from inside.
        connection.execute("UPDATE positions SET shift = shift - 1000000")
    desk = Desk(postgres_dsn)
    assert desk.write_card("one", 1, "second").position > old
    desk.close()


def test_opening_leaves_the_shift_alone_when_positions_go_on_anyway(
    postgres_dsn: str, postgres_server: PostgresServer
) -> None:
    for follows in range(2):
        desk = Desk(postgres_dsn)
        desk.write_card("one", follows, "title")
        desk.close()
    with psycopg.connect(postgres_server.superuser_dsn(postgres_dsn)) as connection:
        assert connection.execute("SELECT shift FROM positions").fetchall() == [(0,)]
