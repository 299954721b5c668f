"""The lint of published schemas: each rule, broken once."""

from typing import Any

import pytest

from engross.flows import Aggregate, Example, Flow, NoArguments, lint, lint_flow, lint_schema
from tests.flows.shelf import AddBook, add_book_flow

TEXT = {"type": "string", "description": "A text."}


def closed(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "additionalProperties": False}


def described(**fields: Any) -> dict[str, Any]:
    return {"description": "An object.", **closed(**fields)}


PORTABLE = [
    pytest.param(closed(), id="nothing"),
    pytest.param(closed(a=TEXT), id="one level"),
    pytest.param(closed(a=described(b=TEXT)), id="two levels"),
    pytest.param(
        closed(a={"type": "array", "description": "A list.", "items": closed(b=TEXT)}), id="objects in a list"
    ),
    pytest.param(
        closed(a=described(b={"type": "object", "description": "A map.", "additionalProperties": True})),
        id="an open map on the second level is a leaf",
    ),
    pytest.param(
        closed(a={"type": "object", "description": "A map.", "additionalProperties": {"type": "string"}}),
        id="a map of texts",
    ),
    pytest.param(closed(**{"anyOf": TEXT, "$ref": TEXT, "title": TEXT}), id="fields called like keywords"),
]


@pytest.mark.requirement("ARCH-35")
@pytest.mark.parametrize("schema", PORTABLE)
def test_a_portable_schema_passes(schema: dict[str, Any]) -> None:
    assert lint_schema(schema) == []


BREAKING = [
    pytest.param(
        {"type": "array", "items": TEXT, "additionalProperties": False},
        "object-on-top",
        "",
        id="a list on top",
    ),
    pytest.param({"type": "object", "additionalProperties": False}, "object-on-top", "", id="no properties"),
    pytest.param({"type": "object", "properties": {"a": TEXT}}, "closed", "", id="open on top"),
    pytest.param(
        closed(a={**described(b=TEXT), "additionalProperties": True}),
        "closed",
        "/properties/a",
        id="open inside",
    ),
    pytest.param(
        closed(a=described(b=described(c=TEXT))),
        "two-levels",
        "/properties/a/properties/b",
        id="three levels",
    ),
    pytest.param(
        closed(a={"type": "array", "description": "A list.", "items": closed(b=described(c=TEXT))}),
        "two-levels",
        "/properties/a/items/properties/b",
        id="three levels through a list",
    ),
    pytest.param(closed(a={"type": "string"}), "described", "/properties/a", id="no description"),
    pytest.param(
        closed(a=described(b={"type": "string", "description": ""})),
        "described",
        "/properties/a/properties/b",
        id="an empty description inside",
    ),
    pytest.param(closed(a={**TEXT, "minLen": 1}), "known-keywords", "/properties/a", id="a bound with a slip"),
    pytest.param(closed(a={**TEXT, "type": ["string", "integer"]}), "one-type", "/properties/a/type", id="two types"),
    pytest.param(closed(a={**TEXT, "description": "long " * 2000}), "size", "", id="too long"),
    *(
        pytest.param(closed(a={**TEXT, keyword: value}), "no-combinators", f"/properties/a/{keyword}", id=keyword)
        for keyword, value in {
            "$ref": "#/$defs/x",
            "$defs": {},
            "definitions": {},
            "anyOf": [TEXT],
            "oneOf": [TEXT],
            "allOf": [TEXT],
            "not": {},
            "if": {},
            "then": {},
            "else": {},
            "patternProperties": {},
            "propertyNames": {},
            "dependencies": {},
            "dependentSchemas": {},
            "dependentRequired": {},
            "prefixItems": [],
            "contains": {},
            "unevaluatedProperties": False,
        }.items()
    ),
]


@pytest.mark.requirement("ARCH-35")
@pytest.mark.parametrize(("schema", "rule", "pointer"), BREAKING)
def test_a_schema_that_breaks_a_rule_is_found(schema: dict[str, Any], rule: str, pointer: str) -> None:
    assert [(finding.rule, finding.pointer) for finding in lint_schema(schema)] == [(rule, pointer)]


