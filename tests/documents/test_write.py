"""octave_write: whole documents, single fields, META, hashes, corrections, the record."""

from __future__ import annotations

import orjson
import pytest

from engross.octave import DELETE, parse, value_at
from engross.octave.path import ABSENT
from tests.bed.offices import Offices
from tests.documents.archive import PLAN, Archive, digest, done, envelope, refused

FIELDS = {"status", "path", "canonical_hash", "corrections", "diff", "errors", "validation_status"}


@pytest.mark.requirement("DOC-04", "DOC-12")
def test_a_new_file_is_made_with_its_folders_and_the_whole_envelope_is_told(archives: Archive) -> None:
    told = envelope(archives.write("notes/deep/plan.oct.md", content=PLAN))
    assert set(told) >= FIELDS
    assert (told["status"], told["errors"], told["outcome"], told["created"]) == ("success", [], "committed", True)
    assert told["path"] == str(archives.file("notes/deep/plan.oct.md"))
    assert archives.text("notes/deep/plan.oct.md") == PLAN
    assert told["canonical_hash"] == digest(PLAN)
    assert told["validation_status"] == "UNVALIDATED"


@pytest.mark.requirement("DOC-04")
def test_a_file_that_is_there_is_written_over_and_the_answer_shows_what_changed(archives: Archive) -> None:
    archives.written()
    told = envelope(archives.write(content=PLAN.replace("DRAFT", "ACTIVE")))
    assert told["created"] is False
    assert told["previous_hash"] == digest(PLAN)
    assert "-STATUS::DRAFT\n+STATUS::ACTIVE\n" in told["diff"]
    assert archives.text() == PLAN.replace("DRAFT", "ACTIVE")


def test_an_absolute_path_inside_a_root_means_the_same_document(archive: Archive) -> None:
    archive.written("notes/plan.oct.md")
    again = archive.write(str(archive.file("notes/plan.oct.md")), changes={"STATUS": "DONE"})
    assert done(again).data["version"] == 2


def test_what_says_the_same_changes_nothing(archives: Archive) -> None:
    archives.written()
    again = done(archives.write(content=PLAN))
    assert (again.message_key, again.data["status"], again.data["diff"]) == ("NO_EFFECT", "unchanged", "")
    assert envelope(again)["status"] == "success"
    assert len(archives.history()) == 1


@pytest.mark.requirement("DOC-12")
@pytest.mark.parametrize("given", [{}, {"content": PLAN, "changes": {"A": 1}}, {"content": None, "changes": None}])
def test_strictly_one_of_content_and_changes_is_taken(archive: Archive, given: dict) -> None:
    archive.written()
    assert [code for code, _ in refused(archive.write(**given))] == ["E_INPUT"]
    assert archive.text() == PLAN


@pytest.mark.requirement("DOC-05", "DOC-06", "DOC-15")
def test_a_field_is_left_alone_deleted_nulled_or_set(archives: Archive) -> None:
    archives.written()
    done(archives.write(changes={"STATUS": {"$op": "DELETE"}, "SERVER.HOST": None, "SERVER.PORT": 6000, "NEW": "x y"}))
    document = parse(archives.text())
    assert value_at(document, "STATUS") is ABSENT
    assert value_at(document, "SERVER.HOST") is None
    assert value_at(document, "SERVER.PORT") == 6000
    assert value_at(document, "NEW") == "x y"
    assert value_at(document, "META.TYPE") == "NOTE"


@pytest.mark.requirement("DOC-06")
@pytest.mark.parametrize("deletion", [DELETE, {"$op": "DELETE"}, "__OCTAVE_DELETE__"])
@pytest.mark.parametrize("path", ["STATUS", "SERVER", "SERVER.HOST", "§1", "§1.A", "LIST.k", "META.TYPE"])
def test_every_kind_of_node_can_be_deleted_in_all_three_spellings(
    archive: Archive, deletion: object, path: str
) -> None:
    archive.written(content=PLAN.replace("===END===", "LIST::[k::1,l::2]\n§1::PART\n  A::1\n===END==="))
    done(archive.write(changes={path: deletion}))
    assert value_at(parse(archive.text()), path) is ABSENT


@pytest.mark.requirement("DOC-06")
def test_the_sentinel_is_written_as_json_by_whoever_sends_it() -> None:
    assert orjson.loads(orjson.dumps({"A": dict(DELETE)})) == {"A": {"$op": "DELETE"}}


@pytest.mark.requirement("DOC-06")
def test_the_reserved_text_is_refused_inside_content(archive: Archive) -> None:
    answer = archive.write(content="===D===\nA::__OCTAVE_DELETE__\n===END===\n")
    assert refused(answer) == [("E_INPUT", "E_INPUT")]
    assert not archive.file().exists()


