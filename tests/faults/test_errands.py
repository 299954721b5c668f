"""A call to another system that was approved is made, though the process that approved it crashed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.audit import audit, read_books
from tests.faults.errand import POINTS, open_post
from tests.faults.nursery import Nursery

pytestmark = [pytest.mark.faults, pytest.mark.requirement("REL-01")]


def an_hour_later() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def crash_and_recover(nursery: Nursery, folder: Path, flow: str, point: str) -> tuple[list[str], str]:
    """What reached the other system, and what became of the promise."""
    assert nursery.start("tests.faults.errand", str(folder), flow, point).wait() == 9
    with open_post(folder, clock=an_hour_later) as client:
        for _ in range(2):
            client.office.tidy()
        audit(client)
        states = [effect["state"] for effect in read_books(client).effects]
    assert len(states) == 1
    return (folder / "outside").read_text().split(), states[0]


@pytest.mark.parametrize("point", [point for point in POINTS if point != "during the call"])
def test_an_approved_call_is_made_once(tmp_path: Path, nursery: Nursery, point: str) -> None:
    assert crash_and_recover(nursery, tmp_path, "post.send-letter", point) == (["Ann"], "done")


def test_of_a_call_that_crashed_on_its_way_the_outcome_is_unknown(tmp_path: Path, nursery: Nursery) -> None:
    assert crash_and_recover(nursery, tmp_path, "post.send-letter", "during the call") == (["Ann"], "unknown")


def test_a_call_that_may_be_repeated_is_repeated(tmp_path: Path, nursery: Nursery) -> None:
    outcome = crash_and_recover(nursery, tmp_path, "post.announce", "during the call")
    assert outcome == (["Ann", "Ann"], "done")


def test_nobody_takes_up_a_call_that_may_still_be_under_way(tmp_path: Path, nursery: Nursery) -> None:
    assert nursery.start("tests.faults.errand", str(tmp_path), "post.send-letter", "before the call").wait() == 9
    with open_post(tmp_path) as client:
        client.office.tidy()
        assert [effect["state"] for effect in read_books(client).effects] == ["pending"]
    assert not (tmp_path / "outside").exists()
