"""Looking over the shoulder of the call log and the crash log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

CALLS = logging.getLogger("engross.calls")


class _Keeper(logging.Handler):
    def __init__(self, kept: list[logging.LogRecord]) -> None:
        super().__init__()
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record)


@contextmanager
def call_lines() -> Iterator[list[logging.LogRecord]]:
    """The lines that calls leave while the block runs."""
    kept: list[logging.LogRecord] = []
    keeper = _Keeper(kept)
    before = CALLS.level
    CALLS.addHandler(keeper)
    CALLS.setLevel(logging.DEBUG)
    try:
        yield kept
    finally:
        CALLS.removeHandler(keeper)
        CALLS.setLevel(before)


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """What a line says, by name."""
    names = ("tool", "reply_type", "code", "duration_ms", "trace_id", "span_id", "interrupted")
    return {name: getattr(record, name) for name in names if hasattr(record, name)}


def crashes_in(folder: Path) -> list[dict[str, Any]]:
    """The records of the crash log in a folder."""
    file = folder / "crashes.jsonl"
    return [orjson.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []
