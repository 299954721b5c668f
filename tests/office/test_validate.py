"""validateWrite: the same path as the write, to the end, and nothing stays of it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.office.desk import facts, proposal_of, titles
from tests.office.notes import Bench


def validate(client: Client, operation: str, **payload: Any) -> Reply:
    return client.call("record.validate-write", {"operation": operation, "payload": payload})


@pytest.mark.requirement("ARCH-12", "NEW-10")
def test_what_would_be_committed_is_shown_and_nothing_is_done(curator: Client) -> None:
    checked = validate(curator, "addBook", title="  Dune ", writer="Frank Herbert")
    assert checked.message_key == "VALIDATION_DONE"
    data = checked.data
    assert (data["operation"], data["valid"], data["errors"]) == ("shelf.add-book", True, [])
    assert data["normalized"] == {"title": "Dune", "author": "Frank Herbert"}
    assert data["would"] == {
        "mode": "direct",
        "risk_tier": 2,
        "approvals_required": 0,
        "confirmation_required": False,
    }
    assert [warning["code"] for warning in data["warnings"]] == ["ALIAS_USED", "MISSING_NOTES"]
    assert data["answer"]["book"]["title"] == "Dune"
    assert [entry["change"] for entry in data["diff"]] == ["add"]
    assert "Frank Herbert" in data["diff_text"]
    assert list(data["based_on"].values()) == [0]
    assert "confirm_token" not in data
    assert titles(curator) == []
    assert facts(curator) == []


@pytest.mark.requirement("ARCH-12", "ARCH-27")
def test_an_agent_is_told_that_it_would_propose(agent: Client) -> None:
    would = validate(agent, "shelf.add-book", title="Dune").data["would"]
    assert would == {
        "mode": "proposal",
        "risk_tier": 2,
        "approvals_required": 1,
        "confirmation_required": False,
    }
    assert facts(agent) == []
    assert agent.proposals.list_proposals().data["proposals"] == []


@pytest.mark.requirement("ARCH-12")
def test_suggestions_are_those_that_the_write_would_make(curator: Client) -> None:
    curator.shelf.add_book(title="Dune", author="Frank Herbert")
    curator.shelf.add_book(title="Dune Messiah", author="Frank Herbert")
    checked = validate(curator, "addBook", title="Children of Dune", author="Frank Herbert")
    assert checked.data["suggestions"] == ["There are 2 books by Frank Herbert: shelf.list-books with author."]
    assert validate(curator, "addBook", title="Emma").data["suggestions"] != []


@pytest.mark.requirement("ARCH-12")
def test_all_errors_are_told_at_once_and_the_check_itself_succeeded(curator: Client) -> None:
    checked = validate(curator, "changeBook", id="", title="", autor="x", expected_version=0)
    assert (checked.reply_type, checked.message_key) == ("S", "VALIDATION_DONE")
    assert (checked.data["valid"], checked.data["would"]["mode"]) == (False, "refused")
    found = {error["field"]: error["code"] for error in checked.data["errors"]}
    assert found == {
        "id": "VALIDATION_ERROR",
        "title": "VALIDATION_ERROR",
        "expected_version": "VALIDATION_ERROR",
        "autor": "UNKNOWN_FIELD",
    }
    assert validate(curator, "changeBook", id="", title="", autor="x", expected_version=0).data == checked.data


def test_a_rule_of_the_domain_is_told_with_its_suggestions(curator: Client) -> None:
    curator.shelf.add_book(title="Dune")
    checked = validate(curator, "addBook", title="dune")
    (error,) = checked.data["errors"]
    assert (checked.data["valid"], error["code"], error["field"]) == (False, "DUPLICATE_NAME", "title")
    assert error["suggestions"]["alternatives"][0] == "dune (2)"


def test_a_denial_is_told_as_one(curator: Client) -> None:
    viewer = curator.as_("vic", "human", ["viewer"])
    checked = validate(viewer, "addBook", title="Dune")
    assert (checked.data["valid"], checked.data["would"]["mode"]) == (False, "deny")
    assert [error["code"] for error in checked.data["errors"]] == ["WRITE_DENIED"]


def test_who_may_not_make_a_write_hears_nothing_of_its_arguments(curator: Client, agent: Client) -> None:
    for operation in ("door.create-token", "door.revoke-token"):
        for payload in ({}, {"principal": 1, "x": 2}):
            checked = validate(agent, operation, **payload)
            assert (checked.data["valid"], checked.data["would"]) == (False, {"mode": "deny"})
            [error] = checked.data["errors"]
            assert (error["code"], error["field"]) == ("PEOPLE_ONLY", None)
    told = validate(curator.as_("anna", "human", ["admin"]), "door.create-token").data["errors"]
    assert {error["code"] for error in told} == {"VALIDATION_ERROR"}


def test_what_would_change_nothing_is_called_unchanged(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    for client in (curator, agent):
        assert validate(client, "changeBook", id=book, title="Dune").data["would"]["mode"] == "unchanged"


def test_a_removal_comes_with_the_token_that_confirms_it(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    checked = validate(curator, "removeBook", id=book)
    assert checked.data["would"]["confirmation_required"] is True
    assert titles(curator) == ["Dune"]
    done = curator.shelf.remove_book(id=book, confirm_token=checked.data["confirm_token"])
    assert done.message_key == "DELETED"


@pytest.mark.requirement("NEW-10")
def test_every_write_of_the_office_can_be_tried_out(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    proposal = proposal_of(agent.shelf.change_book(id=book, notes="sand"))
    draft = proposal_of(agent.shelf.add_book(title="Ulysses", commit_mode="draft"))
    admin = curator.as_("anna", "human", ["admin"])
    token = admin.door.create_token(principal="scout", type="agent", roles=["agent"]).data["token"]["id"]
    payloads: dict[str, dict[str, Any]] = {
        "door.create-token": {"principal": "scout", "type": "agent", "roles": ["agent"]},
        "door.revoke-token": {"token_id": token},
        "record.erase": {"aggregate": "shelf", "subject": book},
        "record.keep-blob": {
            "content_hash": "0" * 64,
            "size": 3,
            "media_type": "text/plain",
            "name": "note.txt",
            "upload_token": "0" * 64,
        },
        "proposals.expire-proposals": {},
        "proposals.rebase-proposal": {"proposal_id": proposal},
        "proposals.review-proposal": {"proposal_id": proposal, "decision": "reject", "rationale": "no"},
        "proposals.submit-proposal": {"proposal_id": draft},
        "proposals.withdraw-proposal": {"proposal_id": proposal},
        "shelf.add-book": {"title": "Emma"},
        "shelf.change-book": {"id": book, "title": "Emma"},
        "shelf.import-books": {"text": "Emma, Jane Austen"},
        "shelf.remove-book": {"id": book},
    }
    assert sorted(payloads) == [flow.ref for flow in curator.office.catalogue if flow.writes]
    before = facts(curator)
    for operation, payload in payloads.items():
        checked = validate(admin, operation, **payload)
        assert (checked.message_key, checked.data["valid"]) == ("VALIDATION_DONE", True), (operation, checked)
        dry = admin.call(operation, payload, dry_run=True)
        assert dry.message_key == "VALIDATION_DONE"
    assert facts(curator) == before
    assert titles(curator) == ["Dune"]
    assert curator.office.rebuild("main").same


def test_trying_out_takes_no_key(curator: Client) -> None:
    assert validate(curator, "addBook", title="Dune", client_request_id="one-key-for-all").data["valid"]
    added = curator.shelf.add_book(title="Emma", client_request_id="one-key-for-all")
    assert (added.message_key, added.data["idempotent_replay"]) == ("CREATED", False)


def test_an_operation_that_is_no_write_is_invalid(curator: Client) -> None:
    for operation in ("addBok", "shelf.add-bok", "getBook", "shelf.get-book", ""):
        refused = validate(curator, operation, title="Dune")
        assert (refused.reply_type, refused.message_key) == ("I", "UNKNOWN_OPERATION"), operation


@pytest.mark.requirement("ARCH-12")
def test_an_operation_that_nobody_knows_is_answered_with_the_tools_that_the_caller_may_use(
    curator: Client, agent: Client
) -> None:
    for client, people in ((curator, True), (agent, False)):
        refused = validate(client, "removeBok")
        (error,) = refused.data["errors"]
        assert error["field"] == "operation"
        told = error["suggestions"]
        assert told["did_you_mean"][0] == "removeBook"
        assert "addBook" in told["allowed_values"]
        assert ("reviewProposal" in told["allowed_values"]) is people
        tools = {tool.name: tool.flow for tool in client.office.catalogue.tools()}
        offered = [tools[name] for name in told["allowed_values"]]
        assert all(flow.writes and flow.deprecated_since is None for flow in offered)
    assert validate(curator, "shelf.remove-bok").data["suggestions"]["did_you_mean"][0] == "removeBook"


def test_a_malformed_question_is_invalid(curator: Client) -> None:
    questions: list[dict[str, Any]] = [{}, {"operation": "addBook"}, {"operation": "addBook", "payload": []}]
    for arguments in questions:
        assert curator.call("record.validate-write", arguments).reply_type == "I"


def test_a_crash_of_the_flow_is_an_error_of_the_check_too(offices: Offices) -> None:
    bench = Bench()
    curator = offices.open(bench.notes)
    bench.applier_breaks = True
    assert validate(curator, "addNote", text="fragile").reply_type == "E"


def test_it_can_be_awaited(curator: Client) -> None:
    async def ask() -> list[Reply]:
        titles = [f"Book {number}" for number in range(20)]
        arguments = [{"operation": "addBook", "payload": {"title": title}} for title in titles]
        return await asyncio.gather(*(curator.acall("record.validate-write", one) for one in arguments))

    assert {checked.data["valid"] for checked in asyncio.run(ask())} == {True}
    assert facts(curator) == []


def test_many_may_try_out_at_once(offices: Offices) -> None:
    many = 20
    together = Barrier(many)
    aggregate = Bench().notes

    @aggregate.flows["add-notes"].normalise
    def all_together(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        together.wait(timeout=30)
        return arguments, []

    curator = offices.open(shelf(), aggregate)
    with ThreadPoolExecutor(many) as threads:
        waiting = [threads.submit(validate, curator, "addNotes", lines=f"note {one}") for one in range(many)]
        answers = [answer.result() for answer in waiting]
    assert {answer.message_key for answer in answers} == {"VALIDATION_DONE"}
    assert {answer.data["valid"] for answer in answers} == {True}
