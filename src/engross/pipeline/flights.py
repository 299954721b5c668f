"""Single flight: of the calls with one key, one runs and the others of this process wait for it."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock

FlightKey = tuple[str, str, str]


class Flights:
    """The keyed writes that are under way in this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[FlightKey, Future[None] | None] = {}

    def begin(self, key: FlightKey) -> Future[None] | None:
        """Take the lead, answered by None, or be handed what to wait for."""
        with self._lock:
            if key not in self._running:
                self._running[key] = None
                return None
            landing = self._running[key]
            if landing is None:
                landing = self._running[key] = Future()
            return landing

    def end(self, key: FlightKey) -> None:
        """Let the followers go on."""
        with self._lock:
            landing = self._running.pop(key, None)
        if landing is not None:
            landing.set_result(None)
