"""A direct commit of high risk happens only with the token of exactly that plan."""

from pathlib import Path
from typing import Any

import pytest

from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.office.desk import facts, policies, proposal_of, titles
from tests.office.notes import Bench


def a_book(curator: Client, title: str = "Dune") -> str:
    book: str = curator.shelf.add_book(title=title).data["book"]["id"]
    return book


@pytest.mark.requirement("NEW-02")
def test_a_removal_is_denied_until_it_is_confirmed(curator: Client) -> None:
    book = a_book(curator)
    before = facts(curator)
    asked = curator.shelf.remove_book(id=book, client_request_id="remove-dune")
    assert (asked.reply_type, asked.message_key) == ("D", "CONFIRMATION_REQUIRED")
    assert asked.data["risk_tier"] == 3
    assert [(entry["change"], entry["subject"]) for entry in asked.data["diff"]] == [("remove", book)]
    assert facts(curator) == before
    token = asked.data["confirm_token"]
    done = curator.shelf.remove_book(id=book, confirm_token=token, client_request_id="remove-dune")
    assert done.message_key == "DELETED"
    assert titles(curator) == []
    again = curator.shelf.remove_book(id=book, client_request_id="remove-dune")
    assert (again.message_key, again.data["idempotent_replay"]) == ("DELETED", True)


@pytest.mark.requirement("ARCH-12", "NEW-02")
def test_a_wrong_token_is_told_before_the_write_as_with_it(curator: Client) -> None:
    book, other = a_book(curator), a_book(curator, "Emma")

    def checked(token: str) -> Any:
        payload = {"id": book, "confirm_token": token}
        return curator.call("record.validate-write", {"operation": "removeBook", "payload": payload}).data

    elses = curator.shelf.remove_book(id=other).data["confirm_token"]
    for token, code in (("zzz", "TOKEN_INVALID"), (elses, "PLAN_DRIFT")):
        told = checked(token)
        refused = curator.shelf.remove_book(id=book, confirm_token=token)
        assert (told["valid"], refused.message_key) == (False, code)
        assert told["errors"] == refused.data["errors"]
        assert told["errors"][0]["field"] == "confirm_token"
        assert told["errors"][0]["suggestions"]["hint"]
    own = curator.shelf.remove_book(id=book).data["confirm_token"]
    told = checked(own)
    assert (told["valid"], told["would"]["confirmation_required"]) == (True, False)
    assert curator.shelf.remove_book(id=book, confirm_token=own).message_key == "DELETED"


def test_a_proposed_removal_needs_none(curator: Client, agent: Client) -> None:
    book = a_book(curator)
    assert proposal_of(agent.shelf.remove_book(id=book))
    assert proposal_of(curator.shelf.remove_book(id=book, commit_mode="proposal"))


def test_a_token_lives_ten_minutes(offices: Offices, curator: Client) -> None:
    book = a_book(curator)
    token = curator.shelf.remove_book(id=book).data["confirm_token"]
    offices.clock.pass_(minutes=10)
    late = curator.shelf.remove_book(id=book, confirm_token=token)
    assert (late.reply_type, late.message_key) == ("I", "TOKEN_INVALID")
    token = curator.shelf.remove_book(id=book).data["confirm_token"]
    offices.clock.pass_(minutes=9, seconds=59)
    assert curator.shelf.remove_book(id=book, confirm_token=token).message_key == "DELETED"


def test_a_token_is_for_one_caller_in_one_tenant(curator: Client) -> None:
    book = a_book(curator)
    token = curator.shelf.remove_book(id=book).data["confirm_token"]
    dora = curator.as_("dora", "human", ["curator"])
    assert dora.shelf.remove_book(id=book, confirm_token=token).message_key == "TOKEN_INVALID"
    there = curator.as_("clara", "human", ["curator"], tenant="elsewhere")
    other = a_book(there)
    assert there.shelf.remove_book(id=other, confirm_token=token).message_key == "TOKEN_INVALID"
    for wrong in ("nonsense", token[:-1], token + "A"):
        assert curator.shelf.remove_book(id=book, confirm_token=wrong).message_key == "TOKEN_INVALID"
    assert titles(curator) == titles(there) == ["Dune"]


