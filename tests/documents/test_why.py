"""Why a document says what it says: from a paragraph or a field to the write, its author and whoever approved it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bed.offices import Offices
from tests.documents.archive import PLAN, Archive, done

pytestmark = pytest.mark.requirement("NEW-05")

ACTIVE = PLAN.replace("DRAFT", "ACTIVE")


def why(archive: Archive, ref: str = "plan.oct.md", **arguments: Any) -> dict[str, Any]:
    return dict(done(archive.clara.documents.why_document(ref=ref, **arguments)).data)


def code(archive: Archive, ref: str, **arguments: Any) -> str:
    return archive.clara.documents.why_document(ref=ref, **arguments).message_key


def lines(told: dict[str, Any]) -> dict[int, list[tuple[int, int]]]:
    return {
        one["version"]: [(part["first_line"], part["last_line"]) for part in one.get("paragraphs", ())]
        for one in told["reasons"]
    }


def test_every_paragraph_leads_to_its_write_its_proposal_and_whoever_approved_it(archives: Archive) -> None:
    archives.written(reason="A first draft")
    wish: dict[str, Any] = {"changes": {"SERVER.PORT": 6000}, "commit_mode": "proposal", "reason": "The port moved"}
    proposal = done(archives.write(client=archives.scout, **wish)).data["proposal"]["id"]
    (waiting,) = done(archives.clara.record.why(of="plan.oct.md")).data["found"]
    assert [(one["id"], one["reason"]) for one in waiting["proposals"]] == [(proposal, "The port moved")]
    token = archives.clara.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    done(archives.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token))
    told = why(archives)
    assert (told["subject"], told["is_deleted"], told["is_recorded"]) == ("plan.oct.md", False, True)
    assert lines(told) == {1: [(1, 7), (9, 9)], 2: [(8, 8)]}
    first, second = told["reasons"]
    assert (first["by"]["id"], first["reason"], first["approvers"]) == ("clara", "A first draft", [])
    assert (second["by"]["id"], second["proposal"], second["approvers"], second["reason"]) == (
        "scout",
        proposal,
        ["clara"],
        "The port moved",
    )
    receipt = archives.clara.record.get_receipt(position=second["position"]).data["receipt"]
    assert receipt["facts_digest"] == second["receipt"]["facts_digest"]


@pytest.mark.parametrize(("field", "written"), [("STATUS", 2), ("SERVER.HOST", 1), ("META", 1)])
def test_one_field_or_section_is_told_by_the_write_that_last_set_it(archive: Archive, field: str, written: int) -> None:
    archive.written()
    archive.written(content=ACTIVE)
    (reason,) = why(archive, field=field)["reasons"]
    assert reason["version"] == written
    assert field.rpartition(".")[2] in reason["paragraphs"][0]["text"]


def test_a_field_that_is_not_there_is_refused(archive: Archive) -> None:
    archive.written()
    assert code(archive, "plan.oct.md", field="COLOUR") == "E_INPUT"
    through = archive.clara.record.why(of="plan.oct.md", field="COLOUR")
    assert (through.message_key, through.data["field"]) == ("FIELD_NOT_FOUND", "field")
    archive.outside("A : {\n", "broken.octave")
    archive.written("broken.octave", base_hash=None)
    archive.outside("===A===\nB::[\n", "broken.octave")
    assert code(archive, "broken.octave", field="B") == "E_PARSE"


@pytest.mark.parametrize("ref", ["notes/plan.oct.md", "plan.oct.md", "/plan.oct.md"])
def test_a_document_is_found_by_its_path_or_the_end_of_it(archives: Archive, ref: str) -> None:
    archives.written("notes/plan.oct.md")
    assert why(archives, ref)["subject"] == "notes/plan.oct.md"
    assert why(archives, str(archives.file("notes/plan.oct.md")))["subject"] == "notes/plan.oct.md"


def test_a_name_that_several_documents_have_asks_back(archives: Archive) -> None:
    for path in ("a/plan.oct.md", "b/plan.oct.md", "b/PLAN.oct.md", "b/my_plan.oct.md"):
        archives.written(path)
    refused = archives.clara.documents.why_document(ref="plan.oct.md")
    assert refused.message_key == "NEEDS_DISAMBIGUATION"
    candidates = [one["id"] for one in refused.data["suggestions"]["candidates"]]
    assert candidates == ["a/plan.oct.md", "b/plan.oct.md"]
    assert why(archives, candidates[1])["subject"] == "b/plan.oct.md"
    assert why(archives, "PLAN.oct.md")["subject"] == "b/PLAN.oct.md"


@pytest.mark.parametrize("ref", ["Order Service", "nowhere.oct.md", "../../etc/passwd", "/etc/hosts.md", "a\\b.md"])
def test_what_the_record_does_not_know_is_not_found(archive: Archive, ref: str) -> None:
    archive.outside(PLAN, "other.oct.md")
    assert code(archive, ref) == code(archive, "other.oct.md") == "RECORD_NOT_FOUND"


def test_the_end_of_a_path_leads_to_its_document_however_many_differ_in_capitals_alone(archives: Archive) -> None:
    for number in range(21):
        archives.written(f"d{number:02}/PLAN.oct.md")
    for path in ("z/plan.oct.md", "z/a_b.oct.md", "z/a%b.oct.md", "z/axb.oct.md", "z/É.oct.md"):
        archives.written(path)
        assert why(archives, path.removeprefix("z/"))["subject"] == path
    assert code(archives, "PLAN.oct.md") == "NEEDS_DISAMBIGUATION"
    assert code(archives, "lan.oct.md") == "RECORD_NOT_FOUND"


def test_of_a_document_that_was_erased_the_newest_facts_are_told(archive: Archive) -> None:
    for number in range(4):
        archive.written(content=PLAN.replace("DRAFT", f"EDITION{number}"))
    wish = {"aggregate": "documents", "subject": "plan.oct.md"}
    admin = archive.clara.as_("clara", "human", ["admin"])
    token = admin.record.erase(**wish).data["confirm_token"]
    done(admin.record.erase(**wish, confirm_token=token))
    whole, some = why(archive), why(archive, limit=2)
    assert [one["version"] for one in some["reasons"]] == [one["version"] for one in whole["reasons"]][-2:]
    assert some["reasons_in_all"] == whole["reasons_in_all"] == len(whole["reasons"]) >= 4


def test_what_was_changed_outside_is_told_apart_and_then_by_whoever_noticed_it(archive: Archive) -> None:
    archive.written()
    archive.outside(PLAN.replace("db1", "db2"))
    told = why(archive)
    assert (told["is_recorded"], [one["text"] for one in told["unrecorded"]]) == (False, ["  HOST::db2"])
    done(archive.write(changes={"STATUS": "ACTIVE"}))
    found = next(one for one in why(archive)["reasons"] if one["fact"] == "DocumentFound")
    assert (found["noticed_by"]["id"], "by" in found) == ("clara", False)


def test_a_document_whose_file_is_gone_is_told_by_what_it_said_last(archives: Archive) -> None:
    archives.written()
    archives.written(content=ACTIVE)
    archives.file().unlink()
    told = why(archives)
    assert (told["is_deleted"], told["hash"], list(lines(told))) == (True, None, [1, 2])
    archives.written("other.oct.md")
    token = archives.clara.documents.undo_document(path="other.oct.md").data["confirm_token"]
    done(archives.clara.documents.undo_document(path="other.oct.md", confirm_token=token))
    told = why(archives, "other.oct.md")
    assert [one["fact"] for one in told["reasons"]] == ["DocumentWritten", "DocumentRemoved"]


def test_of_an_erased_document_only_the_bare_facts_are_told(archives: Archive) -> None:
    archives.written(reason="A first draft")
    wish = {"aggregate": "documents", "subject": "plan.oct.md"}
    token = archives.clara.record.erase(**wish).data["confirm_token"]
    done(archives.clara.record.erase(**wish, confirm_token=token))
    told = why(archives)
    assert told["is_deleted"] is True
    assert [(one["fact"], one["erased"]) for one in told["reasons"]] == [("DocumentWritten", True), ("Erased", False)]
    assert "DRAFT" not in str(told)


def test_a_document_below_a_root_that_is_no_longer_there_is_still_told(local: Offices, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    subject = str(tmp_path / "old" / "plan.oct.md")
    Archive(local, roots=(tmp_path / "old",)).written()
    local.close()
    later = Archive(local, roots=(tmp_path / "new",))
    told = why(later, subject)
    assert (told["path"], told["is_deleted"], list(lines(told))) == (None, True, [1])


def test_another_tenant_is_told_nothing(archives: Archive) -> None:
    archives.written()
    stranger = archives.clara.as_("clara", "human", ["curator", "admin"], tenant="other")
    assert stranger.documents.why_document(ref="plan.oct.md").message_key == "RECORD_NOT_FOUND"
