"""Many changes in one call: all or none, or each for itself."""

from typing import Any

import pytest

from tests.architecture.studio import Studio, done, errors, validate, warned

CHAIN: list[dict[str, Any]] = [
    {"operation": "createElement", "payload": {"type": "Node", "name": "Server", "description": "x"}},
    {"operation": "createElement", "payload": {"type": "device", "name": "Rack", "description": "x"}},
    {"operation": "createRelationship", "payload": {"type": "Composition", "source_id": "#0", "target_id": "#1"}},
]

TO_ITSELF = {"type": "Association", "source_id": "#0", "target_id": "#0"}


def names(studio: Studio) -> list[str]:
    return [one["name"] for one in studio.clara.architecture.list_elements().data["elements"]]


@pytest.mark.requirement("ARCH-40")
def test_later_changes_refer_to_what_earlier_ones_made(studio: Studio) -> None:
    more = [
        {"operation": "updateElement", "payload": {"id": {"$ref": "#0"}, "properties": {"rack": "yes"}}},
        {"operation": "createElement", "payload": {"type": "Node", "name": "Blade", "parent_id": "#0"}},
    ]
    answer = done(studio.clara.architecture.apply_changes(operations=[*CHAIN, *more]))
    results = answer.data["results"]
    assert [one["status"] for one in results] == ["done"] * 5
    server, rack, related = (results[n]["answer"] for n in range(3))
    assert related["relationship"]["source_id"] == server["element"]["id"]
    assert related["relationship"]["target_id"] == rack["element"]["id"]
    assert results[3]["answer"]["new_version"] == 2
    assert warned(answer) == ["ALIAS_USED", "MISSING_DESCRIPTION"]
    assert answer.data["warnings"][0]["field"] == "operations.1.payload.type"
    assert len(answer.data["facts"]) == 6


@pytest.mark.requirement("ARCH-40")
def test_one_that_fails_takes_all_back_and_every_error_is_told(studio: Studio) -> None:
    answer = studio.clara.architecture.apply_changes(
        operations=[
            *CHAIN,
            {"operation": "createElement", "payload": {"type": "Sever", "name": "X"}},
            {"operation": "createRelationship", "payload": {"type": "Flow", "source_id": "#3", "target_id": "#0"}},
            {"operation": "createElement", "payload": {"type": "Node"}},
            {"operation": "deleteElement", "payload": {"id": "#9"}},
            {"operation": "deleteRelationship", "payload": {"id": "rel_x", "client_request_id": "not-in-here"}},
        ]
    )
    assert errors(answer) == {
        "operations.3.payload.type": "INVALID_ELEMENT_TYPE",
        "operations.5.payload.name": "VALIDATION_ERROR",
        "operations.6.payload.id": "VALIDATION_ERROR",
        "operations.7.payload.client_request_id": "VALIDATION_ERROR",
        "operations.7.payload.id": "RELATIONSHIP_NOT_FOUND",
    }
    statuses = [one["status"] for one in answer.data["results"]]
    assert statuses == ["valid"] * 3 + ["failed", "not_attempted", "failed", "failed", "failed"]
    assert names(studio) == []


@pytest.mark.requirement("ARCH-41")
def test_each_for_itself_some_are_done_and_some_fail(studio: Studio) -> None:
    answer = done(
        studio.clara.architecture.apply_changes(
            mode="per_item", operations=[*CHAIN, {"operation": "deleteElement", "payload": {"id": "el_nowhere"}}]
        )
    )
    assert answer.data["counts"] == {"done": 3, "failed": 1}
    assert answer.data["results"][3]["errors"][0]["code"] == "ELEMENT_NOT_FOUND"
    assert names(studio) == ["Rack", "Server"]


@pytest.mark.requirement("ARCH-41", "ARCH-34")
def test_each_item_has_its_own_key(studio: Studio) -> None:
    item = {**CHAIN[0], "client_request_id": "server-0001"}
    first = done(studio.clara.architecture.apply_changes(mode="per_item", operations=[item]))
    made = first.data["results"][0]["answer"]["element"]["id"]
    again = done(studio.clara.architecture.apply_changes(mode="per_item", operations=[item, CHAIN[1]]))
    assert [one["status"] for one in again.data["results"]] == ["replayed", "done"]
    assert again.data["results"][0]["answer"]["element"]["id"] == made
    alone = done(studio.clara.architecture.create_element(**CHAIN[0]["payload"], client_request_id="server-0001"))
    assert (alone.data["idempotent_replay"], alone.data["element"]["id"]) == (True, made)
    other = {"operation": "createElement", "payload": {"type": "Node", "name": "Y"}, "client_request_id": "server-0001"}
    reused = done(studio.clara.architecture.apply_changes(mode="per_item", operations=[other]))
    assert reused.data["results"][0]["errors"][0]["code"] == "IDEMPOTENCY_KEY_REUSED"
    assert names(studio) == ["Rack", "Server"]


