"""Whoever listens hears what is committed, by this process and by others, in their own tenant."""

from __future__ import annotations

from queue import Queue
from threading import Event

from engross.office import Change
from engross.surfaces.client import Client
from tests.bed.offices import Offices

PATIENCE = 20


def test_a_commit_of_this_process_is_heard(curator: Client) -> None:
    heard: Queue[Change] = Queue()
    leave = curator.office.feed.listen(curator.tenant, heard.put)
    added = curator.shelf.add_book(title="Dune")
    change = heard.get(timeout=PATIENCE)
    assert change == ("shelf", added.data["book"]["id"], added.data["position"])
    leave()


def test_a_commit_of_another_process_is_heard(offices: Offices, curator: Client) -> None:
    heard: Queue[Change] = Queue()
    leave = curator.office.feed.listen(curator.tenant, heard.put)
    elsewhere = offices.open()
    added = elsewhere.shelf.add_book(title="Dune")
    assert heard.get(timeout=PATIENCE).subject == added.data["book"]["id"]
    leave()


def test_nobody_hears_of_another_tenant(curator: Client) -> None:
    heard: Queue[Change] = Queue()
    leave = curator.office.feed.listen(curator.tenant, heard.put)
    curator.as_("dora", "human", ["curator"], tenant="elsewhere").shelf.add_book(title="Emma")
    added = curator.shelf.add_book(title="Dune")
    assert heard.get(timeout=PATIENCE).subject == added.data["book"]["id"]
    assert heard.empty()
    leave()


def test_what_was_before_is_not_heard_and_what_comes_is_heard_in_order(curator: Client) -> None:
    curator.shelf.add_book(title="Before")
    heard: Queue[Change] = Queue()
    leave = curator.office.feed.listen(curator.tenant, heard.put)
    added = [curator.shelf.add_book(title=f"Book {number}").data["book"]["id"] for number in range(5)]
    assert [heard.get(timeout=PATIENCE).subject for _ in added] == added
    leave()


def test_a_decision_is_heard_as_a_change_of_the_proposal(curator: Client, agent: Client) -> None:
    proposal = agent.shelf.add_book(title="Dune").data["proposal"]["id"]
    heard: Queue[Change] = Queue()
    leave = curator.office.feed.listen(curator.tenant, heard.put)
    shown = curator.proposals.get_proposal(proposal_id=proposal)
    curator.proposals.review_proposal(
        proposal_id=proposal, decision="approve", approval_token=shown.data["approval_token"]
    )
    subjects = {heard.get(timeout=PATIENCE).subject for _ in range(2)}
    assert proposal in subjects
    leave()


def test_one_commit_about_several_subjects_names_each_once(curator: Client) -> None:
    heard: Queue[Change] = Queue()
    leave = curator.office.feed.listen(curator.tenant, heard.put)
    books = curator.shelf.import_books(text="Dune, Frank Herbert\nEmma, Jane Austen").data["books"]
    assert {heard.get(timeout=PATIENCE).subject for _ in books} == {book["id"] for book in books}
    leave()


def test_a_listener_that_breaks_does_not_keep_others_from_hearing(curator: Client) -> None:
    heard: Queue[Change] = Queue()

    def breaks(change: Change) -> None:
        raise RuntimeError

    feed = curator.office.feed
    leave = [feed.listen(curator.tenant, breaks), feed.listen(curator.tenant, heard.put)]
    for title in ("Dune", "Emma"):
        curator.shelf.add_book(title=title)
        assert heard.get(timeout=PATIENCE).aggregate == "shelf"
    for each in leave:
        each()


def test_nobody_looks_when_nobody_listens(curator: Client) -> None:
    feed = curator.office.feed
    assert feed.is_idle
    leave = feed.listen(curator.tenant, lambda change: None)
    assert not feed.is_idle
    leave()
    leave()
    # The thread finds out by itself; until then it looks at nothing.
    while not feed.is_idle:
        Event().wait(0.001)
    again: Queue[Change] = Queue()
    leave = feed.listen(curator.tenant, again.put)
    curator.shelf.add_book(title="Dune")
    assert again.get(timeout=PATIENCE).aggregate == "shelf"


def test_closing_the_office_ends_the_feed(offices: Offices) -> None:
    client = offices.open()
    feed = client.office.feed
    feed.listen(client.tenant, lambda change: None)
    client.close()
    assert feed.is_idle
