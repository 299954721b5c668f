"""An office served as a user would serve it, `engross serve`, with a proxy before it that brings the token along."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from urllib.error import URLError
from urllib.request import urlopen

from .proxy import TokenProxy
from .trial import OfficeName

ROOT = Path(__file__).parents[1]
ENGROSS = (sys.executable, "-m", "engross.surfaces.cli")
PATIENCE_SECONDS = 30.0


class Served:
    """Serves an office with one capability from a folder of its own, while it is entered."""

    def __init__(self, office: OfficeName, capability: Path) -> None:
        self.office: OfficeName = office
        self._capability = capability
        self._open = ExitStack()

    @classmethod
    def pack(cls) -> Served:
        """An office with the conformance pack."""
        return cls("pack", ROOT / "conformance" / "pack.py")

    @classmethod
    def ladder(cls) -> Served:
        """An office with the last and largest of the examples."""
        return cls("ladder", ROOT / "examples" / "04-the-whole.py")

    def __enter__(self) -> str:
        """The address to give to the suite."""
        with ExitStack() as opening:
            folder = Path(opening.enter_context(TemporaryDirectory(prefix="engross-conformance-")))
            token = _made_token(folder / "office")
            port = opening.enter_context(_serving(folder, self._capability))
            proxy = opening.enter_context(TokenProxy(port, token))
            self._open = opening.pop_all()
        return f"http://127.0.0.1:{proxy.port}/mcp"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()


def _made_token(data: Path) -> str:
    command = [*ENGROSS, "token", "create", "suite", "--data", str(data)]
    made = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=True)
    return made.stdout.strip()


@contextmanager
def _serving(folder: Path, capability: Path) -> Iterator[int]:
    """The port of a server, which is told to end when the block does."""
    port = free_port()
    log = folder / "serve.log"
    # The suite names the proxy as the host it wants, and that is another port than the server's own.
    environment = {**_environment(), "ENGROSS_HOSTS": "127.0.0.1"}
    command = ["serve", "--data", str(folder / "office"), "--port", str(port), "--capability", str(capability)]
    with log.open("wb") as words:
        server = subprocess.Popen(
            [*ENGROSS, *command], env=environment, stdin=subprocess.DEVNULL, stdout=words, stderr=words
        )
    try:
        _wait_until_ready(server, port, log)
        yield port
    finally:
        server.terminate()
        try:
            server.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _environment() -> dict[str, str]:
    """This one without its settings, which may name somebody's real office."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ENGROSS_")}


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _is_ready(port):
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"engross serve did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.02)


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError, TimeoutError):
        return False


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
