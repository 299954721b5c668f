"""Every test of the office watches what the office's own flows and those of the shelf answer with."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engross.flows import Flow
from engross.office import Settings
from engross.office.capabilities import catalogue_of
from tests.bed.offices import EXAMPLES
from tests.bed.refusals import Watch

SHELF = EXAMPLES / "04-the-whole.py"
BY_OPERATORS = {"CONFIRMATION_REQUIRED", "PEOPLE_ONLY", "MIGRATION_PENDING"}
"""What rules of an operator's own, or tables that may not be made, bring to any flow."""


@cache
def flows() -> dict[str, Flow]:
    """The flows of every office and of the whole example."""
    return {flow.ref: flow for flow in catalogue_of(Settings(data=Path("nowhere"), capabilities=(SHELF,)))}


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    """Whatever a test provokes, the flow that answers so says beforehand that it may."""
    with Watch(flows()) as watch:
        yield
    unnamed = {(flow, key) for flow, key in watch.unnamed if key not in BY_OPERATORS}
    assert unnamed == set(), "name these in `refuses`"
