"""A process that prints a page twice and ends in the middle of the second time, at a point that it is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.writer import open_office

FIRST = {"name": "cover", "text": "the first cover", "client_request_id": "first-cover"}
SECOND = {"name": "cover", "text": "the second cover", "client_request_id": "second-cover"}

# The function at whose door the process ends, and on which side of it.
POINTS = {
    "before the blob has its name": ("engross.store.blobs.put_in_place", "before"),
    "after the blob has its name": ("engross.store.blobs.put_in_place", "after"),
    "before the promise is written": ("engross.store.publishing.intend", "before"),
    "after the promise is written": ("engross.store.publishing.intend", "after"),
    "after the commit": ("engross.pipeline.afterwards.publish", "before"),
    "after the content is staged": ("engross.store.publishing.stage", "after"),
    "after the rename": ("engross.store.publishing.put_in_place", "after"),
    "before the promise is marked": ("engross.store.publishing.mark_effects", "before"),
    "after the promise is marked": ("engross.pipeline.afterwards.publish", "after"),
}
UNCOMMITTED = list(POINTS)[:4]
COMMITTED = list(POINTS)[4:]


def end_at(point: str) -> None:
    """Replace a function by one that ends the process."""
    place, side = POINTS[point]
    module_name, _, name = place.rpartition(".")
    module = sys.modules[module_name]
    original: Callable[..., Any] = getattr(module, name)

    def ends(*args: Any, **kwargs: Any) -> None:
        if side == "after":
            original(*args, **kwargs)
        os._exit(9)

    setattr(module, name, ends)


def main(place: str, point: str) -> None:
    """Print, and print again until the end."""
    folder = Path(place)
    client = open_office(folder / "office", None, folder / "pages", seal_seconds=3600.0)
    assert client.call("press.print-page", FIRST).ok
    end_at(point)
    client.call("press.print-page", SECOND)


def copy_as_it_lies(folder: Path, to: Path) -> None:
    """What a crash at this moment would leave, log and all."""
    for path in folder.rglob("*"):
        if path.is_file():
            target = to / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