@pytest.mark.requirement("DOC-05")
def test_changes_are_made_all_or_none(archive: Archive) -> None:
    archive.written()
    answer = archive.write(changes={"STATUS": "DONE", "bad key": 1, "NO.WHERE": 2, "1": 3, "META": {"$op": "ADD"}})
    assert refused(answer) == [
        ("E_INPUT", "E_INPUT"),
        ("E_INPUT", "E_UNRESOLVABLE_PATH"),
        ("E_INPUT", "E_INPUT"),
        ("E_INPUT", "E_INVALID_OP_DESCRIPTOR"),
    ]
    assert archive.text() == PLAN
    assert len(archive.history()) == 1


@pytest.mark.requirement("DOC-05", "DOC-12")
def test_changes_need_a_file(archive: Archive) -> None:
    assert refused(archive.write(changes={"A": 1})) == [("E_PATH", "E_FILE")]
    assert not archive.file().exists()


@pytest.mark.requirement("DOC-07")
@pytest.mark.parametrize("given", [{"content": PLAN}, {"changes": {"STATUS": "DONE"}}])
def test_fields_of_meta_are_set_in_both_modes(archive: Archive, given: dict) -> None:
    archive.written()
    done(archive.write(**given, mutations={"VERSION": "2.0", "TYPE": {"$op": "DELETE"}, "ID": None}))
    document = parse(archive.text())
    assert value_at(document, "META.VERSION") == "2.0"
    assert value_at(document, "META.TYPE") is ABSENT
    assert value_at(document, "META.ID") is None


@pytest.mark.requirement("DOC-07")
def test_meta_is_made_where_there_is_none(archive: Archive) -> None:
    done(archive.write(content="===D===\nA::1\n===END===\n", mutations={"TYPE": "NOTE"}))
    assert archive.text() == "===D===\nMETA:\n  TYPE::NOTE\nA::1\n===END===\n"


@pytest.mark.requirement("DOC-08")
@pytest.mark.parametrize("given", [{"content": PLAN.replace("5432", "1")}, {"changes": {"SERVER.PORT": 1}}])
def test_a_hash_guards_both_modes(archives: Archive, given: dict) -> None:
    first = archives.written()["canonical_hash"]
    archives.written(content=PLAN.replace("DRAFT", "ACTIVE"))
    told = envelope(archives.write(**given, base_hash=first))
    assert [error["code"] for error in told["errors"]] == ["E_HASH"]
    assert told["current_hash"] == digest(PLAN.replace("DRAFT", "ACTIVE"))
    assert "-STATUS::DRAFT\n+STATUS::ACTIVE\n" in told["diff"]
    assert archives.text() == PLAN.replace("DRAFT", "ACTIVE")
    done(archives.write(**given, base_hash=told["current_hash"]))


@pytest.mark.requirement("DOC-08")
def test_a_hash_of_a_file_that_is_not_there_is_refused(archive: Archive) -> None:
    told = envelope(archive.write(content=PLAN, base_hash=digest(PLAN)))
    assert ([error["code"] for error in told["errors"]], told["current_hash"]) == (["E_HASH"], None)
    assert not archive.file().exists()


@pytest.mark.requirement("DOC-08")
def test_the_hash_is_that_of_the_raw_bytes(archive: Archive) -> None:
    raw = ("\ufeff" + PLAN.replace("\n", "\r\n")).encode()
    archive.outside(raw)
    assert refused(archive.write(changes={"STATUS": "DONE"}, base_hash=digest(PLAN)))[0][0] == "E_HASH"
    told = envelope(archive.write(changes={"STATUS": "DONE"}, base_hash=digest(raw)))
    assert told["status"] == "success"
    assert {"W_BOM", "W_NEWLINES"} <= {one["code"] for one in told["corrections"]}
    assert archive.text() == PLAN.replace("DRAFT", "DONE")


@pytest.mark.requirement("DOC-08")
def test_what_was_never_a_version_of_the_document_is_not_shown_by_its_hash(archive: Archive) -> None:
    secret = archive.written("other.oct.md", PLAN.replace("db1", "secret"))["canonical_hash"]
    archive.written()
    told = envelope(archive.write(changes={"STATUS": "X"}, base_hash=secret))
    assert (told["errors"][0]["code"], told["diff"]) == ("E_HASH", "")


@pytest.mark.requirement("DOC-09", "DOC-10", "DOC-15")
def test_everything_that_was_spelled_differently_is_told(archive: Archive) -> None:
    told = envelope(archive.write(content="META:\n    TYPE::NOTE\nFLOW::a -> b + c  \nA :: x y\n"))
    codes = [one["code"] for one in told["corrections"]]
    assert {"W002", "W003", "W004", "W005"} <= set(codes)
    assert codes.count("W002") == 2
    operator = next(one for one in told["corrections"] if one["code"] == "W002")
    assert (operator["line"], operator["column"], operator["before"], operator["after"]) == (3, 9, "->", "→")
    again = envelope(archive.write(content=archive.text()))
    assert (again["corrections"], again["canonical_hash"]) == ([], told["canonical_hash"])


@pytest.mark.requirement("DOC-10")
def test_a_single_colon_is_no_correction_but_an_error_that_says_what_would_mend_it(archive: Archive) -> None:
    told = envelope(archive.write(content="===D===\nOWNER: alice\n===END===\n"))
    assert [(one["code"], one["spec_code"], one["line"]) for one in told["errors"]] == [("E_PARSE", "E001", 2)]
    assert [(one["rule_id"], one["applied"]) for one in told["repairs"]] == [("W001", False)]


