"""Every way into an office, for trying out examples: the same call, and the structured answer of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from subprocess import PIPE
from typing import Any, TypeAlias

from engross.calls import DEFAULT_TENANT
from engross.flows import Catalogue
from engross.office import Office, Settings
from engross.office.capabilities import catalogue_of, open_office
from engross.office.door.local import shell_principal
from engross.office.trials import environment_of_trial
from engross.replies import structured
from engross.surfaces.client import Client, EmbeddedPort

from . import child

REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "engross flow test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SURFACES = ("python", "cli", "rest", "mcp-http", "mcp-stdio")

Answer: TypeAlias = Mapping[str, Any]
Call: TypeAlias = Callable[[str, Mapping[str, Any]], "Answer | None"]
"""Calls a flow; None where it is not offered."""


@contextmanager
def ways_into(settings: Settings, surfaces: Sequence[str]) -> Iterator[dict[str, Call]]:
    """A call for each of the surfaces, at one office."""
    with ExitStack() as stack:
        catalogue = catalogue_of(settings)
        made: dict[str, Call] = {}
        if "python" in surfaces:
            made["python"] = stack.enter_context(in_process(settings))
        if "cli" in surfaces:
            made["cli"] = lambda ref, arguments: _by_command(settings, ref, arguments)
        if {"rest", "mcp-http"} & set(surfaces):
            url, token = stack.enter_context(_served(settings))
            over_http = {"rest": _by_rest(url, token), "mcp-http": _by_mcp(url, token, catalogue)}
            made |= {name: call for name, call in over_http.items() if name in surfaces}
        if "mcp-stdio" in surfaces:
            made["mcp-stdio"] = stack.enter_context(_piped(settings, catalogue))
        yield {name: made[name] for name in surfaces}


@contextmanager
def in_process(settings: Settings, arrange: Callable[[Office], object] | None = None) -> Iterator[Call]:
    """The Python library, at an office in which something may be arranged before the first call."""
    principal = shell_principal(None, "curator", settings.data)
    office = open_office(settings)
    if arrange is not None:
        arrange(office)
    with Client(EmbeddedPort(office, DEFAULT_TENANT, principal, "embedded")) as client:

        def call(ref: str, arguments: Mapping[str, Any]) -> Answer:
            flow = office.catalogue.find(ref)
            return structured(client.call(ref, arguments), flow.dialect if flow else "plain")

        yield call


def _by_command(settings: Settings, ref: str, arguments: Mapping[str, Any]) -> Answer:
    words = ["call", ref, "--json", json.dumps(dict(arguments)), *_place(settings)]
    done = child.done(words, environment_of_trial(settings))
    try:
        answer: Answer = json.loads(done.stdout)
    except ValueError:
        raise child.failed(done.stderr) from None
    return answer


def _by_rest(url: str, token: str) -> Call:
    from engross.surfaces.client.straight import straight

    def call(ref: str, arguments: Mapping[str, Any]) -> Answer:
        address = f"{url}/v1/{ref.replace('.', '/', 1)}"
        with straight(_bearer(token)) as http:
            answer: Answer = http.post(address, json=dict(arguments)).json()
        return answer

    return call


def _by_mcp(url: str, token: str, catalogue: Catalogue) -> Call:
    from engross.surfaces.client.straight import straight

    def call(ref: str, arguments: Mapping[str, Any]) -> Answer | None:
        tool = _tool(catalogue, ref)
        if tool is None:
            return None
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
            **_bearer(token),
        }
        with straight(headers) as http:
            answer = http.post(f"{url}/mcp", json=_message(tool, arguments))
        lines = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
        return _result(json.loads(lines[-1] if lines else answer.text))

    return call


@contextmanager
def _piped(settings: Settings, catalogue: Catalogue) -> Iterator[Call]:
    words = ["mcp", *_place(settings), "--role", "curator"]
    with child.started(words, environment_of_trial(settings), stdin=PIPE) as office:

        def call(ref: str, arguments: Mapping[str, Any]) -> Answer | None:
            tool = _tool(catalogue, ref)
            if tool is None:
                return None
            # Whether it ended before or after it was asked is all the same: there is no answer then.
            with suppress(BrokenPipeError):
                office.to.write(json.dumps(_message(tool, arguments)).encode() + b"\n")
                office.to.flush()
            for line in office.back:
                message = json.loads(line)
                if message.get("id") == 1:
                    return _result(message)
            raise office.failed()

        yield call


@contextmanager
def _served(settings: Settings) -> Iterator[tuple[str, str]]:
    """The office at a port of its own, and its owner's token."""
    words = ["serve", *_place(settings), "--port", "0"]
    with child.started(words, environment_of_trial(settings)) as office:
        for line in office.back:
            told = line.decode().split()
            if told[:1] == ["REST"]:
                token = (settings.data / "tokens" / "owner.token").read_text().strip()
                yield told[1].rstrip(","), token
                return
        raise office.failed()


def _place(settings: Settings) -> list[str]:
    files = [word for file in settings.capabilities for word in ("--capability", str(file))]
    return ["--data", str(settings.data), *files]


def _message(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": dict(arguments), "_meta": META}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _result(message: Mapping[str, Any]) -> Answer | None:
    if "error" in message:
        return None
    answer: Answer = message["result"]["structuredContent"]
    return answer


def _tool(catalogue: Catalogue, ref: str) -> str | None:
    return next((tool.name for tool in catalogue.tools() if tool.flow.ref == ref), None)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
