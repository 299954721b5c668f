"""One office behind a port, asked over MCP and over REST by different people: what it refuses, both must tell alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import orjson

from engross.replies import REGISTRY
from tests.architecture.studio import FLOWS
from tests.bed.refusals import named
from tests.bed.served import UNLIMITED, Served

REVISION = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NUMBERS = count(1)
TRACE_ID = 32


class Refused(NamedTuple):
    """A refusal as both surfaces must tell it."""

    code: str
    field: str | None
    helps: set[str]


class Door:
    """One office behind a port, asked in both ways by different people."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.http = served.client()

    def rest(self, flow: str, who: str = "owner", **arguments: Any) -> dict[str, Any]:
        """What a call over REST is answered with."""
        answer = self.http.post(f"/v1/{flow.replace('.', '/', 1)}", json=arguments, headers=self._headers(who))
        told: dict[str, Any] = answer.json()
        return {**told, "http": answer.status_code}

    def mcp(self, tool: str, who: str = "owner", **arguments: Any) -> dict[str, Any]:
        """What a call over MCP is answered with, which must be an error."""
        result = self.asked("tools/call", who, tool, arguments=arguments)
        assert result["isError"] is True
        assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
        told: dict[str, Any] = result["structuredContent"]
        return told

    def asked(self, method: str, who: str = "owner", name: str | None = None, **params: Any) -> dict[str, Any]:
        """The result of any request over MCP."""
        headers = {
            **self._headers(who),
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
        }
        params |= {"_meta": ENVELOPE, **({"name": name} if name else {})}
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}
        result: dict[str, Any] = _message(self.http.post("/mcp", headers=headers, json=body))["result"]
        return result

    @cached_property
    def tokens(self) -> dict[str, str]:
        """Everybody's token; empty where the office asks for none."""
        served = self.served
        return {
            "owner": served.owner,
            "agent": served.agent,
            "robot": served.token("robot", "agent", "curator"),
            "viewer": served.token("vera", "human", "viewer"),
            "curator": served.token("carl", "human", "curator"),
        }

    def unnamed(self) -> set[tuple[str, str]]:
        """Flows, and what they answered with so far without saying beforehand that they may."""
        calls = [line for line in self.served.lines() if line.get("flow") in FLOWS and "code" in line]
        told = {(line["flow"], REGISTRY.entry(line["code"]).key) for line in calls if line["reply_type"] != "S"}
        return {(flow, key) for flow, key in told if key not in named(FLOWS[flow])}

    def _headers(self, who: str) -> dict[str, str]:
        return self.served.headers(self.tokens[who] or None)

    def made(self, flow: str, who: str = "owner", **arguments: Any) -> dict[str, Any]:
        """The answer of a call that succeeds."""
        answer = self.rest(flow, who, **arguments)
        assert answer["http"] in (200, 201, 202), answer
        return answer

    def element(self, kind: str, name: str | None = None) -> str:
        """The id of a new element."""
        name = name or f"{kind} {next(NUMBERS)}"
        made = self.made("architecture.create-element", type=kind, name=name)
        identifier: str = made["element"]["id"]
        return identifier

    def related(self, kind: str, source: str, target: str) -> str:
        """The id of a new relationship."""
        made = self.made("architecture.create-relationship", type=kind, source_id=source, target_id=target)
        identifier: str = made["relationship"]["id"]
        return identifier

    def refused(self, tool: str, expected: Refused, who: str = "owner", **arguments: Any) -> dict[str, Any]:
        """Ask in both ways, and hold both answers to what is expected, and to each other."""
        over_mcp = self.mcp(tool, who, **arguments)
        over_rest = self.rest(f"architecture.{_kebab(tool)}", who, **arguments)
        for told in (over_mcp, over_rest):
            assert told["success"] is False
            error = told["error"]
            assert (error["code"], error.get("field")) == (expected.code, expected.field), told
            assert expected.helps <= set(error.get("suggestions") or {}), error
            assert _helps(told), told
            assert told["reply"]["message_key"] == expected.code
            assert len(told["reply"]["trace_id"]) == TRACE_ID
        assert _comparable(over_mcp) == _comparable(over_rest)
        return dict(over_mcp["error"])


def _helps(told: dict[str, Any]) -> bool:
    """Whether whoever is refused hears how to go on, for each thing that is wrong; a failure of ours has its trace."""
    error = told["error"]
    if told["reply"]["reply_type"] == "D":
        return bool(error["details"].get("hint") or error["details"].get("confirm_token"))
    if told["reply"]["reply_type"] == "I":
        return all(one.get("suggestions") for one in (error, *error.get("details", {}).get("errors", ())))
    return True


def _kebab(tool: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in tool)


def _message(answer: httpx2.Response) -> dict[str, Any]:
    if answer.headers["content-type"].startswith("application/json"):
        message: dict[str, Any] = answer.json()
        return message
    data = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
    message = orjson.loads(data[-1])
    return message


def _comparable(told: dict[str, Any]) -> Any:
    """What two calls have in common: not their trace, and nothing that ends ten minutes later."""
    error = {name: value for name, value in told["error"].items() if name not in ("trace_id", "details")}
    return error, told["reply"]["code"], told["reply"]["reply_type"]


@contextmanager
def open_door(
    folder: Path, store: str | None = None, *, knobs: str = UNLIMITED, policy: str = "", **settings: Any
) -> Iterator[Door]:
    """A served office with the architecture domain; all that it refused in the end, it must have named before."""
    (folder / "policies").mkdir(parents=True)
    (folder / "policies" / "house.cedar").write_text(policy)
    with Served(folder, store, knobs=knobs, domains="architecture", **settings) as served:
        door = Door(served)
        yield door
        door.http.close()
    assert door.unnamed() == set(), "name these in `refuses`"
