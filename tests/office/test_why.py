"""Why, asked about a subject of any aggregate: what the ledger holds about it, for those who may read its history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from engross.flows import Aggregate
from engross.ledger import Fact, Reader, State, Unit
from engross.ledger.facts import facts_about
from engross.ledger.reasons import reasons_of
from engross.replies import Invalid, codes
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.office.desk import approve, policies, proposal_of, receipt
from tests.office.notes import Bench

pytestmark = pytest.mark.requirement("NEW-05")


class Diary(TypedDict):
    """What to keep."""

    line: str


class Asked(TypedDict):
    """What to account for."""

    ref: str


def diaries(**more: Any) -> Aggregate:
    """An aggregate whose facts name no fields; with `owned_by`, they are their writers' own."""
    diary = Aggregate("diary", "Diaries", **more)

    @diary.record(effect="create", posture="direct", tier=1)
    def keep(unit: Unit, arguments: Diary) -> Mapping[str, Any]:
        """Keep a line."""
        identifier = unit.new_id("line_")
        unit.append("Kept", identifier, 0, {"line": arguments["line"], "owner": unit.context.principal.id})
        return {"id": identifier}

    @diary.applies("Kept")
    def kept(state: State, fact: Fact) -> None:
        pass

    return diary


def told(client: Client, of: str, **more: str) -> Any:
    """The only account that there is."""
    answer = client.record.why(of=of, **more)
    assert answer.ok, answer
    (found,) = answer.data["found"]
    return found


def is_unknown(client: Client, of: str, **more: str) -> bool:
    answer = client.record.why(of=of, **more)
    return (answer.message_key, answer.data.get("field")) == ("RECORD_NOT_FOUND", "of")


def test_a_subject_of_ones_own_domain_is_told_fact_by_fact(curator: Client, agent: Client) -> None:
    proposed = agent.shelf.add_book(title="Dune", reason="A classic")
    proposal, book = proposal_of(proposed), proposed.data["book"]["id"]
    approve(curator, proposal)
    changed = curator.shelf.change_book(id=book, notes="sand")
    found = told(curator, book)
    assert (found["aggregate"], found["subject"], found["is_deleted"]) == ("shelf", book, False)
    added, noted = found["reasons"]
    assert (added["fact"], added["version"], added["by"]["id"]) == ("BookAdded", 1, "scout")
    assert (added["proposal"], added["approvers"], added["reason"]) == (proposal, ["clara"], "A classic")
    assert added["plans"] == [{"flow": "shelf.add-book", "version": "1.0.0"}]
    assert (noted["fact"], noted["by"]["id"], noted["approvers"]) == ("BookChanged", "clara", [])
    assert (noted["flow"], noted["flow_version"]) == ("shelf.change-book", "1.0.0")
    for reason in (added, noted):
        assert reason["time"]
        assert reason["receipt"]["facts_digest"] == receipt(curator, reason["position"])["facts_digest"]
    assert noted["position"] == changed.data["position"]
    assert found["fields"]["notes"] == noted["fact_id"]
    assert told(curator, book, aggregate="shelf") == found


