"""The registry of schemas: versions, and what they decide."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memory.kept import Library, done
from tests.memory.people import confirmed, fields, snapshot, tell

NOTE: dict[str, Any] = {
    "entity_type": "note",
    "schema_version": "1.0",
    "fields": {"name": {"type": "string", "required": True}, "tags": {"type": "array"}, "size": {"type": "number"}},
    "merge_policies": {"tags": {"strategy": "merge_array"}, "size": {"strategy": "highest_priority"}},
}


def activate(library: Library, version: str, entity_type: str = "note") -> dict:
    wish = {"entity_type": entity_type, "schema_version": version}
    return done(confirmed(library.clara, "memory.activate-schema", wish))


@pytest.mark.requirement("MEM-31")
def test_a_schema_decides_once_it_is_active_and_for_what_came_before(library: Library):
    clock = library.offices.clock
    tell(library.clara, {"entity_type": "note", "name": "N", "tags": ["a"], "size": 1}, source_priority=500)
    clock.pass_(minutes=1)
    tell(library.clara, {"entity_type": "note", "name": "N", "tags": ["b"], "size": 2})
    note = done(library.clara.call("memory.retrieve-entities", {}))["entities"][0]["id"]
    assert fields(library.clara, note) == {"name": "N", "tags": ["b"], "size": 2}
    registered = done(library.clara.call("memory.register-schema", NOTE))
    assert registered["active"] is False
    assert fields(library.clara, note)["tags"] == ["b"]
    assert activate(library, "1.0")["entities_decided_anew"] == 1
    assert fields(library.clara, note) == {"name": "N", "tags": ["b", "a"], "size": 1}
    clock.pass_(minutes=1)
    tell(library.clara, {"entity_type": "note", "name": "N", "tags": "c", "size": 3, "extra": "kept"})
    assert fields(library.clara, note) == {"name": "N", "tags": ["c", "b", "a"], "size": 1, "extra": "kept"}
    done(library.clara.call("memory.register-schema", {**NOTE, "schema_version": "1.1", "merge_policies": {}}))
    assert activate(library, "1.1")["entities_decided_anew"] == 1
    assert fields(library.clara, note)["size"] == 3
    assert snapshot(library.clara, note)["schema_version"] == "1.1"
    observations = done(library.clara.call("memory.list-observations", {"entity_id": note}))["observations"]
    assert {one["schema_version"] for one in observations} == {"1.0"}
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-03", "MEM-31")
def test_structured_entities_are_held_to_the_schema_of_their_type(small: Library):
    done(small.clara.call("memory.register-schema", NOTE))
    activate(small, "1.0")
    answer = small.clara.call(
        "memory.ingest-structured",
        {"entities": [{"entity_type": "note", "title": "T", "size": "secret"}, {"entity_type": "note", "name": "N"}]},
    )
    assert answer.message_key == "VALIDATION_ERROR"
    assert {error["pointer"] for error in answer.data["errors"]} == {"/entities/0/size", "/entities/0/name"}
    assert "secret" not in str(answer.data)


def test_versions_never_change_and_are_listed(small: Library):
    done(small.clara.call("memory.register-schema", NOTE))
    assert small.clara.call("memory.register-schema", NOTE).message_key == "NO_EFFECT"
    other = small.clara.call("memory.register-schema", {**NOTE, "fields": {**NOTE["fields"], "x": {"type": "date"}}})
    assert other.message_key == "VALIDATION_ERROR"
    listed = done(small.clara.call("memory.list-schemas", {}))["schemas"]
    assert {one["entity_type"] for one in listed} >= {"note", "wallet", "contract", "account", "holding"}
    wallet = next(one for one in listed if one["entity_type"] == "wallet")
    assert wallet["reducer_config"]["merge_policies"]["accounts"]["strategy"] == "merge_array"
    only = done(small.clara.call("memory.list-schemas", {"entity_type": "note"}))
    assert [(one["schema_version"], one["active"]) for one in only["schemas"]] == [("1.0", False)]
    missing = small.clara.call("memory.activate-schema", {"entity_type": "note", "schema_version": "7.0"})
    assert missing.message_key == "SCHEMA_NOT_FOUND"


@pytest.mark.requirement("MEM-31")
def test_what_is_listed_can_be_sent_back_and_says_the_same_elsewhere(library: Library):
    done(library.clara.call("memory.register-schema", NOTE))
    (listed,) = done(library.clara.call("memory.list-schemas", {"entity_type": "note"}))["schemas"]
    assert library.clara.call("memory.register-schema", listed).message_key == "NO_EFFECT"
    elsewhere = library.at("elsewhere").clara
    done(elsewhere.call("memory.register-schema", listed))
    assert done(elsewhere.call("memory.list-schemas", {"entity_type": "note"}))["schemas"] == [listed]
    (wallet,) = done(elsewhere.call("memory.list-schemas", {"entity_type": "wallet"}))["schemas"]
    own = done(elsewhere.call("memory.register-schema", {**wallet, "schema_version": "1.1"}))
    assert own["reducer_config"] == wallet["reducer_config"]
    for odd in ({**listed, "fields": {}}, {**listed, "schema_definition": 1}, {**listed, "reducer_config": []}):
        assert elsewhere.call("memory.register-schema", odd).message_key in ("UNKNOWN_FIELD", "VALIDATION_ERROR")


@pytest.mark.requirement("MEM-31")
def test_whoever_decides_about_a_schema_sees_which_version_follows_which_and_what_it_decides(library: Library):
    wish = {"entity_type": "note", "schema_version": "1.0"}
    done(library.clara.call("memory.register-schema", NOTE))
    done(library.clara.call("memory.register-schema", {**NOTE, "schema_version": "1.1", "merge_policies": {}}))
    asked = library.clara.call("memory.activate-schema", wish).data["diff"][0]["fields"]
    policies = {name: {**policy, "tie_breaker": "observed_at"} for name, policy in NOTE["merge_policies"].items()}
    assert asked == {"active": {"from": None, "to": "1.0"}, "merge_policies": {"from": {}, "to": policies}}
    proposed = library.agent.call("memory.activate-schema", wish).data["proposal"]["id"]
    seen = done(library.clara.call("proposals.get-proposal", {"proposal_id": proposed}))["diff"][0]["fields"]
    assert seen == asked
    activate(library, "1.0")
    again = library.clara.call("memory.activate-schema", {**wish, "schema_version": "1.1"}).data
    assert again["diff"][0]["fields"]["active"] == {"from": "1.0", "to": "1.1"}
    assert "1.0" in again["diff_text"]
    assert library.clara.office.rebuild("main").same
    assert library.clara.call("memory.activate-schema", {**wish, "schema_version": "one"}).message_key == (
        "VALIDATION_ERROR"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": "one"},
        {"entity_type": "a:b"},
        {"fields": {"name": {"type": "colour"}}, "merge_policies": {}},
        {"fields": {"name": "string"}, "merge_policies": {}},
        {"merge_policies": {"nothing": {"strategy": "last_write"}}},
        {"merge_policies": {"tags": {"strategy": "vote"}}},
        {"merge_policies": {"tags": {"strategy": "last_write", "tie_breaker": "dice"}}},
        {"merge_policies": {"tags": "last_write"}},
    ],
)
def test_schemas_that_cannot_work_are_refused(small: Library, change):
    assert small.clara.call("memory.register-schema", {**NOTE, **change}).message_key == "VALIDATION_ERROR"


def test_lists_of_shipped_types_are_merged(small: Library):
    clock = small.offices.clock
    tell(small.clara, {"entity_type": "contract", "name": "C", "files": ["a.pdf"]})
    clock.pass_(minutes=1)
    tell(small.clara, {"entity_type": "contract", "name": "C", "files": "b.pdf"})
    contract = done(small.clara.call("memory.retrieve-entities", {}))["entities"][0]
    assert contract["snapshot"]["files"] == ["b.pdf", "a.pdf"]
    told = done(small.clara.call("memory.get-field-provenance", {"entity_id": contract["id"], "field": "files"}))
    assert len(told["contributors"]) == 2
    assert told["contributors"][0] == told["source_observation"]["id"]
    explained = done(small.clara.call("memory.explain-field", {"entity_id": contract["id"], "field": "files"}))
    assert explained["contributors"] == told["contributors"]
    assert explained["rule"]["strategy"] == "merge_array"
