"""What is put together in a turn of the loop is handed on together, and nothing stays behind."""

from __future__ import annotations

import asyncio

from engross.surfaces.gathering import Gathering


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
