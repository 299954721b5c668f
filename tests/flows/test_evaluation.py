"""Faults, held against the validator's own errors, which are right wherever keys are ordinary words."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from engross.flows import Checker
from engross.flows.evaluation import faults_in

WORDS = st.sampled_from(["name", "tags", "anyOf", "items", "properties", "x-a", "x-b"])
LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 3},
        {"type": ["string", "null"]},
        {"type": "string", "minLength": 2, "maxLength": 3},
        {"type": "string", "pattern": "^a"},
        {"enum": ["a", 1, None]},
        {"const": False},
        {"type": "boolean"},
        {"maximum": 5, "exclusiveMinimum": 1, "multipleOf": 2},
        {"format": "date"},
        {},
        False,
    ]
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(WORDS, inner, max_size=4)},
        optional={
            "required": st.lists(WORDS, unique=True, max_size=3),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "minProperties": st.integers(0, 3),
            "maxProperties": st.integers(0, 3),
            "patternProperties": st.fixed_dictionaries({"^x-": inner}),
            "propertyNames": st.just({"maxLength": 4}),
            "dependentRequired": st.dictionaries(WORDS, st.lists(WORDS, unique=True, max_size=2), max_size=2),
        },
    )


def lists(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 3),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.just(True),
            "contains": inner,
        },
    )


def choices(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({"anyOf": several}),
        st.fixed_dictionaries({"oneOf": several}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"allOf": several}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
    )


SCHEMAS = st.recursive(LEAVES, lambda inner: objects(inner) | lists(inner) | choices(inner), max_leaves=8)
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 2, 4, 7.5, "a", "b", "abcd", "2024-02-30"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


def told(error: ValidationError) -> set[tuple[tuple[str | int, ...], str]]:
    path, kind = tuple(error.instance_path), error.kind
    if kind.name in ("additionalProperties", "unevaluatedProperties"):
        return {((*path, name), kind.name) for name in kind.value}
    if kind.name == "required":
        # A field that is required but not allowed is said to be missing even where it is given.
        is_there = isinstance(error.instance, dict) and kind.value in error.instance
        return set() if is_there else {((*path, kind.value), "required")}
    return {(path, kind.name)}


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(objects(SCHEMAS), VALUES)
def test_the_faults_are_those_that_the_validator_reports(schema: dict[str, Any], value: Any) -> None:
    faults = {(fault.path, fault.keyword) for fault in Checker(schema).faults(value)}
    validator = Draft202012Validator(schema, validate_formats=True, pattern_options=RegexOptions())
    errors: set[Any] = set()
    for error in validator.iter_errors(value):
        errors |= told(error)
    assert faults == errors


@pytest.mark.parametrize("key", ["", "0", "007", "+1", "-1", "a/b", "~", "~1", " ", "ключ", "9" * 30])
def test_a_key_of_any_kind_is_pointed_at_exactly(key: str) -> None:
    inner = {"type": "object", "additionalProperties": {"type": "string"}}
    checker = Checker({"type": "object", "additionalProperties": inner})
    assert [fault.path for fault in checker.faults({key: {key: 1, "fine": "x"}})] == [(key, key)]


def test_keys_that_count_to_the_same_number_are_told_apart() -> None:
    checker = Checker({"type": "object", "additionalProperties": {"type": "string"}})
    faults = checker.faults({"7": 1, "07": "fine", "+7": 2, "": 3})
    assert sorted(fault.path for fault in faults) == [("",), ("+7",), ("7",)]


def test_unevaluated_fields_and_items_are_told_one_by_one() -> None:
    fields = Checker({"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False})
    assert [fault.path for fault in fields.faults({"a": 1, "b": {}, "c": 2})] == [("b",), ("c",)]
    items = Checker({"properties": {"a": {"prefixItems": [{}], "unevaluatedItems": False}}})
    assert [fault.path for fault in items.faults({"a": [1, [], 3]})] == [("a", 1), ("a", 2)]


def test_alternatives_are_reported_as_one_fault_where_they_stand() -> None:
    either = {"anyOf": [{"type": "object", "properties": {"b": {"type": "string"}}}, {"type": "integer"}]}
    checker = Checker({"type": "object", "properties": {"a": {"type": "array", "items": either}}})
    faults = checker.faults({"a": [{"b": 1}, 3, "x", {"b": "fine"}]})
    assert [(fault.path, fault.keyword) for fault in faults] == [(("a", 0), "anyOf"), (("a", 2), "anyOf")]


def test_a_reference_inside_the_schema_is_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/text"}},
        "$defs": {"text": {"maxLength": 2}},
    }
    (fault,) = Checker(schema).faults({"a": "long"})
    assert (fault.path, fault.keyword, fault.bound) == (("a",), "maxLength", 2)


def test_something_is_told_even_if_the_place_in_the_schema_cannot_be_found() -> None:
    elsewhere = {"schemaLocation": "/$defs/gone/required", "instanceLocation": ""}
    assert [fault.path for fault in faults_in({"type": "object"}, {}, [elsewhere])] == [()]