@pytest.mark.requirement("ARCH-34")
def test_an_item_whose_answer_was_erased_is_told_so_as_the_same_call_alone_is(studio: Studio) -> None:
    item = {**CHAIN[0], "client_request_id": "server-0001"}
    first = done(studio.clara.architecture.apply_changes(mode="per_item", operations=[item]))
    about = {"aggregate": "architecture", "subject": first.data["results"][0]["answer"]["element"]["id"]}
    asked = studio.clara.record.erase(**about)
    done(studio.clara.record.erase(**about, confirm_token=asked.data["confirm_token"]))
    again = done(studio.clara.architecture.apply_changes(mode="per_item", operations=[item]))
    alone = studio.clara.architecture.create_element(**CHAIN[0]["payload"], client_request_id="server-0001")
    assert again.data["results"][0]["errors"][0]["code"] == alone.message_key == "PAYLOAD_ERASED"
    assert names(studio) == []


@pytest.mark.requirement("ARCH-41", "ARCH-34")
def test_the_key_of_an_item_that_refers_to_another_stands_for_what_it_refers_to(studio: Studio) -> None:
    def related(name: str, key: str) -> Any:
        pair = {"operation": "createRelationship", "payload": {**TO_ITSELF}, "client_request_id": "tied-0001"}
        made = {"operation": "createElement", "payload": {"type": "Node", "name": name}, "client_request_id": key}
        return done(studio.clara.architecture.apply_changes(mode="per_item", operations=[made, pair])).data["results"]

    first = related("Server", "server-0001")
    assert [one["status"] for one in related("Server", "server-0001")] == ["replayed", "replayed"]
    made, other = related("Rack", "rack-0001")
    assert (made["status"], other["errors"][0]["code"]) == ("done", "IDEMPOTENCY_KEY_REUSED")
    server = first[0]["answer"]["element"]["id"]
    alone = studio.clara.architecture.create_relationship(
        **{**TO_ITSELF, "source_id": server, "target_id": server}, client_request_id="tied-0001"
    )
    assert done(alone).data["idempotent_replay"] is True
    assert len(studio.clara.architecture.list_relationships().data["relationships"]) == 1


def test_more_than_a_hundred_are_refused(studio: Studio) -> None:
    many = [{"operation": "createElement", "payload": {"type": "Node", "name": f"N{n}"}} for n in range(101)]
    answer = studio.clara.architecture.apply_changes(operations=many)
    assert errors(answer) == {"operations": "LIMIT_EXCEEDED"}
    assert answer.data["details"] == {"limit": 100, "actual": 101}
    assert names(studio) == []


def test_changes_that_delete_are_of_high_risk(studio: Studio) -> None:
    element = studio.element("Orders")
    operations = [{"operation": "deleteElement", "payload": {"id": element["id"]}}]
    asked = studio.clara.architecture.apply_changes(operations=operations)
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    token = asked.data["confirm_token"]
    done(studio.clara.architecture.apply_changes(operations=operations, confirm_token=token))
    assert names(studio) == []


def test_an_agents_changes_become_one_proposal(studio: Studio) -> None:
    answer = done(studio.scout.architecture.apply_changes(operations=CHAIN))
    assert answer.data["status"] == "proposed"
    assert len(answer.data["diff"]) == 3
    proposal = answer.data["proposal"]["id"]
    token = studio.clara.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    done(studio.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token))
    assert names(studio) == ["Rack", "Server"]


def test_validating_tells_every_error_of_every_item(studio: Studio) -> None:
    operations = [*CHAIN, {"operation": "createElement", "payload": {"type": "Sever", "name": ""}}]
    checked = validate(studio.scout, "applyChanges", {"operations": operations})
    assert checked["valid"] is False
    assert {error["field"]: error["code"] for error in checked["errors"]} == {
        "operations.3.payload.name": "VALIDATION_ERROR",
        "operations.3.payload.type": "INVALID_ELEMENT_TYPE",
    }
    assert validate(studio.scout, "applyChanges", {"operations": CHAIN})["valid"] is True


PROFILE = {"owner": "Ada", "criticality": "High", "lifecycle": "Active"}


