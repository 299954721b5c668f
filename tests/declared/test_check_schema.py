"""The JSON Schema for editors, held against the checker: both are made of the same shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from engross.declared.fault import Faults
from engross.declared.json_schema import json_schema
from engross.declared.node import plain
from engross.declared.reading import read
from engross.declared.starting import starter
from tests.declared.papers import SHELF, broken, examined
from tests.declared.test_check_rules import CASES
from tests.declared.test_check_sections import ALONE, IMPORTING, LIST, MAP, SKILLED, SPEECH

RIGHT = {
    "shelf": SHELF,
    "map": MAP,
    "list": LIST,
    "aggregates alone": ALONE,
    "consumes alone": SPEECH,
    "imports": IMPORTING,
    "skills": SKILLED,
    "starter": starter("words"),
    "starter with a system": starter("words", "https://api.open-meteo.com/v1"),
}
# A schema knows the shape of a document, not what its words mean.
MEANING = (
    "a pattern that is none",
    "a template that does not close",
    "an output with mapping and value",
    "an input that is called like a control",
    "a default of another type",
    "a value of another type",
    "a default that is not allowed",
    "a pattern that looks back",
    "safe and destructive",
    "an example with an unknown reply",
    "a header that is not a document's to set",
)
SHAPES = {name: case for name, case in CASES.items() if case.rule in ("V3", "V7") and name not in MEANING}
# What is wrong in another way has the right shape.
OTHERS = {
    name: case
    for name, case in CASES.items()
    if case.rule not in ("V1", "V2", "V3", "V7", "L2") and name not in ("a key and another namespace",)
}


def data_of(text: str) -> Any:
    """The document as an editor would read it."""
    node = read(text, "x.yaml", Faults())
    assert node is not None
    return plain(node)


@pytest.fixture(scope="module")
def validator() -> Any:
    """Holds documents to the schema."""
    return jsonschema_rs.Draft202012Validator(json_schema())


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_the_checker_accepts_the_schema_accepts(validator: Any, text: str) -> None:
    assert [str(error.message) for error in validator.iter_errors(data_of(text))] == []


@pytest.mark.parametrize("case", SHAPES.values(), ids=SHAPES)
def test_what_has_another_shape_the_schema_refuses(validator: Any, case: Any) -> None:
    assert not validator.is_valid(data_of(broken(case.old, case.new).text))


@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_what_is_wrong_in_another_way_the_schema_does_not_know(validator: Any, case: Any) -> None:
    assert validator.is_valid(data_of(broken(case.old, case.new).text))


@pytest.mark.parametrize("namespace", ["words", "my-own-words"])
@pytest.mark.parametrize("base_uri", [None, "https://api.open-meteo.com/v1"])
def test_what_a_new_document_holds_is_right(tmp_path: Path, namespace: str, base_uri: str | None) -> None:
    assert examined(tmp_path, starter(namespace, base_uri)).faults == ()
