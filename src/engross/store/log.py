"""SQLite's write-ahead log, as it lies beside the file.

A log begins anew only when all that was committed to it is in the file. As long as it holds nothing but its head, the
file alone is the store; a process that was killed before its first commit leaves it like that. SQLite, when it may
change nothing, tries for ten seconds to read such a log, and gives up.
"""

from __future__ import annotations

from pathlib import Path

HEAD = 32


def log_bytes(path: Path) -> int:
    """How long the log of a file is; it lies beside what a link leads to."""
    file = path.resolve()
    try:
        return file.with_name(f"{file.name}-wal").stat().st_size
    except OSError:
        return 0


def holds_all(path: Path) -> bool:
    """Whether the file is all there is, without its log."""
    return log_bytes(path) <= HEAD
