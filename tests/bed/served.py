"""An office that is served by a process of its own, over real sockets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
import orjson

from engross.calls import Principal
from tests.bed.offices import shelf
from tests.bed.programs import PATIENCE_SECONDS, die_with_the_tests
from tests.bed.rig import rig

ROOT = Path(__file__).parents[2]
PATHS = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
NUMBERS = count()
UNLIMITED = "rate_limit_surfaces = []"


class NotServed(Exception):
    """The process ended before it served anything."""


class Served:
    """A running server. `owner` is the token of a human curator and admin, `agent` that of an agent."""

    def __init__(
        self,
        folder: Path,
        store: str | None = None,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        unix_socket: Path | None = None,
        auth: bool = True,
        toolsets: list[str] | None = None,
        patience: dict[str, float] | None = None,
        environment: dict[str, str] | None = None,
        knobs: str | None = None,
        **settings: Any,
    ) -> None:
        """`knobs` is the text of knobs.toml: `UNLIMITED` for tests that call more often than people do."""
        if knobs is not None:
            (folder / "policies").mkdir(parents=True, exist_ok=True)
            (folder / "policies" / "knobs.toml").write_text(knobs)
        self.folder = folder
        self.store = store
        self._asked = False
        wish = {
            "settings": {"data": str(folder), "store": store, **settings},
            "host": host,
            "port": port,
            "unix_socket": unix_socket and str(unix_socket),
            "auth": auth,
            "toolsets": toolsets,
            "patience": patience or {},
        }
        self.log = folder.with_name(f"{folder.name}-{next(NUMBERS)}.log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.bed.serving", orjson.dumps(wish).decode()],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": PATHS} | (environment or {}),
                stdout=subprocess.PIPE,
                stderr=log,
                preexec_fn=die_with_the_tests(signal.SIGKILL),
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.stdout.close()
            self.process.wait()
            raise NotServed(self.last_words())
        self.address: dict[str, Any] = orjson.loads(line)
        self.url: str = self.address["here"]
        self.owner = self._text("owner_token")
        self.agent = self._text("agent_token")

    @property
    def port(self) -> int:
        """The port it listens at."""
        return int(self.url.rpartition(":")[2])

    def client(self, token: str | None = None, **options: Any) -> httpx2.Client:
        """An HTTP client, with a token or without one."""
        return httpx2.Client(base_url=self.url, headers=self.headers(token), timeout=PATIENCE_SECONDS, **options)

    def headers(self, token: str | None = None) -> dict[str, str]:
        """The headers that show a token."""
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    def call(self, flow: str, arguments: dict[str, Any] | None = None, *, token: str | None = None) -> httpx2.Response:
        """Call a flow over REST, as the owner unless another token is given."""
        with self.client(token or self.owner) as client:
            return client.post(f"/v1/{flow.replace('.', '/', 1)}", json=arguments or {})

    def token(self, principal: str, type: str, *roles: str, tenant: str = "main") -> str:
        """A new token for anybody, made as the owner of the data folder makes one."""
        return self.token_with_id(principal, type, *roles, tenant=tenant)[1]

    def token_with_id(self, principal: str, type: str, *roles: str, tenant: str = "main") -> tuple[str, str]:
        """A new token, and the id to revoke it by."""
        from engross.office import Office, Request, Settings

        office = Office(Settings(data=self.folder, store=self.store), [shelf(), rig])
        try:
            wish = {"principal": principal, "type": type, "roles": list(roles)}
            owner = Principal("owner", "human", frozenset({"admin", "curator"}))
            made = office.call(Request("door.create-token", wish, tenant, owner))
            assert made.ok, made
            token_id: str = made.data["token"]["id"]
            return token_id, office.door.text_of(tenant, token_id)
        finally:
            office.close()

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it logged so far, line by line; a line that is no JSON fails."""
        if self.process.poll() is None and not self._asked and self.url.startswith("http://127."):
            # A call's line is written in the turn after its answer, and so before the next answer.
            with self.client() as client:
                client.get("/health/live")
        return (orjson.loads(line) for line in self.log.read_bytes().splitlines() if line.strip())

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-3000:]

    def ask_to_end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal."""
        self._asked = True
        self.process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, unless it was asked, and wait until it has; the exit code."""
        if self.process.poll() is None and not self._asked:
            self.ask_to_end(number)
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        finally:
            assert self.process.stdout is not None
            self.process.stdout.close()

    def kill(self) -> None:
        """End it without asking."""
        self.process.kill()
        self.process.wait()

    def _text(self, name: str) -> str:
        path = self.address[name]
        return "" if path is None else Path(path).read_text().strip()

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def wait_for(condition: Callable[[], object]) -> None:
    """Return once it holds; fail if it never does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)
