"""Where writers come from: a process that has everything imported and splits off one after the other.

Starting an interpreter takes longer than most writers live. One that is split off is a process of its own all
the same, with an office of its own, and dies alone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson

from tests.bed.programs import die_with_the_tests
from tests.faults.programs import start_program


class Nursling:
    """A writer that was split off: what it says, and how it ends."""

    def __init__(self, nursery: Nursery, process: int, voice: BinaryIO) -> None:
        self._nursery = nursery
        self._process = process
        self._voice = voice

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says, until it ends."""
        return (orjson.loads(line) for line in self._voice)

    def kill(self) -> None:
        """End it at once. What it said before can still be heard."""
        os.kill(self._process, signal.SIGKILL)

    def wait(self) -> int:
        """How it ended: 0, or the number of the signal that ended it, negated."""
        self._voice.close()
        return int(self._nursery.ask({"wait": self._process}))


class Nursery:
    """The parent's side."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self._errors = folder / "errors.txt"
        with self._errors.open("wb") as errors:
            self._program = start_program("tests.faults.nursery", stdin=subprocess.PIPE, stderr=errors)

    def start(self, program: str, *arguments: str) -> Nursling:
        """Split off a process that runs a module's `main`."""
        pipe = self._folder / f"voice-{next(self._numbers)}"
        os.mkfifo(pipe)
        # Reading begins first, so that the other side need not wait for us.
        voice = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        process = int(self.ask({"program": program, "arguments": arguments, "voice": str(pipe)}))
        os.set_blocking(voice, True)
        pipe.unlink()
        return Nursling(self, process, os.fdopen(voice, "rb"))

    def ask(self, what: dict[str, Any]) -> bytes:
        """Send a line and get one back."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(orjson.dumps(what, option=orjson.OPT_APPEND_NEWLINE))
        self._program.stdin.flush()
        answer: bytes = self._program.stdout.readline()
        assert answer, self.last_words()
        return answer

    def last_words(self) -> str:
        """The end of what writers said on their standard error."""
        return self._errors.read_text(errors="replace")[-3000:]

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._program.stdin is not None
        with self._program:
            self._program.stdin.close()


def main() -> None:
    """The nursery's side."""
    _warm_up()
    for line in sys.stdin.buffer:
        wish = orjson.loads(line)
        if "wait" in wish:
            _, status = os.waitpid(wish["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = _split_off(**wish)
        os.write(1, b"%d\n" % answer)


def _warm_up() -> None:
    """Import and prepare what every writer needs. Nothing may be left open, and no thread run, when one splits off."""
    for name in ("psycopg_pool", "cryptography.hazmat.primitives.asymmetric.ed25519"):
        import_module(name)
    writer = import_module("tests.faults.writer")
    with tempfile.TemporaryDirectory() as folder, writer.open_office(folder, None, f"{folder}/pages") as client:
        for caller in (client, client.as_("scout", "agent", ["agent"])):
            asyncio.run(caller.acall("shelf.add-book", {"title": "Dune"}))
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join()


def _split_off(program: str, arguments: list[str], voice: str) -> int:
    # Opened before splitting: from its first moment on, the pipe ends when the process does.
    pipe = os.open(voice, os.O_WRONLY)
    process = os.fork()
    if process:
        os.close(pipe)
        return process
    code = 1
    try:
        if dying := die_with_the_tests(signal.SIGKILL):
            dying()
        os.dup2(pipe, 1)
        os.close(pipe)
        import_module(program).main(*arguments)
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)
    return 0


if __name__ == "__main__":
    main()
