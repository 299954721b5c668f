"""One validator: what it looks at, what it says, and when it says VALIDATED."""

# ruff: noqa: RUF001

from __future__ import annotations

import pytest

from engross.octave import (
    OctaveError,
    Schema,
    Shelf,
    apply_changes,
    check,
    parse,
    repair,
    schema_of,
    suggest,
    validate,
)

from .texts import wrapped

GOOD_META = 'META:\n  TYPE::SESSION_LOG\n  VERSION::"1.0"'


TASK_FIELDS = (
    '  ID::["t_1"∧REQ∧REGEX["^t_"]→§INDEXER]\n  STATE::[OPEN∧OPT∧ENUM[OPEN,DONE]]\n  SIZE::[1∧OPT∧TYPE[NUMBER]]'
)


def schema(policy: str = "UNKNOWN_FIELDS::REJECT", fields: str = TASK_FIELDS) -> Schema:
    text = wrapped(f"POLICY:\n  {policy}\nFIELDS:\n{fields}").replace("===D===", "===TASK===")
    return schema_of(parse(text))


def codes(body: str, wanted: Schema | str) -> list[tuple[str, str]]:
    return [(found.code, found.field) for found in validate(wrapped(body), wanted).violations]


@pytest.mark.requirement("DOC-01", "DOC-03")
@pytest.mark.parametrize(
    ("body", "wanted", "status", "result"),
    [
        (GOOD_META, "META", "VALIDATED", "success"),
        (GOOD_META, "SESSION_LOG", "VALIDATED", "success"),
        ("META:\n  TYPE::X", "META", "UNVALIDATED", "error"),
        ("A::1", "META", "UNVALIDATED", "error"),
        (GOOD_META, "SKILL", "UNVALIDATED", "success"),
        (GOOD_META, "NOWHERE", "PENDING_INFRASTRUCTURE", "success"),
        (GOOD_META, None, "UNVALIDATED", "success"),
        ("A: 1", "META", "UNVALIDATED", "error"),
    ],
)
def test_the_status_says_what_was_done(body: str, wanted: str | None, status: str, result: str) -> None:
    verdict = validate(wrapped(body), wanted)
    assert (verdict.validation_status, verdict.status) == (status, result)


@pytest.mark.requirement("DOC-01", "DOC-15")
def test_the_answer_has_the_envelope_of_the_seed() -> None:
    told = validate(wrapped("META:\n  TYPE::X\n  N::A->B"), "META").as_data()
    assert set(told) == {"status", "canonical", "repairs", "warnings", "errors", "validation_status"}
    assert told["canonical"] == wrapped("META:\n  TYPE::X\n  N::A→B")
    assert [entry["code"] for entry in told["errors"]] == ["E003"]  # type: ignore[attr-defined]
    assert [entry["code"] for entry in told["repairs"]] == ["W002"]  # type: ignore[attr-defined]


@pytest.mark.requirement("DOC-12")
def test_a_text_that_cannot_be_read_is_not_echoed() -> None:
    verdict = validate("A: 1\nB::(", "META")
    assert (verdict.canonical, verdict.document) == ("", None)
    assert [error.code for error in verdict.errors] == ["E005", "E001"]
    assert verdict.error_count == 2


def test_a_document_without_meta_lacks_its_fields() -> None:
    assert codes("A::1", "META") == [("E003", "META.TYPE"), ("E003", "META.VERSION")]


def test_meta_is_checked_field_by_field() -> None:
    body = "META:\n  TYPE::X\n  VERSION::1.0\n  STATUS::GONE\n  EXTRA::1"
    assert codes(body, "META") == [("E007", "META.VERSION"), ("E005", "META.STATUS")]


def test_every_block_and_section_of_the_name_is_an_instance() -> None:
    body = "TASK:\n  ID::t_1\nA:\n  TASK:\n    ID::x\n§1::TASK\n  STATE::SHUT"
    assert codes(body, schema()) == [
        ("E008", "A.TASK.ID"),
        ("E003", "§1::TASK.ID"),
        ("E005", "§1::TASK.STATE"),
    ]


