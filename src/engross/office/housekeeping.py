"""What has to be done now and then, by nobody in particular.

Receipts are sealed, keys past their time purged, proposals past theirs ended; bytes that nobody refers to any more are
taken away, files that the disk refused are published, and approved calls that nobody made are made.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from threading import Event, Thread
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engross.calls import Context, present
from engross.ledger import OfficeKey, Seal, are_keys_past, erased_keys, has_unsealed, purge_keys, seal_receipts
from engross.pipeline import Fittings, drive, fresh_since, take_up_errands
from engross.replies import Failed
from engross.store import (
    Arrivals,
    Transaction,
    erase_unreferenced,
    intend_unless_held,
    publish,
    tenants_in_debt,
    tenants_with_erasures,
)

from .references import standing

if TYPE_CHECKING:
    from engross.ledger.checkpoint import Checkpoint

_log = logging.getLogger("engross.housekeeping")
TIDY_EVERY = 60


class Housekeeping:
    """A thread that keeps the office in order. Nobody waits for it, and it survives what goes wrong in a round."""

    def __init__(
        self,
        fittings: Fittings,
        key: OfficeKey,
        seconds: float,
        *,
        restored: Checkpoint | None,
        expire: Callable[[str], None],
        acting_for: Callable[[str], Context],
        arrivals: Arrivals,
    ) -> None:
        self._fittings = fittings
        self._key = key
        self._seconds = seconds
        self._restored = restored
        self._expire = expire
        self._acting_for = acting_for
        self._arrivals = arrivals
        self._stop = Event()
        self._thread = Thread(target=self._rounds, name="engross-housekeeping", daemon=True)

    def start(self) -> None:
        """Publish what an earlier process left unpublished, take away what it was to take away, and begin."""
        self._each(self._publish, lambda: tenants_in_debt(self._fittings.store, "publish"))
        self._each(self._erase_bytes, lambda: tenants_with_erasures(self._fittings.store))
        self._thread.start()

    def stop(self) -> None:
        """Do the last round."""
        self._stop.set()
        self._thread.join(timeout=10)
        changed = self._changed()
        self._each(self._seal, lambda: changed)
        # No call is under way any more, however lately its bytes came. Whoever only tried is not among the tenants yet.
        came_for = self._arrivals.tenants()
        self._each(lambda tenant: self._look_at_arrivals(tenant, older_than=0.0), lambda: came_for)
        self._each(self._erase_bytes, lambda: sorted({*changed, *came_for}))
        self._each(self._purge, lambda: changed)

    def seal(self, tenants: Iterable[str]) -> int:
        """Seal what is settled; how many receipts that were."""
        return sum(self._seal(tenant) for tenant in tenants)

    def tidy(self, tenants: Iterable[str]) -> None:
        """Drop what is past its time, and do what was left undone."""
        self._drop_stale_answers()
        for tenant in tenants:
            self._tidy(tenant)

    def _rounds(self) -> None:
        # Until all tenants were seen once, an earlier process may have left receipts of any of them unsealed.
        all_seen = self._for_all(self._seal)
        self._for_all(self._drop_abandoned)
        count = 0
        while not self._stop.wait(self._seconds):
            all_seen = self._after_commits(all_seen)
            count += 1
            if count % TIDY_EVERY == 1:
                self._drop_stale_answers()
                self._for_all(self._tidy)

    def _after_commits(self, all_seen: bool) -> bool:
        """Seal what was committed, and take away the bytes that it left without a reference."""
        changed = self._changed()
        sealed = self._each(self._seal, lambda: changed) if all_seen else self._for_all(self._seal)
        self._each(self._erase_bytes, lambda: changed)
        return all_seen or sealed

    def _seal(self, tenant: str) -> int:
        store, sealed = self._fittings.store, 0
        while seal := store.write(tenant, self._seal_some):
            sealed += seal.body["receipts"]
        # What was not settled yet, or came while another process was sealing, is for the next round.
        if store.read(tenant, has_unsealed):
            self._fittings.unsealed.add(tenant)
        return sealed

    def _seal_some(self, transaction: Transaction) -> Seal | None:
        return seal_receipts(transaction, self._key, present(self._fittings.clock), self._restored)

    def _tidy(self, tenant: str) -> None:
        self._drop_erased_answers(tenant)
        self._purge(tenant)
        self._expire(tenant)
        self._publish(tenant)
        self._look_at_arrivals(tenant, older_than=self._fittings.call_seconds)
        self._erase_bytes(tenant)
        self._drop_abandoned(tenant)
        deadline = time.monotonic() + self._fittings.call_seconds
        drive(take_up_errands(self._fittings, replace(self._acting_for(tenant), deadline=deadline)))

    def _drop_stale_answers(self) -> None:
        self._fittings.answers.drop_stale(present(self._fittings.clock))

    def _drop_erased_answers(self, tenant: str) -> None:
        """Whoever erased has dropped them, unless it was another process, Redis was away, or one was just being put."""
        since = fresh_since(present(self._fittings.clock))
        erased = self._fittings.store.read(tenant, lambda reading: erased_keys(reading, since))
        if erased:
            self._fittings.answers.drop([(tenant, *key) for key in erased])

    def _purge(self, tenant: str) -> None:
        store, now = self._fittings.store, present(self._fittings.clock)
        while store.read(tenant, lambda reading: are_keys_past(reading, now)):
            store.write(tenant, lambda unit: purge_keys(unit, now))

    def _publish(self, tenant: str) -> None:
        publish(self._fittings.store, tenant, self._fittings.blobs(tenant))

    def _look_at_arrivals(self, tenant: str, *, older_than: float) -> None:
        came = self._arrivals.taken(tenant, older_than=older_than)
        try:
            intend_unless_held(self._fittings.store, tenant, came, standing)
        except BaseException:
            for digest in came:
                self._arrivals.note(tenant, digest)
            raise

    def _erase_bytes(self, tenant: str) -> None:
        erase_unreferenced(self._fittings.store, tenant, self._fittings.blobs(tenant), standing)

    def _drop_abandoned(self, tenant: str) -> None:
        self._fittings.blobs(tenant).drop_abandoned()

    def _changed(self) -> list[str]:
        changed = list(self._fittings.unsealed)
        self._fittings.unsealed.difference_update(changed)
        return changed

    def _for_all(self, chore: Callable[[str], object]) -> bool:
        """Do a chore for whoever there is; an office that closes does not wait for the rest of them."""
        return self._each(lambda tenant: self._stop.is_set() or chore(tenant), self._fittings.store.tenants)

    def _each(self, chore: Callable[[str], object], tenants: Callable[[], list[str]]) -> bool:
        """Do a chore for all tenants, one by one; whether nothing went wrong."""
        try:
            listed = tenants()
        except Exception as error:
            _log.warning("housekeeping will try again: %s", type(error).__name__)
            return False
        return all([self._done(chore, tenant) for tenant in listed])

    def _done(self, chore: Callable[[str], object], tenant: str) -> bool:
        try:
            chore(tenant)
        except Exception as error:
            self._fittings.unsealed.add(tenant)
            _log.warning("housekeeping will try again: %s", _in_words(error))
            return False
        return True


def _in_words(error: Exception) -> str:
    """What kept a chore from being done, as far as it may stand in a log."""
    problem = error.data.get("problem") if isinstance(error, Failed) and error.data else None
    return str(problem or type(error).__name__)
