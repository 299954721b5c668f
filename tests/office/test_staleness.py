"""What happens to a proposal when the ground it stands on moves, and how it is brought up to date."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import approve, facts, proposal_of, show, status, suggestions, titles
from tests.office.notes import Bench


def a_book(curator: Client) -> str:
    added = curator.shelf.add_book(title="Dune", author="Herbert", notes="sand")
    book: str = added.data["book"]["id"]
    return book


@pytest.mark.requirement("NEW-02", "ARCH-29")
def test_a_moved_base_is_named_and_nothing_is_committed(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    proposal = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert"))
    token = show(curator, proposal)["approval_token"]
    curator.shelf.change_book(id=book, notes="spice")
    moved = [{"subject": f"shelf/{book}", "from": 1, "to": 2}]
    refused = curator.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)
    assert (refused.reply_type, refused.message_key) == ("I", "PROPOSAL_STALE")
    assert suggestions(refused)["changed_aggregates"] == moved
    assert curator.shelf.get_book(id=book).data["book"]["author"] == "Herbert"
    shown = show(curator, proposal)
    assert (shown["proposal"]["stale"], shown["proposal"]["moved"]) == (True, moved)
    assert "approval_token" not in shown
    assert status(curator, proposal) == "proposed"


def test_a_stale_proposal_neither_grows_nor_is_read_in(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    proposal = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert"))
    curator.shelf.change_book(id=book, notes="spice")
    for answer in (
        agent.shelf.add_book(title="Emma", proposal_id=proposal),
        agent.shelf.list_books(proposal_id=proposal),
    ):
        assert answer.message_key == "PROPOSAL_STALE"
        assert suggestions(answer)["changed_aggregates"][0]["subject"] == f"shelf/{book}"


def test_what_does_not_overlap_is_rebased_into_a_new_proposal_that_needs_a_review(
    offices: Offices, curator: Client, agent: Client
) -> None:
    book = a_book(curator)
    opened = agent.shelf.change_book(id=book, author="Frank Herbert", reason="His full name")
    old = proposal_of(opened)
    added = agent.shelf.add_book(title="Emma", proposal_id=old)
    token = show(curator, old)["approval_token"]
    curator.shelf.change_book(id=book, notes="spice")
    offices.clock.pass_(days=1)
    rebased = agent.proposals.rebase_proposal(proposal_id=old)
    assert (rebased.message_key, rebased.data["rebased_from"]) == ("PROPOSAL_REBASED", old)
    new = rebased.data["proposal"]["id"]
    left = show(curator, old)["proposal"]
    assert (left["status"], left["rebased_to"]) == ("rebased", new)
    shown = show(curator, new)
    assert (shown["proposal"]["status"], shown["proposal"]["rebased_from"]) == ("proposed", old)
    assert (shown["proposal"]["stale"], shown["proposal"]["approvals"]) == (False, [])
    assert shown["proposal"]["reason"] == "His full name"
    assert shown["proposal"]["proposed_by"]["actor_id"] == "scout"
    assert shown["proposal"]["expires_at"] > left["expires_at"]
    assert shown["proposal"]["based_on"][f"shelf/{book}"] == 2
    assert shown["proposal"]["operations"][1]["preview"]["book"] == added.data["book"]
    for outdated in (old, new):
        refused = curator.proposals.review_proposal(proposal_id=outdated, decision="approve", approval_token=token)
        assert refused.message_key in ("PROPOSAL_STATE", "PLAN_DRIFT")
    assert approve(curator, new).message_key == "PROPOSAL_COMMITTED"
    both = curator.shelf.get_book(id=book).data["book"]
    assert (both["author"], both["notes"], both["version"]) == ("Frank Herbert", "spice", 3)


def test_fields_that_both_changed_are_refused_by_name(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    proposal = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert", notes="worms"))
    curator.shelf.change_book(id=book, notes="spice")
    curator.shelf.change_book(id=book, title="Dune, again")
    refused = agent.proposals.rebase_proposal(proposal_id=proposal)
    assert (refused.reply_type, refused.message_key) == ("I", "PROPOSAL_STALE")
    assert suggestions(refused)["changed_aggregates"] == [
        {"subject": f"shelf/{book}", "from": 1, "to": 3, "fields": ["notes"], "gone": False}
    ]
    assert status(curator, proposal) == "proposed"


def test_a_proposed_removal_of_what_changed_meanwhile_is_not_rebased(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    proposal = proposal_of(agent.shelf.remove_book(id=book))
    curator.shelf.change_book(id=book, notes="signed by the author")
    refused = agent.proposals.rebase_proposal(proposal_id=proposal)
    assert refused.message_key == "PROPOSAL_STALE"
    assert suggestions(refused)["changed_aggregates"][0]["fields"] == ["notes"]


def test_what_was_removed_meanwhile_is_gone(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    proposal = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert"))
    token = show(curator, proposal)["approval_token"]
    confirm = curator.shelf.remove_book(id=book).data["confirm_token"]
    assert curator.shelf.remove_book(id=book, confirm_token=confirm).message_key == "DELETED"
    refused = curator.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)
    assert refused.message_key == "PROPOSAL_STALE"
    refused = agent.proposals.rebase_proposal(proposal_id=proposal)
    assert refused.message_key == "PROPOSAL_STALE"
    assert suggestions(refused)["changed_aggregates"] == [
        {"subject": f"shelf/{book}", "from": 1, "to": 2, "fields": ["author"], "gone": True}
    ]


def test_a_rule_that_fails_by_now_is_told_with_its_own_words(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    token = show(curator, proposal)["approval_token"]
    curator.shelf.add_book(title="dune")
    refused = curator.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)
    assert refused.message_key == "PROPOSAL_STALE"
    details = refused.data["details"]
    assert (details["operation"], details["flow"]) == (0, "shelf.add-book")
    assert details["errors"][0]["code"] == "DUPLICATE_NAME"
    again = agent.proposals.rebase_proposal(proposal_id=proposal)
    assert again.message_key == "PROPOSAL_STALE"
    assert again.data["details"]["errors"][0]["code"] == "DUPLICATE_NAME"
    assert titles(curator) == ["dune"]


def test_a_rule_that_fails_while_preparing_makes_it_stale_as_well(offices: Offices) -> None:
    bench = Bench()
    curator = offices.open(bench.notes)
    agent = curator.as_("scout", "agent", ["agent"])
    proposal = proposal_of(agent.notes.add_notes(lines="one\na second note"))
    bench.longest = 5
    refused = approve(curator, proposal)
    assert refused.message_key == "PROPOSAL_STALE"
    assert refused.data["details"]["errors"][0]["code"] == "LIMIT_EXCEEDED"
    assert agent.proposals.rebase_proposal(proposal_id=proposal).message_key == "PROPOSAL_STALE"
    bench.longest = 200
    assert approve(curator, proposal).message_key == "PROPOSAL_COMMITTED"
    assert set(bench.prepared) == {"scout"}


def test_a_flow_that_would_do_something_else_by_now_is_stale_although_nothing_moved(offices: Offices) -> None:
    bench = Bench()
    curator = offices.open(bench.notes)
    agent = curator.as_("scout", "agent", ["agent"])
    note = curator.notes.add_note(text="one").data["note"]["id"]
    proposal = proposal_of(agent.notes.change_note(id=note, text="two", label="new"))
    sql = "UPDATE notes SET label = 'new' WHERE tenant = :tenant"
    curator.office.store.write("main", lambda transaction: transaction.execute(sql, {}))
    refused = approve(curator, proposal)
    assert (refused.message_key, suggestions(refused)["changed_aggregates"]) == ("PROPOSAL_STALE", [])
    assert curator.notes.get_note(id=note).data["note"]["text"] == "one"


def test_a_draft_stays_a_draft_when_it_is_brought_up_to_date(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    draft = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert", commit_mode="draft"))
    curator.shelf.change_book(id=book, notes="spice")
    rebased = agent.proposals.rebase_proposal(proposal_id=draft)
    assert rebased.data["proposal"]["status"] == "draft"
    assert agent.proposals.submit_proposal(proposal_id=rebased.data["proposal"]["id"]).ok


def test_reserved_ids_and_the_time_of_the_author_survive_a_rebase(
    offices: Offices, curator: Client, agent: Client
) -> None:
    book = a_book(curator)
    drafted = offices.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    added = agent.shelf.add_book(title="Emma")
    proposal = proposal_of(added)
    agent.shelf.change_book(id=book, author="Frank Herbert", proposal_id=proposal)
    offices.clock.pass_(hours=1)
    curator.shelf.change_book(id=book, notes="spice")
    rebased = agent.proposals.rebase_proposal(proposal_id=proposal).data["proposal"]["id"]
    done = approve(curator, rebased)
    assert curator.shelf.get_book(id=added.data["book"]["id"]).data["book"]["title"] == "Emma"
    stated = [fact for fact in facts(curator) if fact["position"] == done.data["position"]][:2]
    assert {fact["time"] for fact in stated} == {drafted}
    assert {fact["causationid"] for fact in stated} == {rebased}


def test_others_do_not_bring_a_proposal_up_to_date_but_curators_may(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    rover = curator.as_("rover", "agent", ["agent"])
    assert rover.proposals.rebase_proposal(proposal_id=proposal).message_key == "WRITE_DENIED"
    rebased = curator.proposals.rebase_proposal(proposal_id=proposal)
    assert rebased.ok
    assert approve(curator, rebased.data["proposal"]["id"]).message_key == "PROPOSAL_COMMITTED"


def test_the_risk_of_a_large_plan_survives_a_rebase(offices: Offices) -> None:
    curator = offices.open(Bench().notes)
    agent = curator.as_("scout", "agent", ["agent"])
    opened = agent.notes.add_notes(lines="\n".join(f"line {number}" for number in range(30)))
    assert opened.data["proposal"]["risk_tier"] == 3
    rebased = agent.proposals.rebase_proposal(proposal_id=proposal_of(opened))
    assert rebased.data["proposal"]["risk_tier"] == 3


def test_two_proposals_about_one_book_the_second_to_be_decided_is_stale(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    first = proposal_of(agent.shelf.change_book(id=book, author="Frank Herbert"))
    second = proposal_of(agent.shelf.change_book(id=book, notes="spice"))
    assert approve(curator, first).message_key == "PROPOSAL_COMMITTED"
    assert show(curator, second)["proposal"]["stale"] is True
    rebased = agent.proposals.rebase_proposal(proposal_id=second).data["proposal"]["id"]
    assert approve(curator, rebased).message_key == "PROPOSAL_COMMITTED"
    book_now = curator.shelf.get_book(id=book).data["book"]
    assert (book_now["author"], book_now["notes"]) == ("Frank Herbert", "spice")
    assert curator.office.rebuild("main").same


def test_an_approval_and_a_change_at_once_never_overwrite_each_other(offices: Offices) -> None:
    clara = offices.open()
    dora = offices.open().as_("dora", "human", ["curator"])
    agent = clara.as_("scout", "agent", ["agent"])
    for number in range(5):
        book = clara.shelf.add_book(title=f"Book {number}").data["book"]["id"]
        proposal = proposal_of(agent.shelf.change_book(id=book, notes="proposed"))
        token = show(clara, proposal)["approval_token"]
        together = Barrier(2)

        def decide(proposal: str = proposal, token: str = token, start: Barrier = together) -> Reply:
            start.wait(timeout=30)
            return clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)

        def change(book: str = book, start: Barrier = together) -> Reply:
            start.wait(timeout=30)
            return dora.shelf.change_book(id=book, notes="direct", expected_version=1)

        with ThreadPoolExecutor(2) as threads:
            decided, changed = threads.submit(decide), threads.submit(change)
        outcome = (decided.result().message_key, changed.result().message_key)
        assert outcome in [("PROPOSAL_COMMITTED", "VERSION_CONFLICT"), ("PROPOSAL_STALE", "UPDATED")]
        now = clara.shelf.get_book(id=book).data["book"]
        assert (now["version"], now["notes"]) == (2, "proposed" if changed.result().reply_type == "I" else "direct")
    assert clara.office.rebuild("main").same
