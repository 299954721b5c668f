"""The command as a process of its own that need not import anything: it splits off from one that did.

Starting an interpreter takes ten times as long as what most tests do with it. One process imports everything that the
command needs, opens nothing, and splits off a new one whenever a test asks for it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import IO

from tests.bed.programs import PATIENCE_SECONDS, die_with_the_tests

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "tests.surfaces.matrix.splinter",
        "engross.surfaces.cli.stdio",
        "engross.surfaces.desk",
        "engross.surfaces.mcp",
        "engross.surfaces.mcp.stdio",
        "engross.office.capabilities",
        "engross.domains.architecture",
        "engross.store.postgres",
        "psycopg_pool",
        "cedarpy",
    ]
)


class Splinter:
    """`engross` with these words, and a pipe to and from it."""

    def __init__(self, words: Sequence[str]) -> None:
        hears, says = FORKS.Pipe(duplex=False)
        reads, writes = FORKS.Pipe(duplex=False)
        self._process = FORKS.Process(target=_command, args=(hears, writes, list(words)), daemon=True)
        self._process.start()
        self._to, self._from = _file(says, "w"), _file(reads, "r")
        for end in (hears, says, reads, writes):
            end.close()

    def ask(self, line: str) -> str:
        """Send a line and read one."""
        print(line, file=self._to, flush=True)
        return self._from.readline()

    def end(self) -> int | None:
        """Send nothing more and wait for its end; the exit code."""
        self._to.close()
        self._process.join(PATIENCE_SECONDS)
        self._from.close()
        return self._process.exitcode


def _file(end: Connection, mode: str) -> IO[str]:
    return os.fdopen(os.dup(end.fileno()), mode)


def _command(hears: Connection, writes: Connection, words: list[str]) -> None:
    from engross.surfaces.cli.entry import main

    if dying := die_with_the_tests(signal.SIGKILL):
        dying()
    for descriptor, end in enumerate((hears, writes)):
        os.dup2(end.fileno(), descriptor)
        end.close()
    for name in [name for name in os.environ if name.startswith("ENGROSS_")]:
        del os.environ[name]
    sys.argv = ["engross", *words]
    main()
