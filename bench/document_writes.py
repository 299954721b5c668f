"""Writing a document through MCP over a pipe, beside the published server of the format, on the same texts.

Both servers are asked for the same tool with the same arguments, one call after the other, each in a folder of its own:
a document of ten kilobytes is written over again and again, and fields of it are changed.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import orjson

from .claims import Claim
from .octave import text_of
from .peers import octave_mcp
from .rounds import interleaved
from .surfaces import ENGROSS, environment, prepared

SIZE = 10_000
CALLS = 10
ROUNDS = 5
REVISION = "2025-06-18"
FILE = "bench.oct.md"
SERVER = "from octave_mcp.mcp.server import run; run()"


def measure() -> list[Claim]:
    """Our writes beside theirs."""
    peer = octave_mcp()
    if peer is None:
        return []
    with TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        data = opened.enter_context(prepared(folder))
        files = {whose: folder / whose / FILE for whose in ("engross", "octave-mcp")}
        for file in files.values():
            file.parent.mkdir()
        ours = [*ENGROSS, "mcp", "--data", str(data), "--root", str(files["engross"].parent), "--role", "curator"]
        pipes = {
            "engross": opened.enter_context(Talk(ours, environment() | {"ENGROSS_DOMAINS": "documents"})),
            "octave-mcp": opened.enter_context(Talk([peer, "-c", SERVER], dict(os.environ))),
        }
        return [
            _claim("all of it", 10, pipes, files, lambda number: {"content": _text(number)}),
            _claim("a field of it", 2, pipes, files, lambda number: {"changes": {"META.ID": f"id_{number}"}}),
        ]


def _claim(
    what: str,
    promised: float,
    pipes: dict[str, Talk],
    files: dict[str, Path],
    make: Callable[[int], dict[str, Any]],
) -> Claim:
    calls = {whose: _writing(pipe, str(files[whose]), make) for whose, pipe in pipes.items()}
    times = interleaved(calls, rounds=ROUNDS)
    ratio = times["octave-mcp"] / times["engross"]
    return Claim(f"octave_write over stdio, 10 KB: {what}", ratio, "at least", promised, times, "ms")


def _writing(pipe: Talk, path: str, make: Callable[[int], dict[str, Any]]) -> Callable[[], float]:
    def run() -> float:
        started = time.perf_counter()
        for _ in range(CALLS):
            pipe.write(path, make(pipe.next_number()))
        return (time.perf_counter() - started) / CALLS * 1000

    return run


def _text(number: int) -> str:
    return text_of("canonical", SIZE).replace("  COUNT::1\n", f"  COUNT::{number}\n", 1)


class Talk:
    """A client of the era of sessions, which both servers understand."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout
        self._number = 0

    def next_number(self) -> int:
        """Never the same twice."""
        self._number += 1
        return self._number

    def write(self, path: str, arguments: dict[str, Any]) -> None:
        """Write the document; an answer that is no success ends the measurement."""
        params = {"name": "octave_write", "arguments": {"target_path": path, **arguments}}
        result = self._ask("tools/call", params)
        answer = orjson.loads(result["content"][-1]["text"])
        if answer["status"] != "success":
            raise RuntimeError(answer)

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = self.next_number()
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            answer = orjson.loads(self._out.readline())
            if answer.get("id") == number:
                result: dict[str, Any] = answer["result"]
                return result

    def _send(self, message: dict[str, Any]) -> None:
        self._in.write(orjson.dumps(message) + b"\n")
        self._in.flush()

    def __enter__(self) -> Talk:
        about = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._in.close()
        self._process.wait(30)
        self._out.close()
