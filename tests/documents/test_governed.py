"""Writes that a person decides about: proposed, grown as drafts, approved later, stale when the ground moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from engross.replies import Reply
from tests.bed.offices import Offices
from tests.documents.archive import PLAN, Archive, done, envelope

ACTIVE = PLAN.replace("DRAFT", "ACTIVE")
PROPOSE = """
@id("documents.by-people")
forbid (principal is Agent, action == Action::"commit", resource)
when { resource.ref == "documents.octave-write" };
"""


def approve(archive: Archive, proposal: str) -> Reply:
    shown = archive.clara.proposals.get_proposal(proposal_id=proposal).data
    token = {"approval_token": shown["approval_token"]} if "approval_token" in shown else {}
    return archive.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", **token)


@pytest.mark.requirement("DOC-04")
def test_an_agent_writes_directly_unless_policy_says_otherwise(local: Offices) -> None:
    assert done(Archive(local).write(content=PLAN, client_request_id="first-one")).data["status"] == "committed"
    local.close()
    (local.folder / "policies").mkdir()
    (local.folder / "policies" / "documents.cedar").write_text(PROPOSE)
    archive = Archive(local)
    told = envelope(archive.write(client=archive.scout, content=ACTIVE))
    assert (told["status"], told["errors"]) == ("proposed", [])
    assert "+STATUS::ACTIVE\n" in told["diff"]
    assert archive.text() == PLAN
    done(approve(archive, told["proposal"]["id"]))
    assert archive.text() == ACTIVE


def test_a_reviewer_sees_the_difference_line_by_line(archive: Archive) -> None:
    archive.written()
    proposed = done(archive.write(client=archive.scout, content=ACTIVE, commit_mode="proposal")).data
    shown = done(archive.clara.proposals.get_proposal(proposal_id=proposed["proposal"]["id"])).data
    lines = [line.strip() for line in shown["diff_text"].split("\n")]
    assert "-STATUS::DRAFT" in lines
    assert "+STATUS::ACTIVE" in lines


@pytest.mark.requirement("GOV-01")
def test_a_draft_grows_on_what_it_holds_and_is_written_as_one(archives: Archive) -> None:
    first = done(archives.write("a.oct.md", client=archives.scout, content=PLAN, commit_mode="draft")).data
    draft = first["proposal"]["id"]
    second = done(
        archives.write("a.oct.md", client=archives.scout, changes={"STATUS": "ACTIVE"}, proposal_id=draft)
    ).data
    done(archives.write("b.oct.md", client=archives.scout, content=PLAN, proposal_id=draft))
    assert second["previous_hash"] == first["canonical_hash"]
    inside = archives.scout.documents.read_document(path="a.oct.md", proposal_id=draft)
    assert done(inside).data["content"] == ACTIVE
    assert not archives.root.exists() or list(archives.root.iterdir()) == []
    done(archives.scout.proposals.submit_proposal(proposal_id=draft))
    committed = done(approve(archives, draft))
    assert set(committed.data["published"].values()) == {"done"}
    assert (archives.text("a.oct.md"), archives.text("b.oct.md")) == (ACTIVE, PLAN)
    assert [one["version"] for one in archives.history("a.oct.md")] == [2, 1]
    assert archives.clara.office.rebuild("main").same


@pytest.mark.requirement("DOC-08")
@pytest.mark.parametrize("guarded", [True, False])
def test_a_proposal_whose_file_was_changed_meanwhile_is_stale(archives: Archive, guarded: bool) -> None:
    base = {"base_hash": archives.written()["canonical_hash"]} if guarded else {}
    archives.written()
    proposed = done(archives.write(client=archives.scout, content=ACTIVE, commit_mode="proposal", **base)).data
    archives.outside(PLAN.replace("db1", "db2"))
    assert approve(archives, proposed["proposal"]["id"]).message_key == "PROPOSAL_STALE"
    assert archives.text() == PLAN.replace("db1", "db2")


def test_a_proposal_that_another_write_overtook_is_stale(archive: Archive) -> None:
    archive.written()
    proposed = done(archive.write(client=archive.scout, changes={"STATUS": "X"}, commit_mode="proposal")).data
    archive.written(content=PLAN.replace("db1", "db2"))
    assert approve(archive, proposed["proposal"]["id"]).message_key == "PROPOSAL_STALE"
    rebased = archive.scout.proposals.rebase_proposal(proposal_id=proposed["proposal"]["id"])
    assert rebased.message_key == "PROPOSAL_STALE"


def test_a_rejected_proposal_leaves_the_file_alone(archive: Archive, tmp_path: Path) -> None:
    archive.written()
    proposed = done(archive.write(client=archive.scout, content=ACTIVE, commit_mode="proposal")).data
    done(
        archive.clara.proposals.review_proposal(
            proposal_id=proposed["proposal"]["id"], decision="reject", rationale="Not yet"
        )
    )
    assert archive.text() == PLAN
    assert len(archive.history()) == 1


def test_a_viewer_may_check_and_not_write(archive: Archive) -> None:
    vera = archive.clara.as_("vera", roles=["viewer"])
    assert done(vera.documents.octave_validate(content=PLAN, schema="META")).ok
    told = envelope(archive.write(client=vera, content=PLAN))
    assert [(one["code"], one["reply_type"]) for one in told["errors"]] == [("E_WRITE", "D")]
    assert not archive.root.exists()
