"""Where a document comes from: versions, paragraphs, what was found, and taking a write back."""

from __future__ import annotations

import pytest

from engross.replies import Reply
from tests.documents.archive import PLAN, Archive, digest, done, envelope, refused

ACTIVE = PLAN.replace("DRAFT", "ACTIVE")


def blame(archive: Archive, **arguments: object) -> dict:
    return dict(done(archive.clara.documents.blame_document(path="plan.oct.md", **arguments)).data)


def undo(archive: Archive, **arguments: object) -> Reply:
    return archive.clara.documents.undo_document(path="plan.oct.md", **arguments)


def test_the_history_tells_who_when_and_why(archives: Archive) -> None:
    archives.written(reason="A first draft")
    done(archives.write(client=archives.scout, changes={"STATUS": "ACTIVE"}, client_request_id="activate-1"))
    second, first = archives.history()
    assert (first["version"], first["kind"], first["by"]["id"], first["reason"]) == (
        1,
        "written",
        "clara",
        "A first draft",
    )
    assert (second["by"]["id"], second["mode"], second["hash"]) == ("scout", "changes", digest(ACTIVE))
    assert [one["published"] for one in (first, second)] == ["done", "done"]
    told = archives.clara.documents.document_history(path="plan.oct.md", limit=1).data
    assert ([one["version"] for one in told["versions"]], told["next"], told["is_recorded"]) == ([2], 2, True)
    rest = archives.clara.documents.document_history(path="plan.oct.md", limit=5, before=told["next"]).data
    assert ([one["version"] for one in rest["versions"]], rest["next"]) == ([1], None)


@pytest.mark.requirement("NEW-05")
def test_every_paragraph_is_traced_to_its_write_and_what_stands_behind_it(archives: Archive) -> None:
    archives.written()
    proposed = done(
        archives.write(
            client=archives.scout, changes={"SERVER.PORT": 6000}, commit_mode="proposal", reason="The port moved"
        )
    )
    proposal = proposed.data["proposal"]["id"]
    token = archives.clara.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    done(archives.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token))
    told = blame(archives)
    assert [(one["first_line"], one["last_line"], one["version"]) for one in told["paragraphs"]] == [
        (1, 7, 1),
        (8, 8, 2),
        (9, 9, 1),
    ]
    write = next(one for one in told["writes"] if one["version"] == 2)
    assert (write["by"]["id"], write["proposal"], write["approvers"], write["reason"]) == (
        "scout",
        proposal,
        ["clara"],
        "The port moved",
    )
    receipt = archives.clara.record.get_receipt(position=write["position"]).data["receipt"]
    assert receipt["facts_digest"] == write["receipt"]["facts_digest"]


@pytest.mark.requirement("NEW-05")
@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({"field": "STATUS"}, [(5, 5, 2)]),
        ({"field": "SERVER"}, [(6, 8, 1)]),
        ({"field": "SERVER.HOST"}, [(7, 7, 1)]),
        ({"field": "META.VERSION"}, [(4, 4, 1)]),
        ({"line": 5}, [(5, 5, 2)]),
    ],
)
def test_one_field_or_line_can_be_asked_about(archive: Archive, asked: dict, lines: list) -> None:
    archive.written()
    archive.written(content=ACTIVE)
    told = blame(archive, **asked)
    assert [(one["first_line"], one["last_line"], one["version"]) for one in told["paragraphs"]] == lines
    assert [one["version"] for one in told["writes"]] == [lines[0][2]]


@pytest.mark.requirement("NEW-05")
def test_what_was_changed_outside_is_told_apart_and_enters_the_record_with_the_next_write(archive: Archive) -> None:
    archive.written()
    archive.outside(PLAN.replace("db1", "db2"))
    told = blame(archive)
    assert [one["version"] for one in told["paragraphs"]] == [1, None, 1]
    assert told["is_recorded"] is False
    done(archive.write(changes={"STATUS": "ACTIVE"}))
    assert [(one["version"], one["kind"]) for one in archive.history()] == [
        (3, "written"),
        (2, "found"),
        (1, "written"),
    ]
    assert [one["version"] for one in blame(archive)["paragraphs"]] == [1, 3, 1, 2, 1]


def test_a_file_that_was_there_before_the_office_is_kept_as_its_first_version(archive: Archive) -> None:
    archive.outside("===OLD===\nA : x\n===END===\n".replace(" : ", "::"))
    archive.written()
    assert [one["kind"] for one in archive.history()] == ["written", "found"]
    done(undo(archive))
    assert archive.text() == "===OLD===\nA::x\n===END===\n"


def test_a_file_that_somebody_took_away_is_noted_and_can_be_made_again(archive: Archive) -> None:
    archive.written()
    archive.file().unlink()
    assert refused(archive.write(changes={"STATUS": "X"})) == [("E_PATH", "E_FILE")]
    done(archive.write(content=ACTIVE))
    assert [(one["kind"], one.get("hash")) for one in archive.history()] == [
        ("written", digest(ACTIVE)),
        ("found", None),
        ("written", digest(PLAN)),
    ]


