"""Every way into one office, with one interface: call a flow, get the structured answer back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import httpx2

from engross.calls import Principal
from engross.flows import Catalogue
from engross.office import Office, Request, Settings
from engross.office.capabilities import catalogue_of
from engross.replies import structured
from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES
from tests.bed.served import Served
from tests.surfaces.cli.shell import Shell
from tests.surfaces.matrix.splinter import Splinter

CAPABILITY = EXAMPLES / "04-the-whole.py"
CATALOGUE = catalogue_of(Settings(data=EXAMPLES / "no-office-here", capabilities=(CAPABILITY,)))
REVISION = "2026-07-28"
EXIT_CODES = {"S": 0, "I": 2, "D": 3, "E": 4}
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "matrix", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Answer = dict[str, Any]


class Way(Protocol):
    """A way in, for one caller in one tenant."""

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer | None:
        """The structured answer in the flow's dialect; None where the flow is not offered."""

    def close(self) -> None:
        """Leave."""


class Embedded:
    """Inside the process: what the other ways are compared with."""

    def __init__(self, office: Office, tenant: str, principal: Principal) -> None:
        self._office = office
        self._tenant = tenant
        self._principal = principal

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """As a library."""
        answer = self._office.call(Request(ref, dict(arguments), self._tenant, self._principal))
        return structured(answer, dialect_of(self._office.catalogue, ref))

    def close(self) -> None:
        """Others still use the office."""


class Remote:
    """The Python client at a served office."""

    def __init__(self, served: Served, token: str, catalogue: Catalogue) -> None:
        self._client = connect(served.url, token=token)
        self._catalogue = catalogue

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """As a library, elsewhere."""
        return structured(self._client.call(ref, dict(arguments)), dialect_of(self._catalogue, ref))

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


class Rest:
    """Plain HTTP."""

    def __init__(self, served: Served, token: str) -> None:
        self._client = served.client(token)

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """One request, whose status agrees with its body."""
        answer = self._client.post(f"/v1/{ref.replace('.', '/', 1)}", json=dict(arguments))
        body: Answer = answer.json()
        assert answer.is_success is (body["reply"]["reply_type"] == "S"), body
        return body

    def close(self) -> None:
        """Hang up."""
        self._client.close()


class McpHttp:
    """MCP over HTTP, on the wire."""

    def __init__(self, served: Served, token: str, catalogue: Catalogue) -> None:
        self._client = served.client(token)
        self._catalogue = catalogue

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer | None:
        """One `tools/call` of the stateless era."""
        tool = tool_of(self._catalogue, ref)
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        return result_of(self._message(self._client.post("/mcp", json=called(tool, arguments), headers=headers)))

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def _message(self, answer: httpx2.Response) -> dict[str, Any]:
        if answer.headers["content-type"].startswith("text/event-stream"):
            data = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
            message: dict[str, Any] = json.loads(data[-1])
            return message
        message = answer.json()
        return message


class McpStdio:
    """`engross mcp`, over standard streams of its own."""

    def __init__(self, folder: Path, store: str | None, tenant: str, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        there = ["--data", str(folder), "--tenant", tenant, "--role", "curator", "--capability", str(CAPABILITY)]
        where = ["--store", store] if store else []
        self._program = Splinter(["mcp", *there, *where])

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer | None:
        """One line out, one line back."""
        tool = tool_of(self._catalogue, ref)
        return result_of(json.loads(self._program.ask(json.dumps(called(tool, arguments)))))

    def close(self) -> None:
        """Say nothing more; the program ends by itself."""
        assert self._program.end() == 0


class Cli:
    """`engross call`."""

    def __init__(self, folder: Path, store: str | None, tenant: str) -> None:
        self._shell = Shell(folder, store, [CAPABILITY])
        self._tenant = tenant

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """One command, whose exit code agrees with what it prints."""
        wish = json.dumps(dict(arguments))
        done = self._shell.run("call", ref, "--json", wish, "--tenant", self._tenant, "--role", "admin")
        answer = done.json
        assert done.code == EXIT_CODES[answer["reply"]["reply_type"]], done
        return answer

    def close(self) -> None:
        """Every command closes what it opened."""


def tool_of(catalogue: Catalogue, ref: str) -> str:
    """The name of the tool that stands for a flow; the flow's own where there is none."""
    return next((tool.name for tool in catalogue.tools() if tool.flow.ref == ref), ref)


def dialect_of(catalogue: Catalogue, ref: str) -> str:
    """The dialect in which a flow answers."""
    flow = catalogue.find(ref)
    return flow.dialect if flow is not None else "plain"


def called(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The message that calls a tool."""
    params = {"name": tool, "arguments": dict(arguments), "_meta": META}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def result_of(message: dict[str, Any]) -> Answer | None:
    """What a tool answered; None if there is no such tool for this caller."""
    if "error" in message:
        assert message["error"]["code"] == -32602, message
        return None
    result = message["result"]
    answer: Answer = result["structuredContent"]
    assert json.loads(result["content"][-1]["text"]) == answer
    assert result["isError"] is (answer["reply"]["reply_type"] != "S")
    return answer
