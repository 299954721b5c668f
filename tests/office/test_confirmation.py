"""A direct commit of high risk happens only with the token of exactly that plan, and uses it up."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from engross.ledger import KEPT_DAYS
from engross.ledger.verify import verify
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.office.desk import facts, policies, proposal_of, titles
from tests.office.notes import Bench
from tests.pipeline.tables import count, everything, rows


@pytest.fixture
def careful(offices: Offices, tmp_path: Path) -> Callable[..., Client]:
    """Opens an office of notes that has every write confirmed, also the first of a note."""
    folder = policies(tmp_path / "policies", "confirm_tier = 2")
    return lambda bench=None: offices.open((bench or Bench()).notes, policies=folder)


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


def token_for(client: Client, text: str = "hello") -> str:
    token: str = client.notes.add_note(text=text).data["confirm_token"]
    return token


def assert_used(answer: Reply) -> None:
    assert (answer.reply_type, answer.message_key) == ("D", "CONFIRMATION_REQUIRED"), answer
    assert answer.data["confirm_token_used"] is True


@pytest.mark.requirement("NEW-02")
def test_a_token_confirms_once(careful: Callable[..., Client]) -> None:
    clara = careful()
    token = token_for(clara)
    assert clara.notes.add_note(text="hello", confirm_token=token).message_key == "CREATED"
    before = everything(clara)
    for _ in range(2):
        again = clara.notes.add_note(text="hello", confirm_token=token)
        assert_used(again)
        assert [entry["change"] for entry in again.data["diff"]] == ["add"]
    assert everything(clara) == before
    fresh = again.data["confirm_token"]
    assert fresh != token
    assert clara.notes.add_note(text="hello", confirm_token=fresh).message_key == "CREATED"
    assert_used(clara.notes.add_note(text="hello", confirm_token=fresh))
    assert count(clara, "notes") == 2


def test_who_is_asked_for_the_first_time_is_not_told_of_a_used_token(careful: Callable[..., Client]) -> None:
    assert "confirm_token_used" not in careful().notes.add_note(text="hello").data


def test_each_asking_gives_a_token_of_its_own(careful: Callable[..., Client]) -> None:
    clara = careful()
    tokens = [token_for(clara), token_for(clara), clara.notes.add_note.dry_run(text="hello").data["confirm_token"]]
    for token in tokens:
        assert clara.notes.add_note(text="hello", confirm_token=token).message_key == "CREATED"
    assert count(clara, "notes") == 3


@pytest.mark.requirement("NEW-02")
def test_a_token_that_was_used_is_known_elsewhere_and_after_a_restart(careful: Callable[..., Client]) -> None:
    first, elsewhere = careful(), careful()
    token = token_for(first)
    assert first.notes.add_note(text="hello", confirm_token=token).ok
    assert_used(elsewhere.notes.add_note(text="hello", confirm_token=token))
    first.close()
    elsewhere.close()
    assert_used(careful().notes.add_note(text="hello", confirm_token=token))


@pytest.mark.requirement("NEW-02")
@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize("keyed", [False, True], ids=["without keys", "with a key each"])
def test_of_several_who_use_one_token_at_once_one_commits(
    careful: Callable[..., Client], processes: int, keyed: bool
) -> None:
    clients = [careful() for _ in range(processes)]
    for number in range(3):
        token = token_for(clients[0])
        together = Barrier(4)

        def add(caller: int, number: int = number, token: str = token, start: Barrier = together) -> Reply:
            key = {"client_request_id": f"round-{number}-{caller}"} if keyed else {}
            start.wait(timeout=30)
            return clients[caller % processes].notes.add_note(text="hello", confirm_token=token, **key)

        with ThreadPoolExecutor(4) as threads:
            answers = sorted(threads.map(add, range(4)), key=lambda answer: answer.message_key)
        for late in answers[:3]:
            assert_used(late)
        assert answers[3].message_key == "CREATED"
        assert count(clients[0], "notes") == number + 1
    assert clients[0].office.rebuild("main").same


@pytest.mark.requirement("NEW-02", "ARCH-32")
def test_a_repetition_with_its_key_is_a_replay_and_no_second_use(careful: Callable[..., Client]) -> None:
    clara = careful()
    given = {"text": "hello", "confirm_token": token_for(clara), "client_request_id": "add-hello"}
    first = clara.notes.add_note(**given)
    for client in (clara, careful()):
        again = client.notes.add_note(**given)
        assert (again.message_key, again.data["idempotent_replay"]) == ("CREATED", True)
        assert again.data["note"] == first.data["note"]
    assert_used(clara.notes.add_note(**{**given, "client_request_id": "add-hello-again"}))
    assert count(clara, "notes") == 1


@pytest.mark.requirement("NEW-02")
def test_nobody_gets_a_second_use_by_taking_the_first_calls_id_for_a_key(careful: Callable[..., Client]) -> None:
    clara = careful()
    token = token_for(clara)
    (fact,) = clara.notes.add_note(text="hello", confirm_token=token).data["facts"]
    message_id = fact.partition(".")[0]
    assert_used(clara.notes.add_note(text="hello", confirm_token=token, client_request_id=message_id))


@pytest.mark.requirement("NEW-02", "NEW-10")
def test_a_dry_run_uses_no_token_up_and_tells_of_one_that_is(careful: Callable[..., Client]) -> None:
    clara = careful()
    given = {"text": "hello", "confirm_token": token_for(clara)}
    for _ in range(2):
        tried = clara.notes.add_note.dry_run(**given)
        assert (tried.data["valid"], tried.data["would"]["confirmation_required"]) == (True, False)
    assert count(clara, "keys") == 0
    assert clara.notes.add_note(**given).message_key == "CREATED"
    assert_used(clara.notes.add_note.dry_run(**given))
    told = clara.call("record.validate-write", {"operation": "addNote", "payload": given}).data
    assert (told["valid"], told["errors"][0]["code"]) == (False, "CONFIRMATION_REQUIRED")


@pytest.mark.requirement("NEW-02")
def test_what_was_not_committed_leaves_the_token_as_it_was(careful: Callable[..., Client]) -> None:
    bench = Bench()
    clara = careful(bench)
    token = token_for(clara, "fragile")
    bench.applier_breaks = True
    assert clara.notes.add_note(text="fragile", confirm_token=token).message_key == "SYS_CRASH"
    assert count(clara, "keys") == 0
    bench.applier_breaks = False
    assert clara.notes.add_note(text="fragile", confirm_token=token).message_key == "CREATED"


def test_the_record_does_not_hold_a_used_token_and_forgets_it_with_the_keys(offices: Offices, tmp_path: Path) -> None:
    clara = offices.open(policies=policies(tmp_path / "policies", "confirm_tier = 2"))
    token = clara.shelf.add_book(title="Dune").data["confirm_token"]
    book = clara.shelf.add_book(title="Dune", confirm_token=token).data["book"]["id"]
    (row,) = rows(clara, "SELECT * FROM keys WHERE tenant = :tenant")
    assert token not in str(everything(clara))
    assert (row["answer"], row["position"]) == (None, None)
    erasure = {"aggregate": "shelf", "subject": book}
    anna = clara.as_("anna", "human", ["admin"])
    asked = anna.call("record.erase", erasure)
    assert anna.call("record.erase", {**erasure, "confirm_token": asked.data["confirm_token"]}).ok
    assert row in rows(clara, "SELECT * FROM keys WHERE tenant = :tenant")
    assert verify(clara.office.settings.location, public_key=clara.office.public_key).ok
    offices.clock.pass_(days=KEPT_DAYS, seconds=-1)
    clara.office.tidy()
    assert count(clara, "keys") == 2
    offices.clock.pass_(seconds=1)
    clara.office.tidy()
    assert count(clara, "keys") == 0


def test_what_changes_nothing_needs_no_confirmation(offices: Offices, tmp_path: Path) -> None:
    curator = offices.open(shelf(), policies=policies(tmp_path / "policies", "confirm_tier = 1"))
    asked = curator.shelf.add_book(title="Dune")
    book = curator.shelf.add_book(title="Dune", confirm_token=asked.data["confirm_token"]).data["book"]["id"]
    assert curator.shelf.change_book(id=book, title="Dune").message_key == "NO_EFFECT"
    assert curator.shelf.change_book(id=book, title="Emma").message_key == "CONFIRMATION_REQUIRED"


def test_the_tier_from_which_on_to_confirm_is_a_knob(offices: Offices, tmp_path: Path) -> None:
    curator = offices.open(policies=policies(tmp_path / "policies", "confirm_tier = 5"))
    assert curator.shelf.remove_book(id=a_book(curator)).message_key == "DELETED"
