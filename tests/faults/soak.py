"""A process that calls an office over and over, in every manner, and tells what it weighs on the way."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.faults.writer import open_office, say

CALLERS = 4
LAST_BOOKS = 200


class Soak:
    """Mixed calls; each caller has its own random numbers and its own keys."""

    def __init__(self, client: Client) -> None:
        self._curator = client.as_("clara", "human", ["curator"])
        self._agent = client.as_("scout", "agent", ["agent"])
        self._books: list[str] = []
        self.refused: dict[str, int] = {}

    def run(self, calls: int, name: str) -> None:
        """So many calls, by threads and by tasks of an event loop."""
        each = calls // (2 * CALLERS)
        threads = [Thread(target=self._call, args=(each, f"{name}-thread-{n}")) for n in range(CALLERS)]
        for thread in threads:
            thread.start()
        asyncio.run(self._acall_all(each, name))
        for thread in threads:
            thread.join()

    def _call(self, calls: int, name: str) -> None:
        random = Random(name)
        for number in range(calls):
            who, flow, arguments, options = self._next(random, f"{name}-{number}")
            self._note(who.call(flow, arguments, **options))

    async def _acall_all(self, calls: int, name: str) -> None:
        await asyncio.gather(*(self._acall(calls, f"{name}-task-{number}") for number in range(CALLERS)))

    async def _acall(self, calls: int, name: str) -> None:
        random = Random(name)
        for number in range(calls):
            who, flow, arguments, options = self._next(random, f"{name}-{number}")
            self._note(await who.acall(flow, arguments, **options))

    def _next(self, random: Random, key: str) -> tuple[Client, str, Mapping[str, Any], Mapping[str, Any]]:
        book = {"id": random.choice(self._books)} if self._books else {"id": "book_x"}
        keyed = {"client_request_id": key}
        wishes: list[tuple[Client, str, Mapping[str, Any], Mapping[str, Any]]] = [
            (self._curator, "shelf.add-book", {"title": f"Book {key}", "author": "Ann", **keyed}, {}),
            (self._curator, "shelf.change-book", {**book, "notes": key, **keyed}, {}),
            (self._curator, "shelf.get-book", book, {}),
            (self._curator, "shelf.list-books", {"limit": 5}, {}),
            (self._curator, "shelf.add-book", {"title": f"Try {key}"}, {"dry_run": True}),
            (self._curator, "shelf.add-book", {"titel": "a slip", **keyed}, {}),
            (self._agent, "shelf.change-book", {**book, "notes": "proposed", **keyed}, {}),
            (self._agent, "shelf.remove-book", {"id": "book_unknown"}, {}),
        ]
        return random.choice(wishes)

    def _note(self, answer: Reply) -> None:
        if answer.reply_type == "E":
            self.refused[answer.message_key] = self.refused.get(answer.message_key, 0) + 1
        if answer.message_key == "CREATED" and answer.data is not None:
            self._books = [*self._books[-LAST_BOOKS:], answer.data["book"]["id"]]


def resident_bytes() -> int:
    """How much memory this process holds."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LookupError("VmRSS")


def main(folder: str, store: str, first: str, rounds: str) -> None:
    """Call, weigh, and again."""
    with open_office(f"{folder}/office", store or None, f"{folder}/pages", seal_seconds=0.05) as client:
        soak = Soak(client)
        for number in range(int(rounds)):
            soak.run(int(first), f"round-{number}")
            say({"bytes": resident_bytes(), "refused": soak.refused})
