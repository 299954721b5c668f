"""Whatever comes in: a whole envelope with the right code, and the file as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.octave import emit, parse
from tests.documents.archive import PLAN, Archive, digest, done, envelope, refused
from tests.octave.cases import of_tier

WHOLE = {"status", "path", "canonical_hash", "corrections", "diff", "errors", "validation_status"}

UNREADABLE = {
    "a tab": ("===D===\nA\t::1\n===END===\n", "E005"),
    "a single colon": ("===D===\nA: 1\n===END===\n", "E001"),
    "a bracket that stays open": ("===D===\nA::[1\n===END===\n", "E_UNBALANCED_BRACKET"),
    "a fence that stays open": ("===D===\nA::\n```\nx\n===END===\n", "E006"),
    "a fence in a fence": ("===D===\nA::\n```\n````\n```\n===END===\n", "E007"),
    "a bad envelope": ("===1D===\nA::1\n===END===\n", "E_INVALID_ENVELOPE_ID"),
    "a bare date": ("===D===\nA::2026-01-31\n===END===\n", "E_UNQUOTED_TIMESTAMP"),
    "nothing behind the key": ("===D===\nA::\n===END===\n", "E_EMPTY_VALUE"),
    "a number for a key": ("===D===\n1::x\n===END===\n", "E_INVALID_KEY"),
    "prose": ("===D===\nsome words\n===END===\n", "E_BARE_LINE"),
    "brackets too deep": ("===D===\nA::" + "[" * 200 + "]" * 200 + "\n===END===\n", "E_MAX_NESTING_EXCEEDED"),
    "a map in a map": ("===D===\nA::[k::[l::1]]\n===END===\n", "E_NESTED_INLINE_MAP"),
    "a control character": ("===D===\nA::x\x07y\n===END===\n", "E005"),
}


@pytest.mark.requirement("DOC-12")
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_has_its_code_and_changes_nothing(archive: Archive, name: str) -> None:
    content, code = UNREADABLE[name]
    archive.written()
    told = envelope(archive.write(content=content))
    assert set(told) >= WHOLE
    assert ("E_PARSE", code) in [(one["code"], one["spec_code"]) for one in told["errors"]]
    assert all(one["line"] >= 1 for one in told["errors"])
    assert archive.text() == PLAN


@pytest.mark.requirement("DOC-12")
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_not_changed_by_changes(archive: Archive, name: str) -> None:
    content, code = UNREADABLE[name]
    if code == "E_NESTED_INLINE_MAP":
        # What lies there is read leniently: it could not be mended otherwise.
        archive.outside(content)
        assert done(archive.write(changes={"B": 1})).ok
        return
    archive.outside(content)
    assert ("E_PARSE", code) in refused(archive.write(changes={"B": 1}))
    assert archive.text() == content


@pytest.mark.requirement("DOC-12")
@pytest.mark.parametrize("raw", [b"\xff\xfe\x00\x01", bytes(range(256)), b"===D===\nA::\xc3\x28\n===END===\n"])
def test_binary_files_are_refused_and_kept(archive: Archive, raw: bytes) -> None:
    archive.outside(raw)
    assert refused(archive.write(changes={"A": 1})) == [("E_PARSE", "E_ENCODING")]
    assert refused(archive.clara.documents.read_document(path="plan.oct.md")) == [("E_INPUT", "E_ENCODING")]
    assert archive.file().read_bytes() == raw
    done(archive.write(content=PLAN, base_hash=digest(raw)))
    done(archive.clara.documents.undo_document(path="plan.oct.md"))
    assert archive.file().read_bytes() == raw


@pytest.mark.requirement("DOC-12")
def test_a_file_of_a_hundred_megabytes_meets_a_clear_limit(archive: Archive) -> None:
    archive.outside("")
    with archive.file().open("r+b") as file:
        file.truncate(100 * 1024 * 1024)
    for arguments in ({"changes": {"A": 1}}, {"content": PLAN}):
        assert refused(archive.write(**arguments)) == [("E_INPUT", "E_TOO_LARGE")]
    assert archive.file().stat().st_size == 100 * 1024 * 1024


@pytest.mark.requirement("DOC-12")
def test_a_content_of_a_hundred_megabytes_meets_a_clear_limit(archive: Archive) -> None:
    content = "x" * (100 * 1024 * 1024)
    for answer in (
        archive.write(content=content),
        archive.clara.documents.octave_validate(content=content, schema="META"),
    ):
        assert {code for code, _ in refused(answer)} == {"E_INPUT"}
        assert answer.message_key == "LIMIT_EXCEEDED"


@pytest.mark.requirement("DOC-12")
def test_an_answer_that_could_not_be_sent_is_refused_beforehand(archive: Archive) -> None:
    content = f'===D===\nA::"{"x " * 1_800_000}x"\n===END===\n'
    for flow in ("octave_validate", "octave_eject"):
        answer = getattr(archive.clara.documents, flow)(content=content, schema="META")
        assert refused(answer) == [("E_INPUT", "E_TOO_LARGE")]
    assert done(archive.write(content=content)).data["canonical_hash"] == digest(content)


@pytest.mark.requirement("DOC-12")
def test_ten_thousand_errors_are_counted_and_a_hundred_are_told(archive: Archive) -> None:
    content = "===D===\n" + "".join(f"K{number}: x\n" for number in range(10_000)) + "===END===\n"
    told = envelope(archive.write(content=content))
    assert (len(told["errors"]), told["errors_in_all"]) == (100, 10_000)
    checked = envelope(archive.clara.documents.octave_validate(content=content, schema="META"))
    assert (len(checked["errors"]), checked["errors_in_all"]) == (100, 10_000)
    assert len(checked["repairs"]) == 1000


@pytest.mark.requirement("DOC-10")
def test_ten_thousand_corrections_are_counted_and_a_thousand_are_told(archive: Archive) -> None:
    content = "===D===\n" + "".join(f"K{number}::a -> b\n" for number in range(5_000)) + "===END===\n"
    told = envelope(archive.write(content=content))
    assert (len(told["corrections"]), told["corrections_in_all"]) == (1000, 10_000)


@pytest.mark.requirement("DOC-10", "DOC-15")
def test_of_too_many_corrections_those_that_replaced_something_are_told_first(archive: Archive) -> None:
    many = "".join(f"K{number}::a -> b\n" for number in range(1_000))
    told = envelope(archive.write(content=f"===D===\n{many}===END===\n===E===\nMETA:\n  A::1\n  A::2\n===END===\n"))
    assert told["corrections_in_all"] > len(told["corrections"]) == 1000
    assert (told["corrections"][0]["code"], told["corrections"][0]["before"]) == ("W_DUPLICATE", "A::1")


@pytest.mark.requirement("DOC-12", "DOC-13")
@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "some words", "schema": "META"},
        {"content": None, "schema": "NONE"},
        {"content": PLAN, "schema": "META", "format": "xml"},
        {"content": PLAN},
    ],
)
def test_a_refusal_to_show_a_document_has_the_whole_envelope(archive: Archive, arguments: dict[str, Any]) -> None:
    told = envelope(archive.clara.documents.octave_eject(**arguments))
    assert told["status"] == "error"
    assert (told["output"], told["lossy"], told["fields_omitted"]) == ("", False, [])
    assert (told["validation_status"], bool(told["errors"])) == ("UNVALIDATED", True)


@pytest.mark.requirement("DOC-12")
def test_a_dry_run_has_the_whole_envelope_too(archive: Archive) -> None:
    told = envelope(archive.clara.documents.octave_write.dry_run(target_path="a.md", content=PLAN, schema="META"))
    assert set(told) >= WHOLE
    assert (told["canonical_hash"], told["validation_status"]) == (digest(PLAN), "VALIDATED")
    assert "+STATUS::DRAFT\n" in told["diff"]


@pytest.mark.requirement("DOC-05", "DOC-12")
def test_changes_that_a_strict_reader_could_not_read_are_about_the_request(archive: Archive) -> None:
    archive.written()
    assert refused(archive.write(changes={"A": [{"b": {"c": 1}}]})) == [("E_INPUT", "E_INPUT")]
    assert archive.text() == PLAN


@pytest.mark.requirement("DOC-12")
def test_blocks_ten_thousand_deep_are_written_and_changed(archive: Archive) -> None:
    depth = 10_000
    content = "===D===\n" + "".join(f"{'  ' * level}B:\n" for level in range(300)) + "  " * 300 + "A::1\n===END===\n"
    done(archive.write(content=content))
    deep = "===D===\n" + "".join(f"{' ' * level}B:\n" for level in range(depth)) + " " * depth + "A::1\n===END===\n"
    answer = archive.write(content=deep)
    assert answer.reply_type in "SI"
    assert envelope(answer)["status"] in ("success", "error")


@pytest.mark.requirement("DOC-12")
@pytest.mark.parametrize("newlines", ["\r\n", "\r", "mixed"])
def test_any_line_ends_are_read_and_told(archive: Archive, newlines: str) -> None:
    lines = PLAN.split("\n")
    joined = (
        "".join(line + ("\r\n", "\n", "\r")[number % 3] for number, line in enumerate(lines[:-1]))
        if newlines == "mixed"
        else PLAN.replace("\n", newlines)
    )
    told = envelope(archive.write(content=joined))
    assert "W_NEWLINES" in [one["code"] for one in told["corrections"]]
    assert archive.text() == PLAN


@pytest.mark.requirement("DOC-12")
@pytest.mark.parametrize(
    "arguments",
    [
        {"target_path": 3, "content": PLAN},
        {"content": PLAN},
        {"target_path": "a.oct.md", "content": 5},
        {"target_path": "a.oct.md", "changes": [1]},
        {"target_path": "a.oct.md", "content": PLAN, "base_hash": "short"},
        {"target_path": "a.oct.md", "content": PLAN, "surprise": True},
        {"target_path": "a.oct.md", "content": PLAN, "mutations": {"bad key": 1}},
        {"target_path": "a.oct.md", "content": PLAN, "mutations": {"A": {"$op": "SET"}}},
        {"target_path": "a.oct.md", "content": PLAN, "tenant": "other"},
        {"target_path": "", "content": PLAN},
    ],
)
def test_arguments_of_the_wrong_shape_get_the_whole_envelope(archive: Archive, arguments: dict[str, Any]) -> None:
    told = envelope(archive.clara.call("documents.octave-write", arguments))
    assert set(told) >= WHOLE
    assert (told["status"], {one["code"] for one in told["errors"]}) == ("error", {"E_INPUT"})
    assert not archive.root.exists() or list(archive.root.iterdir()) == []


@pytest.mark.requirement("DOC-12")
def test_half_characters_and_nul_are_refused(archive: Archive) -> None:
    for content in ("===D===\nA::\ud800\n", "===D===\nA::\0\n"):
        assert [code for code, _ in refused(archive.write(content=content))] == ["E_PARSE"]


@pytest.mark.requirement("DOC-12")
def test_a_file_that_holds_nul_is_changed_without_losing_it(archives: Archive) -> None:
    archives.outside("===D===\nA::\n```\nx\0y\n```\nB::1\n===END===\n")
    done(archives.write(changes={"B": 2}, client_request_id="beside-a-nul"))
    assert archives.text() == "===D===\nA::\n```\nx\0y\n```\nB::2\n===END===\n"
    assert archives.clara.office.rebuild("main").same


@pytest.mark.requirement("DOC-09", "DOC-15", "REL-07")
def test_the_core_cases_of_the_format_are_written_as_they_should_be(archive: Archive) -> None:
    for number, case in enumerate(of_tier("core")):
        if "\0" in case.text:
            # No call brings it; see the test below for a file that has it.
            continue
        path = f"{number}.oct.md"
        answer = done(archive.write(path, content=case.text))
        assert archive.text(path) == case.canonical, case.name
        assert answer.data["canonical_hash"] == digest(case.canonical or "")


@pytest.mark.requirement("DOC-12", "REL-07")
def test_the_error_cases_of_the_format_are_refused_with_their_codes(archive: Archive) -> None:
    for case in of_tier("error"):
        answer = archive.write(content=case.text)
        assert answer.reply_type == "I", case.name
        assert case.code in {spec for _, spec in refused(answer)}, case.name
    assert not archive.file().exists()


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["===D===", "===END===", "META:", "  TYPE::X", "---", "§1::A", "A::[a,b", "]", "```", "// c", "K: v", "B:"]
        ),
        st.text(alphabet="AZaz09 :[]<>-→§#\"'\\\t\r,.&|+~{}$%@`=/é😀", max_size=20),
    ),
    max_size=12,
)


@pytest.mark.requirement("REL-06", "REL-07")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=LINES,
    changes=st.dictionaries(
        st.text("AB.§1 %", max_size=4), st.none() | st.integers() | st.text(max_size=5), max_size=3
    ),
)
def test_no_text_and_no_change_crashes_and_what_is_written_reads_back(
    archive: Archive, lines: list[str], changes: dict[str, Any]
) -> None:
    answer = archive.write(content="\n".join(lines))
    assert answer.reply_type in "SI", answer
    if answer.ok:
        assert emit(parse(archive.text(), lenient=True)) == archive.text()
        before = archive.text()
        changed = archive.write(changes=changes)
        assert changed.reply_type in "SI", changed
        assert changed.ok or archive.text() == before
