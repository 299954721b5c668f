"""A disk that a test can fill up or make read-only.

It is a file system in memory, mounted for one process and those it starts: nobody else sees it, and it is gone
with them however they end. Root may do that as it is; anybody else in a name space of their own, where the system
lets them.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from tests.bed.programs import Unavailable

P = ParamSpec("P")
R = TypeVar("R")
BALLAST = "ballast"


class Disk:
    """The small disk, from inside the process that has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leave no room at all."""
        with open(self.folder / BALLAST, "ab", buffering=0) as file:
            block = bytes(4096)
            try:
                while True:
                    file.write(block)
            except OSError:
                return

    def make_room(self, some: int | None = None) -> None:
        """Take away what filled it, or so many bytes of it."""
        ballast = self.folder / BALLAST
        if some is None:
            ballast.unlink()
        else:
            os.truncate(ballast, ballast.stat().st_size - some)

    def protect(self) -> None:
        """Make it read-only; nobody may have a file open for writing."""
        subprocess.run(["mount", "-o", "remount,ro", str(self.folder)], check=True)

    def release(self) -> None:
        """Make it writable again."""
        subprocess.run(["mount", "-o", "remount,rw", str(self.folder)], check=True)


class SmallDisk:
    """Runs functions in a process that has a small disk."""

    def __init__(self) -> None:
        unshare = shutil.which("unshare")
        if unshare is None or shutil.which("mount") is None:
            raise Unavailable("there is no `unshare` or no `mount` on this machine")
        own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
        self._prefix = [unshare, *own, "--mount", "--"]
        with tempfile.TemporaryDirectory() as folder:
            mounting = [*self._prefix, "mount", "-t", "tmpfs", "tmpfs", folder]
            done = subprocess.run(mounting, capture_output=True, text=True)
            if done.returncode != 0:
                raise Unavailable(f"no file system can be mounted here: {done.stderr.strip()[-200:]}")

    def run(self, megabytes: int, function: Callable[Concatenate[Disk, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a module's top-level function with such a disk; return its result or raise its exception."""
        with tempfile.TemporaryDirectory() as folder:
            call, outcome, disk = Path(folder, "call"), Path(folder, "outcome"), Path(folder, "disk")
            disk.mkdir()
            os.chmod(folder, 0o711)
            call.write_bytes(pickle.dumps((function, megabytes, args, kwargs)))
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            argv = [sys.executable, "-m", "tests.bed.small_disk", str(call), str(outcome), str(disk)]
            done = subprocess.run([*self._prefix, *argv], env=environment, capture_output=True, text=True)
            if not outcome.exists():
                raise RuntimeError(f"the process ended early: {done.stderr[-4000:]}")
            error, result = pickle.loads(outcome.read_bytes())
        if error is not None:
            raise error
        return result


def _answer(call: Path, outcome: Path, folder: Path) -> None:
    function, megabytes, args, kwargs = pickle.loads(call.read_bytes())
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=True)
    try:
        pair: tuple[Exception | None, object] = (None, function(Disk(folder), *args, **kwargs))
    except Exception as error:
        pair = (error, None)
    outcome.write_bytes(pickle.dumps(pair))


if __name__ == "__main__":
    _answer(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
