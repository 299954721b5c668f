"""The archive: on each engine in turn, or on SQLite alone where the store does not matter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engross.office import Settings
from engross.office.capabilities import catalogue_of
from tests.bed.offices import Offices
from tests.bed.refusals import Watch
from tests.documents.archive import Archive

FLOWS = {flow.ref: flow for flow in catalogue_of(Settings(data=Path("nowhere"), domains="documents"))}


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    """Whatever a test provokes, the flow that answers so says beforehand that it may."""
    with Watch({ref: flow for ref, flow in FLOWS.items() if ref.startswith("documents.")}) as watch:
        yield
    assert watch.unnamed == set(), "name these in `refuses`"


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
