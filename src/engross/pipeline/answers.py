"""The adapter cache: the first of the two layers of idempotency.

It saves the writer a retry that comes soon, and nothing depends on it: an entry that is missing, or whose fingerprint
differs, counts as no entry, and the key's row in the store decides. So does an entry whose row the store does not have:
a row is kept for longer than an entry, so this store never committed the call. One that was restored from a backup
meets such answers in Redis, of what was done after the backup.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from msgspec import Struct, convert
from msgspec.structs import asdict

from engross.calls import Context, days_after, parse_instant
from engross.redis_server import connections
from engross.replies import REGISTRY, Reply

from .flights import FlightKey

if TYPE_CHECKING:
    from redis import Redis

KEPT_HOURS = 24
MOST_KEPT = 10_000
# A Redis that fails is asked again after this long; until then no call waits for it.
PAUSE_SECONDS = 10.0
DROPPED_AT_ONCE = 1000
_log = logging.getLogger("engross.answers")


class Told(Struct, frozen=True):
    """What the text of an answer holds."""

    code: str
    params: dict[str, Any]
    data: dict[str, Any]
    trace_id: str


class Remembered(Struct, frozen=True, gc=False):
    """The answer that a key stands for, and when it was given."""

    principal: str
    fingerprint: str
    text: str
    """The answer as its row keeps it: thousands of them as objects would keep the garbage collector busy."""
    position: int | None
    created_at: str
    unchanged_in: str | None = None
    """The state of the store in which there was nothing to add to the answer."""
    again: Reply | None = None
    """The reply to a retry in that state, in the process that made it."""
    suggestions: str | None = None
    """What the answer by itself suggested when it was given, which its row does not keep; as JSON."""

    @property
    def answer(self) -> dict[str, Any]:
        """Code, params, data and trace of the first answer."""
        told: dict[str, Any] = orjson.loads(self.text)
        if self.suggestions is not None:
            told["data"]["suggestions"] = orjson.loads(self.suggestions)
        return told

    def is_fresh(self, now: str) -> bool:
        """Whether a cache may still answer with it: a day from the first call, however often it is repeated."""
        return now < days_after(self.created_at, KEPT_HOURS // 24)


def fresh_since(now: str) -> str:
    """What is as old as this, or older, no cache answers with."""
    return days_after(now, -KEPT_HOURS // 24)


class Answers(Protocol):
    """Answers by key, for a day, perhaps."""

    def get(self, key: FlightKey, context: Context) -> Remembered | None:
        """What is remembered under a key."""

    def put(self, key: FlightKey, remembered: Remembered, context: Context) -> None:
        """Remember an answer."""

    def drop(self, keys: Iterable[FlightKey]) -> None:
        """Forget answers."""

    def drop_stale(self, now: str) -> None:
        """Forget whatever is not answered with any more."""

    def close(self) -> None:
        """Let go."""


class MemoryAnswers:
    """Answers in this process."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[FlightKey, Remembered] = OrderedDict()

    def get(self, key: FlightKey, context: Context) -> Remembered | None:
        """What is remembered under a key."""
        found = self._kept.get(key)
        return found if found and found.is_fresh(context.occurred_at) else None

    def put(self, key: FlightKey, remembered: Remembered, context: Context) -> None:
        """Remember an answer."""
        with self._lock:
            self._kept[key] = remembered
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def drop(self, keys: Iterable[FlightKey]) -> None:
        """Forget answers."""
        with self._lock:
            for key in keys:
                self._kept.pop(key, None)

    def drop_stale(self, now: str) -> None:
        """Forget whatever is not answered with any more."""
        eldest = fresh_since(now)
        with self._lock:
            for key in [key for key, kept in self._kept.items() if kept.created_at <= eldest]:
                del self._kept[key]

    def close(self) -> None:
        """Let go."""
        self._kept.clear()


class RedisAnswers:
    """Answers in Redis, for all processes. While it cannot be reached, or talks nonsense, there is simply no cache."""

    def __init__(self, url: str, *, prefix: str) -> None:
        from redis import Redis

        self._redis: Redis = Redis.from_pool(connections(url))
        self._prefix = prefix
        self._away_until = 0.0

    def get(self, key: FlightKey, context: Context) -> Remembered | None:
        """What is remembered under a key."""
        if time.monotonic() < self._away_until:
            return None
        try:
            text: Any = self._redis.get(self._name(key))
        except Exception as error:
            self._pause(error)
            return None
        return _remembered(text, context.occurred_at) if text else None

    def put(self, key: FlightKey, remembered: Remembered, context: Context) -> None:
        """Remember an answer."""
        left = _seconds_left(remembered, context.occurred_at)
        if left < 1 or time.monotonic() < self._away_until:
            return
        # A state is that of one store: another one, restored from a backup of it, can come to the same.
        text = orjson.dumps({**asdict(remembered), "unchanged_in": None, "again": None})
        try:
            self._redis.set(self._name(key), text, ex=left)
        except Exception as error:
            self._pause(error)

    def drop(self, keys: Iterable[FlightKey]) -> None:
        """Forget answers."""
        names = [self._name(key) for key in keys]
        if time.monotonic() < self._away_until:
            return
        try:
            for start in range(0, len(names), DROPPED_AT_ONCE):
                self._redis.delete(*names[start : start + DROPPED_AT_ONCE])
        except Exception as error:
            self._pause(error)

    def drop_stale(self, now: str) -> None:
        """Redis does that by itself."""

    def close(self) -> None:
        """Let go."""
        self._redis.close()

    def _name(self, key: FlightKey) -> str:
        return self._prefix + "\x1f".join(key)

    def _pause(self, error: Exception) -> None:
        self._away_until = time.monotonic() + PAUSE_SECONDS
        _log.warning("the answer cache cannot be used: %s", type(error).__name__)


def _seconds_left(remembered: Remembered, now: str) -> int:
    """How long an answer may still be kept, however often it is put there."""
    age = parse_instant(now) - parse_instant(remembered.created_at)
    return KEPT_HOURS * 3600 - max(0, int(age.total_seconds()))


def _remembered(text: bytes, now: str) -> Remembered | None:
    try:
        found = convert(orjson.loads(text), Remembered)
        if convert(orjson.loads(found.text), Told).code not in REGISTRY:
            return None
        if found.suggestions is not None:
            convert(orjson.loads(found.suggestions), list[Any])
        return found if found.is_fresh(now) else None
    except (ValueError, OverflowError):
        # Another release wrote it, or another program.
        return None
