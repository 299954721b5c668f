"""What each action may be refused with: said by the flow, as the specification lists it and as the code does it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import engross.domains.memory
from engross.flows import Aggregate, Flow, NoArguments
from engross.office.refusals import usual_codes
from engross.replies import REGISTRY, Failed, Invalid, codes
from tests.bed.offices import Offices
from tests.bed.refusals import Watch, named
from tests.memory.kept import Library, memory_at

# The table of errors of each action, as the specification has it: code, HTTP status, whether a retry helps.
BAD_INPUT = ("VALIDATION_ERROR", 400, False)
NO_ENTITY = ("ENTITY_NOT_FOUND", 404, False)
NOT_INSERTED = ("DB_INSERT_FAILED", 500, True)
NOT_QUERIED = ("DB_QUERY_FAILED", 500, True)
OVER_QUOTA = ("QUOTA_EXCEEDED", 429, False)
SPECIFIED = {
    "ingest": [BAD_INPUT, ("FILE_TOO_LARGE", 400, False), NOT_INSERTED],
    "submit_payload": [BAD_INPUT, ("UNKNOWN_CAPABILITY", 400, False), NOT_INSERTED],
    "ingest_structured": [BAD_INPUT, NOT_INSERTED],
    "get_entity_snapshot": [NO_ENTITY, BAD_INPUT],
    "list_observations": [NO_ENTITY, BAD_INPUT],
    "get_field_provenance": [NO_ENTITY, ("FIELD_NOT_FOUND", 404, False), BAD_INPUT],
    "retrieve_entities": [BAD_INPUT, NOT_QUERIED],
    "get_entity_by_identifier": [BAD_INPUT, NOT_QUERIED],
    "get_related_entities": [NO_ENTITY, BAD_INPUT],
    "get_graph_neighborhood": [NO_ENTITY, ("RECORD_NOT_FOUND", 404, False), BAD_INPUT],
    "list_timeline_events": [BAD_INPUT, NOT_QUERIED],
    "correct": [NO_ENTITY, BAD_INPUT, NOT_INSERTED],
    "reinterpret": [("SOURCE_NOT_FOUND", 404, False), OVER_QUOTA, NOT_INSERTED],
    "merge_entities": [NO_ENTITY, ("ENTITY_ALREADY_MERGED", 400, False), ("DB_UPDATE_FAILED", 500, True)],
    "create_relationship": [
        NO_ENTITY,
        ("INVALID_RELATIONSHIP_TYPE", 400, False),
        ("CYCLE_DETECTED", 400, False),
        BAD_INPUT,
    ],
    "list_relationships": [NO_ENTITY, BAD_INPUT],
}
"""`ingest` over quota keeps the file and warns, so QUOTA_EXCEEDED is none of its refusals: see the test below."""


def flows() -> dict[str, Flow]:
    return {flow.name.replace("-", "_"): flow for flow in memory_at(Path("nowhere")).flows.values()}


@pytest.mark.requirement("MEM-38", "MEM-35")
@pytest.mark.parametrize("action", SPECIFIED)
def test_every_error_of_the_specification_is_named_with_its_status_and_whether_a_retry_helps(action: str) -> None:
    said = named(flows()[action])
    for key, status, retry in SPECIFIED[action]:
        entry = REGISTRY.by_key(key)
        assert key in said
        assert (entry.http, entry.retryable) == (status, retry), key


@pytest.mark.requirement("MEM-38")
def test_over_quota_a_file_is_kept_with_a_warning_and_rereading_it_is_refused(offices: Offices) -> None:
    library = Library(offices, {"quota_runs": 0})
    kept = library.ingest(b"Invoice Number: INV-001")
    assert kept.ok
    assert [warning["code"] for warning in kept.data["warnings"]] == ["QUOTA_EXCEEDED"]
    asked = {"source_id": kept.data["source_id"], "interpretation_config": {}}
    assert library.clara.call("memory.reinterpret", asked).message_key == "QUOTA_EXCEEDED"


@pytest.mark.requirement("MEM-38")
def test_what_any_call_may_get_is_not_said_again() -> None:
    said = {name: set(flow.refuses) & set(usual_codes(flow)) for name, flow in flows().items()}
    assert {name: repeated for name, repeated in said.items() if repeated} == {}


@pytest.mark.requirement("MEM-38")
def test_every_code_that_the_domain_uses_is_named_by_some_flow_and_the_other_way_round() -> None:
    every = flows().values()
    usual = {REGISTRY.entry(code).key for flow in every for code in usual_codes(flow)}
    own = {REGISTRY.entry(code).key for flow in every for code in flow.refuses}
    raised = _codes_in_the_code() - usual
    assert raised - own == set()
    assert own - raised == set()


def _codes_in_the_code() -> set[str]:
    """Each `codes.X` of the domain, but for those that only name what a flow refuses with."""
    found = set()
    for file in Path(engross.domains.memory.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        naming = {id(inner) for word in ast.walk(tree) if _is_naming(word) for inner in ast.walk(word)}
        found |= {node.attr for node in ast.walk(tree) if _is_code(node) and id(node) not in naming}  # type: ignore[attr-defined]
    return found


def _is_naming(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "refuses"


def _is_code(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "codes"


@pytest.mark.requirement("MEM-38")
def test_a_flow_that_answers_with_what_it_does_not_name_is_found_out(offices: Offices) -> None:
    shelf = Aggregate("shelf", "Shelf")

    @shelf.read(refuses=[codes.ENTITY_NOT_FOUND])
    def honest(reader: object, arguments: NoArguments) -> None:
        """Say what it said it might."""
        raise Invalid(codes.ENTITY_NOT_FOUND, {"id": "ent_1"})

    @shelf.read
    def devious(reader: object, arguments: NoArguments) -> None:
        """Say something else."""
        raise Failed(codes.ANALYSIS_FAILED)

    clara = offices.open(shelf)
    with Watch({flow.ref: flow for flow in shelf.flows.values()}) as watch:
        assert clara.call("shelf.honest", {}).message_key == "ENTITY_NOT_FOUND"
        assert clara.call("shelf.honest", {"nothing": 1}).message_key == "UNKNOWN_FIELD"
        assert watch.unnamed == set()
        assert clara.call("shelf.devious", {}).message_key == "ANALYSIS_FAILED"
        assert watch.unnamed == {("shelf.devious", "ANALYSIS_FAILED")}