@pytest.mark.parametrize(
    ("policy", "violations", "warnings"),
    [("REJECT", [("E007", "TASK.A"), ("E007", "TASK.Z")], 0), ("WARN", [], 2), ("IGNORE", [], 0)],
)
def test_unknown_fields_are_judged_by_policy(policy: str, violations: list[tuple[str, str]], warnings: int) -> None:
    verdict = validate(wrapped("TASK:\n  Z::1\n  ID::t_1\n  A::2"), schema(policy=f"UNKNOWN_FIELDS::{policy}"))
    assert [(found.code, found.field) for found in verdict.violations] == violations
    assert [found.code for found in verdict.warnings] == ["W001"] * warnings


def test_a_document_of_the_kind_may_hold_its_fields_anywhere() -> None:
    meta = "META:\n  TYPE::TASK\n"
    assert codes(f"{meta}A:\n  ID::t_1\nOTHER::1", schema()) == []
    assert codes(f"{meta}A:\n  STATE::OPEN", schema()) == [("E003", "ID")]
    assert codes(f"{meta}ID::wrong\n§1::S\n  B:\n    SIZE::big", schema()) == [
        ("E008", "ID"),
        ("E007", "§1::S.B.SIZE"),
    ]


def test_a_block_is_no_value() -> None:
    assert codes("TASK:\n  ID:\n    X::1", schema()) == [("E007", "TASK.ID")]


@pytest.mark.requirement("DOC-15")
def test_nothing_of_the_kind_is_not_valid() -> None:
    verdict = validate(wrapped("A::1"), schema())
    assert (verdict.validation_status, verdict.violations) == ("UNVALIDATED", [])
    assert [found.code for found in verdict.warnings] == ["W_NOTHING_TO_VALIDATE"]


def test_fields_are_routed_and_unknown_targets_told() -> None:
    fields = '  A::["x"∧OPT→§INDEXER∨§./logs]\n  B::["x"∧OPT]\n  C::["x"∧OPT→§NOWHERE]'
    found = check(parse(wrapped("TASK[→§OWN]:\n  A::1\n  B::2\n  C::3")), schema(fields=fields))
    assert [(route.source_path, route.target_name) for route in found.routes] == [
        ("TASK.A", "INDEXER"),
        ("TASK.A", "./logs"),
        ("TASK.B", "OWN"),
        ("TASK.C", "NOWHERE"),
    ]
    assert [violation.code for violation in found.violations] == ["E009"]
    assert found.routes[0].value_hash == "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"


def test_a_default_target_is_used_last() -> None:
    wanted = schema(policy="DEFAULT_TARGET::§SELF", fields='  A::["x"∧OPT]')
    assert [route.target_name for route in check(parse(wrapped("TASK:\n  A::1")), wanted).routes] == ["SELF"]


def test_sections_may_be_required_and_may_require_fields() -> None:
    meta = 'META:\n  TYPE::SKILL\n  VERSION::"1.0"\n'
    assert codes(meta, "SKILL") == [("E003", "§1")]
    assert codes(f"{meta}§1::CORE\n§5::ANCHOR_KERNEL\n  TARGET::x\n  MUST::y", "SKILL") == [
        ("E003", "§5::ANCHOR_KERNEL.NEVER"),
        ("E003", "§5::ANCHOR_KERNEL.GATE"),
    ]


def test_a_section_that_may_be_empty_may_be_empty() -> None:
    review = (
        "META:\n  TYPE::CRS_REVIEW\nROLE::CRS\nVERDICT::APPROVED\nSHA::abc\nTIER::T1\nTOTAL::0\nBLOCKING::0\n"
        "TRIAGED::true\nASSESSMENT::fine\nTOP_RISKS::[]\n§3::FINDINGS"
    )
    assert codes(review, "CRS_REVIEW") == []
    assert codes(f"{review}\n  F1:\n    FILE::a\n    ISSUE::b", "CRS_REVIEW") == [("E003", "§3::FINDINGS.SEVERITY")]


