"""The walk of `make run`: it leaves an office to try things at, and never takes one away."""

import re
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES


def walk(folder: Path) -> subprocess.CompletedProcess[str]:
    """Walk in a folder."""
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "walk.py"), str(folder)], capture_output=True, text=True, check=True
    )


@pytest.mark.requirement("ECO-01")
def test_the_walk_leaves_an_office_for_its_owner_only_and_a_second_one_leaves_it_alone(tmp_path: Path) -> None:
    folder = tmp_path / "office"
    walk(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    with connect(folder) as office:
        waiting = office.proposals.list_proposals(status="proposed").data["proposals"]
        assert len(waiting) == 1
        office.shelf.add_book(title="A book of my own")
        before = office.record.read_facts(limit=500).data["facts"]
    assert "What to try next" in walk(folder).stdout
    with connect(folder) as office:
        assert office.record.read_facts(limit=500).data["facts"] == before


def test_where_the_port_is_taken_one_that_is_free_is_named(tmp_path: Path) -> None:
    with ExitStack() as listening:
        port = listening.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        with suppress(OSError, OverflowError):
            # Or somebody else has the next one already, which is as good.
            listening.enter_context(socket.create_server(("127.0.0.1", port + 1)))
        words = [sys.executable, str(EXAMPLES / "walk.py"), str(tmp_path / "office"), "--port", str(port)]
        refused = subprocess.run(words, capture_output=True, text=True, check=False)
        named = re.search(r"PORT=(\d+) make run", refused.stderr)
        assert refused.returncode == 1
        assert named is not None
        socket.create_server(("127.0.0.1", int(named[1]))).close()
