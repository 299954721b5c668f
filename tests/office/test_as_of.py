"""Reading as things stood: by position of the ledger, never by a clock."""

from typing import Any

import pytest

from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import approve, facts, proposal_of, settle, titles


def shelf_at(client: Client, position: int | None = None) -> dict[str, Any]:
    arguments = {"limit": 500} if position is None else {"limit": 500, "as_of": position}
    listed = client.call("shelf.list-books", arguments)
    assert listed.ok, listed
    return {book["id"]: book for book in listed.data["books"]}


@pytest.mark.requirement("NEW-08")
def test_every_position_shows_what_was_there(offices: Offices, curator: Client, agent: Client) -> None:
    was: dict[int, dict[str, Any]] = {0: {}}

    def note() -> None:
        was[settle(curator)] = shelf_at(curator)

    dune = curator.shelf.add_book(title="Dune").data["book"]["id"]
    note()
    curator.shelf.import_books(text="Emma, Jane Austen\nUlysses, James Joyce")
    note()
    curator.shelf.change_book(id=dune, author="Frank Herbert")
    note()
    offices.clock.pass_(days=-30)
    proposal = proposal_of(agent.shelf.change_book(id=dune, title="Dune Messiah"))
    note()
    agent.shelf.add_book(title="Persuasion", proposal_id=proposal)
    note()
    approve(curator, proposal)
    note()
    token = curator.shelf.remove_book(id=dune).data["confirm_token"]
    curator.shelf.remove_book(id=dune, confirm_token=token)
    note()
    assert len(was) == 8
    assert [len(books) for books in was.values()] == [0, 1, 3, 3, 3, 3, 4, 3]
    for position in sorted({0} | {one + step for one in was for step in (-1, 0) if one}):
        known = was[max(one for one in was if one <= position)]
        assert shelf_at(curator, position) == known
        if dune in known:
            assert curator.shelf.get_book(id=dune, as_of=position).data["book"] == known[dune]
        else:
            assert curator.shelf.get_book(id=dune, as_of=position).message_key == "RECORD_NOT_FOUND"


def test_what_is_only_proposed_is_at_no_position(curator: Client, agent: Client) -> None:
    proposal = proposal_of(agent.shelf.add_book(title="Dune", commit_mode="draft"))
    assert titles(agent, proposal_id=proposal) == ["Dune"]
    curator.shelf.add_book(title="Emma")
    positions = {0, *(fact["position"] for fact in facts(curator))}
    seen = {title for position in positions for title in titles(curator, as_of=position)}
    assert seen == {"Emma"}


def test_a_position_never_shows_anything_else_later(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    position = settle(curator)
    before = shelf_at(curator, position)
    curator.shelf.change_book(id=book, title="Dune Messiah")
    curator.shelf.add_book(title="Emma")
    assert shelf_at(curator, position) == before


def test_the_future_is_refused_with_the_latest_position(curator: Client) -> None:
    curator.shelf.add_book(title="Dune")
    refused = curator.shelf.list_books(as_of=2**61)
    assert (refused.reply_type, refused.message_key) == ("I", "VALIDATION_ERROR")
    assert refused.data["field"] == "as_of"
    latest = refused.data["suggestions"]["latest"]
    assert settle(curator) <= latest
    assert titles(curator, as_of=latest) == ["Dune"]


def test_what_was_erased_is_at_no_position(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    curator.shelf.add_book(title="Emma")
    arguments = {"aggregate": "shelf", "subject": book}
    token = curator.call("record.erase", arguments).data["confirm_token"]
    assert curator.call("record.erase", {**arguments, "confirm_token": token}).ok
    positions = {0, *(fact["position"] for fact in facts(curator))}
    seen = {title for position in positions for title in titles(curator, as_of=position)}
    assert seen == {"Emma"}


def test_a_flow_that_keeps_no_versions_does_not_offer_it(curator: Client) -> None:
    refused = curator.call("shelf.list-authors", {"as_of": 0})
    assert (refused.message_key, refused.data["field"]) == ("UNKNOWN_FIELD", "as_of")


def test_pages_of_the_past_hold_together(curator: Client) -> None:
    for number in range(7):
        curator.shelf.add_book(title=f"Book {number}")
    position = settle(curator)
    for number in range(7, 12):
        curator.shelf.add_book(title=f"Book {number}")
    found: list[str] = []
    after = ""
    while True:
        page = curator.shelf.list_books(as_of=position, limit=2, after=after).data
        found += [book["title"] for book in page["books"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert sorted(found) == [f"Book {number}" for number in range(7)]
    assert len(facts(curator)) == 12
