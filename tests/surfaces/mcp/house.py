"""Clients and servers for the tests of MCP: in this process, over a pipe, over HTTP, in both eras."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from engross.calls import Caller, Principal, Surface
from engross.surfaces.client import Client as OfficeClient
from engross.surfaces.desk import Desk
from engross.surfaces.mcp import make_server
from tests.bed.offices import Offices
from tests.bed.served import ROOT, Served

CLARA = Principal("clara", "human", frozenset({"curator"}))
SCOUT = Principal("scout", "agent", frozenset({"agent"}))
VERA = Principal("vera", "human", frozenset({"viewer"}))
TENANT = "main"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
ERAS = (LEGACY, MODERN)
SECONDS = 45

FOR_ONE_CALLER: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("prompts/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "engross://facts"}),
]
"""What is answered as the caller's rights have it, so that nobody else may be given it from a cache."""

UNCARRIED = [
    ('{"title":"\\ud800"}', "MALFORMED_INPUT"),
    ('{"\\udc00":"Dune"}', "MALFORMED_INPUT"),
    ('{"title":' + "[" * 300 + "]" * 300 + "}", "LIMIT_EXCEEDED"),
    ('{"title":' + "[" * 3_000 + "]" * 3_000 + "}", "LIMIT_EXCEEDED"),
    ('{"title":' + "[" * 50_000 + "]" * 50_000 + "}", "LIMIT_EXCEEDED"),
    # Nobody goes deep enough to see that this has no end.
    ("[" * 100_000, "LIMIT_EXCEEDED"),
    ('{"title":' + "9" * 5_000 + "}", "LIMIT_EXCEEDED"),
]
"""Arguments that no call can carry, as they are written, and what they are refused as in every era and transport."""

CURATOR = Caller(TENANT, CLARA, "cred-clara")
AGENT = Caller(TENANT, SCOUT, "cred-scout")
VIEWER = Caller(TENANT, VERA, "cred-vera")


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test to its end, but not for ever."""

    @functools.wraps(test)
    def run(*args: Any, **fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **fixtures), SECONDS))

    return run


def desk_of(client: OfficeClient, **options: Any) -> Desk:
    """A desk at a client's office."""
    return Desk(client.office, **options)


def server_at(
    client: OfficeClient, caller: Caller = AGENT, surface: Surface = "mcp-stdio", **options: Any
) -> Server[Any]:
    """An MCP server for one caller."""
    return make_server(desk_of(client, **options), lambda: caller, surface)


def mode(era: str) -> str:
    """How the SDK's client is told to speak a revision of the protocol."""
    return "legacy" if era == LEGACY else era


def connected(server: Any, era: str, **callbacks: Any) -> Client:
    """The SDK's client, to be entered."""
    return Client(server, mode=mode(era), cache=None, **callbacks)


def stdio_parameters(folder: Path, store: str | None = None, **options: Any) -> StdioServerParameters:
    """How to start a server of an office over a pipe."""
    return StdioServerParameters(
        command=sys.executable, args=arguments(folder, store, options), env=environment(), cwd=ROOT
    )


def arguments(folder: Path, store: str | None, options: dict[str, Any]) -> list[str]:
    """The arguments of the program that serves stdio."""
    return ["-m", "tests.surfaces.mcp.piped", json.dumps({"folder": str(folder), "store": store, **options})]


def environment() -> dict[str, str]:
    """The environment of programs that the tests start."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


@asynccontextmanager
async def over_http(served: Served, token: str, era: str, **callbacks: Any) -> AsyncIterator[Client]:
    """The SDK's client at a served office."""
    async with (
        httpx2.AsyncClient(headers=served.headers(token), timeout=SECONDS) as http,
        connected(streamable_http_client(f"{served.url}/mcp", http_client=http), era, **callbacks) as client,
    ):
        yield client


def told(result: types.CallToolResult) -> dict[str, Any]:
    """The structured answer of a call, which is also its last text, and says whether it is an error."""
    answer: dict[str, Any] = result.structured_content
    last = result.content[-1]
    assert isinstance(last, types.TextContent)
    assert json.loads(last.text) == answer
    assert result.is_error is (answer["reply"]["reply_type"] != "S")
    return answer


def key_of(result: types.CallToolResult) -> str:
    """The message key of an answer."""
    key: str = told(result)["reply"]["message_key"]
    return key


class Pipe:
    """A raw client of a server over a pipe: lines in, lines out."""

    def __init__(self, folder: Path, store: str | None = None, **options: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments(folder, store, options)],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0

    def write(self, line: bytes) -> None:
        """Send a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next line; every line is a message of the protocol."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def send(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request; its id."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode())
        return self._number

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        number = self.send(method, params)
        while (message := self.read()).get("id") != number:
            pass
        return message

    def call(self, name: str, given: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Call a tool in an era that has been opened, for its result."""
        result: dict[str, Any] = self.ask("tools/call", {"name": name, "arguments": given or {}, **more})["result"]
        return result

    def shake_hands(self, **capabilities: Any) -> dict[str, Any]:
        """Open the handshake era."""
        opened = self.ask("initialize", hello(**capabilities))
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return opened

    def end(self) -> tuple[bytes, bytes]:
        """Close the server's input; what it still wrote, and what it wrote to standard error."""
        out, err = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, err.decode()
        return out, err


def hello(**capabilities: Any) -> dict[str, Any]:
    """The parameters of a handshake."""
    return {
        "protocolVersion": LEGACY,
        "capabilities": capabilities,
        "clientInfo": {"name": "tests", "version": "1"},
    }


def envelope(**capabilities: Any) -> dict[str, Any]:
    """The `_meta` of a request of the later era."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    }


@contextmanager
def piped(folder: Path, store: str | None = None, **options: Any) -> Iterator[Pipe]:
    """A raw client of a server over a pipe, ended in good order."""
    pipe = Pipe(folder, store, **options)
    try:
        yield pipe
        pipe.end()
    finally:
        if pipe.process.poll() is None:
            pipe.process.kill()
        pipe.process.communicate()


def a_book(client: OfficeClient, title: str = "Dune") -> str:
    """A book on the shelf."""
    book: str = client.shelf.add_book(title=title).data["book"]["id"]
    return book


def open_office(folder: Path, *aggregates: Any, **settings: Any) -> tuple[Offices, OfficeClient]:
    """An office on SQLite; whoever opens it closes it."""
    offices = Offices(folder, None)
    return offices, offices.open(*aggregates, **settings)
