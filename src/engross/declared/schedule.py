"""Which steps wait for which: found from what they refer to, once for each flow.

A step waits for the steps whose output it uses. One that may change something waits for all before it, and all behind
it wait for it: the order in which a document changes the world is the order in which it is written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .jsonpath import compiled
from .model import CallStep, LookupStep, Query, Step
from .resolution import names_in

if TYPE_CHECKING:
    import asyncio


class Schedule(NamedTuple):
    """Steps in order, and for each the places of those that it waits for."""

    steps: tuple[Step, ...]
    waits_for: tuple[frozenset[int], ...]
    uses: Mapping[str, frozenset[str]]
    """For each step those before it whose outputs it uses, or may use."""

    @property
    def in_a_row(self) -> bool:
        """Does each step wait for the one before it?"""
        return all(place - 1 in before for place, before in enumerate(self.waits_for) if place)


def scheduled(
    steps: Mapping[str, Step],
    changes: Callable[[Step], bool],
    also_uses: Callable[[CallStep], Iterable[str]],
) -> Schedule:
    """`changes`: may the step change anything? `also_uses`: names that the operation of a call takes by itself."""
    order = tuple(steps.values())
    places: dict[str, int] = {}
    waits: list[frozenset[int]] = []
    uses: dict[str, frozenset[str]] = {}
    barrier = -1
    for place, step in enumerate(order):
        used = _used(step, also_uses)
        if used is None or changes(step):
            before = set(range(max(barrier, 0), place))
        else:
            before = {places[name] for name in used if name in places}
        if barrier >= 0:
            before.add(barrier)
        waits.append(frozenset(before))
        uses[step.name] = frozenset(places if used is None else used & places.keys())
        places[step.name] = place
        if changes(step):
            barrier = place
    return Schedule(order, tuple(waits), uses)


async def carried_out(schedule: Schedule, run: Callable[[Step], Awaitable[None]], at_once: int) -> None:
    """Run all steps, each as soon as it can. The first that fails ends the others."""
    import asyncio

    if schedule.in_a_row:
        for step in schedule.steps:
            await run(step)
        return
    left = [len(before) for before in schedule.waits_for]
    behind = _behind(schedule.waits_for)
    ready = deque(place for place, count in enumerate(left) if not count)
    running: dict[asyncio.Task[None], int] = {}
    try:
        while ready or running:
            while ready and len(running) < at_once:
                place = ready.popleft()
                running[asyncio.ensure_future(_one(run, schedule.steps[place]))] = place
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            # In the order of the document, so that of two failures the same one is told every time.
            for task in sorted(done, key=running.__getitem__):
                task.result()
            for place in sorted(running.pop(task) for task in done):
                for later in behind[place]:
                    left[later] -= 1
                    if not left[later]:
                        ready.append(later)
    finally:
        await _ended(running)


async def _one(run: Callable[[Step], Awaitable[None]], step: Step) -> None:
    await run(step)


async def _ended(running: Iterable[asyncio.Task[None]]) -> None:
    import asyncio

    left = [task for task in running if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
    for task in running:
        if task.done() and not task.cancelled():
            task.exception()


def _behind(waits_for: Sequence[frozenset[int]]) -> list[list[int]]:
    behind: list[list[int]] = [[] for _ in waits_for]
    for place, before in enumerate(waits_for):
        for earlier in before:
            behind[earlier].append(place)
    return behind


def _used(step: Step, also_uses: Callable[[CallStep], Iterable[str]]) -> set[str] | None:
    """The names that a step uses; None when it may use any."""
    if isinstance(step, CallStep):
        used = {name for value in step.given.values() for name in names_in(value)}
        return used | (set(also_uses(step)) - step.given.keys())
    if isinstance(step, LookupStep):
        if not isinstance(step.value, Query):
            return {step.index, *names_in(step.value)}
        first = compiled(step.value.text).first
        return None if first is None else {step.index, first}
    return None