def test_a_reference_is_to_the_thing_itself_and_not_to_what_holds_it(studio: Studio) -> None:
    whole = studio.element("Sales", "Capability")
    part = {"name": "Ordering", "profile": PROFILE, "parent_id": whole["id"]}
    answer = done(
        studio.clara.architecture.apply_changes(
            operations=[
                {"operation": "createCapability", "payload": part},
                {
                    "operation": "addComponentToCapability",
                    "payload": {"capability_id": "#0", "component_name": "Orders"},
                },
            ]
        )
    )
    made, added = (one["answer"] for one in answer.data["results"])
    (realizes,) = added["created_relationships"]
    assert realizes["target_id"] == made["capability"]["id"]
    assert [warning["field"] for warning in answer.data["warnings"]] == [
        "operations.0.payload.description",
        "operations.1.payload.component_description",
    ]


def test_a_key_of_an_items_own_is_refused_where_all_or_none_are_made(studio: Studio) -> None:
    keyed = {"operation": "createElement", "payload": {"type": "Node", "name": "A"}, "client_request_id": "node-0001"}
    call = {"operations": [keyed, {"operation": "deleteElement", "payload": {"id": "el_nowhere"}}]}
    refused = {
        "operations.0.client_request_id": "VALIDATION_ERROR",
        "operations.1.payload.id": "ELEMENT_NOT_FOUND",
    }
    assert errors(studio.clara.architecture.apply_changes(**call)) == refused
    checked = validate(studio.clara, "applyChanges", call)
    assert {error["field"]: error["code"] for error in checked["errors"]} == refused
    assert names(studio) == []


def test_an_item_with_a_wrong_shape_hides_nothing_of_the_others(studio: Studio) -> None:
    operations: list[Any] = [
        {"operation": "createElemnt", "payload": {"type": "Node", "name": "A"}},
        {"operation": "createElement", "payload": {"type": "Nod", "name": ""}},
        7,
        {"operation": "createElement", "payload": "x", "more": 1},
        {"operation": "createRelationship", "payload": {"type": "Flw", "source_id": "#9", "target_id": "#8"}},
        {"operation": "updateElement", "payload": {"id": "el_nowhere", "bogus": 1}},
    ]
    refused = {
        "bogus": "UNKNOWN_FIELD",
        "operations.0.operation": "VALIDATION_ERROR",
        "operations.1.payload.name": "VALIDATION_ERROR",
        "operations.1.payload.type": "INVALID_ELEMENT_TYPE",
        "operations.2": "VALIDATION_ERROR",
        "operations.3.payload": "VALIDATION_ERROR",
        "operations.3.more": "UNKNOWN_FIELD",
        "operations.4.payload.source_id": "VALIDATION_ERROR",
        "operations.4.payload.target_id": "VALIDATION_ERROR",
        "operations.5.payload.bogus": "UNKNOWN_FIELD",
        "operations.5.payload.id": "ELEMENT_NOT_FOUND",
    }
    call = {"operations": operations, "bogus": 1}
    answer = studio.clara.call("architecture.apply-changes", call)
    assert errors(answer) == refused
    assert answer.data["errors"][1]["suggestions"]["did_you_mean"][0] == "createElement"
    checked = validate(studio.clara, "applyChanges", call)
    assert {error["field"]: error["code"] for error in checked["errors"]} == refused
    assert names(studio) == []


@pytest.mark.requirement("ARCH-41")
def test_each_for_itself_one_with_a_wrong_shape_fails_alone(studio: Studio) -> None:
    answer = done(
        studio.clara.architecture.apply_changes(
            mode="per_item", operations=[CHAIN[0], {"operation": "createElemnt", "payload": {}}]
        )
    )
    assert [one["status"] for one in answer.data["results"]] == ["done", "failed"]
    assert names(studio) == ["Server"]


def test_a_key_that_stands_for_another_change_says_since_when(studio: Studio) -> None:
    item = {**CHAIN[0], "client_request_id": "server-0002"}
    done(studio.clara.architecture.apply_changes(mode="per_item", operations=[item]))
    other = {**CHAIN[1], "client_request_id": "server-0002", "operation": "createElement"}
    answer = done(studio.clara.architecture.apply_changes(mode="per_item", operations=[other]))
    (error,) = answer.data["results"][0]["errors"]
    assert error["code"] == "IDEMPOTENCY_KEY_REUSED"
    assert error["details"]["original_request_time"]
    assert error["suggestions"]["hint"]
