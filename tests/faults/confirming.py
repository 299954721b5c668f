"""A process that uses a confirmation, and ends before what it confirms is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engross.surfaces.client import Client, connect
from tests.faults.errand import end_instead, post
from tests.office.desk import policies
from tests.office.notes import Bench


def open_careful(folder: Path, *, ends: bool = False) -> Client:
    """An office that has every write confirmed, of notes and with a post."""
    knobs = policies(folder / "policies", "confirm_tier = 2")
    outside = post(folder / "outside", ends=ends)
    settings: dict[str, Any] = {"seal_seconds": 3600.0, "roles": ["curator"], "policies": knobs}
    return connect(folder / "office", Bench().notes, outside, **settings)


def main(place: str, flow: str, *given: str) -> None:
    """Make a confirmed call, and end: in the transaction of a record flow, or while the other system is called."""
    arguments = dict(pair.split("=", 1) for pair in given)
    client = open_careful(Path(place), ends=True)
    if flow.startswith("notes."):
        end_instead("engross.pipeline.record", "write_commit")
    client.call(flow, arguments)
    os._exit(1)