@pytest.mark.requirement("ARCH-35")
def test_a_combinator_is_found_inside_an_open_map() -> None:
    inner = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    schema = closed(a={"type": "object", "description": "A map.", "additionalProperties": inner})
    assert [finding.rule for finding in lint_schema(schema)] == ["no-combinators"]


def test_a_flow_made_from_types_passes_with_its_controls() -> None:
    assert lint([add_book_flow()]) == []


def a_flow(**facets: Any) -> Flow:
    def nothing(unit: object, arguments: NoArguments) -> None:
        """Do nothing."""

    return Aggregate("shelf", "Shelf").define("record", nothing, effect="create", **facets)


def test_a_flow_that_is_not_portable_can_be_defined_but_is_found() -> None:
    flow = a_flow(arguments=closed(a={"type": "string"}))
    assert [(finding.ref, finding.rule) for finding in lint_flow(flow)] == [("shelf.nothing", "described")]


def test_a_default_that_does_not_fit_its_field_is_found() -> None:
    flow = a_flow(arguments=closed(a={**TEXT, "default": 3}, b={**TEXT, "default": "fine"}))
    assert [(finding.rule, finding.pointer) for finding in lint_flow(flow)] == [("default", "/properties/a")]


ADD_EMMA = ("shelf.add-book", {"title": "Emma"})

EXAMPLES = [
    pytest.param(Example("Fits", {"title": "Emma"}, reply="CREATED"), 0, id="fits"),
    pytest.param(
        Example("With a key", {"title": "Emma", "client_request_id": "12345678"}, reply="CREATED"),
        0,
        id="control fields are part of what is published",
    ),
    pytest.param(
        Example("Later", {"title": "$0.book.title", "year": "$0.book.year"}, given=(ADD_EMMA,), reply="CREATED"),
        0,
        id="a reference fits any type",
    ),
    pytest.param(Example("Empty", {}, reply="CREATED"), 1, id="a field is missing"),
    pytest.param(Example("Typo", {"title": "Emma", "yeer": 1}, reply="CREATED"), 1, id="an unknown field"),
    pytest.param(Example("Null", {"title": "Emma", "subtitle": None}, reply="CREATED"), 1, id="null is not published"),
    pytest.param(Example("Nobody", {"title": "$0.book.title"}, reply="CREATED"), 1, id="nothing given"),
    pytest.param(
        Example("Itself", {"title": "x"}, given=(("shelf.add-book", {"title": "$0.book.title"}),), reply="CREATED"),
        1,
        id="given refers to itself",
    ),
    pytest.param(
        Example("Deep", {"title": "x", "tags": ["$3.a"], "notes": {"a": "$4.b"}}, reply="CREATED"),
        2,
        id="dangling references inside",
    ),
    pytest.param(Example("Odd", {"title": "Emma"}, reply="NO_SUCH_KEY"), 1, id="an unknown message key"),
]


@pytest.mark.requirement("ARCH-35")
@pytest.mark.parametrize(("example", "findings"), EXAMPLES)
def test_examples_are_held_to_the_published_schema(example: Example, findings: int) -> None:
    found = lint_flow(a_flow(arguments=AddBook, examples=[example]))
    assert [finding.rule for finding in found] == ["example"] * findings


@pytest.mark.parametrize(
    "field",
    [
        pytest.param({**TEXT, "type": "nonsense"}, id="a wrong type"),
        pytest.param({**TEXT, "pattern": "("}, id="a broken pattern"),
    ],
)
def test_a_schema_that_cannot_be_used_is_found(field: dict[str, Any]) -> None:
    flow = a_flow(arguments=closed(a=field))
    assert [finding.rule for finding in lint_flow(flow)] == ["usable"]


def test_the_findings_of_several_flows_come_together() -> None:
    wrong = a_flow(arguments=closed(a={"type": ["string", "integer"]}))
    assert [finding.rule for finding in lint([wrong, add_book_flow(), wrong])] == [
        *("described", "one-type"),
        *("described", "one-type"),
    ]