def test_what_is_still_proposed_about_it_is_told_too(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    proposal = proposal_of(agent.shelf.change_book(id=book, notes="sand"))
    assert [one["id"] for one in told(curator, book)["proposals"]] == [proposal]
    made = agent.shelf.add_book(title="Emma")
    found = told(curator, made.data["book"]["id"])
    assert (found["aggregate"], found["is_proposed"], found["reasons"]) == ("shelf", True, [])
    assert found["proposals"][0]["id"] == proposal_of(made)


def test_one_field_is_told_by_what_set_it(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    curator.shelf.change_book(id=book, author="Herbert")
    curator.shelf.change_book(id=book, notes="sand")
    found = told(curator, book, field="notes")
    assert [one["version"] for one in found["reasons"]] == [1, 3]
    assert found["fields"] == {"notes": found["reasons"][1]["fact_id"]}
    refused = curator.record.why(of=book, field="note")
    assert (refused.message_key, refused.data["field"]) == ("FIELD_NOT_FOUND", "field")
    assert refused.data["suggestions"]["did_you_mean"] == ["notes"]


def test_of_many_facts_the_newest_and_the_first_are_told_and_all_are_counted(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    for number in range(2, 63):
        curator.shelf.change_book(id=book, notes=f"Edition {number}")
    found = told(curator, book)
    assert [one["version"] for one in found["reasons"]] == [1, *range(14, 63)]
    assert found["reasons_in_all"] == 62


def test_a_fact_that_names_no_fields_sets_those_that_it_tells(offices: Offices) -> None:
    curator = offices.open(diaries())
    line = curator.diary.keep(line="Rain.").data["id"]
    found = told(curator, line, field="line")
    assert found["reasons"][0]["fields"] == ["line", "owner"]
    assert found["fields"] == {"line": found["reasons"][0]["fact_id"]}


def test_what_was_removed_or_erased_is_told_as_that(offices: Offices) -> None:
    curator = offices.open().as_("clara", "human", ["curator", "admin"])
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    confirm = curator.shelf.remove_book(id=book).data["confirm_token"]
    assert curator.shelf.remove_book(id=book, confirm_token=confirm).ok
    assert told(curator, book)["is_deleted"] is True
    wish = {"aggregate": "shelf", "subject": book}
    asked = curator.call("record.erase", wish)
    assert curator.call("record.erase", {**wish, "confirm_token": asked.data["confirm_token"]}).ok
    found = told(curator, book)
    assert [one["erased"] for one in found["reasons"]] == [True, True, False]
    assert "Dune" not in str(found)


def test_what_belongs_to_single_users_is_told_to_them_and_to_those_who_review(offices: Offices) -> None:
    curator = offices.open(diaries(owned_by="owner"))
    anna, otto = (curator.as_(name, "human", ["contributor"]) for name in ("anna", "otto"))
    line = anna.diary.keep(line="Rain.").data["id"]
    for reader in (anna, curator):
        assert told(reader, line)["reasons"][0]["by"]["id"] == "anna"
    assert is_unknown(otto, line)
    assert is_unknown(otto, line, aggregate="diary")
    unseen, nowhere = (otto.record.why(of=one).data for one in (line, "line_nowhere"))
    assert unseen == nowhere


def test_an_aggregate_that_was_not_loaded_is_still_told_to_those_who_review(offices: Offices) -> None:
    note = offices.open(Bench().notes).notes.add_note(text="hello").data["note"]["id"]
    without = offices.open()
    assert told(without, note)["reasons"][0]["fact"] == "NoteAdded"
    assert told(without, note, aggregate="notes")["subject"] == note
    viewer = without.as_("vera", "human", ["viewer"])
    assert is_unknown(viewer, note)
    named = [one.record.why(of=note, aggregate="nots").data["suggestions"] for one in (without, viewer)]
    assert ["notes" in one["allowed_values"] for one in named] == [True, False]


def test_an_aggregate_that_there_is_not_is_refused_with_those_that_there_are(curator: Client) -> None:
    refused = curator.record.why(of="book_nowhere", aggregate="shelve")
    assert (refused.message_key, refused.data["field"]) == ("RECORD_NOT_FOUND", "aggregate")
    assert refused.data["suggestions"]["did_you_mean"] == ["shelf"]
    assert "shelf" in refused.data["suggestions"]["allowed_values"]
    assert is_unknown(curator, "book_nowhere", aggregate="shelf")


def test_a_domain_with_an_account_of_its_own_is_asked_for_that(offices: Offices) -> None:
    diary = diaries()

    @diary.read(controls=(), answers=None)
    def why_line(reader: Reader, arguments: Asked) -> Mapping[str, Any]:
        """Tell how a line came to be there."""
        stated = facts_about(reader.reading, "diary", arguments["ref"].lower(), after_version=0, most=10)
        if not stated:
            raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "line", "id": arguments["ref"]}, field="ref")
        return {"subject": stated[0][0].subject, "weather": "wet", "reasons": reasons_of(reader.reading, stated)}

    curator = offices.open(diary, shelf())
    line = curator.diary.keep(line="Rain.").data["id"]
    found = told(curator, line.upper())
    assert (found["aggregate"], found["subject"], found["weather"]) == ("diary", line, "wet")
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    assert told(curator, book)["aggregate"] == "shelf"
    assert is_unknown(curator, book, aggregate="diary")


def test_a_flow_that_is_only_called_like_an_account_is_none(offices: Offices) -> None:
    diary = diaries()

    @diary.read(controls=(), answers=None)
    def why_not(reader: Reader, arguments: Diary) -> Mapping[str, Any]:
        """Encourage somebody."""
        return {"answer": "Do."}

    curator = offices.open(diary)
    line = curator.diary.keep(line="Rain.").data["id"]
    assert told(curator, line)["aggregate"] == "diary"


def test_who_may_not_read_histories_is_told_none(offices: Offices, tmp_path: Path) -> None:
    forbidden = """
    @id("house.no-histories")
    forbid (principal, action == Action::"call", resource == Flow::"record.read-history");
    """
    folder = policies(tmp_path / "policies", house=forbidden)
    curator = offices.open(policies=folder)
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    assert curator.record.read_history(aggregate="shelf", subject=book).reply_type == "D"
    assert is_unknown(curator, book)


def test_tokens_and_proposals_are_told_to_whom_they_may_be(curator: Client, agent: Client) -> None:
    admin = curator.as_("ada", "human", ["admin"])
    token = admin.door.create_token(principal="scout", type="agent", roles=["agent"]).data["token"]["id"]
    assert told(admin, token)["aggregate"] == "door"
    assert is_unknown(agent, token)
    proposal = proposal_of(agent.shelf.add_book(title="Dune"))
    assert told(agent, proposal)["reasons"][0]["fact"] == "ProposalOpened"