def test_a_version_brings_a_file_back_that_somebody_took_away(archive: Archive) -> None:
    archive.written()
    archive.file().unlink()
    done(undo(archive, version=1))
    assert archive.text() == PLAN
    assert [one["kind"] for one in archive.history()] == ["written", "found", "written"]


def test_taking_back_brings_the_bytes_before_back_as_a_new_version(archives: Archive) -> None:
    archives.written()
    archives.written(content=ACTIVE)
    told = envelope(undo(archives, reason="Too early"))
    assert (told["status"], told["restores"], told["version"]) == ("success", 1, 3)
    assert "-STATUS::ACTIVE\n+STATUS::DRAFT\n" in told["diff"]
    assert archives.text() == PLAN
    assert archives.history()[0]["restores"] == 1
    done(undo(archives, version=2))
    assert archives.text() == ACTIVE
    assert archives.clara.office.rebuild("main").same


def test_taking_the_only_write_back_takes_the_file_away_once_that_is_confirmed(archives: Archive) -> None:
    archives.written()
    asked = undo(archives)
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    assert archives.text() == PLAN
    done(undo(archives, confirm_token=asked.data["confirm_token"]))
    assert not archives.file().exists()
    assert [one["kind"] for one in archives.history()] == ["removed", "written"]
    done(undo(archives))
    assert archives.text() == PLAN


def test_the_code_says_whether_a_document_was_made_changed_or_taken_away(archive: Archive) -> None:
    assert archive.write(content=PLAN).message_key == "CREATED"
    assert archive.write(content=ACTIVE).message_key == "UPDATED"
    assert archive.write(content=ACTIVE).message_key == "NO_EFFECT"
    assert undo(archive).message_key == "UPDATED"
    other = {"path": "other.oct.md"}
    archive.written("other.oct.md")
    token = archive.clara.documents.undo_document(**other).data["confirm_token"]
    assert archive.clara.documents.undo_document(**other, confirm_token=token).message_key == "DELETED"
    assert archive.clara.documents.undo_document(**other, version=1).message_key == "CREATED"


def test_an_agent_that_would_take_a_file_away_proposes_it(archive: Archive) -> None:
    archive.written()
    answer = archive.scout.documents.undo_document(path="plan.oct.md")
    assert done(answer).data["status"] == "proposed"
    assert archive.text() == PLAN


def test_what_somebody_wrote_outside_is_not_taken_back_unseen(archive: Archive) -> None:
    archive.written()
    archive.written(content=ACTIVE)
    raw = ACTIVE.replace("db1", "db2")
    archive.outside(raw)
    told = envelope(undo(archive))
    assert (told["errors"][0]["code"], told["current_hash"]) == ("E_HASH", digest(raw))
    assert "+  HOST::db2\n" in told["diff"]
    assert archive.text() == raw
    done(undo(archive, version=1, base_hash=digest(raw)))
    assert archive.text() == PLAN


def test_versions_can_be_read_and_compared(archives: Archive) -> None:
    position = archives.written()["position"]
    archives.written(content=ACTIVE)
    read = archives.clara.documents.read_document
    assert done(read(path="plan.oct.md")).data["content"] == ACTIVE
    assert done(read(path="plan.oct.md", version=1)).data["content"] == PLAN
    assert done(read(path="plan.oct.md", as_of=position)).data["content"] == PLAN
    compared = done(archives.clara.documents.compare_versions(path="plan.oct.md", old=1, new=2)).data
    assert "+STATUS::ACTIVE\n" in compared["diff"]
    archives.outside(ACTIVE + "// more\n")
    assert "+// more\n" in done(archives.clara.documents.compare_versions(path="plan.oct.md")).data["diff"]
    assert read(path="plan.oct.md", version=7).message_key == "RECORD_NOT_FOUND"


def test_documents_are_listed_page_by_page(archive: Archive) -> None:
    for name in ("a/1.oct.md", "a/2.oct.md", "b.oct.md"):
        archive.written(name)
    first = done(archive.clara.documents.list_documents(limit=2)).data
    assert [one["path"] for one in first["documents"]] == ["a/1.oct.md", "a/2.oct.md"]
    rest = done(archive.clara.documents.list_documents(after=first["next"])).data
    assert ([one["path"] for one in rest["documents"]], rest["next"]) == (["b.oct.md"], None)
    assert len(done(archive.clara.documents.list_documents(below="a/")).data["documents"]) == 2


def test_a_forgotten_document_leaves_no_trace_in_the_state(archive: Archive) -> None:
    archive.written()
    asked = archive.clara.record.erase(aggregate="documents", subject="plan.oct.md")
    done(
        archive.clara.record.erase(
            aggregate="documents", subject="plan.oct.md", confirm_token=asked.data["confirm_token"]
        )
    )
    assert archive.clara.documents.document_history(path="plan.oct.md").message_key == "RECORD_NOT_FOUND"
    assert done(archive.write(changes={"STATUS": "NEW"})).ok
    assert archive.clara.office.rebuild("main").same
