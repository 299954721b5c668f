"""Offices with memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.bed.offices import Offices
from tests.bed.refusals import Watch
from tests.memory.kept import Library, memory_at

TENANTS = count()
FLOWS = {flow.ref: flow for flow in memory_at(Path("nowhere")).flows.values()}


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    """Whatever a test provokes, the flow that answers so says beforehand that it may."""
    with Watch(FLOWS) as watch:
        yield
    assert watch.unnamed == set(), "name these in `refuses`"


@pytest.fixture
def library(offices: Offices) -> Library:
    """An office with memory, on each engine in turn."""
    return Library(offices)


@pytest.fixture(scope="module")
def shared_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """One on SQLite that the tests of a module share."""
    offices = Offices(tmp_path_factory.mktemp("shared") / "office", None)
    yield Library(offices)
    offices.close()


@pytest.fixture
def quick(shared_library: Library) -> Library:
    """A tenant of its own there: for tests that neither move the clock nor choose ways."""
    return shared_library.at(f"t{next(TENANTS)}")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Library]:
    """One on SQLite, for what does not depend on the engine."""
    offices = Offices(tmp_path / "office", None)
    yield Library(offices)
    offices.close()
