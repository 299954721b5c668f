"""What a process holds in memory, as the kernel counts it.

Not by `getrusage`: its peak is handed down to whoever a process starts, so that a child of a large one seems to hold as
much from its first moment on.
"""

from __future__ import annotations

from pathlib import Path

MEGABYTE = 1024


def resident_megabytes(pid: int | str = "self") -> float:
    """What a process holds now."""
    return _field("VmRSS:", pid)


def peak_megabytes() -> float:
    """The most that this process ever held."""
    return _field("VmHWM:", "self")


def _field(name: str, pid: int | str) -> float:
    """A line of a process's status, which are in kilobytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / MEGABYTE
