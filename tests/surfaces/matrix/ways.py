"""Every way into one office, with one interface: call a flow, get the structured answer back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

import httpx2

from engross.calls import Principal
from engross.flows import Catalogue, Flow
from engross.office import Office, Request, Settings
from engross.office.capabilities import catalogue_of
from engross.replies import structured
from engross.surfaces.cli.field import fields_of
from engross.surfaces.client import connect
from tests.bed.offices import EXAMPLES
from tests.bed.served import Served
from tests.surfaces.cli.shell import Shell
from tests.surfaces.matrix.splinter import Splinter

CAPABILITY = EXAMPLES / "04-the-whole.py"
CATALOGUE = catalogue_of(Settings(data=EXAMPLES / "no-office-here", capabilities=(CAPABILITY,)))
REVISION = "2026-07-28"
HANDSHAKE = "2025-11-25"
BOTH_KINDS = "application/json, text/event-stream"
EXIT_CODES = {"S": 0, "I": 2, "D": 3, "E": 4}
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "matrix", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Answer = dict[str, Any]


class Way(Protocol):
    """A way in, for one caller in one tenant."""

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """The structured answer in the flow's dialect."""

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
    """MCP over HTTP, on the wire, as it is without sessions."""

    def __init__(self, served: Served, token: str, catalogue: Catalogue) -> None:
        self._client = served.client(token)
        self._catalogue = catalogue

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """One `tools/call` of the stateless era."""
        tool, wish = wished(self._catalogue, ref, arguments)
        headers = {
            "Accept": BOTH_KINDS,
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        return result_of(message_of(self._client.post("/mcp", json=called(tool, wish, META), headers=headers)))

    def close(self) -> None:
        """Hang up."""
        self._client.close()


class McpSession:
    """MCP over HTTP, with a handshake and in the session that it opens."""

    def __init__(self, served: Served, token: str, catalogue: Catalogue) -> None:
        self._client = served.client(token)
        self._client.headers["Accept"] = BOTH_KINDS
        self._catalogue = catalogue
        asked = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "matrix", "version": "1"}}
        opened = self._client.post("/mcp", json=request("initialize", asked))
        assert message_of(opened)["result"]["protocolVersion"] == HANDSHAKE
        self._client.headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
        self._client.headers["MCP-Protocol-Version"] = HANDSHAKE
        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert self._client.post("/mcp", json=notice).status_code == 202

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """One `tools/call` of the session."""
        return result_of(message_of(self._client.post("/mcp", json=called(*wished(self._catalogue, ref, arguments)))))

    def close(self) -> None:
        """End the session, for an office has only so many places."""
        assert self._client.delete("/mcp").is_success
        self._client.close()


class McpStdio:
    """`engross mcp`, over standard streams of its own."""

    def __init__(self, served: Served, tenant: str, catalogue: Catalogue, toolsets: Collection[str]) -> None:
        self._catalogue = catalogue
        there = ["--data", str(served.folder), "--tenant", tenant, "--role", "curator", "--capability", str(CAPABILITY)]
        where = ["--store", served.store] if served.store else []
        self._program = Splinter(["mcp", *there, *where, "--toolsets", ",".join(toolsets)])

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """One line out, one line back."""
        wish = called(*wished(self._catalogue, ref, arguments), META)
        return result_of(json.loads(self._program.ask(json.dumps(wish))))

    def close(self) -> None:
        """Say nothing more; the program ends by itself."""
        assert self._program.end() == 0


class Cli:
    """The flow's own command; `engross call` where options cannot say it."""

    def __init__(self, folder: Path, store: str | None, tenant: str, catalogue: Catalogue) -> None:
        self._shell = Shell(folder, store, [CAPABILITY])
        self._tenant = tenant
        self._catalogue = catalogue

    def call(self, ref: str, arguments: Mapping[str, Any]) -> Answer:
        """One command, whose exit code agrees with what it prints."""
        flow = self._catalogue.find(ref)
        options = None if flow is None else options_of(flow, arguments)
        if options is None:
            words = ["call", ref, "--json", json.dumps(dict(arguments))]
        else:
            words = [*ref.split("."), *options, "--json"]
        who = ("--tenant", self._tenant, "--role", "admin")
        done = self._shell.run(*words, *who, env={"ENGROSS_TOOLSETS": "legacy"})
        answer = done.json
        assert done.code == EXIT_CODES[answer["reply"]["reply_type"]], done
        return answer

    def close(self) -> None:
        """Every command closes what it opened."""


def options_of(flow: Flow, arguments: Mapping[str, Any]) -> list[str] | None:
    """The options that say these arguments, if they can be said by options."""
    fields = {field.name: field for field in fields_of(flow.published)}
    words: list[str] = []
    for name, value in arguments.items():
        field = fields.get(name)
        if field is None or (field.kind == "boolean") is not isinstance(value, bool):
            return None
        if field.kind == "boolean":
            said: Any = value
            words.append(field.option if value else f"--no-{field.option.removeprefix('--')}")
        else:
            parts = value if field.repeated and isinstance(value, list) else [value]
            texts = [part if isinstance(part, str) else json.dumps(part) for part in parts]
            said = texts if field.repeated else texts[0]
            words += [f"{field.option}={text}" for text in texts]
        # Null, an empty list, and what has not the type that the field has.
        if value in (None, []) or field.value(said) != value:
            return None
    return words


def wished(catalogue: Catalogue, ref: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool that stands for a flow, and what it takes; `run_flow` reaches what no tool stands for."""
    for tool in catalogue.tools():
        if tool.flow.ref == ref:
            return tool.name, dict(arguments)
    return "run_flow", {"flow": ref, "arguments": dict(arguments)}


def dialect_of(catalogue: Catalogue, ref: str) -> str:
    """The dialect in which a flow answers."""
    flow = catalogue.find(ref)
    return flow.dialect if flow is not None else "plain"


def request(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A message that wants an answer."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def called(tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The message that calls a tool."""
    about = {} if meta is None else {"_meta": meta}
    return request("tools/call", {"name": tool, "arguments": arguments, **about})


def message_of(answer: httpx2.Response) -> dict[str, Any]:
    """The message that answers, by itself or at the end of a stream."""
    if not answer.headers["content-type"].startswith("text/event-stream"):
        message: dict[str, Any] = answer.json()
        return message
    last = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")][-1]
    told: dict[str, Any] = json.loads(last)
    return told


def result_of(message: dict[str, Any]) -> Answer:
    """What a tool answered. Every flow has an answer for everybody, if only that it is not for them."""
    assert "error" not in message, message
    result = message["result"]
    answer: Answer = result["structuredContent"]
    assert json.loads(result["content"][-1]["text"]) == answer
    assert result["isError"] is (answer["reply"]["reply_type"] != "S")
    return answer
