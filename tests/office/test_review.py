"""Deciding about a proposal: who may, bound to what, and what a decision leaves behind."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from engross.calls import SURFACES, PrincipalType
from engross.flows import Aggregate
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

PEOPLES_SURFACES = ("embedded", "cli", "rest")
EVERYTHING_ALLOWED = "permit (principal, action, resource);"
TYPES: tuple[PrincipalType, ...] = ("human", "agent", "service")


def review(client: Client, proposal_id: str, decision: str = "approve", **more: Any) -> Reply:
    return client.proposals.review_proposal(proposal_id=proposal_id, decision=decision, **more)


@pytest.mark.requirement("NEW-03")
@pytest.mark.parametrize("own_policies", [False, True], ids=["shipped policies", "everything permitted"])
def test_only_a_person_decides_and_never_over_mcp(offices: Offices, tmp_path: Path, own_policies: bool) -> None:
    folder = policies(tmp_path / "policies", people="", all=EVERYTHING_ALLOWED) if own_policies else None
    curator = offices.open(policies=folder)
    agent = curator.as_("scout", "agent", ["agent"])
    for type_ in TYPES:
        for surface in SURFACES:
            proposal = proposal_of(agent.shelf.add_book(title=f"{type_} {surface}", commit_mode="proposal"))
            decider = curator.as_("someone", type_, ["curator", "admin"], surface=surface)
            token = show(curator.as_("someone", "human", ["curator"]), proposal)["approval_token"]
            allowed = type_ == "human" and surface in PEOPLES_SURFACES
            assert ("approval_token" in show(decider, proposal)) == allowed
            if allowed:
                assert review(decider, proposal, approval_token=token).message_key == "PROPOSAL_COMMITTED"
                continue
            for answer in (
                review(decider, proposal, approval_token=token),
                review(decider, proposal, "reject", rationale="no"),
                review(decider, proposal, "request_changes", rationale="no"),
                decider.call(
                    "proposals.review-proposal",
                    {"proposal_id": proposal, "decision": "approve", "approval_token": token, "reason": "urgent"},
                    break_glass=True,
                ),
            ):
                assert (answer.reply_type, answer.message_key) == ("D", "PEOPLE_ONLY"), (type_, surface, answer)
            payload = {"proposal_id": proposal, "decision": "approve", "approval_token": token}
            tried = decider.call("record.validate-write", {"operation": "reviewProposal", "payload": payload})
            assert (tried.data["valid"], tried.data["errors"][0]["code"]) == (False, "PEOPLE_ONLY")
            assert status(curator, proposal) == "proposed"


def test_a_person_without_the_role_decides_nothing(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    token = show(curator, proposal)["approval_token"]
    for role in ("viewer", "contributor", "agent"):
        person = curator.as_("vic", "human", [role])
        assert "approval_token" not in show(person, proposal)
        for answer in (review(person, proposal, approval_token=token), reject(person, proposal)):
            assert answer.reply_type == "D", role
    assert status(curator, proposal) == "proposed"


def test_nobody_approves_their_own_proposal(curator: Client) -> None:
    proposal = proposal_of(curator.shelf.add_book(title="Dune", commit_mode="proposal"))
    token = show(curator.as_("dora", "human", ["curator"]), proposal)["approval_token"]
    assert "approval_token" not in show(curator, proposal)
    refused = review(curator, proposal, approval_token=token)
    assert (refused.reply_type, refused.message_key) == ("D", "SELF_APPROVAL")
    assert titles(curator) == []


def test_bringing_ones_own_proposal_up_to_date_makes_it_nobody_elses(curator: Client) -> None:
    proposal = proposal_of(curator.shelf.add_book(title="Dune", commit_mode="proposal"))
    rebased = curator.proposals.rebase_proposal(proposal_id=proposal).data["proposal"]["id"]
    refused = review(curator, rebased, approval_token="x")
    assert refused.message_key == "SELF_APPROVAL"


def test_a_single_operator_approves_their_own_and_every_receipt_shows_the_switch(
    offices: Offices, tmp_path: Path
) -> None:
    curator = offices.open(policies=policies(tmp_path / "policies", "single_operator = true"))
    direct = curator.shelf.add_book(title="Emma")
    proposed = curator.shelf.add_book(title="Dune", commit_mode="proposal")
    done = approve(curator, proposal_of(proposed))
    assert done.message_key == "PROPOSAL_COMMITTED"
    for answer in (direct, proposed, done):
        assert receipt(curator, answer.data["position"])["switches"] == ["single_operator"]
    body = receipt(curator, done.data["position"])
    assert (body["author"]["id"], body["approvers"]) == ("clara", ["clara"])
    assert body["approval"]["because"] == ["approve.ordinary", "approve.single-operator"]


def test_without_the_switch_no_receipt_mentions_it(curator: Client) -> None:
    assert "switches" not in receipt(curator, curator.shelf.add_book(title="Emma").data["position"])


@pytest.mark.requirement("NEW-02")
def test_an_approval_needs_the_token_of_what_was_shown_to_this_person(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    book = curator.shelf.add_book(title="Emma").data["book"]["id"]
    others = show(curator.as_("dora", "human", ["curator"]), proposal)["approval_token"]
    confirming = curator.shelf.remove_book(id=book).data["confirm_token"]
    elsewhere = curator.as_("clara", "human", ["curator"], tenant="elsewhere")
    there = proposal_of(elsewhere.as_("scout", "agent", ["agent"]).shelf.add_book(title="Dune"))
    foreign = show(elsewhere, there)["approval_token"]
    own = show(curator, proposal)["approval_token"]
    for wrong in (None, "nonsense", own[:-2] + "AA", others, confirming, foreign):
        given = {} if wrong is None else {"approval_token": wrong}
        refused = review(curator, proposal, **given)
        assert (refused.reply_type, refused.message_key) == ("I", "TOKEN_INVALID"), wrong
    assert titles(curator) == ["Emma"]
    assert review(curator, proposal, approval_token=own).message_key == "PROPOSAL_COMMITTED"


@pytest.mark.requirement("NEW-02")
def test_a_proposal_that_grew_is_not_what_was_shown(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    shown = show(curator, proposal)
    agent.shelf.add_book(title="Emma", proposal_id=proposal)
    refused = review(curator, proposal, approval_token=shown["approval_token"])
    assert refused.message_key == "PLAN_DRIFT"
    moved = {move["what"]: move for move in refused.data["moved"] if move.get("subject", "p").startswith("p")}
    version = shown["proposal"]["version"]
    assert moved["arguments"] == {"what": "arguments"}
    assert moved["base"] == {
        "what": "base",
        "subject": f"proposals/{proposal}",
        "from": version,
        "to": version + 1,
    }
    assert titles(curator) == []


@pytest.mark.requirement("NEW-02")
def test_the_token_of_another_proposal_names_what_differs(curator: Client, agent: Client) -> None:
    first = proposal_of(agent.shelf.add_book(title="Dune"))
    second = proposal_of(agent.shelf.add_book(title="Emma"))
    refused = review(curator, second, approval_token=show(curator, first)["approval_token"])
    assert refused.message_key == "PLAN_DRIFT"
    assert {"what": "arguments"} in refused.data["moved"]


@pytest.mark.requirement("NEW-02")
def test_a_changed_policy_has_to_be_looked_at_again(offices: Offices, tmp_path: Path) -> None:
    before = offices.open()
    proposal = proposal_of(before.as_("scout", "agent", ["agent"]).shelf.add_book(title="Dune"))
    token = show(before, proposal)["approval_token"]
    after = offices.open(policies=policies(tmp_path / "policies", "bulk_threshold = 19"))
    refused = review(after, proposal, approval_token=token)
    assert refused.message_key == "PLAN_DRIFT"
    assert refused.data["moved"] == [
        {"what": "policy", "from": before.office.policy_version, "to": after.office.policy_version}
    ]
    assert approve(after, proposal).message_key == "PROPOSAL_COMMITTED"


@pytest.mark.requirement("NEW-02")
def test_a_flow_of_another_version_makes_another_plan(offices: Offices) -> None:
    before = offices.open(Bench().notes)
    proposal = proposal_of(before.as_("scout", "agent", ["agent"]).notes.add_note(text="hello"))
    token = show(before, proposal)["approval_token"]
    after = offices.open(Bench(version="1.1.0").notes)
    moved = [{"what": "flow", "flow": "notes.add-note", "from": "1.0.0", "to": "1.1.0"}]
    refused = review(after, proposal, approval_token=token)
    assert (refused.message_key, refused.data["moved"]) == ("PLAN_DRIFT", moved)
    shown = show(after, proposal)
    assert (shown["proposal"]["stale"], shown["proposal"]["moved"]) == (True, moved)
    assert "approval_token" not in shown
    rebased = after.proposals.rebase_proposal(proposal_id=proposal).data["proposal"]["id"]
    assert show(after, rebased)["proposal"]["operations"][0]["version"] == "1.1.0"
    assert approve(after, rebased).message_key == "PROPOSAL_COMMITTED"


def test_a_flow_that_is_gone_can_neither_be_approved_nor_brought_up_to_date(offices: Offices) -> None:
    before = offices.open(Bench().notes)
    proposal = proposal_of(before.as_("scout", "agent", ["agent"]).notes.add_note(text="hello"))
    token = show(before, proposal)["approval_token"]
    after = offices.open()
    gone = [{"what": "flow", "flow": "notes.add-note", "from": "1.0.0", "to": None}]
    assert show(after, proposal)["proposal"]["moved"] == gone
    for refused in (
        review(after, proposal, approval_token=token),
        review(after, proposal),
        after.proposals.rebase_proposal(proposal_id=proposal),
    ):
        assert (refused.message_key, refused.data["field"]) == ("UNKNOWN_OPERATION", "proposal_id")
        assert (refused.data["moved"], refused.data["suggestions"].keys()) == (gone, {"hint"})
    again = offices.open(Bench().notes)
    assert show(again, proposal)["approval_token"]
    assert reject(after, proposal).ok


def test_how_a_flow_comes_back_depends_on_where_it_was(offices: Offices) -> None:
    before = offices.open(Bench().notes, domains="architecture").as_("scout", "agent", ["agent"])
    element = {"type": "Node", "name": "Server"}
    of_capability = proposal_of(before.notes.add_note(text="hello"))
    of_domain = before.call("architecture.create-element", element).data["proposal"]["id"]
    without, emptied = offices.open(), offices.open(Aggregate("notes", "Notes of another version"))
    hints = {
        review(office, proposal).data["suggestions"]["hint"]
        for office, proposal in ((without, of_capability), (without, of_domain), (emptied, of_capability))
    }
    assert len(hints) == 3


@pytest.mark.requirement("ARCH-28")
def test_what_is_critical_needs_two_admins(offices: Offices) -> None:
    clara = offices.open(Bench().notes)
    anna, bert, cora = (clara.as_(name, "human", ["admin"]) for name in ("anna", "bert", "cora"))
    note = clara.notes.add_note(text="hello").data["note"]["id"]
    ruled = anna.notes.rule_note(id=note, text="the rule")
    proposal = proposal_of(ruled)
    assert (ruled.data["proposal"]["risk_tier"], ruled.data["proposal"]["approvals_required"]) == (4, 2)
    assert review(clara, proposal, approval_token="x").message_key == "INSUFFICIENT_SCOPE"
    assert review(anna, proposal, approval_token="x").message_key == "SELF_APPROVAL"
    once = approve(bert, proposal, rationale="agreed")
    assert (once.message_key, once.data["proposal"]["status"]) == ("PROPOSAL_APPROVED", "in_review")
    assert once.data["proposal"]["approvals"] == ["bert"]
    assert clara.notes.get_note(id=note).data["note"]["text"] == "hello"
    assert "approval_token" not in show(bert, proposal)
    token = show(cora, proposal)["approval_token"]
    for given in ({}, {"approval_token": token}, {"approval_token": token, "operations": [0]}):
        twice = review(bert, proposal, **given)
        assert (twice.reply_type, twice.message_key) == ("I", "PROPOSAL_STATE")
    done = approve(cora, proposal)
    assert done.message_key == "PROPOSAL_COMMITTED"
    body = receipt(clara, done.data["position"])
    assert body["approvers"] == ["bert", "cora"]
    assert body["approval"] == {"tier": 4, "because": ["approve.critical"]}
    assert clara.notes.get_note(id=note).data["note"]["text"] == "the rule"


def test_approvals_do_not_outlive_the_proposal_they_were_given_for(offices: Offices) -> None:
    clara = offices.open(Bench().notes)
    anna, bert, cora = (clara.as_(name, "human", ["admin"]) for name in ("anna", "bert", "cora"))
    note = clara.notes.add_note(text="hello").data["note"]["id"]
    proposal = proposal_of(anna.notes.rule_note(id=note, text="the rule"))
    approve(bert, proposal)
    request_changes(cora, proposal, "Say why.")
    anna.notes.rule_note(id=note, label="law", proposal_id=proposal)
    anna.proposals.submit_proposal(proposal_id=proposal)
    shown = show(cora, proposal)["proposal"]
    assert shown["approvals"] == []
    assert [(one["reviewer"], one["decision"], one["standing"]) for one in shown["decisions"]] == [
        ("bert", "approve", False),
        ("cora", "request_changes", True),
    ]
    assert approve(cora, proposal).message_key == "PROPOSAL_APPROVED"
    assert approve(bert, proposal).message_key == "PROPOSAL_COMMITTED"


def test_a_first_approval_of_what_is_stale_by_now_is_refused(offices: Offices) -> None:
    clara = offices.open(Bench().notes)
    anna, bert = (clara.as_(name, "human", ["admin"]) for name in ("anna", "bert"))
    note = clara.notes.add_note(text="hello").data["note"]["id"]
    proposal = proposal_of(anna.notes.rule_note(id=note, text="the rule"))
    token = show(bert, proposal)["approval_token"]
    clara.notes.change_note(id=note, text="changed")
    refused = review(bert, proposal, approval_token=token)
    assert refused.message_key == "PROPOSAL_STALE"
    assert show(bert, proposal)["proposal"]["approvals"] == []


@pytest.mark.requirement("ARCH-29")
@pytest.mark.parametrize("decision", ["reject", "request_changes"])
def test_turning_down_needs_a_reason(curator: Client, agent: Client, decision: str) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    for given in ({}, {"rationale": ""}, {"rationale": "   "}):
        refused = review(curator, proposal, decision, **given)
        assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "rationale")
    assert status(curator, proposal) == "proposed"
    turned = review(curator, proposal, decision, rationale="It is there already.")
    assert turned.ok
    decided = show(agent, proposal)["proposal"]["decisions"]
    assert [(one["decision"], one["rationale"]) for one in decided] == [(decision, "It is there already.")]


def test_a_rejected_proposal_commits_nothing(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    rejected = reject(curator, proposal)
    assert (rejected.message_key, rejected.data["proposal"]["status"]) == ("PROPOSAL_REJECTED", "rejected")
    assert fact_types(curator) == ["ProposalOpened", "PlanAdded", "ProposalRejected"]
    assert titles(curator) == []


@pytest.mark.requirement("NEW-02")
def test_approving_in_part_makes_a_new_plan_to_be_reviewed(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    for title in ("Emma", "Ulysses"):
        agent.shelf.add_book(title=title, proposal_id=proposal)
    shown = show(curator, proposal)
    parted = approve(curator, proposal, operations=[2, 0], rationale="Emma is here already.")
    assert (parted.message_key, parted.data["rebased_from"]) == ("PROPOSAL_REBASED", proposal)
    assert parted.data["left_out"] == [1]
    made = parted.data["proposal"]["id"]
    assert titles(curator) == []
    old = show(curator, proposal)["proposal"]
    assert (old["status"], old["rebased_to"]) == ("rebased", made)
    new = show(curator, made)
    assert (new["proposal"]["status"], new["proposal"]["rebased_from"]) == ("proposed", proposal)
    assert new["proposal"]["proposed_by"] == {"actor_type": "agent", "actor_id": "scout"}
    operations = shown["proposal"]["operations"]
    assert [one["preview"] for one in new["proposal"]["operations"]] == [
        operations[0]["preview"],
        operations[2]["preview"],
    ]
    done = approve(curator, made)
    assert titles(curator) == ["Dune", "Ulysses"]
    assert [result["answer"]["book"]["id"] for result in done.data["results"]] == [
        operations[0]["preview"]["book"]["id"],
        operations[2]["preview"]["book"]["id"],
    ]
    told = next(fact for fact in facts(agent) if fact["type"].endswith("ProposalRebased.v1"))
    assert told["data"]["payload"]["by"] == "clara"
    assert told["data"]["payload"]["rationale"] == "Emma is here already."


def test_approving_all_parts_is_approving(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    agent.shelf.add_book(title="Emma", proposal_id=proposal)
    assert approve(curator, proposal, operations=[0, 1]).message_key == "PROPOSAL_COMMITTED"


def test_a_part_that_needs_the_rest_cannot_be_approved_alone(curator: Client, agent: Client) -> None:
    opened = agent.shelf.add_book(title="Dune")
    proposal = proposal_of(opened)
    agent.shelf.change_book(id=opened.data["book"]["id"], notes="A classic.", proposal_id=proposal)
    refused = approve(curator, proposal, operations=[1])
    assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "operations")
    assert refused.data["details"]["details"]["errors"][0]["code"] == "RECORD_NOT_FOUND"
    assert status(curator, proposal) == "proposed"


def test_parts_that_are_not_there_cannot_be_approved(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    agent.shelf.add_book(title="Emma", proposal_id=proposal)
    for operations in ([], [7], [0, 7], [-1]):
        refused = approve(curator, proposal, operations=operations)
        assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "operations")
        assert suggestions(refused)["allowed_values"] == [0, 1]


def test_rejecting_in_part_is_not_possible(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    refused = review(curator, proposal, "reject", rationale="no", operations=[0])
    assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "operations")


def test_policy_is_asked_again_when_it_comes_to_the_commit(offices: Offices, tmp_path: Path) -> None:
    before = offices.open()
    proposal = proposal_of(before.as_("scout", "agent", ["agent"]).shelf.add_book(title="Dune"))
    closed = '@id("house.closed") forbid (principal is Agent, action == Action::"propose", resource);'
    after = offices.open(policies=policies(tmp_path / "policies", house=closed))
    assert "approval_token" not in show(after, proposal)
    refused = review(after, proposal, approval_token=show(before, proposal)["approval_token"])
    assert (refused.reply_type, refused.message_key) == ("D", "WRITE_DENIED")
    assert refused.data["because"] == ["house.closed"]
    assert titles(after) == []


def test_approvals_are_counted_by_the_knobs_of_today(offices: Offices, tmp_path: Path) -> None:
    before = offices.open()
    agent = before.as_("scout", "agent", ["agent"])
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    after = offices.open(policies=policies(tmp_path / "policies", "approvals_by_tier = { 2 = 2 }"))
    assert approve(after, proposal).message_key == "PROPOSAL_APPROVED"
    dora = after.as_("dora", "human", ["curator"])
    assert approve(dora, proposal).message_key == "PROPOSAL_COMMITTED"


def test_a_repeated_approval_with_its_key_answers_as_before(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    token = show(curator, proposal)["approval_token"]
    given = {"approval_token": token, "client_request_id": "approve-dune"}
    first = review(curator, proposal, **given)
    again = review(curator, proposal, **given)
    assert (again.message_key, again.data["idempotent_replay"]) == ("PROPOSAL_COMMITTED", True)
    assert again.data["results"] == first.data["results"]
    assert fact_types(curator).count("ProposalAccepted") == 1


def test_a_large_proposal_can_be_approved(curator: Client, agent: Client) -> None:
    draft = proposal_of(agent.shelf.add_book(title="Book 0", commit_mode="draft"))
    for number in range(1, 30):
        assert agent.shelf.add_book(title=f"Book {number}", proposal_id=draft).ok
    lines = "\n".join(f"Imported {number}, Somebody" for number in range(300))
    assert agent.shelf.import_books(text=lines, proposal_id=draft).ok
    agent.proposals.submit_proposal(proposal_id=draft)
    assert show(curator, draft)["proposal"]["stale"] is False
    assert approve(curator, draft).message_key == "PROPOSAL_COMMITTED"
    assert len(curator.shelf.list_books(limit=500).data["books"]) == 330


@pytest.mark.requirement("ARCH-29")
@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
def test_of_two_curators_who_approve_at_once_one_commits(offices: Offices, processes: int) -> None:
    clara = offices.open()
    other = clara if processes == 1 else offices.open()
    dora = other.as_("dora", "human", ["curator"])
    agent = clara.as_("scout", "agent", ["agent"])
    for number in range(5):
        proposal = proposal_of(agent.shelf.add_book(title=f"Book {number}"))
        tokens = [(client, show(client, proposal)["approval_token"]) for client in (clara, dora)]
        together = Barrier(2)

        def decide(client: Client, token: str, proposal: str = proposal, start: Barrier = together) -> Reply:
            start.wait(timeout=30)
            return review(client, proposal, approval_token=token)

        with ThreadPoolExecutor(2) as threads:
            answers = [answer.result() for answer in [threads.submit(decide, *one) for one in tokens]]
        assert sorted(answer.message_key for answer in answers) == ["PROPOSAL_COMMITTED", "PROPOSAL_STATE"]
    assert len(titles(clara)) == 5
    assert fact_types(clara).count("ProposalAccepted") == 5
    assert fact_types(clara).count("BookAdded.v2") == 5
    assert clara.office.rebuild("main").same
