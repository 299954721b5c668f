"""A disk under SQLite that fails on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import Literal

import apsw

Kind = Literal["write", "sync", "read", "open"]
_names = (f"faulty-{number}" for number in count(1))
FULL = apsw.FullError
BROKEN = apsw.IOError


class FaultyDisk(apsw.VFS):
    """Passes everything on to the real disk, and counts it; `fail` makes it refuse."""

    def __init__(self) -> None:
        self.name = next(_names)
        self.counts: Counter[tuple[Kind, str]] = Counter()
        self._faults: dict[Kind, tuple[type[apsw.Error], Callable[[int], bool]]] = {}
        self._tries: Counter[Kind] = Counter()
        self._lock = Lock()
        super().__init__(self.name, "")

    def fail(self, kind: Kind, error: type[apsw.Error], *, at: Callable[[int], bool] = lambda number: True) -> None:
        """From now on refuse; `at` picks by number, counted from 1, which tries."""
        with self._lock:
            self._tries[kind] = 0
            self._faults[kind] = (error, at)

    def heal(self) -> None:
        """Work again."""
        with self._lock:
            self._faults.clear()

    def note(self, kind: Kind, file: str) -> None:
        """Count, and refuse if that was asked for."""
        with self._lock:
            self.counts[kind, file] += 1
            self._tries[kind] += 1
            error, at = self._faults.get(kind, (None, None))
            refused = at is not None and at(self._tries[kind])
        if error is not None and refused:
            raise error("the disk refuses")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> FaultyFile:
        """Open a file."""
        self.note("open", "file")
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    """One file on such a disk."""

    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        self._kind = "log" if flags[0] & apsw.SQLITE_OPEN_WAL else "other"
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        """Write some bytes."""
        self._disk.note("write", self._kind)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        """Make them durable."""
        self._disk.note("sync", self._kind)
        super().xSync(flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        """Read some bytes."""
        self._disk.note("read", self._kind)
        return super().xRead(amount, offset)
