"""A caller that goes away in the middle leaves nothing behind that another would have to wait for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engross.surfaces.client import Client
from tests.faults.audit import audit

pytestmark = pytest.mark.faults


def book(number: int) -> dict[str, Any]:
    return {"title": f"Book {number}", "client_request_id": f"book-number-{number}"}


async def call_and_go_away(client: Client, number: int, turns: int) -> asyncio.Task[Any]:
    """Call, let the event loop turn so many times, and be cancelled; the task keeps its exception."""
    task = asyncio.create_task(client.acall("shelf.add-book", book(number)))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    return task


@pytest.mark.requirement("REL-02")
def test_a_key_whose_caller_was_cancelled_can_be_used_at_once(curator: Client) -> None:
    async def session() -> None:
        for number in range(12):
            gone = await call_and_go_away(curator, number, turns=number % 4)
            again = await curator.acall("shelf.add-book", book(number))
            assert again.message_key == "CREATED"
            assert gone.done()

    asyncio.run(session())
    assert len(audit(curator).facts) == 12
