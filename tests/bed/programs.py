"""The server programs of this machine, or those that a wheel brought along."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

PATIENCE_SECONDS = 30
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
"""The variables by which programs are told to go by a proxy."""


class Unavailable(Exception):
    """Something the tests need cannot be had on this machine."""


def wheel_folder(package: str) -> Path | None:
    """Where an installed wheel lies, found without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def temporary_folder(name: str) -> Path:
    """A folder with a short path: a Unix socket's address holds about a hundred characters."""
    root = "/tmp" if os.access("/tmp", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix=f"engross-{name}-", dir=root))


def service_user() -> str | None:
    """The existing user a server runs as when the tests run as root; nobody else's login is added."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise Unavailable("the tests run as root, and there is no user `postgres` or `nobody` to run a server as")


def reachable_by_all(path: Path) -> bool:
    """Whether any user may walk to a path."""
    return all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def die_with_the_tests(stop_signal: signal.Signals) -> Callable[[], None] | None:
    """For a process about to run: have it end with whoever starts it.

    A test run that is killed cannot tear anything down; the kernel ends its servers instead.
    """
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    set_parent_death_signal = 1

    def arrange() -> None:
        libc.prctl(set_parent_death_signal, int(stop_signal))
        # A run in the background ignores Ctrl-C, and so would whatever it starts.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return arrange


class _Identity(TypedDict, total=False):
    user: str
    group: int
    extra_groups: list[int]


class Process:
    """A server process with its folder and its log."""

    def __init__(self, folder: Path, argv: Sequence[str], stop_signal: signal.Signals, user: str | None) -> None:
        self.log = folder / "server.log"
        self.stop_signal = stop_signal
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                argv,
                cwd=folder,
                env=plain_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_the_tests(stop_signal),
                **_identity(user),
            )

    def wait_until(self, ready: Callable[[], bool]) -> None:
        """Return once the server answers; say what it logged if it never does."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Unavailable(f"the server did not start: {self.last_words()}")
            time.sleep(0.01)

    def last_words(self) -> str:
        """The end of the server's log."""
        return self.log.read_text(errors="replace")[-2000:]

    def kill(self) -> None:
        """End it, and the processes it started, without asking."""
        # It must not start others in place of those that are gone, so it goes first.
        children = _children(self._process.pid)
        self._process.kill()
        self._process.wait()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        while not all(map(_is_gone, children)):
            time.sleep(0.001)

    def stop(self) -> None:
        """Ask it to stop, and end it if it does not."""
        if self._process.poll() is None:
            self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _children(parent: int) -> list[int]:
    # Where there is no such list, a server's children notice that it is gone and end by themselves.
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return []


def _is_gone(process: int) -> bool:
    # One that nobody waited for stays in the list, but holds nothing any more.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def _identity(user: str | None) -> _Identity:
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def plain_environment() -> dict[str, str]:
    """An environment without settings that would redirect a server or its tools."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C"}


def run_to_end(argv: Sequence[str], folder: Path, user: str | None) -> None:
    """Run a program that must succeed."""
    done = subprocess.run(
        argv,
        cwd=folder,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        **_identity(user),
    )
    if done.returncode != 0:
        raise Unavailable(f"{Path(argv[0]).name} failed: {(done.stderr or done.stdout)[-2000:]}")


def remove(folder: Path) -> None:
    """Remove a server's folder; one that is already gone is fine."""
    shutil.rmtree(folder, ignore_errors=True)
