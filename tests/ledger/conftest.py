"""A desk that commits facts about cards, on each engine in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.cards import Desk


@pytest.fixture
def location(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str | Path:
    """Where an empty store can be made."""
    if store_kind == "sqlite":
        return tmp_path / "office.db"
    dsn: str = request.getfixturevalue("postgres_dsn")
    return dsn


@pytest.fixture
def desk(location: str | Path) -> Iterator[Desk]:
    """A desk with nothing on it."""
    desk = Desk(location, unit_seconds=20)
    yield desk
    desk.close()
