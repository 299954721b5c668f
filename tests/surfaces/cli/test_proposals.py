"""Deciding about proposals from a shell: what is shown is what gets committed, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engross.calls import Principal
from engross.surfaces.client import Client, connect
from tests.surfaces.cli.conftest import SHELF
from tests.surfaces.cli.shell import Shell, Terminal, run


def scout(shell: Shell) -> Client:
    """An agent at the same office."""
    agent = Principal("scout", "agent", frozenset({"agent"}))
    return connect(shell.folder, capabilities=SHELF, store=shell.store, principal=agent)


def proposed(shell: Shell, title: str = "Dune") -> str:
    with scout(shell) as agent:
        answer = agent.shelf.add_book(title=title, author="Frank Herbert")
    proposal: str = answer.data["proposal"]["id"]
    return proposal


def titles(shell: Shell) -> list[str]:
    return [book["title"] for book in shell.run("shelf", "list-books", "--json").json["books"]]


def test_what_waits_is_listed_and_what_is_decided_only_on_request(shell: Shell) -> None:
    first, second = proposed(shell), proposed(shell, "Emma")
    assert [one["id"] for one in shell.run("proposals", "list", "--json").json["proposals"]] == [first, second]
    assert shell.run("proposals", "reject", first, "-m", "no", "--json").key == "PROPOSAL_REJECTED"
    assert [one["id"] for one in shell.run("proposals", "list", "--json").json["proposals"]] == [second]
    every = shell.run("proposals", "list", "--status", "all", "--json").json["proposals"]
    assert [one["status"] for one in every] == ["rejected", "proposed"]
    text = shell.run("proposals", "list").out
    assert second in text
    assert 'shelf.add-book: "Emma"' in text
    assert max(map(len, text.splitlines())) <= 100
    assert first not in text
    paged = shell.run("proposals", "list", "--status", "all", "--limit", 1)
    cursor = paged.out.split()[-1]
    assert second in shell.run("proposals", "list", "--status", "all", "--cursor", cursor).out
    assert shell.run("proposals", "list", "--status", "lost").code == 2


def test_show_tells_what_would_change(shell: Shell) -> None:
    proposal = proposed(shell)
    shown = shell.run("proposals", "show", proposal)
    assert shown.code == 0
    assert "+ shelf.BookAdded" in shown.out
    assert '"Dune"' in shown.out
    assert "scout (agent)" in shown.out
    assert "approval_token" not in shown.out
    assert "approval_token" in shell.run("proposals", "show", proposal, "--json").json
    assert shell.run("proposals", "show", "prop_nowhere").code == 2


def test_approving_shows_what_it_commits(shell: Shell) -> None:
    proposal = proposed(shell)
    done = shell.run("proposals", "approve", proposal, "--yes", "--rationale", "a classic")
    assert done.code == 0
    assert '"Dune"' in done.out
    assert "PROPOSAL_COMMITTED" in done.out
    assert titles(shell) == ["Dune"]
    decided = shell.run("proposals", "show", proposal, "--json").json["proposal"]["decisions"]
    assert [(one["decision"], one["rationale"]) for one in decided] == [("approve", "a classic")]


def test_nothing_is_approved_where_nobody_can_be_asked(shell: Shell) -> None:
    proposal = proposed(shell)
    for words in ([], ["--json"]):
        done = shell.run("proposals", "approve", proposal, *words)
        assert (done.code, "--yes" in done.out + done.err) == (3, True)
    assert "CONFIRMATION_REQUIRED" in shell.run("proposals", "approve", proposal).err
    assert titles(shell) == []
    asked = shell.run("proposals", "approve", proposal, "--json")
    assert (asked.key, asked.json["proposal"]["id"], "Dune" in asked.json["diff_text"]) == (
        *("CONFIRMATION_REQUIRED", proposal),
        True,
    )
    meant = ("--approval-token", asked.json["approval_token"])
    assert shell.run("proposals", "approve", proposal, *meant, "--json").key == "PROPOSAL_COMMITTED"


def test_a_person_at_a_terminal_is_asked(shell: Shell) -> None:
    proposal = proposed(shell)
    words = ("proposals", "approve", proposal, *shell.there)
    refusing = Terminal(*words)
    assert '"Dune"' in refusing.until("[y/N]")
    refusing.type("n\n")
    assert refusing.end() == 3
    assert "CONFIRMATION_DECLINED" in refusing.shown
    assert titles(shell) == []
    agreeing = Terminal(*words)
    agreeing.until("[y/N]")
    agreeing.type("y\n")
    assert agreeing.end() == 0
    assert titles(shell) == ["Dune"]


def test_an_approval_is_bound_to_what_was_shown(shell: Shell) -> None:
    with scout(shell) as agent:
        made = agent.shelf.add_book(title="Dune")
        proposal = made.data["proposal"]["id"]
        token = shell.run("proposals", "show", proposal, "--json").json["approval_token"]
        assert agent.shelf.change_book(id=made.data["book"]["id"], notes="twice", proposal_id=proposal).ok
    refused = shell.run("proposals", "approve", proposal, "--approval-token", token, "--json")
    assert (refused.code, refused.key) == (2, "PLAN_DRIFT")
    assert titles(shell) == []
    assert shell.run("proposals", "approve", proposal, "--yes", "--json").code == 0


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["for people", "as JSON"])
def test_who_brings_the_token_of_what_was_shown_is_not_asked_again(shell: Shell, words: list[str]) -> None:
    proposal = proposed(shell)
    token = shell.run("proposals", "show", proposal, "--json").json["approval_token"]
    assert shell.run("proposals", "approve", proposal, "--approval-token", token, *words).code == 0
    assert titles(shell) == ["Dune"]


def test_while_a_person_thinks_the_proposal_may_grow_and_then_nothing_is_committed(shell: Shell) -> None:
    with scout(shell) as agent:
        made = agent.shelf.add_book(title="Dune")
        proposal = made.data["proposal"]["id"]
        person = Terminal("proposals", "approve", proposal, *shell.there)
        person.until("[y/N]")
        assert agent.shelf.change_book(id=made.data["book"]["id"], notes="sneaked in", proposal_id=proposal).ok
        person.type("y\n")
        assert person.end() == 2
    assert titles(shell) == []


def test_a_stale_proposal_is_refused_as_that(shell: Shell) -> None:
    book = shell.run("shelf", "add-book", "--title", "Dune", "--json").json["book"]["id"]
    with scout(shell) as agent:
        proposal = agent.shelf.change_book(id=book, notes="a classic", commit_mode="proposal").data["proposal"]["id"]
    assert shell.run("shelf", "change-book", "--id", book, "--notes", "moved", "--json").code == 0
    assert shell.run("proposals", "show", proposal, "--json").json["proposal"]["stale"] is True
    refused = shell.run("proposals", "approve", proposal, "--yes", "--json")
    assert (refused.code, refused.key) == (2, "PROPOSAL_STALE")


def test_what_the_flow_has_against_a_stale_proposal_is_told_to_people_too(shell: Shell) -> None:
    proposal = proposed(shell)
    assert shell.run("shelf", "add-book", "--title", "Dune").code == 0
    for words in (["approve", proposal, "--yes"], ["rebase-proposal", "--proposal-id", proposal]):
        refused = shell.run("proposals", *words)
        assert (refused.code, refused.err.split()[0]) == (2, "PROPOSAL_STALE")
        told = [line.strip() for line in refused.err.splitlines()]
        assert {"flow: shelf.add-book", "- code: DUPLICATE_NAME", "field: title", "existing_book:"} <= set(told)
        assert told.count("title: Dune") == 1


def test_who_may_not_approve_is_denied(shell: Shell) -> None:
    proposal = proposed(shell)
    denied = shell.run("proposals", "approve", proposal, "--yes", "--role", "contributor", "--json")
    assert (denied.code, denied.json["reply"]["reply_type"]) == (3, "D")
    own = shell.run("shelf", "add-book", "--title", "Emma", "--commit-mode", "proposal", "--json").json["proposal"][
        "id"
    ]
    assert shell.run("proposals", "approve", own, "--yes", "--json").key == "SELF_APPROVAL"
    assert titles(shell) == []


@pytest.mark.shows_text
def test_whoever_decides_about_their_own_proposal_hears_the_way_out(local: Shell) -> None:
    made = local.run("shelf", "add-book", "--title", "Emma", "--commit-mode", "proposal", "--json")
    own = made.json["proposal"]["id"]
    for words in (("reject", own, "-m", "no"), ("approve", own, "--yes")):
        refused = local.run("proposals", *words)
        assert (refused.code, refused.err.split()[0]) == (3, "SELF_APPROVAL")
        assert "decides about" in refused.err.splitlines()[0]
        assert "engross proposals withdraw-proposal --proposal-id" in refused.err
        assert "single_operator" in refused.err
    assert local.run("proposals", "withdraw-proposal", "--proposal-id", own, "--json").key == "PROPOSAL_WITHDRAWN"


def test_rejecting_needs_a_reason_and_may_hand_it_back(shell: Shell) -> None:
    proposal = proposed(shell)
    assert shell.run("proposals", "reject", proposal, "--json").key == "VALIDATION_ERROR"
    back = shell.run("proposals", "reject", proposal, "--request-changes", "-m", "who wrote it?", "--json")
    assert back.key == "PROPOSAL_CHANGES_REQUESTED"
    with scout(shell) as agent:
        assert agent.proposals.submit_proposal(proposal_id=proposal).ok
    assert shell.run("proposals", "reject", proposal, "-m", "no room").code == 0


def test_part_of_a_proposal_makes_another_to_be_reviewed(shell: Shell) -> None:
    with scout(shell) as agent:
        proposal = agent.shelf.add_book(title="Dune").data["proposal"]["id"]
        assert agent.shelf.add_book(title="Emma", proposal_id=proposal).ok
    operations = shell.run("proposals", "show", proposal, "--json").json["proposal"]["operations"]
    first = operations[0]["ordinal"]
    done = shell.run("proposals", "approve", proposal, "--operation", first, "--yes", "--json")
    assert done.key == "PROPOSAL_REBASED"
    assert titles(shell) == []


@pytest.mark.parametrize("text", ["\x1b[2J\x1b[1;1H", "\u202egnp.exe", "\x9b31m", "\u200bhidden", "a\rb"])
def test_what_an_agent_wrote_cannot_fool_a_terminal(local: Shell, tmp_path: Path, text: str) -> None:
    with scout(local) as agent:
        proposal = agent.shelf.add_book(title=f"Dune {text}", reason=text).data["proposal"]["id"]
    for words in (["proposals", "show", proposal], ["proposals", "list"], ["facts"]):
        assert text not in local.run(*words).out
    person = Terminal("proposals", "show", proposal, *local.there)
    assert person.end() == 0
    assert text not in person.shown.replace("\r\n", "\n")
    assert text.encode("unicode_escape").decode() in person.shown


def test_without_the_capability_of_its_flow_a_proposal_is_refused_as_that(shell: Shell) -> None:
    proposal = proposed(shell)
    refused = run("proposals", "approve", proposal, "--yes", "--json", *shell.here)
    assert (refused.code, refused.key) == (2, "UNKNOWN_OPERATION")
    assert "shelf.add-book" in run("proposals", "show", proposal, *shell.here).out.splitlines()[-1]
    assert shell.run("proposals", "approve", proposal, "--yes", "--json").code == 0
