"""Reading as things stood: by position of the ledger, or by the position that an instant stands for."""

from datetime import timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engross.calls import instant
from engross.ledger import position_at
from engross.store import Reading
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.office.desk import approve, facts, proposal_of, settle, titles


def shelf_at(client: Client, moment: int | str | None = None) -> dict[str, Any]:
    arguments = {"limit": 500} if moment is None else {"limit": 500, "as_of": moment}
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


@pytest.mark.requirement("NEW-08")
def test_an_instant_shows_what_was_committed_by_then(offices: Offices, curator: Client, agent: Client) -> None:
    was: list[tuple[str, dict[str, Any]]] = []

    def note() -> None:
        offices.clock.pass_(seconds=30)
        was.append((instant(offices.clock()), shelf_at(curator)))
        offices.clock.pass_(seconds=30)

    note()
    for number in range(9):
        curator.shelf.add_book(title=f"Book {number}")
        note()
    proposal = proposal_of(agent.shelf.add_book(title="Proposed"))
    note()
    approve(curator, proposal)
    note()
    assert len({len(books) for _, books in was}) == 11
    for moment, books in was:
        assert shelf_at(curator, moment) == books
        assert shelf_at(curator, moment.replace("Z", "+00:00")) == books


def test_at_the_very_instant_of_a_commit_it_is_there(offices: Offices, curator: Client) -> None:
    curator.shelf.add_book(title="Dune")
    committed = offices.clock()
    offices.clock.pass_(seconds=1)
    curator.shelf.add_book(title="Emma")
    assert titles(curator, as_of=instant(committed)) == ["Dune"]
    assert titles(curator, as_of=instant(committed - timedelta(microseconds=1))) == []
    eastern = committed.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert titles(curator, as_of=eastern.isoformat()) == ["Dune"]


def test_positions_may_be_written_as_text(curator: Client) -> None:
    curator.shelf.add_book(title="Dune")
    position = settle(curator)
    curator.shelf.add_book(title="Emma")
    assert titles(curator, as_of=str(position)) == ["Dune"]


def test_an_instant_that_is_yet_to_come_is_refused(offices: Offices, curator: Client) -> None:
    curator.shelf.add_book(title="Dune")
    refused = curator.shelf.list_books(as_of=instant(offices.clock() + timedelta(seconds=1)))
    assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "as_of")
    assert titles(curator, as_of=refused.data["suggestions"]["latest"]) == ["Dune"]


@pytest.mark.parametrize(
    "text",
    ["yesterday", "", "2026-01-31", "2026-01-31T18:00:00", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1.5"],
)
def test_what_is_neither_position_nor_instant_is_refused(curator: Client, text: str) -> None:
    refused = curator.call("shelf.list-books", {"as_of": text, "limit": 0})
    assert {error["field"] for error in refused.data["errors"]} == {"as_of", "limit"}


def test_an_instant_stays_where_it_was_when_the_clock_was_set_back(offices: Offices, curator: Client) -> None:
    for number in range(5):
        curator.shelf.add_book(title=f"Before {number}")
        offices.clock.pass_(minutes=10)
    offices.clock.pass_(hours=-2)
    curator.shelf.add_book(title="Between")
    offices.clock.pass_(hours=1)
    asked = instant(offices.clock())
    first = shelf_at(curator, asked)
    for number in range(40):
        offices.clock.pass_(hours=1)
        curator.shelf.add_book(title=f"After {number}")
        assert shelf_at(curator, asked) == first


def test_an_instant_costs_a_look_at_few_receipts(offices: Offices, curator: Client) -> None:
    moments = []
    for number in range(200):
        curator.shelf.add_book(title=f"Book {number}")
        moments.append(instant(offices.clock()))
        offices.clock.pass_(seconds=1)
    counted = 0

    def looked(reading: Reading) -> list[int]:
        def rows(sql: str, params: dict[str, Any]) -> list[Any]:
            nonlocal counted
            counted += 1
            return reading.rows(sql, params)

        return [position_at(cast(Reading, SimpleNamespace(rows=rows)), moment) for moment in moments]

    found = curator.office.store.read(curator.tenant, looked)
    assert found == sorted(set(found))
    assert counted / len(moments) <= 1 + found[-1].bit_length()


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
