"""Importing the package and opening a store, beside importing a modelling library."""

from __future__ import annotations

import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from engross.surfaces.client import connect

from .claims import Claim
from .rounds import interleaved

ROUNDS = 11
BARE = "import pydantic, sqlite3"
OPEN = "import sys, engross; engross.connect(sys.argv[1])"
READY = "import sys, engross; engross.connect(sys.argv[1]).close()"


def measure() -> list[Claim]:
    """The claim about opening."""
    with TemporaryDirectory() as folder:
        connect(folder).close()
        times = interleaved(
            {
                "bare": lambda: milliseconds(BARE, folder),
                "office": lambda: milliseconds(OPEN, folder),
                "opened and closed": lambda: milliseconds(READY, folder),
            },
            rounds=ROUNDS,
        )
    return [Claim("import and open", times["office"] / times["bare"], "at most", 2.5, times, "ms")]


def milliseconds(program: str, folder: str) -> float:
    """How long a fresh interpreter takes for a program."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program, folder], check=True)
    return (time.perf_counter() - started) * 1000
