"""Every refusal of the domain, with its field and what helps, over MCP and over REST: the same one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.door import NUMBERS, Door, Refused, open_door
from tests.bed.served import UNLIMITED


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with open_door(Path(tmp_path_factory.mktemp("served")) / "office") as found:
        yield found


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
    misnamed = Refused("VALIDATION_ERROR", "name", {"hint", "example"})
    unfit: list[Any] = ["   ", "x" * 256, "a\u0007b", 5]
    for given in unfit:
        door.refused("createElement", misnamed, type="Node", name=given)
    door.refused("createElement", misnamed, type="Node")
    door.refused("updateElement", Refused("FIELD_NOT_ALLOWED", "type", {"hint"}), id=door.element("Node"), type="Path")


@pytest.mark.requirement("ARCH-12", "ARCH-18")
def test_what_is_wrong_with_the_shape_and_with_the_rest_is_told_together(door: Door) -> None:
    payload: dict[str, Any] = {
        "type": "AppComponent",
        "name": "  ",
        "layer": "x",
        "parent_id": "nope",
        "profile": {"a": "b"},
        "bogus": 1,
    }
    told = door.refused("createElement", Refused("VALIDATION_ERROR", "name", {"hint"}), **payload)
    refused = [(error["code"], error["field"]) for error in told["details"]["errors"]]
    assert refused == [
        ("VALIDATION_ERROR", "name"),
        ("UNKNOWN_FIELD", "bogus"),
        ("FIELD_NOT_ALLOWED", "layer"),
        ("INVALID_ELEMENT_TYPE", "type"),
        ("ELEMENT_NOT_FOUND", "parent_id"),
        ("PROFILE_INVALID", "profile.a"),
    ]
    checked = door.made("record.validate-write", operation="createElement", payload=payload)
    assert [(error["code"], error["field"]) for error in checked["errors"]] == refused


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
    told = door.refused(
        "createElement",
        Refused("IDEMPOTENCY_KEY_REUSED", "client_request_id", {"hint"}),
        type="Node",
        name="Another",
        client_request_id=key,
    )
    assert set(told["details"]) == {"original_request_time"}
    door.refused(
        "createElement",
        Refused("VALIDATION_ERROR", "client_request_id", {"example"}),
        **NEW,
        client_request_id="a b",
    )
    many = [{"operation": "createElement", "payload": NEW}] * 101
    told = door.refused("applyChanges", Refused("LIMIT_EXCEEDED", "operations", {"hint"}), operations=many)
    assert told["details"] == {"limit": 100, "actual": 101}
    known = door.element("Node")
    for told in (door.mcp("deleteElement", id=known), door.rest("architecture.delete-element", id=known)):
        assert told["error"]["code"] == "CONFIRMATION_REQUIRED"
        assert told["reply"]["reply_type"] == "D"
    wrong = Refused("TOKEN_INVALID", "confirm_token", {"hint"})
    door.refused("deleteElement", wrong, id=known, confirm_token="zzz")
    checked = door.made(
        "record.validate-write", operation="deleteElement", payload={"id": known, "confirm_token": "zzz"}
    )
    assert [error["code"] for error in checked["errors"]] == ["TOKEN_INVALID"]
    done = door.made("architecture.delete-element", id=known, confirm_token=_token(told))
    assert done["status"] == "committed"


def _token(told: dict[str, Any]) -> str:
    found = told.get("confirm_token") or told["error"].get("confirm_token") or told["error"]["details"]["confirm_token"]
    return str(found)


def test_proposals_that_are_not_there_not_open_or_stale(door: Door) -> None:
    door.refused(
        "createElement",
        Refused("PROPOSAL_NOT_FOUND", "proposal_id", {"hint"}),
        "agent",
        **NEW,
        proposal_id="prop_nowhere",
    )
    known = door.element("Node", "Ledger host")
    changed = door.made("architecture.update-element", "agent", id=known, name="Ledger machine", commit_mode="draft")
    opened = changed["proposal"]["id"]
    door.made("architecture.update-element", id=known, name="Ledger box")
    gone_stale = Refused("PROPOSAL_STALE", "proposal_id", {"changed_aggregates", "hint"})
    told = door.refused("createElement", gone_stale, "agent", **NEW, proposal_id=opened)
    assert told["suggestions"]["changed_aggregates"] == [{"subject": f"architecture/{known}", "from": 1, "to": 2}]
    door.refused("getElement", gone_stale, "agent", id=known, proposal_id=opened)
    door.made("proposals.submit-proposal", "agent", proposal_id=opened)
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
        assert "contributor" in told["error"]["details"]["required"]


def test_nobody_approves_what_is_their_own_and_nobody_approves_over_mcp(door: Door) -> None:
    own = door.made("architecture.create-element", "curator", type="Node", name="Mine", commit_mode="proposal")
    verdict = {"proposal_id": own["proposal"]["id"], "decision": "approve"}
    denied = door.rest("proposals.review-proposal", "curator", **verdict)
    assert (denied["http"], denied["reply"]["message_key"]) == (403, "SELF_APPROVAL")
    for who in ("curator", "owner", "agent"):
        offered = {tool["name"] for tool in door.asked("tools/list", who)["tools"]}
        assert "createElement" in offered
        assert "reviewProposal" not in offered
        told = door.mcp("reviewProposal", who, **verdict)["reply"]
        assert (told["reply_type"], told["message_key"]) == ("D", "PEOPLE_ONLY")
    assert door.rest("proposals.get-proposal", **{"proposal_id": verdict["proposal_id"]})["proposal"]["decisions"] == []


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
    ("knobs", "expected", "arguments"),
    [
        ("require_client_request_id = true", Refused("IDEMPOTENCY_KEY_REQUIRED", "client_request_id", {"format"}), {}),
        ('on_direct_denied = "deny"', Refused("APPROVAL_REQUIRED", None, set()), {"commit_mode": "direct"}),
    ],
    ids=["keys", "approval"],
)
def test_what_an_operator_asks_for_besides(
    tmp_path: Path, knobs: str, expected: Refused, arguments: dict[str, Any]
) -> None:
    with open_door(tmp_path / "office", knobs=f"{UNLIMITED}\n{knobs}") as door:
        door.refused("createElement", expected, "agent", **NEW, **arguments)


def test_calls_that_come_too_often(tmp_path: Path) -> None:
    with open_door(tmp_path / "office", knobs='rate_limits = { write = "1/minute" }') as door:
        door.made("architecture.create-element", "agent", **NEW)
        over_mcp = door.mcp("createElement", "agent", **NEW)
        for told in (over_mcp, door.rest("architecture.create-element", "agent", **NEW)):
            assert (told["reply"]["reply_type"], told["error"]["code"]) == ("D", "RATE_LIMIT_EXCEEDED")
            assert 0 < told["error"]["details"]["retry_after_seconds"] <= 60


@pytest.mark.requirement("NEW-05")
def test_why_is_asked_over_rest_and_over_mcp(door: Door) -> None:
    known = door.element("Node", "Turbine hall")
    (found,) = door.made("record.why", of="Turbine hall")["found"]
    assert (found["subject"], found["aggregate"]) == (known, "architecture")
    told = door.mcp("whyElement", ref="Turbine hal")
    assert told["error"]["code"] == "ELEMENT_NOT_FOUND"
    assert told["error"]["suggestions"]["similar_elements"][0]["id"] == known
