"""What both engines promise, whatever they are made of."""

from __future__ import annotations

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest

from engross.replies import Failed, Invalid, codes
from engross.store import (
    Insert,
    Reading,
    Store,
    TooLong,
    Transaction,
    intend,
    mark_effects,
    open_store,
    tenants_in_debt,
)
from tests.store.notes import ENDLESS, INSERT, ROOMS, note, notes, rows, watermark, write_note
from tests.store.writing_processes import start


class Refusal(Exception):
    """What a unit in these tests fails with."""


def refuse(transaction: Transaction) -> None:
    write_note(transaction, "refused")
    raise Refusal


async def turns() -> None:
    """Let everything that waits on this loop have its turn."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_what_was_acknowledged_is_there_after_the_process_is_killed(location: str | Path) -> None:
    open_store(location, ROOMS).close()
    with start("until-killed", str(location)) as writer:
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline().strip() for _ in range(8)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += writer.stdout.read().split()
    store = open_store(location, ROOMS)
    assert set(acknowledged) <= set(notes(store))
    store.close()


def test_a_unit_that_fails_keeps_nothing(store: Store) -> None:
    with pytest.raises(Refusal):
        store.write("acme", refuse)
    assert notes(store) == []


def test_a_unit_answers_with_what_its_work_returned(store: Store) -> None:
    assert store.write("acme", lambda transaction: "answer") == "answer"


def test_a_unit_sees_its_own_changes(store: Store) -> None:
    def work(transaction: Transaction) -> list[dict[str, object]]:
        write_note(transaction, "one", number=7)
        return transaction.rows("SELECT number FROM notes WHERE tenant = :tenant", {})

    assert store.write("acme", work) == [{"number": 7}]


def test_statements_count_the_rows_they_touch(store: Store) -> None:
    def work(transaction: Transaction) -> int:
        transaction.execute_all([(INSERT, {"id": str(n), "body": "", "number": n}) for n in range(5)])
        return transaction.execute("UPDATE notes SET body = '' WHERE tenant = :tenant AND number > 2", {})

    assert store.write("acme", work) == 2


def test_a_unit_may_write_thousands_of_rows_at_once(store: Store) -> None:
    statements = [(INSERT, {"id": f"{n:05}", "body": "", "number": n}) for n in range(20_500)]
    store.write("acme", lambda transaction: transaction.execute_all(statements))
    assert rows(store, "SELECT count(*) AS n FROM notes WHERE tenant = :tenant") == [{"n": 20_500}]


@pytest.mark.parametrize("count", [1, 21, 3_000])
def test_rows_are_inserted_between_other_statements(store: Store, count: int) -> None:
    columns = ("id", "body", "number")
    wide = [(f"{n:05}", f"it's {n} :tenant %", n) for n in range(count)]

    def work(transaction: Transaction) -> None:
        note = (INSERT, {"id": "first", "body": "", "number": 0})
        last = (INSERT, {"id": "last", "body": None, "number": 1})
        transaction.execute_all([note, Insert("notes", columns, wide), Insert("notes", columns, []), last])

    store.write("acme", work)
    assert notes(store) == [*(identifier for identifier, _, _ in wide), "first", "last"]
    found = rows(store, "SELECT id, body, number FROM notes WHERE tenant = :tenant AND id < 'f' ORDER BY id")
    assert [tuple(row.values()) for row in found] == wide
    assert notes(store, "blue") == []


def test_writing_nothing_at_once_is_nothing(store: Store) -> None:
    store.write("acme", lambda transaction: transaction.execute_all([]))
    assert notes(store) == []


def test_values_come_back_as_they_were_given(store: Store) -> None:
    given = {
        "id": "it's 100% :tenant ::text",
        "body": 'ünï\n"x"',
        "number": -(2**63),
        "bytes": bytes(range(256)),
    }
    store.write(
        "acme",
        lambda transaction: transaction.execute(
            "INSERT INTO notes (tenant, id, body, number, bytes) VALUES (:tenant, :id, :body, :number, :bytes)",
            dict(given),
        ),
    )
    (found,) = rows(store, "SELECT id, body, number, bytes FROM notes WHERE tenant = :tenant AND id LIKE '%'")
    assert found == given


async def together(store: Store, *works, gate: Event, entered: Event) -> list[object]:
    """Hand in units while another one holds the writer, so that SQLite takes them all in one batch."""

    def hold(transaction: Transaction) -> None:
        entered.set()
        assert gate.wait(15)

    holding = asyncio.ensure_future(store.awrite("acme", hold))
    await asyncio.get_running_loop().run_in_executor(None, entered.wait, 15)
    waiting = [asyncio.ensure_future(store.awrite("acme", work)) for work in works]
    await turns()
    gate.set()
    answers = await asyncio.gather(holding, *waiting, return_exceptions=True)
    return answers[1:]


def test_a_unit_that_fails_takes_nothing_of_its_neighbours_along(store: Store) -> None:
    works = [note("a"), refuse, note("b"), note("a"), note("c")]
    answers = asyncio.run(together(store, *works, gate=Event(), entered=Event()))
    assert notes(store) == ["a", "b", "c"]
    assert isinstance(answers[1], Refusal)
    assert [isinstance(answers[n], int) for n in (2, 4)] == [True, True]
    assert [type(answers[n]) for n in (0, 3)].count(int) == 1, "one of the two called `a` is one too many"


def test_a_refusal_of_the_domain_arrives_as_it_was_raised(store: Store) -> None:
    def work(transaction: Transaction) -> None:
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "note", "id": "x"})

    with pytest.raises(Invalid) as raised:
        store.write("acme", work)
    assert raised.value.__cause__ is None
    with pytest.raises(Invalid) as raised:
        store.read("acme", work)  # type: ignore[arg-type]
    assert raised.value.__cause__ is None


def test_callers_on_an_event_loop_are_answered_each_with_their_own(store: Store) -> None:
    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(store.awrite("acme", note(f"{n:03}")) for n in range(40)))

    positions = asyncio.run(all_at_once())
    assert len(set(positions)) == 40
    assert notes(store) == [f"{n:03}" for n in range(40)]


def test_the_loop_goes_on_while_a_unit_works(store: Store) -> None:
    gate = Event()

    def wait(transaction: Transaction) -> bool:
        return gate.wait(15)

    async def open_the_gate_from_the_loop() -> bool:
        waiting = asyncio.ensure_future(store.awrite("acme", wait))
        await turns()
        gate.set()
        return await waiting

    assert asyncio.run(open_the_gate_from_the_loop())


def test_a_caller_who_gives_up_breaks_nothing(store: Store) -> None:
    entered, gate = Event(), Event()

    def wait(transaction: Transaction) -> None:
        entered.set()
        gate.wait(15)

    async def give_up() -> None:
        waiting = asyncio.ensure_future(store.awrite("acme", wait))
        await asyncio.get_running_loop().run_in_executor(None, entered.wait, 15)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.set()
        await store.awrite("acme", note("after"))

    asyncio.run(give_up())
    assert notes(store) == ["after"]


def test_a_tenant_sees_and_touches_only_its_own_rows(store: Store) -> None:
    store.write("acme", note("same", "ours"))
    store.write("blue", note("same", "theirs"))
    store.write(
        "acme",
        lambda transaction: transaction.execute("UPDATE notes SET body = 'mine' WHERE tenant = :tenant", {}),
    )
    bodies = "SELECT body FROM notes WHERE tenant = :tenant"
    assert rows(store, bodies, "acme") == [{"body": "mine"}]
    assert rows(store, bodies, "blue") == [{"body": "theirs"}]


def test_nobody_can_name_another_tenant_in_a_parameter(store: Store) -> None:
    store.write("blue", note("theirs"))
    query = "SELECT id FROM notes WHERE tenant = :tenant"
    assert store.read("acme", lambda reading: reading.rows(query, {"tenant": "blue"})) == []


@pytest.mark.parametrize("name", ["", "../other", "a b", "a'b", "a;b", ".hidden", "x" * 129, "ä"])
def test_a_name_that_is_no_tenants_is_refused(store: Store, name: str) -> None:
    for attempt in (store.write, store.read, store.read_briefly):
        with pytest.raises((Failed, TooLong)) as raised:
            attempt(name, lambda _: None)
        if isinstance(raised.value, Failed):
            assert raised.value.code == codes.CONFIG_INVALID


def test_rewinding_takes_everything_back_and_the_unit_goes_on(store: Store) -> None:
    def work(transaction: Transaction) -> None:
        write_note(transaction, "before")
        transaction.rewind()
        assert transaction.rows("SELECT id FROM notes WHERE tenant = :tenant", {}) == []
        write_note(transaction, "after")
        transaction.rewind()
        write_note(transaction, "at last")

    store.write("acme", work)
    assert notes(store) == ["at last"]


def test_a_rewound_unit_still_belongs_to_its_tenant(store: Store) -> None:
    store.write("blue", note("theirs"))

    def work(transaction: Transaction) -> list[dict[str, object]]:
        transaction.rewind()
        write_note(transaction, "ours")
        return transaction.rows("SELECT id FROM notes WHERE tenant = :tenant", {})

    assert store.write("acme", work) == [{"id": "ours"}]


def test_positions_are_unique_and_grow_whoever_writes(store: Store) -> None:
    def write_some(writer: int) -> list[int]:
        return [store.write("acme", note(f"{writer}/{n}")) for n in range(6)]

    with ThreadPoolExecutor(5) as pool:
        taken = list(pool.map(write_some, range(5)))
    assert len({position for own in taken for position in own}) == 5 * 6
    assert all(earlier < later for own in taken for earlier, later in pairwise(own))


def test_the_watermark_reaches_every_finished_unit(store: Store) -> None:
    positions = [store.write("acme", note(str(n))) for n in range(5)]
    assert watermark(store) >= max(positions)


def test_the_watermark_of_a_unit_stays_below_its_own_position(store: Store) -> None:
    def work(transaction: Transaction) -> bool:
        write_note(transaction, "one")
        return transaction.watermark() < transaction.position

    assert store.write("acme", work)


def test_the_watermark_does_not_pass_a_unit_that_is_still_at_work(store: Store) -> None:
    entered, gate = Event(), Event()

    def slow(transaction: Transaction) -> int:
        write_note(transaction, "slow")
        entered.set()
        assert gate.wait(15)
        return transaction.position

    before = store.write("acme", note("before"))
    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(store.write, "acme", slow)
        assert entered.wait(15)
        meanwhile = watermark(store)
        gate.set()
        position = holding.result()
    assert before <= meanwhile < position <= watermark(store)


def test_a_reader_sees_one_moment_however_long_it_looks(store: Store) -> None:
    store.write("acme", note("one"))
    count = "SELECT count(*) AS n FROM notes WHERE tenant = :tenant"

    def look(reading: Reading) -> list[int]:
        first = reading.rows(count, {})[0]["n"]
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.write, "acme", note("two")).result()
        return [first, reading.rows(count, {})[0]["n"]]

    assert store.read("acme", look) == [1, 1]
    assert notes(store) == ["one", "two"]


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - each engine refuses in its own words
        rows(store, INSERT, id="x", body="", number=0)
    assert notes(store) == []


def test_a_brief_look_that_takes_long_says_so(store: Store) -> None:
    with pytest.raises(TooLong):
        store.read_briefly("acme", lambda reading: reading.rows(ENDLESS, {}))
    assert notes(store) == []


def test_a_look_that_never_ends_is_ended(hasty: Store) -> None:
    with pytest.raises(Failed) as raised:
        hasty.read("acme", lambda reading: reading.rows(ENDLESS, {}), timeout=0.2)
    assert raised.value.code == codes.TIMEOUT
    assert notes(hasty) == []


def test_counting_together_loses_no_count(store: Store) -> None:
    store.write("acme", note("counter", number=0))

    def one_more(transaction: Transaction) -> None:
        (row,) = transaction.rows("SELECT number FROM notes WHERE tenant = :tenant", {})
        transaction.execute("UPDATE notes SET number = :n WHERE tenant = :tenant", {"n": row["number"] + 1})

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(store.write, "acme", one_more) for _ in range(12)]:
            done.result()
    assert rows(store, "SELECT number FROM notes WHERE tenant = :tenant") == [{"number": 12}]


def hang(entered: Event, gate: Event):
    def work(transaction: Transaction) -> None:
        write_note(transaction, "hung")
        entered.set()
        gate.wait(50)
        write_note(transaction, "came back")

    return work


def test_a_unit_that_hangs_in_python_is_ended_and_the_store_goes_on(hasty: Store) -> None:
    gate = Event()
    try:
        with pytest.raises(Failed) as raised:
            hasty.write("acme", hang(Event(), gate))
        assert raised.value.code == codes.TIMEOUT
        hasty.write("acme", note("after"))
    finally:
        gate.set()
    assert notes(hasty) == ["after"]


def test_a_unit_that_hangs_in_sql_is_ended_and_the_store_goes_on(hasty: Store) -> None:
    def work(transaction: Transaction) -> None:
        write_note(transaction, "hung")
        transaction.rows(ENDLESS, {})

    with pytest.raises(Failed) as raised:
        hasty.write("acme", work)
    assert raised.value.code == codes.TIMEOUT
    hasty.write("acme", note("after"))
    assert notes(hasty) == ["after"]


def test_a_unit_that_never_stops_asking_is_ended(hasty: Store) -> None:
    stop = Event()

    def work(transaction: Transaction) -> None:
        while not stop.is_set():
            transaction.rows("SELECT id FROM notes WHERE tenant = :tenant", {})

    try:
        with pytest.raises(Failed) as raised:
            hasty.write("acme", work)
        assert raised.value.code == codes.TIMEOUT
        hasty.write("acme", note("after"))
    finally:
        stop.set()
    assert notes(hasty) == ["after"]


def test_many_units_that_hang_do_not_use_the_store_up(hasty: Store) -> None:
    gate = Event()
    try:
        with ThreadPoolExecutor(12) as pool:
            hanging = [pool.submit(hasty.write, "acme", hang(Event(), gate), timeout=2) for _ in range(12)]
            assert all(isinstance(one.exception(), Failed) for one in hanging)
        hasty.write("acme", note("after"))
    finally:
        gate.set()
    assert "after" in notes(hasty)
    assert "came back" not in notes(hasty)


def test_the_neighbours_of_a_unit_that_hangs_are_kept(hasty: Store) -> None:
    entered, gate, stuck = Event(), Event(), Event()
    works = [note("a"), hang(Event(), stuck), *(note(f"b{n}") for n in range(5))]
    try:
        answers = asyncio.run(together(hasty, *works, gate=gate, entered=entered))
    finally:
        stuck.set()
    assert notes(hasty) == ["a", *(f"b{n}" for n in range(5))]
    assert isinstance(answers[1], Failed)
    assert answers[1].code == codes.TIMEOUT
    assert all(isinstance(answer, int) for n, answer in enumerate(answers) if n != 1)


def test_closing_finishes_what_was_accepted(location: str | Path) -> None:
    store = open_store(location, ROOMS, unit_seconds=20)
    entered, gate = Event(), Event()

    def hold(transaction: Transaction) -> None:
        entered.set()
        assert gate.wait(15)

    async def close_meanwhile() -> None:
        loop = asyncio.get_running_loop()
        holding = asyncio.ensure_future(store.awrite("acme", hold))
        await loop.run_in_executor(None, entered.wait, 15)
        waiting = [asyncio.ensure_future(store.awrite("acme", note(str(n)))) for n in range(8)]
        await turns()
        closing = loop.run_in_executor(None, store.close)
        gate.set()
        await asyncio.gather(holding, *waiting, closing)

    asyncio.run(close_meanwhile())
    again = open_store(location, ROOMS)
    assert notes(again) == [str(n) for n in range(8)]
    again.close()


def test_closing_does_not_wait_for_ever_for_a_unit_that_hangs(location: str | Path) -> None:
    store = open_store(location, ROOMS, unit_seconds=1)
    entered, gate = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(store.write, "acme", hang(entered, gate))
        assert entered.wait(15)
        store.close()
        assert isinstance(hanging.exception(), Failed)
        gate.set()
    again = open_store(location, ROOMS)
    assert notes(again) == []
    again.close()


def test_a_closed_store_takes_nothing_in(location: str | Path) -> None:
    store = open_store(location, ROOMS)
    store.close()
    store.close()
    for attempt in (
        lambda: store.write("acme", note("late")),
        lambda: store.read("acme", lambda reading: None),
        lambda: asyncio.run(store.awrite("acme", note("late"))),
        store.tenants,
    ):
        with pytest.raises(Failed) as raised:
            attempt()
        assert raised.value.code == codes.STORE_UNAVAILABLE


def test_the_list_of_tenants_is_in_order(store: Store) -> None:
    for tenant in ("blue", "acme", "Zeta"):
        store.write(
            tenant,
            lambda transaction: transaction.execute("INSERT INTO tenants (tenant, since) VALUES (:tenant, '')", {}),
        )
    assert store.tenants() == ["Zeta", "acme", "blue"]


def test_tenants_are_told_apart_by_what_is_theirs(store: Store) -> None:
    def enter(transaction: Transaction) -> None:
        transaction.execute("INSERT INTO tenants (tenant, since) VALUES (:tenant, '')", {})

    for tenant in ("blue", "acme", "Zeta"):
        store.write(tenant, enter)
    assert tenants_in_debt(store, "publish") == []
    store.write("blue", lambda transaction: intend(transaction, "publish", "e1", {}))
    store.write("Zeta", lambda transaction: intend(transaction, "publish", "e1", {}))
    store.write("acme", lambda transaction: intend(transaction, "errand", "e1", {}))
    assert tenants_in_debt(store, "publish") == ["Zeta", "blue"]
    assert tenants_in_debt(store, "errand") == ["acme"]
    store.write("Zeta", lambda transaction: mark_effects(transaction, {"e1": "done"}))
    assert tenants_in_debt(store, "publish") == ["blue"]
    kinds = "SELECT kind FROM effects WHERE tenant = :tenant"
    assert store.read("acme", lambda reading: reading.rows(kinds, {})) == [{"kind": "errand"}]


@pytest.mark.requirement("REL-03")
@pytest.mark.faults
def test_two_processes_with_twenty_writers_each_lose_nothing(location: str | Path, full_length: bool) -> None:
    open_store(location, ROOMS).close()
    each = 50 if full_length else 3
    writers = [start("many-writers", str(location), str(each), who) for who in "ab"]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    store = open_store(location, ROOMS)
    found = rows(store, "SELECT id, number FROM notes WHERE tenant = :tenant")
    store.close()
    wanted = {f"{who}/{thread}/{n}" for who in "ab" for thread in range(20) for n in range(each)}
    assert {row["id"] for row in found} == wanted
    assert len({row["number"] for row in found}) == len(wanted), "no two units share a position"
