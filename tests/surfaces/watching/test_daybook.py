"""The daybook: of every call that ended, and never in the way of one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from engross.calls import Caller, Principal
from engross.office import Office, Settings
from engross.replies import Reply
from engross.surfaces.desk import Desk
from engross.surfaces.serving.metrics import Metrics
from engross.surfaces.watching import Daybook, Ended
from tests.bed.offices import shelf
from tests.bed.rig import rig

CLARA = Caller("main", Principal("clara", "human", frozenset({"curator"})))


@pytest.fixture
def office(tmp_path: Path):
    made = Office(Settings(data=tmp_path / "office"), [shelf(), rig])
    yield made
    made.close()


async def vanish(desk: Desk, folder: Path) -> None:
    """Make a call, and do not wait for its end."""
    begun, until = folder / "begun", folder / "until"
    arguments = {"begun": str(begun), "until": str(until)}
    call = asyncio.create_task(desk.call(CLARA, "rig.hold", arguments, "rest"))
    while not begun.exists():
        await asyncio.sleep(0.001)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    until.touch()
    await asyncio.sleep(0)


async def calls(desk: Desk, *titles: str) -> list[Reply]:
    """Calls one after the other, until the loop had a turn to itself."""
    answers = [await desk.call(CLARA, "shelf.add-book", {"title": title}, "rest") for title in titles]
    await asyncio.sleep(0)
    return answers


def test_who_reads_the_daybook_learns_of_every_call_and_its_reply(office: Office) -> None:
    first: list[Ended] = []
    second: list[Ended] = []
    desk = Desk(office, daybook=Daybook([first.extend, second.extend]))
    begun = time.time_ns()
    answers = asyncio.run(calls(desk, "Dune", "Emma"))
    assert [(one.request.flow, one.request.arguments["title"], one.answer) for one in first] == [
        ("shelf.add-book", "Dune", answers[0]),
        ("shelf.add-book", "Emma", answers[1]),
    ]
    assert begun <= first[0].at <= first[1].at <= time.time_ns()
    assert second == first


def test_a_call_that_is_given_up_is_read_to_have_no_reply(office: Office, tmp_path: Path) -> None:
    seen: list[Ended] = []
    desk = Desk(office, daybook=Daybook([seen.extend]))
    asyncio.run(vanish(desk, tmp_path))
    assert [one.answer for one in seen] == [None]


def test_a_reader_that_breaks_breaks_neither_the_call_nor_another_reader(office: Office) -> None:
    def broken(ended: Iterable[Ended]) -> None:
        raise RuntimeError("the reader broke")

    seen: list[Ended] = []
    desk = Desk(office, daybook=Daybook([broken, seen.extend]))
    answers = asyncio.run(calls(desk, "Dune"))
    assert answers[0].message_key == "CREATED"
    assert [one.answer for one in seen] == answers


def test_a_reader_that_breaks_over_one_call_reads_those_behind_it(office: Office) -> None:
    seen: list[str] = []

    def choosy(ended: Iterable[Ended]) -> None:
        for one in ended:
            title = one.request.arguments["title"]
            if title == "Emma":
                raise ValueError("not that one")
            seen.append(title)

    desk = Desk(office, daybook=Daybook([choosy]))

    async def together() -> None:
        titles = ("Dune", "Emma", "Kim", "Emma", "Ulysses", "Emma")
        await asyncio.gather(*(desk.call(CLARA, "shelf.add-book", {"title": title}, "rest") for title in titles))
        await asyncio.sleep(0)

    asyncio.run(together())
    assert seen == ["Dune", "Kim", "Ulysses"]


def test_a_call_is_under_way_until_it_ends(office: Office, tmp_path: Path) -> None:
    desk = Desk(office)
    seen: list[int] = []

    async def look() -> None:
        call = asyncio.create_task(desk.call(CLARA, "shelf.add-book", {"title": "Dune"}, "rest"))
        await asyncio.sleep(0)
        seen.append(desk.daybook.under_way)
        await call
        seen.append(desk.daybook.under_way)

    asyncio.run(look())
    asyncio.run(vanish(desk, tmp_path))
    assert [*seen, desk.daybook.under_way] == [1, 0, 0]


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


def test_calls_that_were_given_up_are_counted_and_no_longer_under_way(office: Office, tmp_path: Path) -> None:
    desk = Desk(office)
    metrics = Metrics(office, desk.daybook)
    asyncio.run(vanish(desk, tmp_path))
    labels = {"flow": "rig.hold", "surface": "rest", "type": "", "code": "abandoned"}
    assert value(metrics.registry, "engross_calls_total", **labels) == 1
    assert value(metrics.registry, "engross_calls_in_flight") == 0


async def listed(desk: Desk) -> None:
    """One read, until the loop had a turn to itself."""
    await desk.call(CLARA, "shelf.list-books", {}, "rest")
    await asyncio.sleep(0)


def test_two_offices_in_one_process_are_counted_apart(office: Office, tmp_path: Path) -> None:
    other = Office(Settings(data=tmp_path / "other"), [shelf()])
    desk = Desk(office)
    first, second = Metrics(office, desk.daybook), Metrics(other, Daybook())
    asyncio.run(listed(desk))
    labels = {"flow": "shelf.list-books", "surface": "rest", "type": "S", "code": "WA-READ-S-001"}
    assert value(first.registry, "engross_calls_total", **labels) == 1
    assert value(second.registry, "engross_calls_total", **labels) is None
    other.close()
