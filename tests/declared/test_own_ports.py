"""An exposure at a port of its own: the same answers as below its namespace, and nothing of the rest of the office."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.bed.programs import PATIENCE_SECONDS
from tests.bed.served import wait_for
from tests.declared.papers import written
from tests.declared.warehouse import META, REVISION
from tests.surfaces.cli.shell import spawn, start

WORDS = """\
ikanos: "1.0.0-beta5"
capability:
  aggregates:
    words:
      display: "Words"
      flows:
        greet:
          description: "Greet."
          semantics: {{ safe: true }}
          inputParameters: {{ name: {{ type: string, description: "Whom" }} }}
          outputParameters: {{ greeting: {{ type: string, value: "Hello, {{{{name}}}}" }} }}
  exposes:
    - {{ type: mcp, namespace: words-mcp, port: {mcp}, tools: {{ greet: {{ ref: words.greet }} }} }}
    - type: rest
      namespace: words-rest
      port: {rest}
      address: {address}
      resources:
        greeting:
          path: "/docs/{{name}}"
          operations: {{ greet: {{ ref: words.greet, method: GET }} }}
"""

SAID = "said.txt"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


@pytest.fixture
def ports() -> list[int]:
    """Of the office, of MCP and of REST."""
    return free_ports(3)


@pytest.fixture
def paper(tmp_path: Path, ports: list[int]) -> Path:
    """A document that asks for two ports."""
    return written(tmp_path, WORDS.format(mcp=ports[1], rest=ports[2], address="localhost"), "words.yaml")


def arguments(paper: Path, ports: list[int]) -> list[object]:
    """What starts the office."""
    folder = paper.parent / "office"
    return ["serve", "--data", folder, "--capability", paper, "--port", ports[0], "--own-ports", "--no-auth"]


@pytest.fixture
def office(paper: Path, ports: list[int]) -> Iterator[subprocess.Popen[str]]:
    """The office, served."""
    with (paper.parent / SAID).open("wb") as said:
        process = start(*arguments(paper, ports), stdout=said, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: is_served(ports[0]))
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def is_served(port: int) -> bool:
    """Whether anybody answers there."""
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health/live", timeout=PATIENCE_SECONDS).is_success
    except httpx2.TransportError:
        return False


def tools(url: str) -> list[str]:
    """The tools that are listed at an address."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    answer = httpx2.post(url, json=message, headers={**headers, "Mcp-Method": "tools/list"}, timeout=PATIENCE_SECONDS)
    lines = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
    listed: dict[str, Any] = json.loads(lines[-1] if lines else answer.text)
    return [tool["name"] for tool in listed["result"]["tools"]]


@pytest.mark.usefixtures("office")
def test_an_exposure_is_reached_at_its_own_port_and_below_its_namespace(ports: list[int]) -> None:
    usual, mcp, rest = (f"http://127.0.0.1:{port}" for port in ports)
    answers = [httpx2.get(url).json() for url in (f"{rest}/docs/Ada", f"{usual}/words-rest/docs/Ada")]
    assert [answer["greeting"] for answer in answers] == ["Hello, Ada", "Hello, Ada"]
    assert httpx2.get(f"http://localhost:{ports[2]}/docs/Ada").status_code == 200
    for path in ("/", "/docs", "/v1/words/greet", "/mcp", "/openapi.json"):
        assert httpx2.get(f"{rest}{path}").status_code == 404
    own, all_ = tools(f"{mcp}/anything"), tools(f"{usual}/mcp")
    assert "greet" in own
    assert set(own) < set(all_)
    assert httpx2.get(f"{rest}/docs/Ada", headers={"Host": "evil.example"}).status_code >= 400


@pytest.mark.usefixtures("office")
def test_whoever_starts_it_is_told_the_ports(paper: Path, ports: list[int]) -> None:
    said = paper.parent / SAID
    wait_for(lambda: all(f":{port}" in said.read_text() for port in ports))


def test_without_credentials_no_port_is_for_others(paper: Path, ports: list[int], tmp_path: Path) -> None:
    written(tmp_path, WORDS.format(mcp=ports[1], rest=ports[2], address="0.0.0.0"), "words.yaml")
    done = spawn(*arguments(paper, ports))
    assert done.returncode == 4