@pytest.mark.parametrize(
    ("frontmatter", "expected"),
    [
        ("", []),
        ("---\nname: x\ndescription: y\nallowed-tools: [a]\n---\n", []),
        ("---\nname: x\ndescription: y\nallowed-tools:\n  - a\nversion: 1.0\n---\n", []),
        ("---\nname: x\n---\n", ["E_FM_REQUIRED", "E_FM_REQUIRED"]),
        ("---\nname: [x]\ndescription: y\nallowed-tools: z\n---\n", ["E_FM_TYPE", "E_FM_TYPE"]),
        ("---\nnot yaml\n---\n", ["E_FM_PARSE"]),
    ],
)
def test_a_frontmatter_is_checked_if_it_is_there(frontmatter: str, expected: list[str]) -> None:
    text = frontmatter + wrapped('META:\n  TYPE::SKILL\n  VERSION::"1.0"\n§1::CORE')
    assert [found.code for found in validate(text, "SKILL").violations] == expected


def test_turns_are_checked_one_by_one() -> None:
    head = "META:\n  TYPE::DEBATE_TRANSCRIPT\nTHREAD_ID::d\nTOPIC::t\nMODE::fixed\nSTATUS::active\nPARTICIPANTS::[a]\n"
    turns = (
        "TURNS:\n  T1:\n    ROLE::Wind\n    CONTENT::x\n    TURN_INDEX::1\n"
        "  T2:\n    ROLE::Nobody\n    TURN_INDEX::1\n  T3:\n    ROLE::Wall\n    CONTENT::y\n    TURN_INDEX::one"
    )
    assert codes(head + turns, "DEBATE_TRANSCRIPT") == [
        ("E_TURN_FIELD", "TURNS.T2.ROLE"),
        ("E_TURN_FIELD", "TURNS.T2.CONTENT"),
        ("E_TURN_INDEX", "TURNS.T2.TURN_INDEX"),
        ("E_TURN_INDEX_TYPE", "TURNS.T3.TURN_INDEX"),
    ]


BROKEN = 'META:\n  TYPE::X\n  VERSION::"1.0"\n  STATUS::active'


@pytest.mark.requirement("DOC-02")
def test_a_repair_is_suggested_in_a_form_that_can_be_applied() -> None:
    verdict = validate(wrapped(BROKEN), "META")
    assert verdict.validation_status == "UNVALIDATED"
    (suggestion,) = [one.as_data() for one in verdict.repairs]
    assert (suggestion["rule_id"], suggestion["applied"]) == ("ENUM_CASEFOLD", False)
    assert "STATUS::active" in verdict.canonical
    mended = apply_changes(parse(wrapped(BROKEN)), suggestion["change"])  # type: ignore[arg-type]
    assert validate(mended.document, "META").validation_status == "VALIDATED"


@pytest.mark.requirement("DOC-02", "DOC-03")
def test_a_repair_is_made_on_request_and_the_status_is_that_of_what_is_returned() -> None:
    verdict = validate(wrapped(BROKEN), "META", fix=True)
    assert [(one.rule_id, one.field, one.before, one.after, one.applied) for one in verdict.repairs] == [
        ("ENUM_CASEFOLD", "META.STATUS", "active", "ACTIVE", True)
    ]
    assert verdict.canonical == wrapped(BROKEN.replace("active", "ACTIVE"))
    assert (verdict.validation_status, verdict.status) == ("VALIDATED", "success")


