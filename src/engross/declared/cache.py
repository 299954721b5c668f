"""Answers of cacheable flows, kept for a while."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any, NamedTuple

MOST_ENTRIES = 512
MOST_BYTES = 32_000_000
LONGEST_SECONDS = 3600.0
_AGE = re.compile(r"(?:s-maxage|max-age)\s*=\s*\"?(\d{1,9})")


class Kept(NamedTuple):
    """An answer, until when it is good, and what it weighs."""

    value: Any
    until: float
    weight: int


class Cache:
    """The answers that were used last, within bounds."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> Kept | None:
        """An answer that is still good."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if kept.until <= time.monotonic():
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return kept

    def put(self, key: Hashable, value: Any, seconds: float, weight: int) -> None:
        """Keep an answer, and let go of those that were not used for longest."""
        if seconds <= 0 or weight > MOST_BYTES // 8:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = Kept(value, time.monotonic() + seconds, weight)
            self._weight += weight
            while len(self._kept) > MOST_ENTRIES or self._weight > MOST_BYTES:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._weight -= gone.weight


def lifetime(headers: Mapping[str, str], usual: float) -> float:
    """How long a response may be kept, in seconds: what it says about itself, else the usual."""
    said = headers.get("cache-control", "").lower()
    if "no-store" in said or "no-cache" in said:
        return 0.0
    found = _AGE.search(said)
    return min(LONGEST_SECONDS, float(found[1])) if found else usual
