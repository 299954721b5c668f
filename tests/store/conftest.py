"""A store with a table of notes, on each engine in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engross.store import open_store
from engross.store.postgres import PostgresStore
from engross.store.sqlite import SqliteStore
from tests.store.notes import ROOMS

AnyStore = SqliteStore | PostgresStore


@pytest.fixture
def location(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str | Path:
    """Where an empty store can be made."""
    if store_kind == "sqlite":
        return tmp_path / "office.db"
    dsn: str = request.getfixturevalue("postgres_dsn")
    return dsn


@pytest.fixture
def store(location: str | Path) -> Iterator[AnyStore]:
    """A running store with notes."""
    store = open_store(location, ROOMS, unit_seconds=20)
    yield store
    store.close()


@pytest.fixture
def hasty(location: str | Path) -> Iterator[AnyStore]:
    """The same with little patience for a unit that overstays."""
    store = open_store(location, ROOMS, unit_seconds=1)
    yield store
    store.close()
