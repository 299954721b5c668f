"""MCP and REST beside an echo on the same libraries: what the office adds to what the protocol costs anyway.

Over MCP the flow is that of the examples' last step that adds a book: it looks for the title, keeps a projection beside
the rows, and thinks of a next step. Over REST it is a plain write, as that of the examples' second step: a fact that
becomes a row (`bench/notes.py`). The former is measured beside it, against the same promise.
"""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import orjson

from .claims import Claim
from .load import answers_per_second
from .notes import note
from .resident import resident_megabytes
from .rounds import interleaved

CLIENTS = 16
CALLS = 1600
PIPED = 300
ROUNDS = 7
STARTS = 9
REVISION = "2026-07-28"
ROOT = Path(__file__).parents[1]
CAPABILITIES = (ROOT / "examples" / "04-the-whole.py", ROOT / "bench" / "capability.py")
AUTHORS = 50
NO_LIMITS = "rate_limit_surfaces = []\n"
_numbers = itertools.count()
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def measure() -> list[Claim]:
    """All claims about surfaces."""
    with TemporaryDirectory() as folder, prepared(Path(folder)) as data:
        return [*over_http(data), *over_a_pipe(data), *cold(data.with_name("fresh"))]


@contextmanager
def prepared(folder: Path) -> Iterator[Path]:
    """A data folder in which nobody calls too often."""
    data = folder / "office"
    (data / "policies").mkdir(parents=True)
    (data / "policies" / "knobs.toml").write_text(NO_LIMITS)
    yield data


def over_http(data: Path) -> list[Claim]:
    """MCP and REST with many clients."""
    bare = data.with_name("bare")
    with (
        served(data) as (url, token),
        echoing() as echo,
        serving("bench.bare_echo") as starlette,
        serving("bench.bare_route", str(bare)) as route,
    ):
        plain = {"Content-Type": "application/json"}
        trusted = {"Authorization": f"Bearer {token}", **plain}
        identifier = first_book(url, trusted)
        rates = interleaved(
            {
                "MCP echo": lambda: mcp_rate(echo, {}, "echo", book),
                "MCP write": lambda: mcp_rate(url, trusted, "addBook", book),
                "MCP read": lambda: mcp_rate(url, trusted, "getBook", lambda: {"id": identifier}),
                "REST echo": lambda: rest_rate(f"{starlette}/echo", plain, book),
                "REST echo by orjson": lambda: rest_rate(f"{starlette}/quick", plain, book),
                "REST write": lambda: rest_rate(f"{url}/v1/shelf/add-book", trusted, book),
                "plainest REST write": lambda: rest_rate(f"{url}/v1/notes/keep-note", trusted, note),
                "bare route": lambda: rest_rate(f"{route}/keep", plain, note),
            },
            rounds=ROUNDS,
        )
    mcp, rest, plainest = rates["MCP echo"], rates["REST echo"], rates["plainest REST write"]
    return [
        Claim("MCP over HTTP: a committed write", rates["MCP write"] / mcp, "at least", 0.5, rates, "calls/s"),
        Claim("MCP over HTTP: a read", rates["MCP read"] / mcp, "at least", 0.75, rates, "calls/s"),
        Claim("REST: a committed write", plainest / rest, "at least", 0.3, rates, "calls/s"),
        Claim("REST: that of the whole example", rates["REST write"] / rest, "at least", 0.3, rates, "calls/s"),
        Claim(
            "REST: beside a bare route with that write",
            plainest / rates["bare route"],
            "at least",
            0.8,
            rates,
            "calls/s",
        ),
    ]


def over_a_pipe(data: Path) -> list[Claim]:
    """MCP over stdio, one call after the other."""
    with Pipe(office_over_a_pipe(data)) as office, Pipe(echo_over_a_pipe()) as echo:
        identifier = office.call("addBook", book())["book"]["id"]
        rates = interleaved(
            {
                "echo": lambda: piped_rate(echo, "echo", book),
                "write": lambda: piped_rate(office, "addBook", book),
                "read": lambda: piped_rate(office, "getBook", lambda: {"id": identifier}),
            },
            rounds=ROUNDS,
        )
    return [
        Claim("MCP over stdio: a committed write", rates["write"] / rates["echo"], "at least", 0.5, rates, "calls/s"),
        Claim("MCP over stdio: a read", rates["read"] / rates["echo"], "at least", 0.75, rates, "calls/s"),
    ]


