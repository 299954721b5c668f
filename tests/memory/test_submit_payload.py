"""Payloads: equal ones are recognised by their content, and what lies in them is extracted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engross.domains.memory.capabilities import CAPABILITIES
from engross.domains.memory.ingestion.flows import SUBMITTED
from engross.domains.memory.payloads import compact, normal, payload_content_id
from tests.memory.kept import Library, done

INVOICE = CAPABILITIES["neotoma:store_invoice:v1"]
PROVENANCE = {"source_refs": [], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "test:1"}
BODIES: dict[str, dict[str, Any]] = {
    "invoice": {"invoice_number": "INV-1", "amount": 5, "vendor_name": "Acme Corp", "date": "2025-01-15"},
    "transaction": {"transaction_id": "T-1", "amount": 5, "merchant_name": "Acme Corp", "counterparty": "Beta LLC"},
    "receipt": {"receipt_number": "R-1", "amount": 5, "vendor_name": "Acme Corp"},
    "contract": {"contract_number": "C-1", "parties": ["Acme Corp", "Beta LLC"], "start_date": "2025-01-01"},
    "note": {"title": "Plan", "content": "x", "tasks": ["buy milk", {"title": "read", "status": "open"}, 5]},
    "feature_unit": {"id": "FU-1", "description": "x", "status": "planning", "dependencies": ["FU-2"]},
    "release": {"id": "v1", "version": "1.0", "status": "planning", "feature_units": ["FU-1"]},
    "agent_decision": {"decision": "use SQLite", "rationale": "simple", "timestamp": "2025-01-01T00:00:00Z"},
    "agent_session": {"session_id": "s1", "started_at": "2025-01-01T00:00:00Z"},
    "validation_result": {"validation_type": "lint", "status": "passed", "target": "x", "timestamp": "2025-01-01"},
    "codebase_entity": {"name": "auth", "type": "module", "path": "src/auth"},
    "architectural_decision": {"decision": "use SQLite", "rationale": "simple", "timestamp": "2025-01-01"},
}
EXTRACTED = {
    "invoice": {("company", "acme")},
    "transaction": {("company", "acme"), ("company", "beta")},
    "receipt": {("company", "acme")},
    "contract": {("company", "acme"), ("company", "beta")},
    "note": {("task", "buy milk"), ("task", "read")},
    "feature_unit": {("feature_unit", "fu-2")},
    "release": {("feature_unit", "fu-1")},
}


def submit(library: Library, kind: str, body: dict, **more):
    """Submit a payload as Clara."""
    provenance = {**PROVENANCE, **more.pop("provenance", {})}
    return library.clara.call(
        "memory.submit-payload",
        {"capability_id": f"neotoma:store_{kind}:v1", "body": body, "provenance": provenance, **more},
    )


@pytest.mark.requirement("MEM-02", "MEM-33")
def test_the_example_of_the_format_has_the_content_id_of_the_format(library):
    answer = done(library.clara.call("memory.submit-payload", SUBMITTED))
    assert answer["payload_content_id"] == "payload_0a8d4d865a87aebbf6c3638b"
    assert answer["created"] is True
    assert answer["payload_submission_id"].startswith("sub_")
    assert answer["payload_submission_id"][18] == "7"


@pytest.mark.requirement("MEM-02")
def test_an_equal_payload_is_found_with_its_first_ids(library):
    first = done(library.clara.call("memory.submit-payload", SUBMITTED))
    body: Any = SUBMITTED["body"]
    other = {**SUBMITTED, "body": {**body, "vendor_name": "  ACME corp ", "note": "not hashed"}}
    again = library.clara.call("memory.submit-payload", other)
    assert again.message_key == "NO_EFFECT"
    assert again.data["created"] is False
    for name in ("payload_id", "payload_submission_id", "entity_ids"):
        assert again.data[name] == first[name]


@pytest.mark.requirement("MEM-02", "MEM-33")
def test_payloads_belong_to_their_user(quick):
    mine = done(quick.clara.call("memory.submit-payload", SUBMITTED))
    hers = done(quick.vera.call("memory.submit-payload", SUBMITTED))
    assert hers["created"] is True
    assert hers["payload_content_id"] == mine["payload_content_id"]
    assert hers["payload_id"] != mine["payload_id"]


@pytest.mark.requirement("MEM-30")
@pytest.mark.parametrize("kind", BODIES)
def test_every_capability_takes_its_payload_and_extracts_what_lies_in_it(quick, kind):
    answer = done(submit(quick, kind, BODIES[kind]))
    told = done(quick.clara.call("memory.retrieve-entities", {"limit": 100}))["entities"]
    found = {(one["entity_type"], one["canonical_name"]) for one in told}
    own = next(one for one in told if one["id"] == answer["entity_ids"][0])
    assert own["entity_type"] == kind
    assert own["snapshot"].items() >= {key: value for key, value in BODIES[kind].items() if key != "tasks"}.items()
    assert found - {(kind, own["canonical_name"])} == EXTRACTED.get(kind, set())


@pytest.mark.requirement("MEM-30")
def test_there_are_the_twelve_capabilities():
    assert len(CAPABILITIES) == 12
    assert {one.entity_type for one in CAPABILITIES.values()} == set(BODIES)


@pytest.mark.requirement("MEM-30")
@pytest.mark.parametrize("kind", BODIES)
def test_an_empty_body_is_a_payload_too(quick, kind):
    assert done(submit(quick, kind, {}))["created"] is True
    assert done(submit(quick, kind, {}))["created"] is False


@pytest.mark.requirement("MEM-39")
def test_an_unknown_capability_is_told_what_there_is_and_where_else_to_go(quick):
    answer = submit(quick, "invoise", {})
    assert answer.message_key == "UNKNOWN_CAPABILITY"
    told = answer.data["suggestions"]
    assert told["allowed_values"] == list(CAPABILITIES)
    assert told["did_you_mean"][0] == "neotoma:store_invoice:v1"
    assert "ingest_structured" in told["hint"]


@pytest.mark.parametrize("when", ["2025-01-15", "soon", "2025-01-15T10:30:00", "2025-13-15T10:30:00Z", "", "x" * 60])
def test_a_time_of_extraction_needs_a_zone(quick, when):
    answer = submit(quick, "note", {}, provenance={"extracted_at": when})
    assert answer.message_key == "VALIDATION_ERROR"
    assert answer.data["errors"][0]["pointer"] == "/provenance/extracted_at"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"body": []}, "/body"),
        ({"provenance": {}}, "/provenance/source_refs"),
        ({"provenance": {**PROVENANCE, "source_refs": "x"}}, "/provenance/source_refs"),
        ({"provenance": {**PROVENANCE, "extractor_version": ""}}, "/provenance/extractor_version"),
        ({"provenance": {**PROVENANCE, "agent": "x"}}, "/provenance/agent"),
    ],
)
def test_a_malformed_envelope_is_refused_with_its_place(quick, change, place):
    answer = quick.clara.call("memory.submit-payload", {**SUBMITTED, **change})
    assert answer.reply_type == "I"
    assert place in [error["pointer"] for error in answer.data["errors"]]


def test_what_happened_before_now_counts_from_then_and_never_from_the_future(quick):
    done(submit(quick, "note", {"title": "Old"}, provenance={"extracted_at": "2020-01-01T01:00:00+01:00"}))
    done(submit(quick, "note", {"title": "New"}, provenance={"extracted_at": "2999-01-01T00:00:00Z"}))
    rows = quick.rows("SELECT observed_at FROM memory_observations WHERE tenant = :tenant ORDER BY observed_at")
    assert rows[0]["observed_at"].startswith("2020-01-01T00:00:00")
    assert rows[1]["observed_at"].startswith("2026-11-16")


def test_dependencies_that_go_in_circles_are_recorded_without_the_last_edge(library):
    done(submit(library, "feature_unit", {"id": "A", "dependencies": ["B"]}))
    answer = submit(library, "feature_unit", {"id": "B", "dependencies": ["A", "B"]})
    assert [warning["code"] for warning in answer.data["warnings"]] == ["CYCLE_SKIPPED"]
    again = submit(library, "feature_unit", {"id": "B", "dependencies": ["A", "B"]})
    assert again.data["warnings"] == answer.data["warnings"]
    edges = library.rows("SELECT source_id, target_id FROM memory_relationships WHERE tenant = :tenant")
    assert len(edges) == 1


def test_two_decisions_of_the_same_words_are_two(quick):
    body = {"decision": "ship it", "rationale": "x"}
    done(submit(quick, "agent_decision", {**body, "timestamp": "2025-01-01"}))
    done(submit(quick, "agent_decision", {**body, "timestamp": "2025-01-02"}))
    assert len(quick.rows("SELECT id FROM memory_entities WHERE tenant = :tenant")) == 2


def test_a_long_decision_is_told_apart_from_one_that_begins_like_it(quick):
    for end in ("a", "b"):
        done(submit(quick, "agent_decision", {"decision": "x" * 2_000 + end, "timestamp": "2025-01-01"}))
    assert len(quick.rows("SELECT id FROM memory_entities WHERE tenant = :tenant")) == 2


@pytest.mark.requirement("MEM-33")
def test_rebuilding_gives_the_same(library):
    for kind, body in BODIES.items():
        done(submit(library, kind, body))
    assert library.clara.office.rebuild("main").same


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"amount": 5}, {"amount": 5.0}, True),
        ({"vendor_name": " A "}, {"vendor_name": "a"}, True),
        ({"vendor_name": "\ufeffA"}, {"vendor_name": "a"}, True),
        ({"amount": 5}, {"amount": "5"}, False),
        ({"amount": True}, {"amount": 1}, False),
        ({"date": None}, {}, False),
        ({"other": 1}, {"other": 2}, True),
    ],
)
def test_what_makes_a_difference(left, right, same):
    ids = {payload_content_id(INVOICE, body, [], "v") for body in (left, right)}
    assert (len(ids) == 1) is same


def test_the_order_of_lists_and_sources_makes_none():
    contract = CAPABILITIES["neotoma:store_contract:v1"]
    first = payload_content_id(contract, {"parties": ["B", "a"]}, ["2", "1"], "v")
    assert first == payload_content_id(contract, {"parties": ["A", "b"]}, ["1", "2"], "v")
    assert first != payload_content_id(contract, {"parties": ["A", "b"]}, ["1", "2"], "w")


@settings(max_examples=80, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_normalising_twice_is_normalising_once(value):
    assert compact(normal(normal(value))) == compact(normal(value))
