"""Every refusal of the domain, with its field and what helps, over MCP and over REST: the same one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import orjson
import pytest

from tests.bed.served import UNLIMITED, Served

REVISION = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NUMBERS = count(1)


class Refused(NamedTuple):
    """A refusal as both surfaces must tell it."""

    code: str
    field: str | None
    helps: set[str]


class Door:
    """One office behind a port, asked in both ways by different people."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.tokens = {
            "owner": served.owner,
            "agent": served.agent,
            "robot": served.token("robot", "agent", "curator"),
            "viewer": served.token("vera", "human", "viewer"),
            "curator": served.token("carl", "human", "curator"),
        }
        self.http = served.client()

    def rest(self, flow: str, who: str = "owner", **arguments: Any) -> dict[str, Any]:
        answer = self.http.post(
            f"/v1/{flow.replace('.', '/', 1)}", json=arguments, headers=self.served.headers(self.tokens[who])
        )
        told: dict[str, Any] = answer.json()
        return {**told, "http": answer.status_code}

    def mcp(self, tool: str, who: str = "owner", **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
        headers = {
            **self.served.headers(self.tokens[who]),
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": "tools/call", "params": params}
        result: dict[str, Any] = _message(self.http.post("/mcp", headers=headers, json=body))["result"]
        assert result["isError"] is True
        assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
        told: dict[str, Any] = result["structuredContent"]
        return told

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
            assert told["reply"]["message_key"] == expected.code
        assert _comparable(over_mcp) == _comparable(over_rest)
        return dict(over_mcp["error"])


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


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder = Path(tmp_path_factory.mktemp("served")) / "office"
    with Served(folder, knobs=UNLIMITED, domains="architecture") as served:
        found = Door(served)
        yield found
        found.http.close()


NEW = {"type": "Node", "name": "Server"}


@pytest.mark.requirement("ARCH-19")
def test_types_that_do_not_exist(door: Door) -> None:
    told = door.refused(
        "createElement",
        Refused("INVALID_ELEMENT_TYPE", "type", {"did_you_mean", "valid_types_for_context", "hint"}),
        type="AppComponent",
        name="OrderService",
    )
    assert told["suggestions"]["did_you_mean"][0] == "ApplicationComponent"
    told = door.refused(
        "createRelationship",
        Refused("INVALID_RELATIONSHIP_TYPE", "type", {"did_you_mean", "valid_types"}),
        type="Realizaton",
        source_id=door.element("Node"),
        target_id=door.element("Node"),
    )
    assert told["suggestions"]["did_you_mean"][0] == "Realization"
    door.refused(
        "getRelationshipTypes", Refused("INVALID_ELEMENT_TYPE", "source_type", {"did_you_mean"}), source_type="Comp"
    )


def test_fields_that_do_not_fit(door: Door) -> None:
    for name in ("id", "layer", "tenant_id", "aggregate_version", "message_id", "correlation_id", "occurred_at"):
        door.refused("createElement", Refused("FIELD_NOT_ALLOWED", name, set()), **NEW, **{name: "x"})
    door.refused(
        "createElement",
        Refused("UNKNOWN_FIELD", "descripton", {"did_you_mean", "allowed_fields"}),
        **NEW,
        descripton="x",
    )
    door.refused("createElement", Refused("VALIDATION_ERROR", "name", set()), type="Node", name="   ")
    door.refused("createElement", Refused("VALIDATION_ERROR", "name", set()), type="Node", name="x" * 256)
    door.refused("createElement", Refused("VALIDATION_ERROR", "name", set()), type="Node", name="a\u0007b")
    door.refused("createElement", Refused("VALIDATION_ERROR", "name", set()), type="Node")
    door.refused("updateElement", Refused("FIELD_NOT_ALLOWED", "type", {"hint"}), id=door.element("Node"), type="Path")


@pytest.mark.requirement("ARCH-20")
def test_relationships_that_the_table_does_not_know(door: Door) -> None:
    capability, component = door.element("Capability"), door.element("ApplicationComponent")
    told = door.refused(
        "createRelationship",
        Refused("INVALID_RELATIONSHIP", "type", {"valid_relationships", "reverse", "hint"}),
        type="Realization",
        source_id=capability,
        target_id=component,
    )
    assert told["suggestions"]["valid_relationships"] == ["Association"]
    assert "Realization" in told["suggestions"]["reverse"]
    told = door.refused(
        "createElement",
        Refused("INVALID_PARENT", "parent_id", {"valid_relationships"}),
        type="Capability",
        name="Ordering",
        parent_id=component,
    )
    assert told["suggestions"]["valid_relationships"]


def test_junctions_join_one_type(door: Door) -> None:
    junction, first, second = door.element("AndJunction"), door.element("Node"), door.element("Node")
    door.related("Flow", first, junction)
    door.refused(
        "createRelationship",
        Refused("JUNCTION_CONFLICT", "type", {"existing_type", "hint"}),
        type="Triggering",
        source_id=junction,
        target_id=second,
    )


@pytest.mark.requirement("ARCH-21", "ARCH-24")
def test_what_is_not_there_and_what_is_there_twice(door: Door) -> None:
    known = door.element("Node", "Payment gateway")
    told = door.refused(
        "createRelationship",
        Refused("ELEMENT_NOT_FOUND", "target_ref", {"similar_elements", "hint"}),
        type="Flow",
        source_id=known,
        target_ref="Payment gatewey",
    )
    assert told["suggestions"]["similar_elements"][0]["id"] == known
    door.refused("getElement", Refused("ELEMENT_NOT_FOUND", "id", {"hint"}), id="el_nowhere")
    door.refused("deleteRelationship", Refused("RELATIONSHIP_NOT_FOUND", "id", {"hint"}), id="rel_nowhere")
    door.refused(
        "createElement", Refused("MODEL_NOT_FOUND", "model_id", {"available_models"}), **NEW, model_id="model_nowhere"
    )
    door.element("Device", "Payment gateway")
    told = door.refused(
        "createRelationship",
        Refused("NEEDS_DISAMBIGUATION", "target_ref", {"candidates", "hint"}),
        type="Flow",
        source_id=known,
        target_ref="Payment gateway",
    )
    assert {one["path"] for one in told["suggestions"]["candidates"]} == {
        "Node/Payment gateway",
        "Device/Payment gateway",
    }


@pytest.mark.requirement("ARCH-22")
def test_what_is_there_already(door: Door) -> None:
    known = door.element("ApplicationComponent", "OrderService")
    told = door.refused(
        "createElement",
        Refused("DUPLICATE_NAME", "name", {"existing_element", "alternatives", "hint"}),
        "robot",
        type="ApplicationComponent",
        name="orderservice",
    )
    assert told["suggestions"]["existing_element"]["id"] == known
    assert len(told["suggestions"]["alternatives"]) == 3
    other = door.element("ApplicationService")
    door.related("Realization", known, other)
    door.refused(
        "createRelationship",
        Refused("DUPLICATE_RELATIONSHIP", "type", {"existing_relationship", "hint"}),
        type="Realization",
        source_id=known,
        target_id=other,
    )
    door.refused(
        "deleteElement",
        Refused("ELEMENT_HAS_RELATIONSHIPS", "cascade", {"relationship_ids", "hint"}),
        id=known,
        cascade=False,
    )


@pytest.mark.requirement("ARCH-09")
def test_profiles_and_changes_that_say_nothing(door: Door) -> None:
    told = door.refused(
        "createCapability",
        Refused("PROFILE_INVALID", "profile.owner", {"missing_keys"}),
        name="Selling",
        profile={"criticality": "High", "lifecycle": "Active"},
    )
    assert told["suggestions"]["missing_keys"] == ["owner"]
    known = door.element("Node")
    told = door.refused("updateElement", Refused("NO_CHANGES", None, {"allowed_fields", "current"}), id=known)
    assert told["suggestions"]["current"]["name"].startswith("Node")
    door.made("architecture.update-element", id=known, description="x")
    told = door.refused(
        "updateElement",
        Refused("VERSION_CONFLICT", "expected_version", {"current_version", "changed_fields", "changed_by"}),
        id=known,
        name="Other",
        expected_version=1,
    )
    assert told["suggestions"]["changed_fields"] == ["description"]


def test_keys_limits_and_confirmations(door: Door) -> None:
    key = f"one-change-{next(NUMBERS)}"
    door.made("architecture.create-element", **NEW, client_request_id=key)
    door.refused(
        "createElement",
        Refused("IDEMPOTENCY_KEY_REUSED", "client_request_id", set()),
        type="Node",
        name="Another",
        client_request_id=key,
    )
    door.refused(
        "createElement", Refused("VALIDATION_ERROR", "client_request_id", set()), **NEW, client_request_id="a b"
    )
    many = [{"operation": "createElement", "payload": NEW}] * 101
    told = door.refused("applyChanges", Refused("LIMIT_EXCEEDED", "operations", set()), operations=many)
    assert told["details"] == {"limit": 100, "actual": 101}
    known = door.element("Node")
    for told in (door.mcp("deleteElement", id=known), door.rest("architecture.delete-element", id=known)):
        assert told["error"]["code"] == "CONFIRMATION_REQUIRED"
        assert told["reply"]["reply_type"] == "D"
    done = door.made("architecture.delete-element", id=known, confirm_token=_token(told))
    assert done["status"] == "committed"


def _token(told: dict[str, Any]) -> str:
    found = told.get("confirm_token") or told["error"].get("confirm_token") or told["error"]["details"]["confirm_token"]
    return str(found)


def test_proposals_that_are_not_there_not_open_or_stale(door: Door) -> None:
    door.refused(
        "createElement", Refused("PROPOSAL_NOT_FOUND", "proposal_id", set()), "agent", **NEW, proposal_id="prop_nowhere"
    )
    known = door.element("Node", "Ledger host")
    opened = door.made("architecture.update-element", "agent", id=known, name="Ledger machine")["proposal"]["id"]
    door.made("architecture.update-element", id=known, name="Ledger box")
    shown = door.rest("proposals.get-proposal", "curator", proposal_id=opened)
    assert shown["proposal"]["stale"] is True
    stale = door.rest("proposals.review-proposal", "curator", proposal_id=opened, decision="approve")
    assert stale["reply"]["message_key"] == "PROPOSAL_STALE"
    door.made("proposals.withdraw-proposal", "agent", proposal_id=opened)
    door.refused(
        "createElement",
        Refused("PROPOSAL_STATE", "proposal_id", {"allowed_transitions"}),
        "agent",
        **NEW,
        proposal_id=opened,
    )


def test_what_a_caller_may_not_do(door: Door) -> None:
    for told in (door.mcp("createElement", "viewer", **NEW), door.rest("architecture.create-element", "viewer", **NEW)):
        assert (told["reply"]["reply_type"], told["error"]["code"]) == ("D", "WRITE_DENIED")
    own = door.made("architecture.create-element", "curator", type="Node", name="Mine", commit_mode="proposal")
    denied = door.rest("proposals.review-proposal", "curator", proposal_id=own["proposal"]["id"], decision="approve")
    assert (denied["http"], denied["reply"]["message_key"]) == (403, "SELF_APPROVAL")


@pytest.mark.requirement("ARCH-16")
def test_calls_that_are_about_no_model(door: Door) -> None:
    refused = door.rest("architecture.set-context", scope="everyone", model_id=None)
    door.made("architecture.set-context", scope="everyone", model_id=None, confirm_token=_token(refused))
    try:
        door.refused("createElement", Refused("NO_DEFAULT_MODEL", "model_id", {"available_models", "hint"}), **NEW)
    finally:
        asked = door.rest("architecture.set-context", scope="everyone", model_id="default")
        door.made("architecture.set-context", scope="everyone", model_id="default", confirm_token=_token(asked))


@pytest.mark.parametrize(
    ("knobs", "code", "arguments"),
    [
        (f"{UNLIMITED}\nrequire_client_request_id = true", "IDEMPOTENCY_KEY_REQUIRED", {}),
        (f'{UNLIMITED}\non_direct_denied = "deny"', "APPROVAL_REQUIRED", {"commit_mode": "direct"}),
        ('rate_limits = { write = "1/minute" }', "RATE_LIMIT_EXCEEDED", {}),
    ],
)
def test_what_an_operator_asks_for_besides(tmp_path: Path, knobs: str, code: str, arguments: dict[str, Any]) -> None:
    with Served(tmp_path / "office", knobs=knobs, domains="architecture") as served:
        door = Door(served)
        if code == "RATE_LIMIT_EXCEEDED":
            door.rest("architecture.create-element", "agent", **NEW)
        told = door.mcp("createElement", "agent", **NEW, **arguments)
        assert told["error"]["code"] == code
        over_rest = door.rest("architecture.create-element", "agent", **NEW, **arguments)
        assert over_rest["error"]["code"] == code
        door.http.close()


@pytest.mark.requirement("NEW-05")
def test_why_is_asked_over_rest_and_over_mcp(door: Door) -> None:
    known = door.element("Node", "Turbine hall")
    (found,) = door.made("record.why", of="Turbine hall")["found"]
    assert (found["subject"], found["aggregate"]) == (known, "architecture")
    told = door.mcp("whyElement", ref="Turbine hal")
    assert told["error"]["code"] == "ELEMENT_NOT_FOUND"
    assert told["error"]["suggestions"]["similar_elements"][0]["id"] == known
