"""octave_validate and octave_eject: what they answer, whatever they are given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engross.octave import parse, read_json, read_yaml, same
from engross.replies import Reply
from tests.bed.offices import Offices
from tests.documents.archive import PLAN, Archive, done, envelope, refused

FIELDS = {"status", "canonical", "repairs", "warnings", "errors", "validation_status"}
TICKET = '===TICKET===\nMETA:\n  VERSION::"1.0"\nFIELDS:\n  SIZE::[3∧REQ∧TYPE[NUMBER]]\n===END===\n'


def validate(archive: Archive, content: str, schema: str = "META", **more: Any) -> dict[str, Any]:
    return envelope(done(archive.clara.documents.octave_validate(content=content, schema=schema, **more)))


def eject(archive: Archive, **arguments: Any) -> Reply:
    return archive.clara.documents.octave_eject(**{"schema": "META", **arguments})


@pytest.mark.requirement("DOC-01", "DOC-12")
def test_a_document_that_keeps_to_its_schema_is_validated(archive: Archive) -> None:
    told = validate(archive, PLAN)
    assert set(told) >= FIELDS
    assert (told["status"], told["validation_status"], told["errors"]) == ("success", "VALIDATED", [])
    assert told["canonical"] == PLAN


@pytest.mark.requirement("DOC-01", "DOC-03")
def test_what_breaks_a_schema_is_an_error_with_its_place(archive: Archive) -> None:
    told = validate(archive, PLAN.replace("  TYPE::NOTE\n", "  STATUS::maybe\n"))
    assert (told["status"], told["validation_status"]) == ("error", "UNVALIDATED")
    assert told["reply"]["reply_type"] == "S"
    assert {(one["spec_code"], one["field"]) for one in told["errors"]} == {
        ("E003", "META.TYPE"),
        ("E005", "META.STATUS"),
    }


@pytest.mark.requirement("DOC-02")
def test_repairs_are_suggested_and_can_be_made_by_the_caller(archive: Archive) -> None:
    content = PLAN.replace('"1.0"\n', '"1.0"\n  STATUS::active\n')
    told = validate(archive, content)
    (repair,) = told["repairs"]
    assert (repair["rule_id"], repair["applied"], repair["change"]) == (
        "ENUM_CASEFOLD",
        False,
        {"META.STATUS": "ACTIVE"},
    )
    assert told["validation_status"] == "UNVALIDATED"
    archive.written(content=content)
    assert done(archive.write(changes=repair["change"], schema="META")).data["validation_status"] == "VALIDATED"


@pytest.mark.requirement("DOC-02")
def test_repairs_are_made_on_request_and_the_status_is_that_of_what_is_returned(archive: Archive) -> None:
    content = '===D===\nMETA:\n  TYPE: NOTE\n  VERSION::"1.0"\n  STATUS::active\n===END===\n'
    told = validate(archive, content, fix=True)
    assert (told["status"], told["validation_status"]) == ("success", "VALIDATED")
    assert {(one["rule_id"], one["applied"]) for one in told["repairs"]} == {("W001", True), ("ENUM_CASEFOLD", True)}
    assert validate(archive, told["canonical"])["validation_status"] == "VALIDATED"


@pytest.mark.requirement("DOC-03")
@pytest.mark.parametrize(
    ("content", "schema", "status"),
    [
        (PLAN, "META", "VALIDATED"),
        ("===D===\nA::1\n===END===\n", "META", "UNVALIDATED"),
        (PLAN, "SESSION_LOG", "UNVALIDATED"),
        (PLAN, "NOTHING", "PENDING_INFRASTRUCTURE"),
        (PLAN, "meta", "PENDING_INFRASTRUCTURE"),
        (PLAN, "../META", "PENDING_INFRASTRUCTURE"),
        ("A: b\n", "META", "UNVALIDATED"),
    ],
)
def test_the_status_is_always_there(archive: Archive, content: str, schema: str, status: str) -> None:
    assert validate(archive, content, schema)["validation_status"] == status


@pytest.mark.requirement("DOC-01", "DOC-12")
def test_what_cannot_be_read_is_told_with_all_its_errors_and_no_canonical_text(archive: Archive) -> None:
    told = validate(archive, "===D===\nA: b\nsome prose\nB::2026-01-31\n===END===\n")
    assert (told["status"], told["canonical"]) == ("error", "")
    assert [(one["code"], one["spec_code"], one["line"]) for one in told["errors"]] == [
        ("E_PARSE", "E_UNQUOTED_TIMESTAMP", 4),
        ("E_PARSE", "E001", 2),
        ("E_PARSE", "E_BARE_LINE", 3),
    ]


def test_schemas_of_the_operator_are_used_and_a_broken_one_is_told(local: Offices, tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "ticket.oct.md").write_text(TICKET)
    (folder / "broken.oct.md").write_text("===BROKEN===\nA: b\n")
    (folder / "lost.oct.md").symlink_to(folder / "gone")
    archive = Archive(local, schemas_folder=folder)
    content = "===D===\nTICKET:\n  SIZE::big\n===END===\n"
    assert [one["spec_code"] for one in validate(archive, content, "TICKET")["errors"]] == ["E007"]
    assert validate(archive, content.replace("big", "3"), "TICKET")["validation_status"] == "VALIDATED"
    for name in ("BROKEN", "LOST"):
        assert refused(archive.clara.documents.octave_validate(content=PLAN, schema=name)) == [("E_INPUT", "E_SCHEMA")]
    listed = {one["name"]: one for one in archive.clara.documents.list_schemas().data["schemas"]}
    assert listed["TICKET"]["fields"] == 1
    assert "problem" in listed["BROKEN"]
    described = done(archive.clara.documents.describe_schema(schema="TICKET")).data
    assert described["json_schema"]["properties"]["SIZE"]["type"] == "number"
    assert "SIZE::3" in described["template"]


@pytest.mark.requirement("DOC-17")
def test_a_schema_becomes_a_grammar(archive: Archive) -> None:
    told = done(archive.clara.documents.compile_grammar(schema="SESSION_LOG")).data
    assert told["grammar"].startswith("root ::= ")


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(("format", "reader"), [("json", read_json), ("yaml", read_yaml)])
def test_data_formats_read_back_to_the_same_document(archive: Archive, format: str, reader: Any) -> None:
    shown = done(eject(archive, content=PLAN, format=format)).data
    assert shown["lossy"] is False
    assert same(reader(shown["output"], shown["name"]), parse(PLAN))


@pytest.mark.requirement("DOC-13")
@pytest.mark.parametrize(
    ("mode", "omitted"),
    [
        ("canonical", []),
        ("authoring", []),
        ("executive", ["SERVER"]),
        ("developer", ["STATUS", "SERVER"]),
    ],
)
def test_views_say_what_they_left_out(archive: Archive, mode: str, omitted: list[str]) -> None:
    told = envelope(done(eject(archive, content=PLAN, mode=mode)))
    assert (told["status"], told["lossy"], told["fields_omitted"]) == ("success", bool(omitted), omitted)
    assert told["validation_status"] == "VALIDATED"
    assert "META:" in told["output"]


@pytest.mark.requirement("DOC-13")
def test_markdown_has_everything_for_people(archive: Archive) -> None:
    assert "# PLAN" in done(eject(archive, content=PLAN, format="markdown")).data["output"]


@pytest.mark.requirement("DOC-14")
@pytest.mark.parametrize("given", [{}, {"content": None}])
def test_without_content_the_schema_makes_a_template(archive: Archive, given: dict) -> None:
    told = done(eject(archive, schema="SESSION_LOG", **given)).data
    template = parse(told["output"])
    assert template.meta_value("TYPE") == "SESSION_LOG"
    assert len(template.nodes) > 5
    assert json.loads(done(eject(archive, schema="SESSION_LOG", format="json")).data["output"])["META"]


@pytest.mark.requirement("DOC-12", "DOC-13")
@pytest.mark.parametrize(
    "arguments",
    [{"mode": "poetic"}, {"format": "pdf"}, {"schema": None}, {"content": 3}, {"surprise": 1}, {"schema": "NOTHING"}],
)
def test_what_there_is_not_is_refused_with_the_whole_envelope(archive: Archive, arguments: dict) -> None:
    given = {"content": None if "schema" in arguments else PLAN, **arguments}
    told = envelope(eject(archive, **given))
    assert told["status"] == "error"
    assert {one["code"] for one in told["errors"]} == {"E_INPUT"}
    assert {"output", "validation_status", "errors"} <= set(told)


@pytest.mark.requirement("DOC-12", "DOC-13")
def test_what_cannot_be_read_cannot_be_shown(archive: Archive) -> None:
    assert refused(eject(archive, content="A: b\n")) == [("E_PARSE", "E001")]
