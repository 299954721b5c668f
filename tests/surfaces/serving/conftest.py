"""A served office that loses its patience soon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bed.served import Served

HASTY = {
    "head_seconds": 0.8,
    "body_seconds": 0.8,
    "reading_seconds": 0.8,
    "idle_seconds": 0.8,
    "lingering_seconds": 0.8,
    "most_head_bytes": 20_000,
}


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on SQLite whose limits are reached quickly. The tests of a module share it."""
    folder = tmp_path_factory.mktemp("hasty") / "office"
    with Served(folder, patience=HASTY, most_body_bytes=50_000, most_upload_bytes=200_000) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on SQLite, as it comes. The tests of a module share it."""
    with Served(tmp_path_factory.mktemp("plain") / "office") as running:
        yield running