@pytest.mark.requirement("DOC-03", "DOC-15")
@pytest.mark.parametrize(
    ("schema", "content", "status"),
    [
        (None, PLAN, "UNVALIDATED"),
        ("META", PLAN, "VALIDATED"),
        ("META", PLAN.replace('  VERSION::"1.0"\n', ""), "UNVALIDATED"),
        ("SESSION_LOG", PLAN, "UNVALIDATED"),
        ("NOTHING", PLAN, "PENDING_INFRASTRUCTURE"),
    ],
)
def test_the_status_says_whether_anything_was_validated(
    archive: Archive, schema: str | None, content: str, status: str
) -> None:
    told = envelope(archive.write(content=content, schema=schema))
    assert (told["status"], told["validation_status"]) == ("success", status)


@pytest.mark.requirement("DOC-03")
def test_violations_are_written_and_told_or_refused_where_the_operator_wants_that(
    archive: Archive, local: Offices
) -> None:
    bad = PLAN.replace('  VERSION::"1.0"\n', "  STATUS::maybe\n")
    told = envelope(archive.write(content=bad, schema="META"))
    assert {one["code"] for one in told["validation_errors"]} == {"E003", "E005"}
    local.close()
    strict = Archive(local, refuse_invalid=True)
    answer = strict.write("strict.oct.md", content=bad, schema="META")
    assert sorted(refused(answer), key=str) == [("E_INPUT", "E003"), ("E_INPUT", "E005")]
    assert not strict.file("strict.oct.md").exists()


@pytest.mark.requirement("DOC-15")
def test_absent_null_and_a_value_stay_three_things(archive: Archive) -> None:
    done(archive.write(content="===D===\nA::null\nB::x\n===END===\n"))
    done(archive.write(changes={"B": None}))
    assert archive.text() == "===D===\nA::null\nB::null\n===END===\n"
    done(archive.write(changes={"A": {"$op": "DELETE"}, "C": {"$op": "DELETE"}}))
    assert archive.text() == "===D===\nB::null\n===END===\n"


def test_a_whole_document_in_a_code_fence_is_unwrapped(archive: Archive) -> None:
    told = envelope(archive.write(content=f"```octave\n{PLAN}```\n"))
    assert "W_UNWRAPPED" in {one["code"] for one in told["corrections"]}
    assert archive.text() == PLAN


@pytest.mark.requirement("DOC-17")
def test_literal_zones_are_written_byte_for_byte(archive: Archive) -> None:
    zone = "```python\n\tprint('a -> b')  \n\n```"
    done(archive.write(content=f"===D===\nCODE::\n{zone}\nB::1\n===END===\n"))
    done(archive.write(changes={"B": 2}))
    assert zone in archive.text()


def test_a_dry_run_writes_nothing_anywhere(archives: Archive) -> None:
    before = sorted(archives.folder.rglob("*"))
    answer = archives.clara.documents.octave_write.dry_run(target_path="a/b.oct.md", content=PLAN)
    assert answer.message_key == "VALIDATION_DONE"
    assert answer.data["answer"]["canonical_hash"] == digest(PLAN)
    assert "+STATUS::DRAFT" in answer.data["answer"]["diff"]
    assert not archives.root.exists()
    assert [
        one for one in sorted(archives.folder.rglob("*")) if one not in before and "office.db" not in one.name
    ] == []


def test_a_repetition_with_its_key_is_the_first_answer(archives: Archive) -> None:
    call: dict = {"content": PLAN, "client_request_id": "write-the-plan"}
    first = done(archives.write(**call))
    archives.written(content=PLAN.replace("DRAFT", "ACTIVE"))
    again = done(archives.write(**call))
    assert again.data["idempotent_replay"] is True
    assert again.data["canonical_hash"] == first.data["canonical_hash"]
    assert [*again.data["published"].values()] == ["done"]
    assert archives.text() == PLAN.replace("DRAFT", "ACTIVE")


def test_every_write_has_a_fact_and_a_receipt_and_the_state_can_be_built_again(archives: Archive) -> None:
    first = archives.written(reason="It was time")
    archives.outside(PLAN.replace("db1", "db2"))
    second = done(archives.write(changes={"STATUS": "DONE"})).data
    receipt = done(archives.clara.record.get_receipt(position=first["position"])).data["receipt"]
    assert (receipt["flow"], receipt["reason"]) == ("documents.octave-write", "It was time")
    facts = done(archives.clara.record.read_history(aggregate="documents", subject="plan.oct.md")).data["facts"]
    assert [fact["type"].split(".")[-2] for fact in facts] == ["DocumentWritten", "DocumentFound", "DocumentWritten"]
    assert len(second["facts"]) == 2
    rebuilt = archives.clara.office.rebuild("main")
    assert rebuilt.same
    assert rebuilt.facts >= 3
