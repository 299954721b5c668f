"""Running the command: in this process for the wide matrix, as a process of its own where that matters."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from typer.testing import CliRunner

from engross.surfaces.cli import app
from tests.bed.programs import PATIENCE_SECONDS, die_with_the_tests

COMMAND = [sys.executable, "-m", "engross.surfaces.cli"]


class Done(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The Reply that it printed."""
        answer: dict[str, Any] = orjson.loads(self.out)
        return answer

    @property
    def key(self) -> str:
        """The message key of the Reply that it printed."""
        key: str = self.json["reply"]["message_key"]
        return key


class Shell:
    """A shell at one office: `run` in this process, `start` and `spawn` in others."""

    def __init__(self, folder: Path, store: str | None = None, capabilities: Sequence[Path] = ()) -> None:
        self.folder = folder
        self.store = store
        self.here = ["--data", str(folder), *(["--store", store] if store else [])]
        self.there = [*self.here, *(word for file in capabilities for word in ("--capability", str(file)))]

    def run(self, *words: object, input: bytes | str | None = None, env: Mapping[str, str] | None = None) -> Done:
        """A command about the office with its capabilities."""
        return run(*words, *self.there, input=input, env=env)

    def spawn(self, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """The same as a process."""
        return spawn(*words, *self.there, **options)

    def start(self, *words: object, **options: Any) -> subprocess.Popen[str]:
        """The same as a process that goes on."""
        return start(*words, *self.there, **options)


def run(*words: object, input: bytes | str | None = None, env: Mapping[str, str] | None = None) -> Done:
    """A command, in this process."""
    silent = {name: None for name in os.environ if name.startswith("ENGROSS_")}
    done = CliRunner().invoke(app, [str(word) for word in words], input=input, env={**silent, **(env or {})})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def spawn(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command, as a shell would run it."""
    given = {"capture_output": True, "text": True, "check": False, "timeout": PATIENCE_SECONDS, **options}
    environment = {**plain(), **given.pop("env", {})}
    return subprocess.run([*COMMAND, *map(str, words)], env=environment, **given)


def start(*words: object, **options: Any) -> subprocess.Popen[str]:
    """A command that goes on."""
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    environment = {**plain(), **given.pop("env", {})}
    arranged = die_with_the_tests(signal.SIGKILL)
    return subprocess.Popen([*COMMAND, *map(str, words)], env=environment, preexec_fn=arranged, **given)


def plain() -> dict[str, str]:
    """This environment without settings of an office."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("ENGROSS_", "NO_COLOR"))}


class Terminal:
    """A command with a person in front of it."""

    def __init__(self, *words: object, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        self._master, slave = pty.openpty()
        self.shown = ""
        # A character may come in two pieces.
        self._decoder = getincrementaldecoder("utf-8")()
        self._process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**plain(), "TERM": "xterm-256color", "COLUMNS": "200", **(env or {})},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=die_with_the_tests(signal.SIGKILL),
        )
        os.close(slave)

    def until(self, text: str) -> str:
        """Read until the text is shown; everything shown so far."""
        while text not in self.shown:
            assert self._read(), f"{text!r} was never shown: {self.shown}"
        return self.shown

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        os.killpg(self._process.pid, signal.SIGINT)

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        os.close(self._master)
        return self._process.wait(PATIENCE_SECONDS)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE_SECONDS)
        assert ready, f"nothing more was shown: {self.shown}"
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False
        self.shown += self._decoder.decode(piece)
        return bool(piece)
