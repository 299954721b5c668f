"""Running code with an ordinary user's rights, even when the tests run as root.

Root passes every permission check, so a test of a read-only folder would prove nothing. Dropping all
capabilities leaves a process that owns the same files but is held to their permission bits like anyone else.
Another user would be held to them too, but could not walk into root's temporary folders or start an
interpreter that lies under root's home.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

from tests.bed.programs import Unavailable

P = ParamSpec("P")
R = TypeVar("R")


class Unprivileged:
    """Runs programs and functions without root's power to ignore permission bits."""

    def __init__(self) -> None:
        self._prefix = _prefix()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o500)
            if subprocess.run(self.command(["test", "-w", folder])).returncode == 0:
                raise Unavailable("this machine lets a process without capabilities write where it may not")

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs a program with an ordinary user's rights."""
        return [*self._prefix, *argv]

    def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a module's top-level function in such a process; return its result or raise its exception."""
        with tempfile.TemporaryDirectory() as folder:
            call, outcome = Path(folder, "call"), Path(folder, "outcome")
            call.write_bytes(pickle.dumps((function, args, kwargs)))
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            argv = [sys.executable, "-m", "tests.bed.unprivileged", str(call), str(outcome)]
            done = subprocess.run(self.command(argv), env=environment, capture_output=True, text=True)
            if not outcome.exists():
                raise RuntimeError(f"the process ended early: {done.stderr[-2000:]}")
            error, result = pickle.loads(outcome.read_bytes())
        if error is not None:
            raise error
        return result


def _prefix() -> list[str]:
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise Unavailable("the tests run as root, and there is no `setpriv` to give up root's rights")
    return [setpriv, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"]


def _answer(call: Path, outcome: Path) -> None:
    function, args, kwargs = pickle.loads(call.read_bytes())
    try:
        pair: tuple[Exception | None, object] = (None, function(*args, **kwargs))
    except Exception as error:
        pair = (error, None)
    outcome.write_bytes(pickle.dumps(pair))


if __name__ == "__main__":
    _answer(Path(sys.argv[1]), Path(sys.argv[2]))
