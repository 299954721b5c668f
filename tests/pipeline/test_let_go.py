"""Whatever a flow's code keeps, even what leads back to its own call, goes with the call."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakSet

import pytest
from typing_extensions import TypedDict

from engross.calls import Answer
from engross.flows import Aggregate
from engross.ledger import Fact, State, Unit
from tests.bed.offices import Offices


class Trouble(Exception):
    """Was caught, and leads through the frames of its traceback to everything that its call held."""


class Nothing(TypedDict):
    """No argument."""


def kept_in_the_arguments(unit: Unit, arguments: dict[str, Any], trouble: Trouble) -> Any:
    arguments["trouble"] = trouble
    return {}


def told_in_a_mapping(unit: Unit, arguments: dict[str, Any], trouble: Trouble) -> Any:
    return {"trouble": trouble}


def told_in_an_answer(unit: Unit, arguments: dict[str, Any], trouble: Trouble) -> Any:
    return Answer({}, receipt={"trouble": trouble})


def stated_in_a_fact(unit: Unit, arguments: dict[str, Any], trouble: Trouble) -> Any:
    unit.append("Troubled", unit.new_id(), 0, {"trouble": trouble})


def shown_as_what_was_before(unit: Unit, arguments: dict[str, Any], trouble: Trouble) -> Any:
    unit.append("Troubled", unit.new_id(), 0, {}, before={"trouble": trouble})
    return {}


WAYS: list[Callable[[Unit, dict[str, Any], Trouble], Any]] = [
    kept_in_the_arguments,
    told_in_a_mapping,
    told_in_an_answer,
    stated_in_a_fact,
    shown_as_what_was_before,
]


@pytest.mark.parametrize("keep", WAYS)
def test_an_exception_that_a_flow_caught_and_kept_is_let_go_with_the_call(
    offices: Offices, keep: Callable[[Unit, dict[str, Any], Trouble], Any]
) -> None:
    alive: WeakSet[Trouble] = WeakSet()
    house = Aggregate("house", "A house full of trouble")

    @house.applies("Troubled")
    def troubled(state: State, fact: Fact) -> None:
        pass

    @house.record(effect="create", posture="direct")
    def keep_trouble(unit: Unit, arguments: Nothing) -> Any:
        """Keep what was caught."""
        try:
            raise Trouble
        except Trouble as caught:
            trouble = caught
        alive.add(trouble)
        return keep(unit, cast("dict[str, Any]", arguments), trouble)

    office = offices.open(house)
    for _ in range(5):
        office.house.keep_trouble()
    gc.collect()
    # The last call may still be in a frame of a thread that waits for the next one.
    assert len(alive) <= 1
