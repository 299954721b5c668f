"""A process that writes to an office until it has done its tasks or is killed.

It is told by a file what to do, and tells on its standard output what was acknowledged: one line per answer, written
before the caller that got the answer does anything else. Some callers are threads, the others tasks of an event loop.

    {"stage": "imported"}                               about to open the office
    {"stage": "open"}                                   about to call it
    {"key": ..., "code": ..., "digest": ..., ...}       an answer

Orders may name a gate for each stage, a file that the parent keeps locked until all writers should pass at once.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fcntl import LOCK_SH, flock
from pathlib import Path
from threading import Thread
from typing import Any

import orjson

from engross.ledger import digest
from engross.replies import Reply
from engross.surfaces.client import Client, connect
from tests.bed.offices import shelf
from tests.faults.press import press

# What a replay adds to an answer, or says about the present instead of about the write.
SAID_BY_A_REPLAY = {
    "idempotent_replay",
    "original_request_time",
    "original_trace_id",
    "current_state",
    "suggestions",
    "published",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One keyed write."""

    key: str
    flow: str
    arguments: Mapping[str, Any]
    proposes: bool = False

    @property
    def call(self) -> dict[str, Any]:
        """The arguments with the key among them."""
        return {**self.arguments, "client_request_id": self.key}


@dataclass(frozen=True, slots=True)
class Orders:
    """What a writer is told."""

    folder: str
    store: str | None
    pages: str
    tasks: list[Task]
    threads: int = 4
    coroutines: int = 4
    seal_seconds: float = 0.02
    attempts: int = 1
    gates: tuple[str, ...] = ()

    def save(self, path: Path) -> Path:
        """Write the orders down for a process to come."""
        path.write_bytes(orjson.dumps(asdict(self)))
        return path

    @classmethod
    def load(cls, path: Path) -> Orders:
        """The orders in a file."""
        data = orjson.loads(path.read_bytes())
        return cls(**{**data, "tasks": [Task(**task) for task in data["tasks"]]})


def answer_digest(answer: Reply) -> str:
    """What an acknowledged answer and every replay of it have in common."""
    data = {name: value for name, value in (answer.data or {}).items() if name not in SAID_BY_A_REPLAY}
    if proposal := data.get("proposal"):
        data["proposal"] = {name: value for name, value in proposal.items() if name != "current_status"}
    return digest([answer.code, answer.params, data])


def open_office(folder: str | Path, store: str | None, pages: str | Path, **settings: Any) -> Client:
    """The office that all writers share."""
    return connect(folder, shelf(), press(Path(folder), Path(pages)), store=store, **settings)


def say(line: Mapping[str, Any]) -> None:
    """Tell the parent. One write to a pipe is whole or not there at all."""
    os.write(1, orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


def told(task: Task, answer: Reply) -> dict[str, Any]:
    """What the parent learns about an answer."""
    data: Mapping[str, Any] = answer.data or {}
    book = data.get("book")
    return {
        "key": task.key,
        "replay": data.get("idempotent_replay"),
        "type": answer.reply_type,
        "code": answer.message_key,
        "digest": answer_digest(answer) if answer.ok else None,
        "book": book["id"] if answer.ok and book else None,
    }


def may_come_back(answer: Reply) -> bool:
    """Whether the same call, with the same key, may be made again."""
    return answer.retryable or answer.message_key == "REQUEST_IN_PROGRESS"


class Writer:
    """Callers that share a list of tasks."""

    def __init__(self, client: Client, tasks: list[Task], attempts: int) -> None:
        self._attempts = attempts
        self._curator = client.as_("clara", "human", ["curator"])
        self._agent = client.as_("scout", "agent", ["agent"])
        self._tasks = deque(tasks)

    def run(self, threads: int, coroutines: int) -> None:
        """Do all tasks."""
        callers = [Thread(target=self._call) for _ in range(threads)]
        for caller in callers:
            caller.start()
        asyncio.run(self._acall_all(coroutines))
        for caller in callers:
            caller.join()

    def _call(self) -> None:
        while task := self._next():
            for _ in range(self._attempts):
                answer = self._caller(task).call(task.flow, task.call)
                if not may_come_back(answer):
                    break
            say(told(task, answer))

    async def _acall_all(self, coroutines: int) -> None:
        await asyncio.gather(*(self._acall() for _ in range(coroutines)))

    async def _acall(self) -> None:
        while task := self._next():
            for _ in range(self._attempts):
                answer = await self._caller(task).acall(task.flow, task.call)
                if not may_come_back(answer):
                    break
            say(told(task, answer))

    def _next(self) -> Task | None:
        try:
            return self._tasks.popleft()
        except IndexError:
            return None

    def _caller(self, task: Task) -> Client:
        return self._agent if task.proposes else self._curator


def main(path: str) -> None:
    """Follow the orders in a file."""
    orders = Orders.load(Path(path))
    gates = iter(orders.gates)
    reach_stage("imported", next(gates, None))
    with open_office(orders.folder, orders.store, orders.pages, seal_seconds=orders.seal_seconds) as client:
        reach_stage("open", next(gates, None))
        Writer(client, orders.tasks, orders.attempts).run(orders.threads, orders.coroutines)


def reach_stage(name: str, gate: str | None) -> None:
    """Tell the parent how far we are, and wait at the gate if there is one."""
    say({"stage": name})
    if gate is not None:
        with open(gate) as file:
            flock(file, LOCK_SH)
