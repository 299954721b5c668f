"""Rate limits: how often one principal may call one flow."""

from __future__ import annotations

import logging
from collections.abc import Callable
from fnmatch import fnmatchcase
from math import ceil
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any

from engross.calls import Context
from engross.replies import Denied, Failed, codes

from .knobs import Knobs
from .setting import RATE_CLASSES, UNLIMITED

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.strategies import RateLimiter

    from engross.flows import Flow

# A Redis that went away is asked again after this long, and a call waits for it no longer than that.
PAUSE_SECONDS = 30.0
PATIENCE_SECONDS = 0.25

log = logging.getLogger("engross.limits")


class Limits:
    """Counts calls per tenant, principal and flow, in this process or in a Redis that several share."""

    def __init__(self, knobs: Knobs, storage_url: str | None = None, *, clock: Callable[[], float] = time) -> None:
        self._knobs = knobs
        self._url = storage_url
        self._clock = clock
        self._items: dict[str, RateLimitItem] = {}
        self._counters: dict[tuple[bool, str], RateLimiter] = {}
        self._making = Lock()
        self._shared_again_at = 0.0
        self._is_away = False

    def take(self, context: Context, flow: Flow) -> None:
        """Count one call; refuse it when there were too many."""
        knobs = self._knobs.for_(context.tenant)
        if context.surface not in knobs.rate_limit_surfaces:
            return
        rate = _rate_of(flow, knobs)
        if rate != UNLIMITED:
            self._take(_key(context.tenant, context.principal.id, flow.ref), rate, knobs.rate_limit_window)

    def _take(self, key: str, rate: str, window: str) -> None:
        item = self._item(rate)
        wait = self._wait_shared(item, key, window) if self._url else None
        if wait is None:
            wait = self._wait(self._counter(False, window), item, key)
        if wait:
            seconds = {"retry_after_seconds": wait}
            raise Denied(codes.RATE_LIMIT_EXCEEDED, seconds, data=seconds)

    def _wait_shared(self, item: RateLimitItem, key: str, window: str) -> int | None:
        """The seconds to wait by the shared count; None while that cannot be had."""
        now = self._clock()
        if now < self._shared_again_at:
            return None
        try:
            wait = self._wait(self._counter(True, window), item, key)
        except Exception as failure:  # whatever is wrong with the counter, calls go on
            self._shared_again_at = now + PAUSE_SECONDS
            self._tell_away(True, failure)
            return None
        self._tell_away(False)
        return wait

    def _wait(self, counter: RateLimiter, item: RateLimitItem, key: str) -> int:
        """The seconds until the next call is possible: 0 when this one was."""
        if counter.hit(item, key):
            return 0
        return max(1, ceil(counter.get_window_stats(item, key).reset_time - self._clock()))

    def _tell_away(self, is_away: bool, failure: Exception | None = None) -> None:
        if is_away == self._is_away:
            return
        self._is_away = is_away
        if is_away:
            log.warning("rate limits are counted per process: the shared counter fails (%s)", type(failure).__name__)
        else:
            log.warning("rate limits are counted together again")

    def _item(self, rate: str) -> RateLimitItem:
        item = self._items.get(rate)
        if item is None:
            from limits import parse

            try:
                item = self._items[rate] = parse(rate)
            except ValueError as unreadable:
                raise Failed(codes.CONFIG_INVALID, {"setting": "rate"}, data={"rate": rate}) from unreadable
        return item

    def _counter(self, is_shared: bool, window: str) -> RateLimiter:
        counter = self._counters.get((is_shared, window))
        if counter is None:
            with self._making:
                counter = self._counters.get((is_shared, window)) or self._new_counter(is_shared, window)
                self._counters[is_shared, window] = counter
        return counter

    def _new_counter(self, is_shared: bool, window: str) -> RateLimiter:
        from limits.strategies import STRATEGIES

        storage = _redis(self._url) if is_shared and self._url else _memory()
        return STRATEGIES[f"{window}-window"](storage)


def _rate_of(flow: Flow, knobs: Knobs) -> str:
    """What the operator set for the flow by name, else the flow's own rate, else that of its class."""
    patterns = [name for name in knobs.rate_limits if name not in RATE_CLASSES and fnmatchcase(flow.ref, name)]
    if patterns:
        return knobs.rate_limits[max(patterns, key=lambda pattern: (pattern == flow.ref, len(pattern)))]
    own = flow.rate or ("read" if flow.semantics.safe else "write")
    return knobs.rate_limits[own] if own in RATE_CLASSES else own


def _key(tenant: str, principal: str, ref: str) -> str:
    # With their lengths, so that no choice of names makes one caller spend another's calls.
    return f"{len(tenant)}:{tenant}:{len(principal)}:{principal}:{ref}"


def _memory() -> Any:
    from limits.storage import MemoryStorage

    return MemoryStorage()


def _redis(url: str) -> Any:
    from limits.storage import storage_from_string
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    options: dict[str, Any] = {
        "socket_timeout": PATIENCE_SECONDS,
        "socket_connect_timeout": PATIENCE_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
    return storage_from_string(url, **options)
