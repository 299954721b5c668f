"""Is it alive, and can it work? For whoever starts, stops and routes to servers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any

from starlette.types import Receive, Scope, Send

import engross
from engross.office import Office
from engross.replies import Reply, Trace, codes, reply, reply_of
from engross.surfaces.rest.answers import send_reply

FRESH_SECONDS = 1.0
"""For how long a look at the store counts: whoever asks more often does not make it look more often."""
PATIENT_SECONDS = 2.0


class Health:
    """Answers to `/health/live` and `/health/ready`. They say nothing that a stranger should not know."""

    def __init__(self, office: Office, closing: Callable[[], bool]) -> None:
        self._engine = office.store.engine
        self._closing = closing
        self._look = _Look(office.reach_store)

    async def live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The process answers."""
        await _answer(scope, send, codes.SYS_OK, live=True)

    async def ready(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The store can be reached, and the office is not about to close."""
        if self._closing():
            await _answer(scope, send, codes.OFFICE_BUSY, ready=False, closing=True)
            return
        failure = await self._look.outcome()
        found = {"engine": self._engine, "store": "reachable" if failure is None else "unreachable"}
        await _answer(scope, send, failure or codes.SYS_OK, ready=failure is None, closing=False, **found)


class _Look:
    """One look at the store at a time, on a thread of its own: it may take long, and nobody should have to wait."""

    def __init__(self, reach: Callable[[], None]) -> None:
        self._reach = reach
        self._found: Future[str | None] | None = None
        self._begun = 0.0

    async def outcome(self) -> str | None:
        """The code of what went wrong; None if the store answered."""
        found = self._found
        if found is None or (found.done() and time.monotonic() - self._begun > FRESH_SECONDS):
            found = self._found = Future()
            self._begun = time.monotonic()
            Thread(target=self._run, args=(found,), name="engross-health", daemon=True).start()
        await asyncio.wait([asyncio.wrap_future(found)], timeout=PATIENT_SECONDS)
        return found.result() if found.done() else codes.OFFICE_BUSY

    def _run(self, found: Future[str | None]) -> None:
        try:
            self._reach()
        except Exception as failure:
            found.set_result(reply_of(failure).code)
        else:
            found.set_result(None)


async def _answer(scope: Scope, send: Send, code: str, **data: Any) -> None:
    answer: Reply = reply(code, data={**data, "version": engross.__version__}).traced(Trace.new())
    await send_reply(scope, send, answer)
