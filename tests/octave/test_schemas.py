"""Schemas: those that come with the package, one's own, and what they can be turned into."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest

from engross.octave import (
    SHIPPED,
    OctaveError,
    Shelf,
    eject,
    emit,
    faithful,
    grammar_of,
    json_schema_of,
    parse,
    schema_of,
    template_of,
    validate,
)

from .gbnf import accepts
from .texts import wrapped

OWN = wrapped(
    'META:\n  TYPE::SCHEMA\n  VERSION::"2.1"\nPOLICY:\n  UNKNOWN_FIELDS::WARN\nFIELDS:\n'
    '  NAME::["x"∧REQ∧TYPE[STRING]∧MAX_LENGTH[8]]\n  SIZE::[3∧OPT∧RANGE[1,9]]\n  DAY::["2026-01-31"∧OPT∧DATE]'
).replace("===D===", "===TICKET===")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "ticket.oct.md").write_text(OWN, "utf-8")
    (tmp_path / "BROKEN.oct.md").write_text("A: 1", "utf-8")
    (tmp_path / "other.oct.md").write_text(OWN, "utf-8")
    (tmp_path / "meta.oct.md").write_text(OWN.replace("TICKET", "META"), "utf-8")
    (tmp_path / "notes.txt").write_text("no schema", "utf-8")
    return Shelf(tmp_path, tmp_path / "missing")


SHIPPED_NAMES = [
    "AGENT_DEFINITION",
    "COGNITION_DEFINITION",
    "CRS_REVIEW",
    "DEBATE_TRANSCRIPT",
    "DECISION_LOG",
    "META",
    "SESSION_LOG",
    "SKILL",
    "TEST_HOLOGRAPHIC",
]


def test_the_shipped_schemas_are_there_and_without_problems() -> None:
    assert SHIPPED.names() == SHIPPED_NAMES
    assert [entry for entry in SHIPPED.listing() if "problem" in entry] == []
    assert [schema.problems for name in SHIPPED_NAMES if (schema := SHIPPED.get(name))] == [()] * 9


def test_their_files_are_canonical() -> None:
    folder = Path(__file__).parents[2] / "src" / "engross" / "octave" / "schemas"
    texts = [path.read_text("utf-8") for path in folder.iterdir()]
    assert [emit(parse(text)) for text in texts] == texts
    assert len(texts) == len(SHIPPED_NAMES)


def test_meta_demands_a_type_and_a_version() -> None:
    meta = SHIPPED.get("META")
    assert meta is not None
    assert meta.required == ["TYPE", "VERSION"]
    assert set(meta.fields) == {"TYPE", "VERSION", "STATUS", "ID"}


def test_a_folder_adds_schemas_but_takes_no_shipped_name(shelf: Shelf) -> None:
    assert set(shelf.names()) == {*SHIPPED_NAMES, "TICKET", "BROKEN", "OTHER"}
    ticket, meta = shelf.get("TICKET"), shelf.get("META")
    assert ticket is not None
    assert (ticket.name, ticket.version, ticket.required) == ("TICKET", "2.1", ["NAME"])
    assert meta is SHIPPED.get("META")


@pytest.mark.parametrize("name", ["ticket", "../ticket", "TICKET.oct.md", "", "NOWHERE", "A/B", "É"])
def test_a_name_that_is_none_finds_nothing(shelf: Shelf, name: str) -> None:
    assert shelf.get(name) is None


@pytest.mark.parametrize("name", ["BROKEN", "OTHER"])
def test_a_file_that_is_no_schema_of_that_name_is_told(shelf: Shelf, name: str) -> None:
    with pytest.raises(OctaveError) as caught:
        shelf.get(name)
    assert caught.value.code == "E_SCHEMA"
    assert any(entry["name"] == name and "problem" in entry for entry in shelf.listing())


def test_a_schema_is_described(shelf: Shelf) -> None:
    ticket = shelf.get("TICKET")
    assert ticket is not None
    fields = ticket.as_data()["fields"]
    assert fields[0] == {  # type: ignore[index]
        "name": "NAME",
        "required": True,
        "constraints": ["REQ", "TYPE[STRING]", "MAX_LENGTH[8]"],
        "targets": [],
        "example": "x",
    }


def test_what_is_malformed_in_a_schema_is_told_and_taken_strictly() -> None:
    schema = schema_of(
        parse(
            wrapped('POLICY:\n  UNKNOWN_FIELDS::MAYBE\n  TARGETS::X\nFIELDS:\n  A::"no pattern"\n  B:\n    TYPE::THING')
        )
    )
    assert schema.policy.unknown_fields == "REJECT"
    assert [problem.split()[0] for problem in schema.problems] == [
        "W_MALFORMED_POLICY",
        "W_MALFORMED_POLICY",
        "W002",
        "W002",
    ]
    assert schema.fields["A"].constraints == ()


def test_a_field_may_be_described_by_a_block() -> None:
    body = "FIELDS:\n  A:\n    REQUIRED::true\n    TYPE::STRING\n    ENUM::[X,Y]"
    rule = schema_of(parse(wrapped(body))).fields["A"]
    assert [str(constraint) for constraint in rule.constraints] == ["REQ", "TYPE[STRING]", "ENUM[X,Y]"]


@pytest.mark.requirement("DOC-14")
@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_a_template_is_made_of_the_fields_and_passes(name: str) -> None:
    schema = SHIPPED.get(name)
    assert schema is not None
    text = faithful(template_of(schema))
    verdict = validate(text, name)
    assert (verdict.validation_status, verdict.violations) == ("VALIDATED", [])
    assert all(field in text for field in schema.fields)
    assert parse(text).receipts == []


@pytest.mark.requirement("DOC-13", "DOC-14")
def test_without_content_the_template_is_ejected_in_any_format() -> None:
    assert eject(None, "SESSION_LOG").output.startswith("===TEMPLATE===\nMETA:\n  TYPE::SESSION_LOG\n")
    data = json.loads(eject(None, "SESSION_LOG", format="json").output)
    assert data["META"] == {"TYPE": "SESSION_LOG", "VERSION": "1.0"}
    with pytest.raises(OctaveError) as caught:
        eject(None, "NOWHERE")
    assert caught.value.code == "E_INPUT"


def test_a_template_has_the_frontmatter_that_is_demanded() -> None:
    body = 'FRONTMATTER:\n  name:\n    TYPE::STRING\n  tools:\n    TYPE::LIST\nFIELDS:\n  A::["x"∧REQ]'
    schema = schema_of(parse(wrapped(body)))
    template = template_of(schema)
    assert template.frontmatter == "name: text\ntools: []"
    assert validate(template, schema).validation_status == "VALIDATED"


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_the_json_schema_accepts_the_template_and_refuses_what_is_missing(name: str) -> None:
    schema = SHIPPED.get(name)
    assert schema is not None
    made = json_schema_of(schema)
    checker = jsonschema_rs.validator_for(made)
    data = json.loads(eject(None, name, format="json").output)
    fields = {key: value for key, value in {**data["META"], **data}.items() if key in schema.fields}
    assert checker.is_valid(fields)
    for required in schema.required:
        assert not checker.is_valid({key: value for key, value in fields.items() if key != required})


@pytest.mark.parametrize(
    ("fields", "valid"),
    [
        ({"NAME": "x"}, True),
        ({"NAME": "x", "MORE": 1}, True),
        ({"NAME": "too long a name"}, False),
        ({"NAME": ""}, False),
        ({"NAME": 5}, False),
        ({}, False),
        ({"NAME": "x", "SIZE": 10}, False),
        ({"NAME": "x", "SIZE": 9}, True),
        ({"NAME": "x", "DAY": "soon"}, False),
    ],
)
def test_the_json_schema_agrees_with_the_validator(shelf: Shelf, fields: dict[str, object], valid: bool) -> None:
    ticket = shelf.get("TICKET")
    assert ticket is not None
    lines = "".join(f"\n  {key}::{json.dumps(value)}" for key, value in fields.items())
    assert jsonschema_rs.validator_for(json_schema_of(ticket)).is_valid(fields) is valid
    assert (validate(wrapped(f"TICKET:{lines}"), ticket).violations == []) is valid


@pytest.mark.requirement("DOC-17")
@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_the_grammar_accepts_the_template_and_nothing_without_a_required_field(name: str) -> None:
    schema = SHIPPED.get(name)
    assert schema is not None
    grammar = grammar_of(schema)
    lines = [re.sub(r" // .*", "", line) for line in emit(template_of(schema)).split("\n")]
    text = "\n".join(line for line in lines if not line.startswith(("//", "§")))
    assert accepts(grammar, text)
    for required in schema.required:
        less = "\n".join(line for line in text.split("\n") if not line.strip().startswith(f"{required}::"))
        assert not accepts(grammar, less)


@pytest.mark.requirement("DOC-17")
def test_what_the_grammar_accepts_is_valid(shelf: Shelf) -> None:
    ticket = shelf.get("TICKET")
    assert ticket is not None
    grammar = grammar_of(ticket)
    head = '===T===\nMETA:\n  TYPE::TICKET\n  VERSION::"1.0"\n---\n'
    good = f'{head}NAME::"abc def"\nSIZE::3\n===END===\n'
    assert accepts(grammar, good)
    assert validate(good, ticket).validation_status == "VALIDATED"
    assert not accepts(grammar, f"{head}NAME::null\n===END===\n")
    assert not accepts(grammar, f'{head}NAME::"much too long"\n===END===\n')
    assert not accepts(grammar, f'{head}NAME::"a"\nSIZE::big\n===END===\n')
    assert not accepts(grammar, "prose")