def cold(data: Path) -> list[Claim]:
    """From starting the program to its first answer, and what it holds when nothing happens, as it comes."""
    commands = {"office": office_over_a_pipe(data), "bare": echo_over_a_pipe()}
    times = interleaved({name: _starting(command) for name, command in commands.items()}, rounds=STARTS)
    memory = interleaved({name: _resting(command) for name, command in commands.items()}, rounds=3)
    return [
        Claim("MCP over stdio: cold start", times["office"] / times["bare"], "at most", 1.3, times, "ms"),
        Claim("MCP over stdio: idle memory", memory["office"] / memory["bare"], "at most", 1.5, memory, "MB"),
    ]


def _starting(command: list[str]) -> Callable[[], float]:
    def run() -> float:
        started = time.perf_counter()
        with Pipe(command) as pipe:
            pipe.ask("tools/list", {})
            return (time.perf_counter() - started) * 1000

    return run


def _resting(command: list[str]) -> Callable[[], float]:
    def run() -> float:
        with Pipe(command) as pipe:
            pipe.ask("tools/list", {})
            return pipe.resident_megabytes()

    return run


def mcp_rate(url: str, headers: dict[str, str], tool: str, make: Callable[[], dict[str, Any]]) -> float:
    """Calls of a tool per second, in the stateless era, by clients that need nothing but the wire."""
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
        **headers,
    }

    def body(number: int) -> bytes:
        return request(number, "tools/call", {"name": tool, "arguments": make()})

    return answers_per_second(f"{url}/mcp", sent, body, clients=CLIENTS, calls=CALLS)


def rest_rate(url: str, headers: dict[str, str], make: Callable[[], dict[str, Any]]) -> float:
    """Calls of a route per second."""
    return answers_per_second(url, headers, lambda number: orjson.dumps(make()), clients=CLIENTS, calls=CALLS)


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    """A request of the stateless era."""
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}})


def piped_rate(pipe: Pipe, tool: str, make: Callable[[], dict[str, Any]]) -> float:
    """Calls per second, one after the other."""
    started = time.perf_counter()
    for _ in range(PIPED):
        pipe.call(tool, make())
    return PIPED / (time.perf_counter() - started)


class Pipe:
    """A client that knows the wire and nothing else."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in: IO[bytes] = self.process.stdin
        self._out: IO[bytes] = self.process.stdout
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self._number += 1
        self._in.write(request(self._number, method, params) + b"\n")
        self._in.flush()
        while True:
            answer: dict[str, Any] = orjson.loads(self._out.readline())
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; what it answers."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result)
        answer: dict[str, Any] = result["structuredContent"]
        return answer

    def resident_megabytes(self) -> float:
        """What the process holds in memory."""
        return resident_megabytes(self.process.pid)

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self._in.close()
        self.process.wait(30)
        self._out.close()


def book() -> dict[str, Any]:
    """A book that was never added before."""
    number = next(_numbers)
    return {
        "title": f"Book {number:09d}: somebody called about the roof",
        "author": f"Jane {number % AUTHORS}",
        "client_request_id": f"book-{number:09d}",
    }


def first_book(url: str, headers: dict[str, str]) -> str:
    """A book to read."""
    import httpx2

    answer = httpx2.post(f"{url}/v1/shelf/add-book", json=book(), headers=headers).json()
    identifier: str = answer["book"]["id"]
    return identifier


@contextmanager
def served(data: Path) -> Iterator[tuple[str, str]]:
    """The office at a port, and a token of somebody whose writes are committed at once."""
    port = free_port()
    command = [*ENGROSS, "serve", "--data", str(data), "--port", str(port), *LOADED]
    with running(command, port):
        yield f"http://127.0.0.1:{port}", (data / "tokens" / "owner.token").read_text().strip()


def echoing() -> AbstractContextManager[str]:
    """The echo at a port."""
    return serving("bench.echo", "http")


@contextmanager
def serving(module: str, *arguments: str) -> Iterator[str]:
    """A program of the bench at a port, which is its last argument."""
    port = free_port()
    with running([sys.executable, "-m", module, *arguments, str(port)], port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """A server, from the moment it answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        while not _answers(port):
            if process.poll() is not None:
                raise RuntimeError(f"{command} ended")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int) -> bool:
    import httpx2

    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health/ready").status_code in (200, 404)
    except httpx2.HTTPError:
        return False


ENGROSS = [sys.executable, "-m", "engross.surfaces.cli"]
LOADED = [word for file in CAPABILITIES for word in ("--capability", str(file))]


def office_over_a_pipe(data: Path) -> list[str]:
    """The command of an office over stdio, for an agent whose writes are committed at once."""
    return [*ENGROSS, "mcp", "--data", str(data), "--role", "curator", *LOADED]


def echo_over_a_pipe() -> list[str]:
    """The command of an echo over stdio."""
    return [sys.executable, "-m", "bench.echo", "stdio"]


def environment() -> dict[str, str]:
    """The environment of the programs under measurement."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