@pytest.mark.requirement("DOC-02")
@pytest.mark.parametrize(
    ("line", "after"),
    [
        ('SIZE::"12"', "SIZE::12"),
        ('SIZE::"1.50"', "SIZE::1.50"),
        ('SIZE::"1e309"', None),
        ('SIZE::"twelve"', None),
        ("SIZE::null", None),
        ("STATE::done", "STATE::DONE"),
        ("STATE::D", None),
        ("STATE::\n  ```\ndone\n  ```", None),
        ("OTHER::done", None),
    ],
)
def test_only_what_a_schema_bounds_is_mended(line: str, after: str | None) -> None:
    document = parse(wrapped(f"TASK:\n  ID::t_1\n  {line}"))
    mended = repair(document, schema())
    assert [f"{one.field}::{one.after}" for one in mended.repairs] == ([] if after is None else [f"TASK.{after}"])
    assert suggest(document, schema()) == [one._replace(applied=False) for one in mended.repairs]


@pytest.mark.requirement("DOC-02", "DOC-15")
def test_a_missing_field_is_never_filled_in() -> None:
    verdict = validate(wrapped("META:\n  TYPE::X"), "META", fix=True)
    assert (verdict.repairs, verdict.violations[0].code) == ([], "E003")


@pytest.mark.requirement("DOC-02", "DOC-10")
def test_single_colons_braces_and_bare_timestamps_are_mended_on_request() -> None:
    text = wrapped('META:\n  TYPE: X\n  VERSION: "1.0"\nA::NAME{q}\nB::[2026-01-31]\nC: x y')
    refused = validate(text, "META")
    assert refused.status == "error"
    assert {one.rule_id for one in refused.repairs} == {"W001", "CURLY_BRACES", "QUOTE_TIMESTAMP"}
    assert not any(one.applied for one in refused.repairs)
    mended = validate(text, "META", fix=True)
    assert mended.canonical == wrapped('META:\n  TYPE::X\n  VERSION::"1.0"\nA::NAME<q>\nB::["2026-01-31"]\nC::"x y"')
    assert mended.validation_status == "VALIDATED"
    assert sum(one.rule_id == "W001" and one.applied for one in mended.repairs) == 3


def test_thousands_of_single_colons_are_mended_at_once() -> None:
    verdict = validate(wrapped("\n".join(f"K{number}: {number}" for number in range(3000))), None, fix=True)
    assert (verdict.status, len(verdict.repairs)) == ("success", 3000)


def test_what_cannot_be_mended_is_left_as_it_was() -> None:
    verdict = validate("A: 1\nB::(\n", None, fix=True)
    assert (verdict.status, verdict.canonical) == ("error", "")
    assert not any(one.applied for one in verdict.repairs)


def test_advice_is_given_and_fails_nothing() -> None:
    body = (
        'META:\n  TYPE::X\n  VERSION::"1.0"\n  COMPRESSION_TIER::ULTRA\nA::1\nA::2\nB:\n  C::True\nB.C::a⇌b⇌c\n'
        "D::SpeedvsQuality\nE::a∧b\nF::[[[[[x]]]]]\nG::[a::[b::1]]"
    )
    verdict = validate(wrapped(body), "META")
    assert verdict.validation_status == "VALIDATED"
    assert {found.code for found in verdict.warnings} == {
        "W_META_001",
        "W_DUPLICATE_KEY",
        "W_DUPLICATE_TARGET",
        "W_WRONG_CASE",
        "W_CHAINED_TENSION",
        "W_BOUNDARY_MISSING",
        "W_CONSTRAINT_OUTSIDE_BRACKETS",
        "W_DEEP_NESTING",
        "W_NESTED_INLINE_MAP",
    }


def test_a_schema_file_that_is_broken_is_an_error_not_a_pass(tmp_path) -> None:
    (tmp_path / "bad.oct.md").write_text("A: 1")
    with pytest.raises(OctaveError) as caught:
        validate(wrapped(GOOD_META), "BAD", shelf=Shelf(tmp_path))
    assert caught.value.code == "E_SCHEMA"
