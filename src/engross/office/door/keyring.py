"""An issuer's keys, fetched when they are needed and kept for a while.

A key that is known is used without asking. Once the keys are no longer fresh they are fetched again, so that one the
issuer took away stops being accepted: behind the caller's back at first, then while the caller waits. A key that is not
known is asked for, but never more often than once in a pause, whatever strangers make up; all who wait for it wait for
the same fetch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING, Any

from engross.calls import Clock
from engross.pipeline import Workers
from engross.pipeline.steps import ended
from engross.replies import Failed, codes

from .fetching import SECONDS, Away
from .keys import Keys

if TYPE_CHECKING:
    from datetime import datetime

    from jwt import PyJWK

_log = logging.getLogger("engross.door")

FRESH = 300
"""Seconds after which keys are fetched again."""
LATE = 600
"""Seconds after which callers wait for that."""
LONGEST = 86_400
"""Seconds for which keys are used while their issuer is away."""
PAUSE = 15
"""Seconds between two fetches, at least."""
PATIENCE = 2 * SECONDS + 2
"""Seconds that a caller waits: the issuer may first have to be asked where its keys are."""


class Keyring:
    """Knows an issuer's keys."""

    def __init__(self, fetch: Callable[[], Keys], workers: Workers, clock: Clock) -> None:
        self._fetch = fetch
        self._workers = workers
        self._clock = clock
        self._lock = Lock()
        self._fetched: tuple[Keys, datetime | None] = Keys({}), None
        self._asked_at: datetime | None = None
        self._asking: Future[Any] | None = None
        self._away = False

    async def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """The key; None when the issuer has no such key, E when it cannot be asked."""
        keys, fetched_at = self._fetched
        key = keys.find(kid, algorithm)
        if key is not None and self._within(FRESH, fetched_at):
            return key
        asking = self._ask()
        # By the age of these keys: while we look, a thread may have put newer ones in their place.
        if key is not None and self._within(LATE, fetched_at):
            return key
        answered = asking is None or await ended(asking, PATIENCE)
        keys, fetched_at = self._fetched
        key = keys.find(kid, algorithm)
        if key is not None and self._within(LONGEST, fetched_at):
            return key
        if self._away or not answered:
            raise _unavailable()
        return None

    def _within(self, seconds: float, moment: datetime | None) -> bool:
        """Whether a moment is less than that ago. A clock that was put back proves nothing."""
        return moment is not None and 0 <= (self._clock() - moment).total_seconds() < seconds

    def _ask(self) -> Future[Any] | None:
        """The fetch that is under way, or a new one; None when it is too early for one."""
        with self._lock:
            if self._asking is not None and not self._asking.done():
                return self._asking
            if self._within(PAUSE, self._asked_at):
                return None
            self._asked_at = self._clock()
            self._asking = self._workers.submit(self._renew)
            return self._asking

    def _renew(self) -> None:
        try:
            self._fetched, self._away = (self._fetch(), self._clock()), False
        except Away as away:
            self._away = True
            _log.warning("the issuer's keys cannot be fetched: %s", away)


def _unavailable() -> Failed:
    return Failed(codes.ISSUER_UNAVAILABLE, data={"retry_after_seconds": PAUSE})
