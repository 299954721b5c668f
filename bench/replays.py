"""A replay by key beside a read."""

from __future__ import annotations

import asyncio
import time
from tempfile import TemporaryDirectory
from typing import Any

from engross.surfaces.client import Client, connect

from .claims import Claim
from .notes import note, notes
from .rounds import interleaved

CALLS = 1000
ROUNDS = 9


def measure() -> list[Claim]:
    """The claim about replays."""
    with TemporaryDirectory() as folder, connect(folder, notes()) as client:
        first = note()
        made = client.call("notes.keep-note", first)
        identifier = made.data["note"]["id"]
        costs = interleaved(
            {
                "read": lambda: microseconds(client, "notes.get-note", {"id": identifier}),
                "replay": lambda: microseconds(client, "notes.keep-note", first),
            },
            rounds=ROUNDS,
        )
    return [Claim("replay against a read", costs["replay"] / costs["read"], "at most", 1, costs, "us")]


def microseconds(client: Client, flow: str, arguments: dict[str, Any]) -> float:
    """The time of one call, by one caller on an event loop."""

    async def calls() -> float:
        started = time.perf_counter()
        for _ in range(CALLS):
            reply = await client.acall(flow, arguments)
            assert reply.ok, reply
        return (time.perf_counter() - started) / CALLS * 1e6

    return asyncio.run(calls())
