"""The life of a proposal: it grows, is sent, decided, taken back; and nobody sees it in the record before."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engross.governance import TRANSITIONS
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import (
    approve,
    fact_types,
    facts,
    policies,
    proposal_of,
    receipt,
    reject,
    request_changes,
    show,
    status,
    suggestions,
    titles,
)
from tests.office.notes import Bench

TWO_APPROVALS = "approvals_by_tier = { 2 = 2 }"


class Table:
    """An office where a medium change needs two approvals, and proposals in every state of their life."""

    def __init__(self, offices: Offices, folder: Path) -> None:
        self.clock = offices.clock
        self.clara = offices.open(policies=policies(folder, TWO_APPROVALS))
        self.dora = self.clara.as_("dora", "human", ["curator"])
        self.scout = self.clara.as_("scout", "agent", ["agent"])
        self._made = 0

    def opened(self, **more: Any) -> str:
        self._made += 1
        return proposal_of(self.scout.shelf.add_book(title=f"Book {self._made}", **more))

    def in_state(self, state: str) -> str:
        proposal: str = getattr(self, f"_{state}")()
        return proposal

    def _draft(self) -> str:
        return self.opened(commit_mode="draft")

    def _handed_back(self) -> str:
        proposal = self._in_review()
        assert request_changes(self.dora, proposal).ok
        return proposal

    def _proposed(self) -> str:
        return self.opened()

    def _in_review(self) -> str:
        proposal = self.opened()
        assert approve(self.clara, proposal).message_key == "PROPOSAL_APPROVED"
        return proposal

    def _accepted(self) -> str:
        proposal = self._in_review()
        assert approve(self.dora, proposal).message_key == "PROPOSAL_COMMITTED"
        return proposal

    def _rejected(self) -> str:
        proposal = self.opened()
        assert reject(self.clara, proposal).ok
        return proposal

    def _withdrawn(self) -> str:
        proposal = self.opened()
        assert self.scout.proposals.withdraw_proposal(proposal_id=proposal).ok
        return proposal

    def _rebased(self) -> str:
        proposal = self.opened()
        assert self.scout.proposals.rebase_proposal(proposal_id=proposal).ok
        return proposal

    def _expired(self) -> str:
        proposal = self.opened()
        self.clock.pass_(days=31)
        return proposal

    def move(self, name: str, proposal: str) -> Reply:
        moves: dict[str, Callable[[], Reply]] = {
            "extend": lambda: self.scout.shelf.add_book(title=f"More of {proposal}", proposal_id=proposal),
            "submit": lambda: self.scout.proposals.submit_proposal(proposal_id=proposal),
            "review": lambda: reject(self.clara, proposal),
            "withdraw": lambda: self.scout.proposals.withdraw_proposal(proposal_id=proposal),
            "rebase": lambda: self.scout.proposals.rebase_proposal(proposal_id=proposal),
        }
        return moves[name]()


MOVES = ("extend", "submit", "review", "withdraw", "rebase")
# In which state of its life a proposal allows which move, and what it is after it.
ALLOWED: dict[str, dict[str, str]] = {
    "draft": {"extend": "draft", "submit": "proposed", "withdraw": "withdrawn", "rebase": "rebased"},
    "handed_back": {"extend": "draft", "submit": "proposed", "withdraw": "withdrawn", "rebase": "rebased"},
    # Sending what was sent already changes nothing.
    "proposed": {
        "extend": "proposed",
        "submit": "proposed",
        "review": "rejected",
        "withdraw": "withdrawn",
        "rebase": "rebased",
    },
    "in_review": {"review": "rejected", "withdraw": "withdrawn", "rebase": "rebased"},
    "accepted": {},
    "rejected": {},
    "withdrawn": {},
    "rebased": {},
    "expired": {},
}
CALLED: dict[str, Any] = {"handed_back": "draft", "expired": "withdrawn"}


@pytest.mark.requirement("GOV-01", "ARCH-29")
@pytest.mark.parametrize("state", ALLOWED)
def test_each_state_allows_its_moves_and_refuses_the_others(offices: Offices, tmp_path: Path, state: str) -> None:
    table = Table(offices, tmp_path / "policies")
    refusing = table.in_state(state)
    before = show(table.clara, refusing)["proposal"]
    assert before["status"] == CALLED.get(state, state)
    for move in MOVES:
        if move in ALLOWED[state]:
            continue
        refused = table.move(move, refusing)
        assert refused.message_key == "PROPOSAL_STATE", (move, refused)
        assert suggestions(refused)["allowed_transitions"] == list(TRANSITIONS[before["status"]])
    assert show(table.clara, refusing)["proposal"] == before
    for move, after in ALLOWED[state].items():
        proposal = table.in_state(state)
        moved = table.move(move, proposal)
        assert moved.ok, (move, moved)
        assert status(table.clara, proposal) == after


def test_a_growing_draft_holds_what_was_added_and_can_be_read_from_inside_only(curator: Client, agent: Client) -> None:
    opened = agent.shelf.add_book(title="Dune", commit_mode="draft")
    draft, book = proposal_of(opened), opened.data["book"]["id"]
    assert opened.data["proposal"]["status"] == "draft"
    changed = agent.shelf.change_book(id=book, author="Frank Herbert", proposal_id=draft)
    assert proposal_of(changed) == draft
    assert (changed.data["previous_version"], changed.data["new_version"]) == (1, 2)
    inside = agent.shelf.get_book(id=book, proposal_id=draft)
    assert inside.data["book"]["author"] == "Frank Herbert"
    assert agent.shelf.list_authors(proposal_id=draft).data["authors"] == [{"author": "Frank Herbert", "books": 1}]
    for outside in (curator, agent):
        assert outside.shelf.get_book(id=book).message_key == "RECORD_NOT_FOUND"
        assert titles(outside) == []
    assert titles(curator, proposal_id=draft) == ["Dune"]


@pytest.mark.requirement("GOV-01", "ARCH-29")
def test_what_an_agent_drafts_and_sends_is_committed_with_the_ids_and_the_time_it_was_shown(
    offices: Offices, curator: Client, agent: Client
) -> None:
    drafted_at = offices.clock()
    opened = agent.shelf.add_book(title="Dune", commit_mode="draft", reason="It is quoted everywhere.")
    draft, book = proposal_of(opened), opened.data["book"]["id"]
    agent.shelf.change_book(id=book, author="Frank Herbert", proposal_id=draft)
    agent.shelf.add_book(title="Emma", proposal_id=draft)
    sent = agent.proposals.submit_proposal(proposal_id=draft)
    assert (sent.message_key, sent.data["proposal"]["status"]) == ("PROPOSAL_SUBMITTED", "proposed")
    offices.clock.pass_(days=3)
    shown = show(curator, draft)
    assert shown["proposal"]["reason"] == "It is quoted everywhere."
    done = approve(curator, draft)
    assert done.message_key == "PROPOSAL_COMMITTED"
    previews = [operation["preview"] for operation in shown["proposal"]["operations"]]
    assert [result["answer"] for result in done.data["results"]] == previews
    assert curator.shelf.get_book(id=book).data["book"] == previews[1]["book"]
    assert titles(agent) == ["Dune", "Emma"]
    committed = [fact for fact in facts(curator) if fact["position"] == done.data["position"]]
    of_the_shelf = [fact for fact in committed if fact["source"].endswith(":shelf")]
    assert {fact["causationid"] for fact in of_the_shelf} == {draft}
    assert {fact["time"] for fact in of_the_shelf} == {drafted_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
    assert [fact["subject"] for fact in of_the_shelf] == [
        previews[0]["book"]["id"],
        previews[1]["book"]["id"],
        previews[2]["book"]["id"],
    ]
    assert committed[-1]["type"].endswith("ProposalAccepted.v1")
    assert committed[-1]["time"] > of_the_shelf[0]["time"]


def test_the_receipt_of_an_approval_names_author_approver_and_what_was_approved(curator: Client, agent: Client) -> None:
    draft = proposal_of(agent.shelf.add_book(title="Dune", commit_mode="draft"))
    agent.shelf.add_book(title="Emma", proposal_id=draft)
    agent.proposals.submit_proposal(proposal_id=draft)
    done = approve(curator, draft, rationale="Both are missing.", reason="Tuesday's round")
    body = receipt(curator, done.data["position"])
    assert body["proposal"] == draft
    assert body["author"] == {"id": "scout", "type": "agent", "roles": ["agent"]}
    assert body["principal"]["id"] == "clara"
    assert body["approvers"] == ["clara"]
    assert body["approval"] == {"tier": 2, "because": ["approve.ordinary"]}
    assert [(plan["flow"], plan["version"], plan["tier"]) for plan in body["plans"]] == [
        ("shelf.add-book", "1.0.0", 2),
        ("shelf.add-book", "1.0.0", 2),
    ]
    assert body["reason"] == "Tuesday's round"
    assert body["facts"] == 3


def test_a_proposal_is_reviewable_at_once_and_may_still_grow(curator: Client, agent: Client) -> None:
    opened = agent.shelf.add_book(title="Dune")
    proposal = proposal_of(opened)
    assert opened.data["proposal"]["status"] == "proposed"
    assert "approval_token" in show(curator, proposal)
    agent.shelf.change_book(id=opened.data["book"]["id"], notes="A classic.", proposal_id=proposal)
    done = approve(curator, proposal)
    assert [result["operation"] for result in done.data["results"]] == ["shelf.add-book", "shelf.change-book"]


def test_nobody_can_review_a_draft(curator: Client, agent: Client) -> None:
    draft = proposal_of(agent.shelf.add_book(title="Dune", commit_mode="draft"))
    assert "approval_token" not in show(curator, draft)
    assert reject(curator, draft).message_key == "PROPOSAL_STATE"


def test_a_person_who_could_commit_may_draft_as_well(curator: Client) -> None:
    draft = proposal_of(curator.shelf.add_book(title="Dune", commit_mode="draft"))
    assert titles(curator) == []
    assert curator.proposals.submit_proposal(proposal_id=draft).ok
    assert "approval_token" not in show(curator, draft)
    dora = curator.as_("dora", "human", ["curator"])
    assert approve(dora, draft).message_key == "PROPOSAL_COMMITTED"


def test_only_its_author_adds_to_a_proposal_and_a_dry_run_says_so_too(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    for other in (curator, curator.as_("rover", "agent", ["agent"])):
        for dry_run in (False, True):
            arguments = {"title": "Emma", "proposal_id": proposal}
            refused = other.call("shelf.add-book", arguments, dry_run=dry_run)
            assert (refused.reply_type, refused.message_key) == ("D", "WRITE_DENIED")
    assert len(show(curator, proposal)["proposal"]["operations"]) == 1


def test_a_dry_run_in_a_draft_sees_the_draft_and_leaves_it_alone(curator: Client, agent: Client) -> None:
    opened = agent.shelf.add_book(title="Dune", commit_mode="draft")
    draft = proposal_of(opened)
    before = show(curator, draft)
    arguments = {"id": opened.data["book"]["id"], "title": "Dune Messiah", "proposal_id": draft}
    tried = agent.call("shelf.change-book", arguments, dry_run=True)
    assert (tried.message_key, tried.data["would"]["mode"]) == ("VALIDATION_DONE", "proposal")
    assert tried.data["answer"]["book"]["version"] == 2
    assert show(curator, draft) == before


def test_only_its_author_or_an_admin_withdraws_a_proposal(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    rover = curator.as_("rover", "agent", ["agent"])
    for other in (rover, curator):
        assert other.proposals.withdraw_proposal(proposal_id=proposal).message_key == "WRITE_DENIED"
    admin = curator.as_("anna", "human", ["admin"])
    assert admin.proposals.withdraw_proposal(proposal_id=proposal).message_key == "PROPOSAL_WITHDRAWN"


def test_others_do_not_send_a_draft_but_curators_may(curator: Client, agent: Client) -> None:
    draft = proposal_of(agent.shelf.add_book(title="Dune", commit_mode="draft"))
    rover = curator.as_("rover", "agent", ["agent"])
    assert rover.proposals.submit_proposal(proposal_id=draft).message_key == "WRITE_DENIED"
    assert curator.proposals.submit_proposal(proposal_id=draft).ok
    assert rover.proposals.submit_proposal(proposal_id=draft).message_key == "WRITE_DENIED"


def test_a_proposal_that_is_handed_back_is_mended_and_sent_again(curator: Client, agent: Client) -> None:
    opened = agent.shelf.add_book(title="Dune")
    proposal = proposal_of(opened)
    handed = request_changes(curator, proposal, "Who wrote it?")
    assert (handed.message_key, handed.data["proposal"]["status"]) == ("PROPOSAL_CHANGES_REQUESTED", "draft")
    asked = show(agent, proposal)["proposal"]["decisions"]
    assert [(one["reviewer"], one["decision"], one["rationale"]) for one in asked] == [
        ("clara", "request_changes", "Who wrote it?")
    ]
    agent.shelf.change_book(id=opened.data["book"]["id"], author="Frank Herbert", proposal_id=proposal)
    assert agent.proposals.submit_proposal(proposal_id=proposal).ok
    assert approve(curator, proposal).message_key == "PROPOSAL_COMMITTED"
    assert curator.shelf.list_authors().data["authors"] == [{"author": "Frank Herbert", "books": 1}]


def test_a_proposal_states_facts_of_its_own_and_the_record_none_before_the_commit(
    curator: Client, agent: Client
) -> None:
    draft = proposal_of(agent.shelf.add_book(title="Dune", commit_mode="draft"))
    agent.shelf.add_book(title="Emma", proposal_id=draft)
    agent.proposals.submit_proposal(proposal_id=draft)
    assert fact_types(curator) == ["ProposalOpened", "PlanAdded", "PlanAdded", "ProposalSubmitted"]
    approve(curator, draft)
    assert fact_types(curator)[4:] == ["BookAdded.v2", "BookAdded.v2", "ProposalAccepted"]


def test_what_would_change_nothing_is_no_proposal(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    position = facts(curator)[-1]["position"]
    same = agent.shelf.change_book(id=book, title="Dune", client_request_id="no-change-1")
    assert (same.message_key, same.data["status"], same.data["facts"]) == ("NO_EFFECT", "unchanged", [])
    assert same.data["position"] is None
    again = agent.shelf.change_book(id=book, title="Dune", client_request_id="no-change-1")
    assert (again.message_key, again.data["idempotent_replay"]) == ("NO_EFFECT", True)
    draft = proposal_of(agent.shelf.add_book(title="Emma", commit_mode="draft"))
    within = agent.shelf.change_book(id=book, title="Dune", proposal_id=draft)
    assert within.message_key == "NO_EFFECT"
    assert len(show(curator, draft)["proposal"]["operations"]) == 1
    assert fact_types(curator, position) == ["ProposalOpened", "PlanAdded"]


def test_an_open_proposal_cannot_be_read_into_the_past(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    refused = agent.shelf.list_books(proposal_id=proposal, as_of=0)
    assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "as_of")


def test_a_proposal_that_is_over_is_no_place_to_read_in(curator: Client, agent: Client) -> None:
    ends: list[Callable[[str], Reply]] = [
        lambda proposal: approve(curator, proposal),
        lambda proposal: reject(curator, proposal),
        lambda proposal: agent.proposals.withdraw_proposal(proposal_id=proposal),
    ]
    for number, end in enumerate(ends):
        proposal = proposal_of(agent.shelf.add_book(title=f"Book {number}"))
        assert end(proposal).ok
        assert agent.shelf.list_books(proposal_id=proposal).message_key == "PROPOSAL_STATE"


def test_no_such_proposal(curator: Client, agent: Client) -> None:
    nowhere = {"proposal_id": "prop_nowhere"}
    answers = [
        agent.call("shelf.add-book", {"title": "Dune", **nowhere}),
        agent.call("shelf.list-books", nowhere),
        agent.call("proposals.get-proposal", nowhere),
        agent.call("proposals.submit-proposal", nowhere),
        agent.call("proposals.withdraw-proposal", nowhere),
        agent.call("proposals.rebase-proposal", nowhere),
        curator.call("proposals.review-proposal", {**nowhere, "decision": "approve"}),
    ]
    assert {answer.message_key for answer in answers} == {"PROPOSAL_NOT_FOUND"}
    assert {answer.data["field"] for answer in answers} == {"proposal_id"}


@pytest.mark.requirement("GOV-01")
def test_an_applier_that_breaks_leaves_nothing_behind(offices: Offices) -> None:
    bench = Bench()
    curator = offices.open(bench.notes)
    agent = curator.as_("scout", "agent", ["agent"])
    draft = proposal_of(agent.notes.add_note(text="solid"))
    agent.notes.add_note(text="fragile", proposal_id=draft)
    agent.notes.add_note(text="solid as well", proposal_id=draft)
    shown = show(curator, draft)
    position = facts(curator)[-1]["position"]
    bench.applier_breaks = True
    broken = approve(curator, draft, client_request_id="approve-fragile")
    assert (broken.reply_type, broken.message_key) == ("E", "SYS_CRASH")
    assert facts(curator, position) == []
    assert show(curator, draft) == shown
    for operation in shown["proposal"]["operations"]:
        missing = curator.notes.get_note(id=operation["preview"]["note"]["id"])
        assert missing.message_key == "RECORD_NOT_FOUND"
    bench.applier_breaks = False
    assert approve(curator, draft, client_request_id="approve-fragile").message_key == "PROPOSAL_COMMITTED"
    assert curator.office.rebuild("main").same


def test_a_flow_that_uses_the_reason_finds_the_authors_own_again(offices: Offices) -> None:
    curator = offices.open(Bench().notes)
    agent = curator.as_("scout", "agent", ["agent"])
    proposal = proposal_of(agent.notes.add_note(text="hello", reason="somebody asked"))
    assert approve(curator, proposal, reason="fine").message_key == "PROPOSAL_COMMITTED"
    stated = next(fact for fact in facts(curator) if fact["type"].endswith("NoteAdded.v1"))
    assert stated["data"]["payload"]["reason"] == "somebody asked"


def test_a_proposal_says_what_it_would_change_in_a_form_people_read(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune", author="Herbert").data["book"]["id"]
    draft = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert"))
    agent.shelf.add_book(title="Emma", proposal_id=draft)
    agent.shelf.remove_book(id=book, proposal_id=draft)
    shown = show(curator, draft)
    assert [(entry["change"], entry["subject"] == book, entry["version"]) for entry in shown["diff"]] == [
        ("change", True, {"from": 1, "to": 2}),
        ("add", False, {"from": 0, "to": 1}),
        ("remove", True, {"from": 2, "to": 3}),
    ]
    assert shown["diff"][0]["fields"] == {"author": {"from": "Herbert", "to": "Frank Herbert"}}
    lines = shown["diff_text"].splitlines()
    assert lines[0].startswith("~ shelf.BookChanged")
    assert '    author: "Herbert" -> "Frank Herbert"' in lines
    assert shown["proposal"]["risk_tier"] == 3
    assert shown["proposal"]["based_on"] == {f"shelf/{book}": 1, f"shelf/{shown['diff'][1]['subject']}": 0}


@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
def test_an_author_may_add_from_several_places_at_once(offices: Offices, processes: int) -> None:
    clara = offices.open()
    offices_of_scout = [clara if processes == 1 else offices.open(), clara]
    scouts = [office.as_("scout", "agent", ["agent"]) for office in offices_of_scout]
    draft = proposal_of(scouts[0].shelf.add_book(title="Book", commit_mode="draft"))

    def add(number: int) -> Reply:
        return scouts[number % 2].shelf.add_book(title=f"Book {number}", proposal_id=draft)

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(add, range(12)))
    assert {answer.message_key for answer in answers} == {"PROPOSAL_RECORDED"}
    operations = show(clara, draft)["proposal"]["operations"]
    assert [one["ordinal"] for one in operations] == list(range(13))
    scouts[0].proposals.submit_proposal(proposal_id=draft)
    assert approve(clara, draft).message_key == "PROPOSAL_COMMITTED"
    assert len(titles(clara)) == 13
    assert clara.office.rebuild("main").same
