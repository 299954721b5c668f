"""Offices with memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.offices import Offices
from tests.memory.kept import Library


@pytest.fixture
def library(offices: Offices) -> Library:
    """An office with memory, on each engine in turn."""
    return Library(offices)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Library]:
    """One on SQLite, for what does not depend on the engine."""
    offices = Offices(tmp_path / "office", None)
    yield Library(offices)
    offices.close()
