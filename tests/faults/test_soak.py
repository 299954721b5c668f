"""An office that is used for long, and one that is opened often, lets go of what it takes."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import pytest

from tests.bed.offices import Offices
from tests.bed.patience import eventually
from tests.faults.audit import audit
from tests.faults.nursery import Nursery
from tests.faults.writer import open_office

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what a process holds is told by /proc"),
]
OPENINGS = 50
MEGABYTE = 1_000_000


@pytest.mark.timeout(3600)
def test_an_office_does_not_grow_with_the_number_of_its_calls(
    store_kind: str, tmp_path: Path, nursery: Nursery, request: pytest.FixtureRequest, full_length: bool
) -> None:
    store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else None
    # At full length the first round fills every cache; what is weighed is what comes after it.
    calls, rounds = (60_000, 4) if full_length else (800, 3)
    soaking = nursery.start("tests.faults.soak", str(tmp_path), store or "", str(calls), str(rounds))
    weighed = list(soaking.lines())
    assert soaking.wait() == 0, nursery.last_words()
    assert len(weighed) == rounds
    assert [line["refused"] for line in weighed] == [{}] * rounds
    assert weighed[-1]["bytes"] < weighed[0]["bytes"] * 1.25 + 32 * MEGABYTE
    if store is None:
        assert sum(log.stat().st_size for log in tmp_path.rglob("office.db-wal")) < 64 * MEGABYTE
    with open_office(tmp_path / "office", store, tmp_path / "pages", unit_seconds=600) as client:
        audit(client)


def test_fifty_openings_leave_no_thread_and_no_file_open(offices: Offices) -> None:
    # The loop on which declared flows call out is the process's own, and stays once it is there.
    lasting = {thread for thread in threading.enumerate() if thread.name == "engross-outbound"}
    use_and_close(offices)
    before = open_files()
    for _ in range(OPENINGS):
        use_and_close(offices)
    eventually(lambda: not {thread for thread in threading.enumerate() if is_ours(thread)} - lasting)
    eventually(lambda: open_files() <= before)


def use_and_close(offices: Offices) -> None:
    client = offices.open(seal_seconds=0.01)
    assert client.call("shelf.list-books").ok
    assert client.call("shelf.import-books", {"text": ", nobody"}).message_key == "VALIDATION_ERROR"
    assert client.call("shelf.add-book", {"title": "Dune", "client_request_id": "one-and-only"}).ok
    offices.close()


def is_ours(thread: threading.Thread) -> bool:
    return thread.name.startswith(("engross", "pool-"))


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))
