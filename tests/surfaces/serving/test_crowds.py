"""A thousand clients at once, and what happens when there is no room."""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.served import UNLIMITED, Served, wait_for
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import Wire, ask, authorized, head

CLIENTS = 1000
BOUND_SECONDS = 50


@pytest.fixture
def many_files() -> Iterator[None]:
    """Every connection is an open file of this process too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * CLIENTS)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def one(served: Served, number: int, gate: asyncio.Barrier) -> tuple[int, bytes]:
    """A client with a connection of its own, which waits for all others before it asks."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    await gate.wait()
    body = b'{"title": "Book %d"}' % number
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}", authorized(served), "Connection: close"]
    writer.write(head(served, "POST /v1/shelf/add-book", *lines).encode() + body)
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


async def crowd(served: Served) -> list[tuple[int, bytes]]:
    """All of them at once."""
    gate = asyncio.Barrier(CLIENTS)
    async with asyncio.timeout(BOUND_SECONDS):
        return await asyncio.gather(*(one(served, number, gate) for number in range(CLIENTS)))


@pytest.mark.usefixtures("many_files")
def test_a_thousand_clients_at_once_are_all_answered(store: str | None, serving: Serving) -> None:
    served = serving(store=store, knobs=UNLIMITED)
    answers = asyncio.run(crowd(served))
    assert Counter(status for status, _ in answers) == {201: CLIENTS}
    with served.client() as client:
        assert client.get("/health/ready").status_code == 200


def test_nobody_takes_all_the_room(serving: Serving, tmp_path: Path) -> None:
    served = serving(most_requests=4)
    until = tmp_path / "until"
    wires = []
    for number in range(2):
        begun = tmp_path / f"begun-{number}"
        body = f'{{"begun": "{begun}", "until": "{until}"}}'
        wire = Wire(served)
        lines = [
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            authorized(served, served.agent),
        ]
        wire.say(head(served, "POST /v1/rig/hold", *lines), body)
        wait_for(begun.exists)
        wires.append(wire)
    refused = ask(served, "GET /v1/shelf/list-books", authorized(served, served.agent))
    assert (refused.status, refused.key) == (503, "OFFICE_BUSY")
    assert ask(served, "GET /v1/shelf/list-books", authorized(served)).status == 200
    until.touch()
    assert [wire.hear("POST").status for wire in wires] == [200, 200]
    for wire in wires:
        wire.close()


def test_who_finds_no_room_is_told_when_to_come_back(serving: Serving, tmp_path: Path) -> None:
    served = serving(most_requests=2)
    until = tmp_path / "until"
    wires = []
    for number, token in enumerate((served.owner, served.agent)):
        begun = tmp_path / f"begun-{number}"
        body = f'{{"begun": "{begun}", "until": "{until}"}}'
        wire = Wire(served)
        lines = ["Content-Type: application/json", f"Content-Length: {len(body)}", authorized(served, token)]
        wire.say(head(served, "POST /v1/rig/hold", *lines), body)
        wait_for(begun.exists)
        wires.append(wire)
    refused = ask(served, "GET /v1/shelf/list-books", authorized(served))
    assert (refused.status, refused.key) == (503, "OFFICE_BUSY")
    assert refused.headers["retry-after"] == "1"
    assert refused.told["reply"]["retryable"] is True
    assert ask(served, "GET /health/live").status == 200
    assert ask(served, "GET /health/ready").status == 200
    until.touch()
    assert [wire.hear("POST").status for wire in wires] == [200, 200]
    for wire in wires:
        wire.close()
    wait_for(lambda: ask(served, "GET /v1/shelf/list-books", authorized(served)).status == 200)
