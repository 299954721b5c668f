"""The studio, on each engine in turn; and one that several tests of a module share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.studio import FLOWS, Studio
from tests.bed.offices import Offices
from tests.bed.refusals import Watch


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    """Whatever a test provokes, the flow that answers so says beforehand that it may."""
    with Watch(FLOWS) as watch:
        yield
    assert watch.unnamed == set(), "name these in `refuses`"


@pytest.fixture
def studio(offices: Offices) -> Studio:
    """An office with the architecture domain."""
    return Studio(offices)


@pytest.fixture(scope="module")
def shared_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """An office that keeps what the tests of a module leave in it."""
    offices = Offices(Path(tmp_path_factory.mktemp("office")) / "data", None)
    studio = Studio(offices)
    studio.relate("Flow", studio.element("Orders"), studio.element("Billing"))
    yield studio
    offices.close()
