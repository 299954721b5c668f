"""Follows the ledger for those who listen.

A commit of this process is heard of at once. What other processes commit to the same store is found by a look at the
ledger every now and then, and only while somebody listens. A tenant's listeners hear of that tenant and of nobody else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import NamedTuple

from engross.ledger import changes_after
from engross.store import Store

SECONDS = 0.5
COMMITS_AT_ONCE = 500

_log = logging.getLogger("engross.feed")


class Change(NamedTuple):
    """Somebody's record has new facts."""

    aggregate: str
    subject: str
    position: int


Listener = Callable[[Change], None]


class _Followed:
    """One tenant's ledger: how far it was read, and for whom."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.listeners: dict[object, Listener] = {}


class Feed:
    """Tells listeners what changed. They are called on the feed's own thread, and must not take long."""

    def __init__(self, store: Store, seconds: float = SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._followed: dict[str, _Followed] = {}
        self._lock = Lock()
        self._stirred = Event()
        self._thread: Thread | None = None
        self._closed = False

    def listen(self, tenant: str, heard: Listener) -> Callable[[], None]:
        """Call the listener with every change from now on; what comes back ends that."""
        now = self._store.read(tenant, lambda reading: reading.watermark())
        token = object()
        with self._lock:
            self._followed.setdefault(tenant, _Followed(now)).listeners[token] = heard
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._rounds, name="engross-feed", daemon=True)
                self._thread.start()
        return lambda: self._leave(tenant, token)

    def stir(self, tenant: str) -> None:
        """This process committed something of a tenant's: look now."""
        if tenant in self._followed:
            self._stirred.set()

    @property
    def is_idle(self) -> bool:
        """Does nobody listen, so that nobody looks?"""
        return self._thread is None

    def close(self) -> None:
        """Stop following; listeners hear nothing any more."""
        with self._lock:
            self._closed = True
            self._followed.clear()
            thread = self._thread
        self._stirred.set()
        if thread is not None:
            thread.join()

    def _leave(self, tenant: str, token: object) -> None:
        with self._lock:
            followed = self._followed.get(tenant)
            if followed is None or followed.listeners.pop(token, None) is None or followed.listeners:
                return
            del self._followed[tenant]
        # Nobody may be left: the thread should find out now.
        self._stirred.set()

    def _rounds(self) -> None:
        while True:
            self._stirred.wait(self._seconds)
            self._stirred.clear()
            with self._lock:
                if not self._followed:
                    self._thread = None
                    return
                followed = list(self._followed.items())
            for tenant, ledger in followed:
                self._follow(tenant, ledger)

    def _follow(self, tenant: str, ledger: _Followed) -> None:
        try:
            upto, found = self._store.read(
                tenant, lambda reading: changes_after(reading, ledger.position, most=COMMITS_AT_ONCE)
            )
        except Exception as failure:
            _log.warning("the ledger cannot be followed, will try again: %s", type(failure).__name__)
            return
        ledger.position = upto
        if len(found) >= COMMITS_AT_ONCE:
            self._stirred.set()
        with self._lock:
            listeners = list(ledger.listeners.values())
        for position, aggregate, subject in found:
            for heard in listeners:
                self._tell(heard, Change(aggregate, subject, position))

    def _tell(self, heard: Listener, change: Change) -> None:
        try:
            heard(change)
        except Exception as failure:
            _log.warning("a listener failed: %s", type(failure).__name__)
