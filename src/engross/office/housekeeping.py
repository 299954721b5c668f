"""What has to be done now and then, by nobody in particular: seal receipts, purge keys, end proposals past their time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from threading import Event, Thread

from engross.calls import instant
from engross.ledger import OfficeKey, purge_keys, seal_receipts
from engross.pipeline import Fittings
from engross.store import Transaction

_log = logging.getLogger("engross.housekeeping")
PURGE_EVERY = 60


class Housekeeping:
    """A thread that keeps the office in order. Nobody waits for it, and it survives what goes wrong in a round."""

    def __init__(self, fittings: Fittings, key: OfficeKey, seconds: float, expire: Callable[[str], None]) -> None:
        self._fittings = fittings
        self._key = key
        self._seconds = seconds
        self._expire = expire
        self._stop = Event()
        self._thread = Thread(target=self._rounds, name="engross-housekeeping", daemon=True)

    def start(self) -> None:
        """Begin with what an earlier process may have left undone."""
        self._thread.start()

    def stop(self) -> None:
        """Do the last round."""
        self._stop.set()
        self._thread.join(timeout=10)
        self._try(self.seal, self._changed())

    def seal(self, tenants: Iterable[str]) -> int:
        """Seal what is settled; how many receipts that were."""
        sealed = 0
        for tenant in tenants:
            while seal := self._fittings.store.write(tenant, self._seal):
                sealed += seal.body["receipts"]
        return sealed

    def tidy(self, tenants: Iterable[str]) -> None:
        """Drop what is past its time."""
        for tenant in tenants:
            self._fittings.store.write(tenant, lambda unit: purge_keys(unit, self._now))
            self._expire(tenant)

    def _rounds(self) -> None:
        self._try(self.seal, self._fittings.store.tenants())
        count = 0
        while not self._stop.wait(self._seconds):
            self._try(self.seal, self._changed())
            count += 1
            if count % PURGE_EVERY == 0:
                self._try(self.tidy, self._fittings.store.tenants())

    def _changed(self) -> list[str]:
        changed = list(self._fittings.unsealed)
        self._fittings.unsealed.difference_update(changed)
        return changed

    def _seal(self, transaction: Transaction) -> object:
        return seal_receipts(transaction, self._key, self._now)

    @property
    def _now(self) -> str:
        return instant(self._fittings.clock())

    def _try(self, chore: Callable[[Iterable[str]], object], tenants: list[str]) -> None:
        try:
            chore(tenants)
        except Exception as error:
            self._fittings.unsealed.update(tenants)
            _log.warning("housekeeping will try again: %s", type(error).__name__)
