"""A dry run walks the whole path and leaves nothing: and what it says of a write is what the write then does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.pipeline.board import Conduct, board
from tests.pipeline.post import OtherSystem, post
from tests.pipeline.shapes import arguments_of, spoiled
from tests.pipeline.tables import count, everything

WRITES = ["shelf.add-book", "shelf.change-book", "shelf.remove-book", "shelf.import-books"]
LATER = {
    "direct": {"CREATED", "UPDATED", "DELETED"},
    "proposal": {"PROPOSAL_RECORDED"},
    "unchanged": {"NO_EFFECT"},
    "replay": {"CREATED", "UPDATED", "DELETED", "PROPOSAL_RECORDED", "NO_EFFECT"},
}


def validate(client: Client, operation: str, payload: Any) -> Reply:
    return client.call("record.validate-write", {"operation": operation, "payload": payload})


def several_ways(client: Client, operation: str, payload: dict[str, Any]) -> list[Reply]:
    """The same trial run by every way there is."""
    question = {"operation": operation, "payload": payload}
    return [
        client.call(operation, payload, dry_run=True),
        asyncio.run(client.acall(operation, payload, dry_run=True)),
        client.call("record.validate-write", question),
        asyncio.run(client.acall("record.validate-write", question)),
    ]


def codes_of(answer: Reply) -> list[str]:
    if "errors" in answer.data:
        return [error["reply_code"] for error in answer.data["errors"]]
    return [answer.code]


# --- nothing is left -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-12", "NEW-10")
def test_a_dry_run_of_any_write_leaves_every_table_as_it_was(curator: Client, agent: Client) -> None:
    book = curator.shelf.add_book(title="Dune", author="Frank Herbert").data["book"]["id"]
    proposal = agent.shelf.change_book(id=book, notes="sand").data["proposal"]["id"]
    good: list[tuple[str, dict[str, Any]]] = [
        ("shelf.add-book", {"title": "Emma", "author": "Frank Herbert"}),
        ("shelf.change-book", {"id": book, "author": "F. Herbert"}),
        ("shelf.change-book", {"id": book, "title": "Dune"}),
        ("shelf.remove-book", {"id": book}),
        ("shelf.import-books", {"text": "Emma, Jane Austen\nUlysses, James Joyce"}),
        ("shelf.import-books", {"text": "\n".join(f"Book {number}, Somebody" for number in range(30))}),
    ]
    bad: list[tuple[str, dict[str, Any]]] = [
        ("shelf.add-book", {"title": "Dune"}),
        ("shelf.add-book", {"titel": "Emma"}),
        ("shelf.change-book", {"id": book, "title": "Emma", "expected_version": 7}),
        ("shelf.remove-book", {"id": "book_nowhere"}),
    ]
    steering: list[dict[str, Any]] = [
        {},
        {"client_request_id": "change-0001", "reason": "because"},
        {"commit_mode": "proposal"},
    ]
    curator.office.seal()
    before = everything(curator)
    for client in (curator, agent):
        own = [{"proposal_id": proposal}] if client is agent else []
        for operation, payload in good:
            for controls in [*steering, *own]:
                for answer in several_ways(client, operation, {**payload, **controls}):
                    assert (answer.message_key, answer.data["valid"]) == ("VALIDATION_DONE", True), answer
        for operation, payload in bad:
            for answer in several_ways(client, operation, payload):
                assert not answer.data.get("valid", False)
    assert everything(curator) == before


@pytest.mark.requirement("NEW-10")
def test_a_dry_run_of_a_users_own_write_leaves_every_table_as_it_was(offices: Offices) -> None:
    other = OtherSystem()
    curator = offices.open(board(), post(other))
    agent = curator.as_("scout", "agent", ["agent"])
    note = curator.board.pin_note(text="a").data["note"]["id"]
    payloads: dict[str, dict[str, Any]] = {
        "board.pin-note": {"text": "b"},
        "board.paint-note": {"id": note, "colour": "red"},
        "board.take-down": {"id": note},
        "post.send-letter": {"to": "Ada"},
        "post.announce": {"to": "everybody"},
        "post.send-money": {"to": "Ada"},
    }
    own = [
        flow.ref for flow in curator.office.catalogue if flow.writes and flow.aggregate.namespace in ("board", "post")
    ]
    assert sorted(payloads) == own
    curator.office.seal()
    before = everything(curator)
    for client in (curator, agent):
        for operation, payload in payloads.items():
            for answer in several_ways(client, operation, {**payload, "client_request_id": "change-0001"}):
                assert (operation, answer.data["valid"]) == (operation, True)
    assert everything(curator) == before
    assert other.calls == []


@pytest.mark.requirement("NEW-10")
@pytest.mark.parametrize("place", ["prepare", "perform", "finish", "apply"])
def test_a_dry_run_that_crashes_leaves_every_table_as_it_was(offices: Offices, place: str) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    setattr(conduct, place, lambda *_: 1 / 0)
    before = everything(curator)
    for answer in several_ways(curator, "board.pin-note", {"text": "a"}):
        assert answer.message_key == "SYS_CRASH"
    assert everything(curator) == before


@pytest.mark.requirement("NEW-10")
def test_a_dry_run_of_an_answer_that_could_not_be_sent_says_so(offices: Offices) -> None:
    conduct = Conduct(finish=lambda unit: {"note": float("nan")})
    curator = offices.open(board(conduct), most_reply_bytes=50_000)
    for answer in several_ways(curator, "board.pin-note", {"text": "a"}):
        assert answer.message_key == "NOT_SERIALIZABLE"
    conduct.finish = lambda unit: {"note": "x" * 60_000}
    for answer in several_ways(curator, "board.pin-note", {"text": "a"}):
        assert answer.message_key == "RESPONSE_TOO_LARGE"


# --- what it says is what happens ------------------------------------------------------------------------------------


@pytest.fixture
def known(curator: Client, agent: Client) -> dict[str, list[Any]]:
    """Values that mean something in this office, so that made-up calls get further than `not found`."""
    books = [
        curator.shelf.add_book(title=title, author="Somebody").data["book"]["id"]
        for title in ("Dune", "Emma", "Ulysses")
    ]
    proposals = [
        agent.shelf.change_book(id=books[0], notes="sand").data["proposal"]["id"],
        curator.shelf.change_book(id=books[1], notes="tea", commit_mode="proposal").data["proposal"]["id"],
    ]
    return {
        "id": books,
        "title": ["Dune", "dune", "Persuasion", "Emma"],
        "author": ["Somebody"],
        "expected_version": [1, 2],
        "proposal_id": proposals,
        "client_request_id": ["change-0001", "change-0002"],
        "text": ["Sanditon\nThe Watsons, Jane Austen", "Dune", ", nobody", "\n".join(map(str, range(25)))],
    }


@pytest.mark.requirement("ARCH-12", "NEW-10", "NEW-02", "REL-06")
@given(data=st.data())
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_what_validate_write_says_of_a_write_is_what_the_write_then_does(
    curator: Client, known: dict[str, list[Any]], data: st.DataObject
) -> None:
    vera = curator.as_("vera", "human", ["viewer"])
    callers = [
        curator,
        curator.as_("scout", "agent", ["agent"]),
        curator.as_("carl", "human", ["contributor"]),
        vera,
    ]
    client = data.draw(st.sampled_from(callers), label="caller")
    operation = data.draw(st.sampled_from(WRITES), label="operation")
    good = arguments_of(curator.office.catalogue.flow(operation), known)
    payload = data.draw(st.one_of(good, good, spoiled(good)), label="payload")
    checked = validate(client, operation, payload)
    dry = client.call(operation, payload, dry_run=True)
    if checked.message_key != "VALIDATION_DONE":
        # What is no JSON object is a bad question, and a bad call for whoever may make any.
        assert checked.reply_type == "I"
        assert dry.reply_type in ("ID" if client is vera else "I")
        return
    done = client.call(operation, payload)
    if not checked.data["valid"]:
        assert dry.code == done.code
        if client is vera:
            # Who may not write at all hears that first, and nothing about the arguments.
            assert checked.data["would"] == {"mode": "deny"}
            assert done.reply_type in "ID"
            return
        assert [error["reply_code"] for error in checked.data["errors"]] == codes_of(done) == codes_of(dry)
        assert checked.data["would"]["mode"] == {"I": "refused", "D": "deny"}[done.reply_type]
        return
    assert dry.ok
    would = checked.data["would"]
    assert would == dry.data["would"]
    if would.get("confirmation_required") and "confirm_token" not in payload:
        assert done.message_key == "CONFIRMATION_REQUIRED"
        assert done.data["risk_tier"] == would["risk_tier"]
        done = client.call(operation, {**payload, "confirm_token": checked.data["confirm_token"]})
    if "confirm_token" in payload and would.get("confirmation_required"):
        assert done.message_key == "TOKEN_INVALID"
        return
    assert done.message_key in LATER[would["mode"]], (would, done)
    assert done.data["idempotent_replay"] is (would["mode"] == "replay")
    if would["mode"] == "proposal":
        assert done.data["proposal"]["risk_tier"] >= would["risk_tier"]
        assert done.data["proposal"]["approvals_required"] >= would["approvals_required"]


@pytest.mark.requirement("ARCH-12")
def test_an_answer_shows_the_arguments_as_they_would_be_taken(offices: Offices) -> None:
    curator = offices.open(board())
    for answer in several_ways(curator, "board.pin-note", {"text": "a", "client_request_id": "change-0001"}):
        assert answer.data["normalized"] == {"text": "a", "colour": "yellow"}


@pytest.mark.requirement("ARCH-12")
def test_a_key_that_is_taken_is_told_beforehand(offices: Offices) -> None:
    other = OtherSystem()
    curator = offices.open(board(), post(other))
    boris = curator.as_("boris", roles=["curator"])
    key = {"client_request_id": "change-0001"}
    first = curator.board.pin_note(text="a", **key)
    curator.post.send_letter(to="Ada", **key)
    before = everything(curator)
    for operation, same, changed in (
        ("board.pin-note", {"text": "a"}, {"text": "b"}),
        ("post.send-letter", {"to": "Ada"}, {"to": "Bob"}),
    ):
        for checked in several_ways(curator, operation, {**same, **key}):
            assert checked.data["would"]["mode"] == "replay"
            assert checked.data["would"]["original_request_time"]
        for client, payload in ((curator, changed), (boris, same), (boris, changed)):
            checked = validate(client, operation, {**payload, **key})
            assert checked.data["valid"] is False
            assert [error["code"] for error in checked.data["errors"]] == ["IDEMPOTENCY_KEY_REUSED"]
            assert "note_" not in repr(checked.data)
    assert everything(curator) == before
    checked = validate(curator, "board.pin-note", {"text": "a", **key})
    assert checked.data["answer"]["note"] == first.data["note"]


@pytest.mark.requirement("ARCH-12")
def test_a_proposal_that_is_not_ones_own_or_is_decided_is_told_beforehand(curator: Client, agent: Client) -> None:
    proposal = agent.shelf.add_book(title="Dune").data["proposal"]["id"]
    payload = {"title": "Emma", "proposal_id": proposal}
    for client, code in ((agent, None), (curator, "WRITE_DENIED")):
        checked = validate(client, "shelf.add-book", payload)
        assert checked.data["valid"] is (code is None)
        assert [error["code"] for error in checked.data["errors"]] == ([code] if code else [])
    agent.proposals.withdraw_proposal(proposal_id=proposal)
    checked = validate(agent, "shelf.add-book", payload)
    assert [error["code"] for error in checked.data["errors"]] == ["PROPOSAL_STATE"]
    assert agent.shelf.add_book(**payload).message_key == "PROPOSAL_STATE"


@pytest.mark.requirement("ARCH-12", "NEW-10")
def test_what_becomes_of_a_call_to_another_system_inside_a_proposal_is_told_beforehand(offices: Offices) -> None:
    other = OtherSystem()
    curator = offices.open(post(other))
    agent, rival = (curator.as_(name, "agent", ["agent"]) for name in ("scout", "rover"))
    draft = agent.post.send_letter(to="Ada", commit_mode="draft").data["proposal"]["id"]
    decided = agent.post.send_letter(to="Ada").data["proposal"]["id"]
    agent.proposals.withdraw_proposal(proposal_id=decided)
    before = everything(curator)
    for client, proposal, code in (
        (agent, "nope", "PROPOSAL_NOT_FOUND"),
        (rival, draft, "WRITE_DENIED"),
        (curator, draft, "WRITE_DENIED"),
        (agent, decided, "PROPOSAL_STATE"),
    ):
        for key in ({}, {"client_request_id": "letter-0001"}):
            payload = {"to": "Bob", "proposal_id": proposal, **key}
            checked = validate(client, "post.send-letter", payload)
            assert [error["code"] for error in checked.data["errors"]] == [code]
            dry, done = client.post.send_letter.dry_run(**payload), client.post.send_letter(**payload)
            assert dry.message_key == done.message_key == code
    for client, payload in ((agent, {"proposal_id": draft}), (agent, {}), (curator, {"commit_mode": "draft"})):
        for checked in several_ways(client, "post.send-letter", {"to": "Bob", **payload}):
            assert (checked.data["valid"], checked.data["would"]["mode"]) == (True, "proposal")
    assert everything(curator) == before
    assert agent.post.send_letter(to="Bob", proposal_id=draft).data["proposal"]["id"] == draft
    assert other.calls == []


# --- the token -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("NEW-02", "ARCH-12")
def test_the_token_of_a_trial_confirms_the_write_and_drift_is_refused_and_named(
    offices: Offices, curator: Client
) -> None:
    book, other = (curator.shelf.add_book(title=title).data["book"]["id"] for title in ("Dune", "Emma"))

    def token() -> str:
        return str(validate(curator, "shelf.remove-book", {"id": book}).data["confirm_token"])

    def refused(client: Client, confirm_token: str, removed: str = book) -> Reply:
        answer = client.shelf.remove_book(id=removed, confirm_token=confirm_token)
        assert answer.reply_type == "I"
        return answer

    swapped = refused(curator, token(), other)
    assert {moved["what"] for moved in swapped.data["moved"]} == {"arguments", "base"}
    held = token()
    curator.shelf.change_book(id=book, notes="sand")
    moved = refused(curator, held)
    assert moved.message_key == "PLAN_DRIFT"
    assert moved.data["moved"] == [{"what": "base", "subject": f"shelf/{book}", "from": 1, "to": 2}]
    assert refused(curator.as_("boris", roles=["curator"]), token()).message_key == "TOKEN_INVALID"
    held = token()
    offices.clock.pass_(minutes=10)
    assert refused(curator, held).message_key == "TOKEN_INVALID"
    assert count(curator, "books") == 3
    assert curator.shelf.remove_book(id=book, confirm_token=token()).message_key == "DELETED"


@pytest.mark.requirement("NEW-02")
def test_a_token_does_not_outlive_the_policy_or_the_flow_it_was_made_under(offices: Offices) -> None:
    conduct = Conduct(assess=lambda arguments: 3)
    payload = {"text": "a"}
    first = offices.open(board(conduct))
    token = validate(first, "board.pin-note", payload).data["confirm_token"]
    first.close()
    later = offices.open(board(conduct, version="1.1.0"))
    moved = later.board.pin_note(**payload, confirm_token=token)
    assert moved.data["moved"] == [{"what": "flow", "flow": "board.pin-note", "from": "1.0.0", "to": "1.1.0"}]
    later.close()
    (offices.folder / "policies").mkdir()
    (offices.folder / "policies" / "knobs.toml").write_text("bulk_threshold = 5\n")
    strict = offices.open(board(conduct))
    moved = strict.board.pin_note(**payload, confirm_token=token)
    assert [one["what"] for one in moved.data["moved"]] == ["policy"]
    assert count(strict, "notes") == 0
    fresh = validate(strict, "board.pin-note", payload).data["confirm_token"]
    assert strict.board.pin_note(**payload, confirm_token=fresh).message_key == "CREATED"
