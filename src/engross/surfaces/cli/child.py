"""Another process of this program: it takes nothing in the current folder for a module, and what it said is kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from engross.replies import Failed, codes
from engross.replies.crashes import redact

COMMAND = (sys.executable, "-P", "-m", "engross.surfaces.cli")
"""Without -P a `queue.py` in the current folder would be taken for Python's own, and executed."""
MOST_SAID = 4000
PATIENCE_SECONDS = 120
ENDING_SECONDS = 60


class Child(NamedTuple):
    """A process that goes on, and what it says on standard error."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]

    @property
    def to(self) -> IO[bytes]:
        """Its standard input."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def back(self) -> IO[bytes]:
        """Its standard output."""
        assert self.process.stdout is not None
        return self.process.stdout

    def failed(self) -> Failed:
        """That it ended when something was expected of it."""
        self.said.seek(0)
        return failed(self.said.read())


@contextmanager
def started(words: Sequence[str], environment: Mapping[str, str], **more: Any) -> Iterator[Child]:
    """A command that goes on, for a while."""
    with TemporaryFile() as said:
        process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=said, env=environment, **more)
        try:
            yield Child(process, said)
        finally:
            process.terminate()
            process.communicate(timeout=ENDING_SECONDS)


def done(words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """A command that came to its end."""
    command = [*COMMAND, *words]
    return subprocess.run(command, capture_output=True, env=environment, check=False, timeout=PATIENCE_SECONDS)


def failed(said: bytes) -> Failed:
    """The refusal of a process that gave no answer, in its own last words."""
    last = redact(said.decode(errors="replace").strip()[-MOST_SAID:])
    problem = "a process that was started for this ended without an answer"
    return Failed(codes.OFFICE_UNREACHABLE, data={"problem": problem, "said": last})
