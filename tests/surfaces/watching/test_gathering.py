"""What is put together in a turn of the loop is handed on together, and nothing stays behind."""

from __future__ import annotations

import asyncio

from engross.surfaces.watching.gathering import Gathering


def test_where_no_loop_runs_each_thing_is_handed_on_at_once() -> None:
    seen: list[list[int]] = []
    gathering: Gathering[int] = Gathering(seen.append)
    for number in range(3):
        gathering.put(number)
    assert seen == [[0], [1], [2]]


def test_things_of_one_turn_are_handed_on_together_and_in_their_order() -> None:
    seen: list[list[int]] = []
    gathering: Gathering[int] = Gathering(seen.append)

    async def turns() -> None:
        for first in (0, 10):
            for number in range(first, first + 3):
                gathering.put(number)
            assert first not in [number for numbers in seen for number in numbers]
            await asyncio.sleep(0)

    asyncio.run(turns())
    assert seen == [[0, 1, 2], [10, 11, 12]]


def test_what_a_loop_left_behind_goes_along_with_what_comes_next() -> None:
    seen: list[list[int]] = []
    gathering: Gathering[int] = Gathering(seen.append)
    loop = asyncio.new_event_loop()

    async def put() -> None:
        loop.stop()
        gathering.put(1)

    task = loop.create_task(put())
    loop.run_forever()
    assert task.done()
    loop.close()
    gathering.put(2)
    assert seen == [[1, 2]]


def test_what_no_loop_gets_to_any_more_is_handed_on_at_the_end() -> None:
    seen: list[list[int]] = []
    gathering: Gathering[int] = Gathering(seen.append)
    loop = asyncio.new_event_loop()

    async def put() -> None:
        loop.stop()
        gathering.put(1)

    task = loop.create_task(put())
    loop.run_forever()
    assert task.done()
    loop.close()
    gathering.flush()
    assert seen == [[1]]


class Last:
    """Something that puts one thing more when nobody holds it any longer."""

    def __init__(self, gathering: Gathering[object]) -> None:
        self._gathering = gathering

    def __del__(self) -> None:
        self._gathering.put("last")


def test_what_is_put_while_its_thread_puts_something_else_is_handed_on_too() -> None:
    seen: list[object] = []
    gathering: Gathering[object] = Gathering(seen.extend)

    class Loud(list[object]):
        def append(self, thing: object) -> None:
            if thing == "first":
                Last(gathering)
            super().append(thing)

    gathering._things = Loud()

    async def put() -> None:
        gathering.put("first")
        await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(put(), 10))
    assert seen == ["last", "first"]
