"""What a run did, step by step, as data: for whoever asked to see it, with nothing in it that must not be seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

TRACING: ContextVar[list[dict[str, Any]] | None] = ContextVar("engross.declared.trace", default=None)
"""Where the steps of the calls at hand are written down; None when nobody looks."""


@contextmanager
def traced() -> Iterator[list[dict[str, Any]]]:
    """Collects what the calls inside do."""
    steps: list[dict[str, Any]] = []
    before = TRACING.set(steps)
    try:
        yield steps
    finally:
        TRACING.reset(before)
