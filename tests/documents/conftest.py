"""The archive: on each engine in turn, or on SQLite alone where the store does not matter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.offices import Offices
from tests.documents.archive import Archive


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Offices]:
    """Opens offices on one SQLite file."""
    offices = Offices(tmp_path / "office", None)
    yield offices
    offices.close()


@pytest.fixture
def archive(local: Offices) -> Archive:
    """An office with documents, on SQLite."""
    return Archive(local)


@pytest.fixture
def archives(offices: Offices) -> Archive:
    """An office with documents, on each engine in turn."""
    return Archive(offices)
