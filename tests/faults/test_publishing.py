"""A file on disk is what was committed last, whatever happened on the way."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.audit import audit
from tests.faults.crash import COMMITTED, FIRST, POINTS, SECOND, UNCOMMITTED
from tests.faults.nursery import Nursery
from tests.faults.writer import open_office

Crash = Callable[[str], None]
pytestmark = [pytest.mark.faults, pytest.mark.requirement("REL-04")]


@pytest.fixture
def crash(tmp_path: Path, nursery: Nursery) -> Crash:
    """Prints a page twice in another process, which ends in the middle of the second time."""

    def ends(point: str) -> None:
        assert nursery.start("tests.faults.crash", str(tmp_path), point).wait() == 9

    return ends


@pytest.mark.parametrize("point", COMMITTED)
def test_after_a_crash_behind_the_commit_the_next_opening_publishes(tmp_path: Path, crash: Crash, point: str) -> None:
    crash(point)
    with open_office(tmp_path / "office", None, tmp_path / "pages") as client:
        assert (tmp_path / "pages" / "cover").read_text() == SECOND["text"]
        again = client.call("press.print-page", SECOND)
        assert again.data is not None
        assert again.data["idempotent_replay"] is True
        assert len(audit(client, tmp_path / "pages").facts) == 2


@pytest.mark.parametrize("point", UNCOMMITTED)
def test_after_a_crash_before_the_commit_nothing_happened(tmp_path: Path, crash: Crash, point: str) -> None:
    crash(point)
    with open_office(tmp_path / "office", None, tmp_path / "pages") as client:
        assert (tmp_path / "pages" / "cover").read_text() == FIRST["text"]
        assert len(audit(client, tmp_path / "pages").facts) == 1
        again = client.call("press.print-page", SECOND)
        assert again.data is not None
        assert again.data["idempotent_replay"] is False
        assert (tmp_path / "pages" / "cover").read_text() == SECOND["text"]
        audit(client, tmp_path / "pages")


def test_every_point_is_on_one_side_of_the_commit() -> None:
    assert [*UNCOMMITTED, *COMMITTED] == [*POINTS]


def test_a_file_that_the_disk_refuses_is_published_once_it_can_be(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.write_text("in the way of a folder")
    with open_office(tmp_path / "office", None, pages) as client:
        refused = client.call("press.print-page", FIRST)
        assert refused.data is not None
        assert refused.message_key == "UPDATED"
        assert [*refused.data["published"].values()] == ["pending"]
        # The page that comes after it waits for it; another one does not.
        assert client.call("press.print-page", SECOND).ok
        pages.unlink()
        client.office.tidy()
        assert (pages / "cover").read_text() == SECOND["text"]
        audit(client, pages)


def test_an_office_opens_though_a_file_cannot_be_published(tmp_path: Path, crash: Crash) -> None:
    crash("after the commit")
    pages = tmp_path / "pages"
    pages.rename(tmp_path / "aside")
    pages.write_text("in the way of a folder")
    with open_office(tmp_path / "office", None, pages) as client:
        assert client.call("shelf.add-book", {"title": "Dune"}).ok
        pages.unlink()
        os.rename(tmp_path / "aside", pages)
        client.office.tidy()
        assert (pages / "cover").read_text() == SECOND["text"]
        audit(client, pages)


def test_a_file_that_somebody_else_wrote_is_left_alone(tmp_path: Path, crash: Crash) -> None:
    crash("after the commit")
    cover = tmp_path / "pages" / "cover"
    cover.write_text("somebody else's")
    with open_office(tmp_path / "office", None, tmp_path / "pages") as client:
        assert cover.read_text() == "somebody else's"
        client.office.tidy()
        assert cover.read_text() == "somebody else's"