@pytest.mark.requirement("NEW-02")
def test_other_arguments_and_a_moved_base_are_named(curator: Client) -> None:
    book, other = a_book(curator), a_book(curator, "Emma")
    token = curator.shelf.remove_book(id=book).data["confirm_token"]
    refused = curator.shelf.remove_book(id=other, confirm_token=token)
    assert refused.message_key == "PLAN_DRIFT"
    assert {"what": "arguments"} in refused.data["moved"]
    curator.shelf.change_book(id=book, notes="signed")
    refused = curator.shelf.remove_book(id=book, confirm_token=token)
    assert refused.message_key == "PLAN_DRIFT"
    assert refused.data["moved"] == [{"what": "base", "subject": f"shelf/{book}", "from": 1, "to": 2}]
    assert titles(curator) == ["Dune", "Emma"]


@pytest.mark.requirement("NEW-02")
def test_a_changed_policy_is_named(offices: Offices, tmp_path: Path) -> None:
    before = offices.open()
    book = a_book(before)
    token = before.shelf.remove_book(id=book).data["confirm_token"]
    after = offices.open(policies=policies(tmp_path / "policies", "bulk_threshold = 19"))
    refused = after.shelf.remove_book(id=book, confirm_token=token)
    assert refused.message_key == "PLAN_DRIFT"
    assert [move["what"] for move in refused.data["moved"]] == ["policy"]


@pytest.mark.requirement("NEW-02")
def test_another_version_of_the_flow_is_named(offices: Offices, tmp_path: Path) -> None:
    folder = policies(tmp_path / "policies", "confirm_tier = 2")
    token = offices.open(Bench().notes, policies=folder).notes.add_note(text="hello").data["confirm_token"]
    after = offices.open(Bench(version="1.1.0").notes, policies=folder)
    refused = after.notes.add_note(text="hello", confirm_token=token)
    assert refused.message_key == "PLAN_DRIFT"
    assert refused.data["moved"] == [{"what": "flow", "flow": "notes.add-note", "from": "1.0.0", "to": "1.1.0"}]


def test_many_new_things_can_be_confirmed_although_their_ids_are_not_known_yet(curator: Client) -> None:
    text = "\n".join(f"Book {number}, Somebody" for number in range(30))
    asked = curator.shelf.import_books(text=text)
    assert (asked.message_key, asked.data["risk_tier"]) == ("CONFIRMATION_REQUIRED", 3)
    done = curator.shelf.import_books(text=text, confirm_token=asked.data["confirm_token"])
    assert (done.message_key, len(done.data["books"])) == ("CREATED", 30)


def test_a_token_confirms_once(curator: Client) -> None:
    book = a_book(curator)
    token = curator.shelf.remove_book(id=book).data["confirm_token"]
    assert curator.shelf.remove_book(id=book, confirm_token=token).ok
    assert curator.shelf.remove_book(id=book, confirm_token=token).message_key == "RECORD_NOT_FOUND"


def test_what_changes_nothing_needs_no_confirmation(offices: Offices, tmp_path: Path) -> None:
    curator = offices.open(shelf(), policies=policies(tmp_path / "policies", "confirm_tier = 1"))
    asked = curator.shelf.add_book(title="Dune")
    book = curator.shelf.add_book(title="Dune", confirm_token=asked.data["confirm_token"]).data["book"]["id"]
    assert curator.shelf.change_book(id=book, title="Dune").message_key == "NO_EFFECT"
    assert curator.shelf.change_book(id=book, title="Emma").message_key == "CONFIRMATION_REQUIRED"


def test_the_tier_from_which_on_to_confirm_is_a_knob(offices: Offices, tmp_path: Path) -> None:
    curator = offices.open(policies=policies(tmp_path / "policies", "confirm_tier = 5"))
    assert curator.shelf.remove_book(id=a_book(curator)).message_key == "DELETED"
