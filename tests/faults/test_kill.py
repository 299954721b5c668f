"""Writers are killed at random moments; what they were told stays true."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bed.postgres import PostgresServer
from tests.faults.campaign import Campaign, new_seed
from tests.faults.nursery import Nursery
from tests.faults.writer import Task

pytestmark = pytest.mark.faults


@pytest.mark.timeout(3600)
@pytest.mark.requirement("REL-01")
def test_what_was_acknowledged_before_a_kill_is_there_exactly_once(
    store_kind: str, tmp_path: Path, nursery: Nursery, request: pytest.FixtureRequest, full_length: bool
) -> None:
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else None
    campaign = Campaign(tmp_path, store, new_seed(), nursery)
    for number in range(1, (1000 if full_length else 20) + 1):
        campaign.round(fresh=40 if full_length else 15)
        if number % 100 == 0:
            campaign.check(most=500)
    campaign.finish()
    books = campaign.check()
    assert campaign.kills > campaign.finished
    assert books.stated == facts_by_key(campaign.tasks)


@pytest.mark.timeout(1800)
@pytest.mark.requirement("REL-01")
def test_a_store_whose_first_opening_was_killed_opens_all_the_same(
    store_kind: str, tmp_path: Path, nursery: Nursery, request: pytest.FixtureRequest, full_length: bool
) -> None:
    seed = new_seed()
    for number in range(200 if full_length else 5):
        folder = tmp_path / str(number)
        folder.mkdir()
        with fresh_store(store_kind, request) as store:
            campaign = Campaign(folder, store, seed + number, nursery)
            campaign.round(fresh=3, moment="opening")
            campaign.finish()
            campaign.check()


@contextmanager
def fresh_store(kind: str, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The address of a store that nobody has opened yet; None for a file in the data folder."""
    if kind == "sqlite":
        yield None
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    dsn = server.create_database()
    yield dsn
    server.drop_database(dsn)


def facts_by_key(tasks: dict[str, Task]) -> dict[str, list[str]]:
    """What each task must have left in the ledger, and nothing else."""
    kinds = {
        "shelf.change-book": ["BookChanged"],
        "press.print-page": ["PagePrinted"],
        "shelf.add-book": ["BookAdded"],
    }
    proposed = ["ProposalOpened", "PlanAdded"]
    return {key: proposed if task.proposes else kinds[task.flow] for key, task in tasks.items()}
