"""Rounds of writers that are killed at random moments, and the bookkeeping of what they were told.

The random numbers have a seed, which every failure shows: ENGROSS_FAULT_SEED=... repeats the same moments, as far as
a machine ever does the same twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any, Literal

from tests.faults.audit import Books, audit, read_books
from tests.faults.nursery import Nursery, Nursling
from tests.faults.writer import Orders, Task, answer_digest, open_office

Moment = Literal["opening", "answering", "any time"]
MOMENTS: tuple[Moment, ...] = ("opening", "answering", "answering", "answering", "any time")
NOT_NOW = ("REQUEST_IN_PROGRESS", "STORE_UNAVAILABLE", "TIMEOUT")
PAGES = ("cover", "contents", "preface")


def new_seed() -> int:
    """The seed of this run: the one that is asked for, or a fresh one."""
    return int(os.environ.get("ENGROSS_FAULT_SEED") or randbelow(10**9))


class Campaign:
    """Writes that must each happen once, through any number of writers that do not live to see it."""

    def __init__(self, folder: Path, store: str | None, seed: int, nursery: Nursery) -> None:
        self.folder = folder
        self._nursery = nursery
        self.store = store
        self.seed = seed
        self.tasks: dict[str, Task] = {}
        self.acknowledged: dict[str, str] = {}
        self.books: list[str] = []
        self.kills = 0
        self.finished = 0
        self._random = Random(seed)

    @property
    def data(self) -> Path:
        """The office's folder."""
        return self.folder / "office"

    @property
    def pages(self) -> Path:
        """Where the press puts its pages."""
        return self.folder / "pages"

    def round(self, *, fresh: int = 40, moment: Moment | None = None) -> None:
        """Give writers what is not acknowledged yet and something new; kill them at a moment of that kind, or any."""
        self._plan(fresh)
        waiting = [task for key, task in self.tasks.items() if key not in self.acknowledged]
        writers = [self._start(waiting, number) for number in range(self._random.choice((1, 1, 1, 2)))]
        for writer in writers:
            self._end(writer, len(waiting), self._random.choice(MOMENTS) if moment is None else moment)

    def finish(self) -> None:
        """Let one writer do all that is left, in peace."""
        waiting = [task for key, task in self.tasks.items() if key not in self.acknowledged]
        writer = self._start(waiting, 0, attempts=10)
        self._listen(writer)
        assert writer.wait() == 0, self._nursery.last_words()
        assert self.acknowledged.keys() == self.tasks.keys(), self._nursery.last_words()

    def check(self, *, most: int | None = None) -> Books:
        """Hold the store against everything that writers were told, or against so many of their answers."""
        with self._seed_shown(), open_office(self.data, self.store, self.pages, unit_seconds=600) as client:
            books = audit(client, self.pages)
            committed = books.keyed
            assert self.acknowledged.keys() <= committed.keys()
            assert committed.keys() <= self.tasks.keys()
            curator, agent = client.as_("clara", roles=["curator"]), client.as_("scout", "agent", ["agent"])
            asked = list(self.acknowledged.items())
            for key, digest in asked if most is None else self._random.sample(asked, min(most, len(asked))):
                task = self.tasks[key]
                again = (agent if task.proposes else curator).call(task.flow, task.call)
                assert again.ok
                assert again.data is not None
                assert again.data["idempotent_replay"] is True
                assert answer_digest(again) == digest, f"{key} was told something else"
            assert len(read_books(client).facts) == len(books.facts)
            return books

    def _plan(self, count: int) -> None:
        for _ in range(count):
            task = self._task(f"key-{len(self.tasks):07}")
            self.tasks[task.key] = task

    def _task(self, key: str) -> Task:
        kind = self._random.choice(("add", "add", "change", "propose", "print"))
        if kind == "change" and self.books:
            return Task(key, "shelf.change-book", {"id": self._random.choice(self.books[-20:]), "notes": key})
        if kind == "propose":
            return Task(key, "shelf.add-book", {"title": f"Proposed {key}"}, proposes=True)
        if kind == "print":
            name = self._random.choice(PAGES)
            return Task(key, "press.print-page", {"name": name, "text": f"{name} by {key}"})
        author = self._random.choice(("Ann", "Bob", "Cyd"))
        return Task(key, "shelf.add-book", {"title": f"Book {key}", "author": author})

    def _start(self, tasks: list[Task], number: int, attempts: int = 1) -> Nursling:
        shuffled = self._random.sample(tasks, len(tasks))
        orders = Orders(str(self.data), self.store, str(self.pages), shuffled, attempts=attempts)
        path = orders.save(self.folder / f"orders-{number}.json")
        return self._nursery.start("tests.faults.writer", str(path))

    def _end(self, writer: Nursling, tasks: int, moment: Moment) -> None:
        """Kill a writer: while it opens the office, behind some answer, or whenever it may be."""
        if moment == "opening":
            self._listen(writer, 1)
            time.sleep(self._random.uniform(0, 0.06))
        elif moment == "answering":
            self._listen(writer, 2 + self._random.randrange(max(1, tasks)))
            time.sleep(self._random.uniform(0, 0.01))
        else:
            time.sleep(self._random.uniform(0, 0.5))
        writer.kill()
        self._listen(writer)
        ended = writer.wait()
        assert ended in (0, -9), self._nursery.last_words()
        self.kills += ended == -9
        self.finished += ended == 0

    def _listen(self, writer: Nursling, lines: int | None = None) -> None:
        """Hear so many lines, or all there are."""
        for line in islice(writer.lines(), lines):
            self._hear(line)

    def _hear(self, told: dict[str, Any]) -> None:
        if "stage" in told:
            return
        key = told["key"]
        if told["type"] != "S":
            # Another writer may have its hand on the same key, or on the same page for too long.
            assert told["code"] in NOT_NOW, f"{told}, seed {self.seed}"
            return
        known = self.acknowledged.setdefault(key, told["digest"])
        assert known == told["digest"], f"{key} was answered in two ways, seed {self.seed}"
        if told["book"] and not self.tasks[key].proposes and told["book"] not in self.books:
            self.books.append(told["book"])

    @contextmanager
    def _seed_shown(self) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            error.add_note(f"seed {self.seed}, {self.kills} writers killed, {self.finished} finished")
            raise
