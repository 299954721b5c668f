"""The clock jumps back two hours between two calls. Order is by position, and nothing that counts is a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engross.ledger.verify import verify
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.faults.audit import audit, read_books

pytestmark = [pytest.mark.faults, pytest.mark.requirement("REL-04")]


def said(answer: Reply) -> Mapping[str, Any]:
    assert answer.ok, answer
    assert answer.data is not None
    return answer.data


def add_book(client: Client, title: str, key: str) -> Mapping[str, Any]:
    return said(client.call("shelf.add-book", {"title": title, "client_request_id": key}))


def listed_proposals(client: Client) -> list[str]:
    """The ids of all proposals, a page of one at a time."""
    found: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = said(client.call("proposals.list-proposals", {"limit": 1, **cursor}))
        found += [proposal["id"] for proposal in page["proposals"]]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def test_the_ledger_goes_on_in_the_order_of_its_positions(offices: Offices, curator: Client) -> None:
    first = add_book(curator, "Dune", "first-key")
    offices.clock.pass_(hours=-2)
    second = add_book(curator, "Emma", "second-key")
    said(curator.call("shelf.change-book", {"id": first["book"]["id"], "notes": "read"}))
    facts = said(curator.call("record.read-facts", {}))["facts"]
    assert [fact["type"].rsplit(".", 2)[1] for fact in facts] == ["BookAdded", "BookAdded", "BookChanged"]
    assert facts[1]["time"] < facts[0]["time"]
    assert first["position"] < second["position"]
    then = said(curator.call("shelf.list-books", {"as_of": first["position"]}))
    assert [book["title"] for book in then["books"]] == ["Dune"]
    audit(curator)


def test_a_key_is_remembered_across_the_jump_and_for_its_seven_days(offices: Offices, curator: Client) -> None:
    add_book(curator, "Dune", "first-key")
    offices.clock.pass_(hours=-2)
    add_book(curator, "Emma", "second-key")
    for _ in range(2):
        for title, key in (("Dune", "first-key"), ("Emma", "second-key")):
            assert add_book(curator, title, key)["idempotent_replay"] is True
        curator.office.tidy()
        curator = offices.open()
    offices.clock.pass_(hours=2)
    assert add_book(curator, "Dune", "first-key")["idempotent_replay"] is True
    offices.clock.pass_(days=8)
    curator.office.tidy()
    again = curator.call("shelf.add-book", {"title": "Dune", "client_request_id": "first-key"})
    assert again.message_key == "DUPLICATE_NAME"


def test_seals_form_one_chain(offices: Offices, curator: Client) -> None:
    add_book(curator, "Dune", "first-key")
    curator.office.seal()
    offices.clock.pass_(hours=-2)
    add_book(curator, "Emma", "second-key")
    curator.office.seal()
    report = verify(curator.office.settings.location, public_key=curator.office.public_key)
    assert report.ok
    assert (report.total.seals, report.total.sealed, report.total.unsealed) == (2, 2, 0)


def test_a_proposal_can_be_found_and_decided(offices: Offices, curator: Client, agent: Client) -> None:
    before = said(agent.call("shelf.add-book", {"title": "Dune", "client_request_id": "before-key"}))
    offices.clock.pass_(hours=-2)
    after = said(agent.call("shelf.add-book", {"title": "Emma", "client_request_id": "after-key"}))
    curator.office.tidy()
    listed = listed_proposals(curator)
    assert sorted(listed) == sorted([before["proposal"]["id"], after["proposal"]["id"]])
    for proposal in listed:
        shown = said(curator.call("proposals.get-proposal", {"proposal_id": proposal}))
        decision = {"decision": "approve", "approval_token": shown["approval_token"]}
        said(curator.call("proposals.review-proposal", {"proposal_id": proposal, **decision}))
    assert len(said(curator.call("shelf.list-books"))["books"]) == 2
    audit(curator)


def test_a_confirmation_that_was_given_before_the_jump_still_counts(offices: Offices, curator: Client) -> None:
    book = add_book(curator, "Dune", "first-key")["book"]["id"]
    asked = curator.call("shelf.remove-book", {"id": book})
    assert asked.data is not None
    offices.clock.pass_(hours=-2)
    said(curator.call("shelf.remove-book", {"id": book, "confirm_token": asked.data["confirm_token"]}))
    assert [fact["type"] for fact in read_books(curator).facts] == ["BookAdded", "BookRemoved"]
    audit(curator)
