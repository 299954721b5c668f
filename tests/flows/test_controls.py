"""Control fields: offered by every flow of their kind, and taken apart from its arguments."""

from typing import Annotated, Any, NotRequired

import pytest
from typing_extensions import TypedDict

from engross.flows import CONTROLS, Aggregate, Controls, Described, Flow, NoArguments
from engross.replies import Invalid, codes
from tests.flows.shelf import add_book_flow


def nothing(unit: object, arguments: NoArguments) -> None:
    """Do nothing."""


def a_read(**facets: Any) -> Flow:
    return Aggregate("shelf", "Shelf").define("read", nothing, **facets)


OFFERED = [
    pytest.param("read", {}, ["proposal_id"], id="read"),
    pytest.param(
        "record",
        {"effect": "create"},
        ["client_request_id", "commit_mode", "proposal_id", "reason", "confirm_token"],
        id="record",
    ),
    pytest.param(
        "reach",
        {},
        ["client_request_id", "commit_mode", "proposal_id", "reason", "confirm_token"],
        id="reach",
    ),
    pytest.param("read", {"controls": ()}, [], id="opted out"),
    pytest.param("read", {"controls": ("proposal_id", "as_of")}, ["proposal_id", "as_of"], id="chosen"),
]


@pytest.mark.parametrize(("kind", "facets", "fields"), OFFERED)
def test_published_schemas_offer_the_controls_of_the_kind(kind: Any, facets: Any, fields: list[str]) -> None:
    flow = Aggregate("shelf", "Shelf").define(kind, nothing, **facets)
    assert list(flow.published["properties"]) == fields
    assert flow.enforced["properties"] == {}


def test_controls_are_split_from_the_arguments() -> None:
    given = {
        "title": "Emma",
        "client_request_id": "book:emma-1815",
        "commit_mode": "direct",
        "proposal_id": "p1",
        "reason": "A classic.",
        "confirm_token": "t",
    }
    checked = add_book_flow().check(given)
    assert checked.arguments == {"title": "Emma", "kind": "Novel"}
    assert checked.controls == Controls(
        client_request_id="book:emma-1815",
        commit_mode="direct",
        proposal_id="p1",
        reason="A classic.",
        confirm_token="t",
    )
    assert given["reason"] == "A classic."


def test_without_controls_all_of_them_are_none() -> None:
    assert add_book_flow().check({"title": "Emma"}).controls == Controls()


@pytest.mark.parametrize("mode", ["draft", "proposal", "direct"])
def test_there_are_three_ways_to_commit(mode: str) -> None:
    assert add_book_flow().check({"title": "Emma", "commit_mode": mode}).controls.commit_mode == mode


def test_null_counts_as_not_given() -> None:
    assert add_book_flow().check({"title": "Emma", "commit_mode": None}).controls == Controls()


def test_a_ledger_position_is_an_integer() -> None:
    assert repr(a_read(controls=("as_of",)).check({"as_of": 7.0}).controls.as_of) == "7"


WRONG = [
    ("client_request_id", "short"),
    ("client_request_id", "x" * 256),
    ("client_request_id", "with space"),
    ("client_request_id", "umläut-key"),
    ("client_request_id", 12345678),
    ("commit_mode", "later"),
    ("proposal_id", ""),
    ("reason", "x" * 2001),
    ("confirm_token", ["t"]),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda value: str(value)[:20])
def test_controls_are_checked_too(name: str, value: object) -> None:
    with pytest.raises(Invalid) as refused:
        add_book_flow().check({"title": "Emma", name: value})
    assert [issue.pointer for issue in refused.value.issues] == [f"/{name}"]
    assert refused.value.code == codes.VALIDATION_ERROR


@pytest.mark.parametrize("position", [-1, 1.5, "now", True])
def test_a_ledger_position_counts_from_zero(position: object) -> None:
    with pytest.raises(Invalid):
        a_read(controls=("as_of",)).check({"as_of": position})


@pytest.mark.parametrize("mode", ["draft", "proposal", "direct"])
def test_a_write_says_how_it_wants_to_be_committed(mode: str) -> None:
    assert add_book_flow().check({"title": "Emma", "commit_mode": mode}).controls.commit_mode == mode


def test_a_read_answers_for_the_past_only_if_it_chose_to() -> None:
    with pytest.raises(Invalid) as refused:
        a_read().check({"as_of": 7})
    assert refused.value.code == codes.UNKNOWN_FIELD


@pytest.mark.parametrize("name", ["client_request_id", "commit_mode", "reason", "confirm_token", "as_of"])
def test_a_control_of_another_kind_is_an_unknown_field(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        a_read().check({name: "12345678"})
    assert refused.value.code == codes.UNKNOWN_FIELD


def test_a_flow_may_have_a_field_called_like_a_control() -> None:
    class GetProposal(TypedDict):
        proposal_id: Annotated[int, Described("Which one.")]
        as_of: NotRequired[Annotated[str, Described("A date, here.")]]

    def get_proposal(reader: object, arguments: GetProposal) -> None:
        """Get a proposal."""

    flow = Aggregate("review", "Review").read(get_proposal)
    checked = flow.check({"proposal_id": 5, "as_of": "today"})
    assert checked.arguments == {"proposal_id": 5, "as_of": "today"}
    assert checked.controls == Controls()
    assert flow.published["properties"]["proposal_id"]["description"] == "Which one."


def test_every_control_is_described() -> None:
    assert all(schema["description"] for schema in CONTROLS.values())
    assert set(CONTROLS) == set(Controls.__struct_fields__)
