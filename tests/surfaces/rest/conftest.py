"""An office that is served over REST: on both engines, or on SQLite alone where the store does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from engross.office import Office, Settings
from tests.bed.offices import shelf
from tests.surfaces.rest.house import House, serving

TENANTS = (f"t{number}" for number in count(1))


@pytest.fixture(scope="module")
def street(module_store: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A served office with the shelf, on each engine in turn, that the tests of a module share."""
    office = Office(Settings(domains="", data=tmp_path_factory.mktemp("street"), store=module_store), [shelf()])
    try:
        with serving(office) as served:
            yield served
    finally:
        office.close()


@pytest.fixture
def house(street: House) -> Iterator[House]:
    """The office, for a tenant of the test's own."""
    mine = street.next_door(next(TENANTS))
    yield mine
    mine.close()


@pytest.fixture(scope="module")
def cottage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A served office on SQLite that the tests of a module share; it is in a hurry and takes little."""
    settings = Settings(
        domains="",
        data=tmp_path_factory.mktemp("cottage"),
        most_body_bytes=100_000,
        most_upload_bytes=3_000_000,
        body_seconds=0.5,
    )
    office = Office(settings, [shelf()])
    try:
        with serving(office) as served:
            yield served
    finally:
        office.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder of a test's own."""
    return tmp_path / "office"
