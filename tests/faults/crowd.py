"""Several writing processes that start at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from tests.faults.nursery import Nursery, Nursling
from tests.faults.writer import Orders

Answers = list[dict[str, Any]]


def run_together(nursery: Nursery, folder: Path, crowd: Sequence[Orders]) -> list[Answers]:
    """Start a process per orders; let them open the office together, then call it together; their answers."""
    gates = (folder / "gate-1", folder / "gate-2")
    with closed(gates[1]):
        with closed(gates[0]):
            writers = [
                _start(nursery, folder / f"orders-{number}.json", replace(orders, gates=tuple(map(str, gates))))
                for number, orders in enumerate(crowd)
            ]
            _hear_one(writers)
        _hear_one(writers)
    with ThreadPoolExecutor(len(writers)) as readers:
        answers = list(readers.map(lambda writer: list(writer.lines()), writers))
    assert {writer.wait() for writer in writers} == {0}, nursery.last_words()
    return answers


@contextmanager
def closed(gate: Path) -> Iterator[None]:
    """Keep a gate closed."""
    with gate.open("w") as file:
        flock(file, LOCK_EX)
        yield


def _start(nursery: Nursery, path: Path, orders: Orders) -> Nursling:
    return nursery.start("tests.faults.writer", str(orders.save(path)))


def _hear_one(writers: Sequence[Nursling]) -> None:
    for writer in writers:
        next(writer.lines())
