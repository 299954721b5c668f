"""Waiting for what another thread or server is about to do, however busy the machine is."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event


def eventually(true: Callable[[], bool], *, tries: int = 3000) -> None:
    """Look until something is so that another thread is about to do."""
    pause = Event()
    for _ in range(tries):
        if true():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come to be")
