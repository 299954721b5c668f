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
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from msgspec import Struct, convert
from msgspec.structs import asdict

from engross.calls import Context, days_after
from engross.replies import Reply

from .flights import FlightKey

if TYPE_CHECKING:
    from redis import Redis

KEPT_HOURS = 24
MOST_KEPT = 10_000
# A Redis that fails is asked again after this long; until then no call waits for it.
PAUSE_SECONDS = 10.0
PATIENCE_SECONDS = 0.25
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
    """What was suggested when the answer was given, which its row does not keep; as JSON."""

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


class Answers(Protocol):
    """Answers by key, for a day, perhaps."""

    def get(self, key: FlightKey, context: Context) -> Remembered | None:
        """What is remembered under a key."""

    def put(self, key: FlightKey, remembered: Remembered) -> None:
        """Remember an answer."""

    def drop(self, key: FlightKey) -> None:
        """Forget an answer."""

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

    def put(self, key: FlightKey, remembered: Remembered) -> None:
        """Remember an answer."""
        with self._lock:
            self._kept[key] = remembered
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def drop(self, key: FlightKey) -> None:
        """Forget an answer."""
        with self._lock:
            self._kept.pop(key, None)

    def close(self) -> None:
        """Let go."""
        self._kept.clear()


class RedisAnswers:
    """Answers in Redis, for all processes. While it cannot be reached, or talks nonsense, there is simply no cache."""

    def __init__(self, url: str, *, prefix: str) -> None:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self._redis: Redis = Redis.from_url(
            url.removeprefix("redis+"),  # so that a socket is named the same here and where calls are counted
            socket_timeout=PATIENCE_SECONDS,
            socket_connect_timeout=PATIENCE_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
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

    def put(self, key: FlightKey, remembered: Remembered) -> None:
        """Remember an answer."""
        if time.monotonic() < self._away_until:
            return
        # A state is that of one store: another one, restored from a backup of it, can come to the same.
        text = orjson.dumps({**asdict(remembered), "unchanged_in": None, "again": None})
        try:
            self._redis.set(self._name(key), text, ex=KEPT_HOURS * 3600)
        except Exception as error:
            self._pause(error)

    def drop(self, key: FlightKey) -> None:
        """Forget an answer."""
        if time.monotonic() < self._away_until:
            return
        try:
            self._redis.delete(self._name(key))
        except Exception as error:
            self._pause(error)

    def close(self) -> None:
        """Let go."""
        self._redis.close()

    def _name(self, key: FlightKey) -> str:
        return self._prefix + "\x1f".join(key)

    def _pause(self, error: Exception) -> None:
        self._away_until = time.monotonic() + PAUSE_SECONDS
        _log.warning("the answer cache cannot be used: %s", type(error).__name__)


def _remembered(text: bytes, now: str) -> Remembered | None:
    try:
        found = convert(orjson.loads(text), Remembered)
        convert(orjson.loads(found.text), Told)
        if found.suggestions is not None:
            convert(orjson.loads(found.suggestions), list[Any])
        return found if found.is_fresh(now) else None
    except (ValueError, OverflowError):
        # Another release wrote it, or another program.
        return None
