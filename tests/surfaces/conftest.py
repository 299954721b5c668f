"""Served offices for the tests of the surfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bed.receiver import Receiver
from tests.bed.served import Served

Serving = Callable[..., Served]


@pytest.fixture(scope="module")
def served(module_store: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served office with the shelf, on each engine in turn. The tests of a module share it."""
    with Served(tmp_path_factory.mktemp("served") / "office", module_store) as running:
        yield running


@pytest.fixture
def store(store_kind: str, request: pytest.FixtureRequest) -> str | None:
    """Where the rows are, on each engine in turn: nowhere in particular, or a fresh database."""
    return str(request.getfixturevalue("postgres_dsn")) if store_kind == "postgres" else None


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Starts servers for one test; all share one office unless a folder is given."""
    started: list[Served] = []

    def start(folder: Path | None = None, store: str | None = None, **options: Any) -> Served:
        made = Served(folder or tmp_path / "office", store, **options)
        started.append(made)
        return made

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of spans."""
    made = Receiver()
    yield made
    made.stop()
