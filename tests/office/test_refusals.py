"""What a caller has to reckon with: what the flow says, what its examples show, and what any call may get."""

from __future__ import annotations

from typing import Any

import pytest

from engross.flows import Aggregate, Example, Flow, NoArguments
from engross.office.refusals import USUAL, own_refusals, refusals_of, store_failure, usual_codes
from engross.replies import REGISTRY, codes


def nothing(unit: object, arguments: NoArguments) -> None:
    """Do nothing."""


def a_flow(kind: Any = "read", **facets: Any) -> Flow:
    return Aggregate("shelf", "Shelf").define(kind, nothing, **facets)


def keys(flow: Flow) -> list[str]:
    return [entry.key for entry in own_refusals(flow)]


@pytest.mark.requirement("MEM-38")
def test_a_flows_own_refusals_are_those_it_names_then_those_its_examples_show() -> None:
    shown = [
        Example("Found", {}),
        Example("Not found", {}, reply="RECORD_NOT_FOUND"),
        Example("Not there", {}, reply="PATH_NOT_FOUND"),
        Example("Wrong", {}, reply="VALIDATION_ERROR"),
    ]
    flow = a_flow(refuses=[codes.ENTITY_NOT_FOUND, codes.RECORD_NOT_FOUND], examples=shown)
    assert keys(flow) == ["ENTITY_NOT_FOUND", "RECORD_NOT_FOUND", "PATH_NOT_FOUND"]
    told = [entry.key for entry in refusals_of(flow)]
    assert told[:3] == keys(flow)
    assert "VALIDATION_ERROR" in told[3:]
    assert len(set(told)) == len(told)


@pytest.mark.requirement("MEM-38")
def test_what_any_call_may_get_depends_on_its_kind_and_facets() -> None:
    read, write = usual_codes(a_flow()), usual_codes(a_flow("record", effect="create"))
    assert codes.VALIDATION_ERROR in read
    assert codes.IDEMPOTENCY_KEY_REUSED in set(write) - set(read)
    assert codes.CONFIRMATION_REQUIRED not in write
    assert codes.CONFIRMATION_REQUIRED in usual_codes(a_flow("record", effect="delete"))
    assert codes.OUTCOME_UNKNOWN in usual_codes(a_flow("reach"))
    assert codes.PEOPLE_ONLY in usual_codes(a_flow("record", effect="create", people_only=True))
    assert codes.OTHER_USER in usual_codes(a_flow(owner_field="user_id"))
    assert codes.PROPOSAL_NOT_FOUND not in usual_codes(a_flow(controls=()))


@pytest.mark.requirement("MEM-35", "MEM-38")
@pytest.mark.parametrize(
    ("effect", "key"),
    [("create", "DB_INSERT_FAILED"), ("update", "DB_UPDATE_FAILED"), ("delete", "DB_DELETE_FAILED")],
)
def test_a_store_that_fails_has_the_name_of_the_dialect(effect: Any, key: str) -> None:
    assert REGISTRY.entry(store_failure(a_flow("record", effect=effect, dialect="memory"))).key == key
    assert REGISTRY.entry(store_failure(a_flow(dialect="memory"))).key == "DB_QUERY_FAILED"
    assert REGISTRY.entry(store_failure(a_flow("record", effect=effect))).key == "STORE_UNAVAILABLE"


def test_no_usual_code_is_a_success_or_there_twice() -> None:
    listed = [code for usual in USUAL for code in usual.codes]
    assert len(set(listed)) == len(listed)
    assert {REGISTRY.entry(code).type for code in listed} <= set("IDE")
