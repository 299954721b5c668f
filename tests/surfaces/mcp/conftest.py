"""Offices and eras for the tests of MCP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.surfaces.mcp.house import ERAS
from tests.surfaces.mcp.talkative import talkative


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Each era of the protocol in turn."""
    revision: str = request.param
    return revision


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Offices]:
    """Opens offices on one SQLite store."""
    made = Offices(tmp_path / "office", None)
    yield made
    made.close()


@pytest.fixture
def clara(house: Offices) -> Client:
    """The curator Clara, at an office with the shelf and flows that talk."""
    return house.open(shelf(), talkative())
