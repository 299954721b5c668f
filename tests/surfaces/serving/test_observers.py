"""Those who watch calls: told of every end, and never in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from engross.calls import Caller, Principal
from engross.office import Office, Request, Settings
from engross.replies import Reply
from engross.surfaces.desk import Desk
from engross.surfaces.serving.metrics import Metrics
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


def test_who_watches_a_call_learns_its_reply(office: Office) -> None:
    seen: list[tuple[str, str]] = []

    def watch(request: Request) -> Callable[[Reply | None], None]:
        return lambda answer: seen.append((request.flow, answer.message_key if answer else ""))

    desk = Desk(office, observers=[watch, watch])
    asyncio.run(desk.call(CLARA, "shelf.add-book", {"title": "Dune"}, "rest"))
    assert seen == [("shelf.add-book", "CREATED")] * 2


def test_who_watches_a_call_that_is_given_up_learns_that_there_is_no_reply(office: Office, tmp_path: Path) -> None:
    seen: list[Reply | None] = []
    desk = Desk(office, observers=[lambda request: seen.append])
    asyncio.run(vanish(desk, tmp_path))
    assert seen == [None]


def broken(*_: object) -> None:
    raise RuntimeError("the watcher broke")


@pytest.mark.parametrize("watch", [broken, lambda request: broken], ids=["at the beginning", "at the end"])
def test_a_watcher_that_breaks_does_not_break_the_call(
    office: Office, watch: Callable[[Request], Callable[[Reply | None], None]]
) -> None:
    seen: list[Reply | None] = []
    desk = Desk(office, observers=[watch, lambda request: seen.append])
    answer = asyncio.run(desk.call(CLARA, "shelf.add-book", {"title": "Dune"}, "rest"))
    assert answer.message_key == "CREATED"
    assert seen == [answer]


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


def test_calls_that_were_given_up_are_counted_and_no_longer_under_way(office: Office, tmp_path: Path) -> None:
    metrics = Metrics(office)
    desk = Desk(office, observers=[metrics.observe])
    asyncio.run(vanish(desk, tmp_path))
    labels = {"flow": "rig.hold", "surface": "rest", "type": "", "code": "abandoned"}
    assert value(metrics.registry, "engross_calls_total", **labels) == 1
    assert value(metrics.registry, "engross_calls_in_flight") == 0


def test_two_offices_in_one_process_are_counted_apart(office: Office, tmp_path: Path) -> None:
    other = Office(Settings(data=tmp_path / "other"), [shelf()])
    first, second = Metrics(office), Metrics(other)
    desk = Desk(office, observers=[first.observe])
    asyncio.run(desk.call(CLARA, "shelf.list-books", {}, "rest"))
    labels = {"flow": "shelf.list-books", "surface": "rest", "type": "S", "code": "WA-READ-S-001"}
    assert value(first.registry, "engross_calls_total", **labels) == 1
    assert value(second.registry, "engross_calls_total", **labels) is None
    other.close()
