"""Flows that call other systems: a lease before the call, an answer after it, and honesty about what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import orjson
import pytest

from engross.calls import instant, instant_after
from engross.pipeline import remember
from engross.pipeline.reach import Reaching
from engross.replies import Denied, Failed, Invalid, Reply, codes
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.pipeline.post import OtherSystem, post
from tests.pipeline.replays import assert_replays, is_replay
from tests.pipeline.tables import change, count, everything, rows

KEY = "letter-0001"
PATIENCE = 20


@pytest.fixture
def other() -> OtherSystem:
    """The other system."""
    return OtherSystem()


@pytest.fixture
def curator(offices: Offices, other: OtherSystem) -> Client:
    """Clara at an office with a post."""
    return offices.open(post(other))


@pytest.fixture
def signal() -> Iterator[Event]:
    """Lets whatever hangs go on, at the latest when the test ends."""
    event = Event()
    yield event
    event.set()


def keys(client: Client) -> list[dict[str, Any]]:
    return rows(client, "SELECT * FROM keys WHERE tenant = :tenant ORDER BY operation, key")


def moment(offices: Offices) -> str:
    return instant(offices.clock())


def raising(error: Exception) -> Any:
    def answer(reaching: Reaching) -> Any:
        raise error

    return answer


def facts(client: Client) -> list[tuple[str, str]]:
    found = rows(client, "SELECT aggregate, type FROM facts WHERE tenant = :tenant ORDER BY position, ordinal")
    return [(fact["aggregate"], fact["type"]) for fact in found]


# --- the usual course ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32")
def test_the_lease_is_committed_before_the_other_system_is_called(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    seen: list[Any] = []

    def look(reaching: Reaching) -> Any:
        seen.append(keys(curator))
        return {"posted": True}

    other.answer = look
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "DONE"
    ((lease,),) = seen
    assert (lease["state"], lease["answer"], lease["position"]) == ("leased", None, None)
    assert lease["expires_at"] == instant_after(moment(offices), seconds=60)
    (settled,) = keys(curator)
    assert settled["state"] == "done"
    assert settled["expires_at"] == instant_after(moment(offices), days=7)


def test_no_transaction_is_held_during_the_call(curator: Client, other: OtherSystem) -> None:
    written: list[Reply] = []

    def write_meanwhile(reaching: Reaching) -> Any:
        if len(other.calls) == 1:
            written.append(curator.post.announce(to="everybody", client_request_id="meanwhile-1"))
        return {"posted": True}

    other.answer = write_meanwhile
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).ok
    assert [answer.message_key for answer in written] == ["DONE"]


@pytest.mark.requirement("ARCH-32")
def test_what_was_done_elsewhere_leaves_a_fact_a_receipt_and_an_answer(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    first = curator.post.send_letter(to="Ada", client_request_id=KEY)
    assert first.message_key == "DONE"
    assert first.data["posted"] is True
    assert facts(curator) == [("post", "Reached")]
    (receipt,) = rows(curator, "SELECT position, body FROM receipts WHERE tenant = :tenant")
    body = orjson.loads(receipt["body"])
    assert (body["flow"], body["client_request_id"], body["facts"]) == ("post.send-letter", KEY, 1)
    assert receipt["position"] == first.data["position"] == keys(curator)[0]["position"]
    again = curator.post.send_letter(to="Ada", client_request_id=KEY)
    elsewhere = offices.open(post(other)).post.send_letter(to="Ada", client_request_id=KEY)
    for answer in (again, elsewhere):
        assert_replays(answer, first, at=moment(offices))
    assert len(other.calls) == 1
    assert facts(curator) == [("post", "Reached")]


@pytest.mark.requirement("ARCH-33")
def test_an_answer_in_redis_counts_only_while_the_store_has_it(
    offices: Offices, other: OtherSystem, redis_url: str
) -> None:
    curator = offices.open(post(other), redis=redis_url)
    curator.post.send_letter(to="Ada", client_request_id=KEY)
    assert is_replay(curator.post.send_letter(to="Ada", client_request_id=KEY))
    lease = "UPDATE keys SET state = 'leased', answer = NULL, position = NULL, expires_at = :until"
    until = instant_after(moment(offices), seconds=60)
    change(curator, f"{lease} WHERE tenant = :tenant", until=until)
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "REQUEST_IN_PROGRESS"
    offices.clock.pass_(minutes=1)
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "OUTCOME_UNKNOWN"
    assert len(other.calls) == 1
    change(curator, "DELETE FROM keys WHERE tenant = :tenant")
    assert not is_replay(curator.post.send_letter(to="Ada", client_request_id=KEY))
    assert is_replay(curator.post.send_letter(to="Ada", client_request_id=KEY))
    assert len(other.calls) == 2


def test_the_fact_shows_neither_arguments_nor_answer(curator: Client, other: OtherSystem) -> None:
    other.answer = lambda reaching: {"said": "their secret"}
    curator.post.send_letter(to="our secret")
    (fact,) = rows(curator, "SELECT payload FROM facts WHERE tenant = :tenant")
    assert "secret" not in fact["payload"]
    assert set(orjson.loads(fact["payload"])) == {"arguments_digest", "answer_digest"}


@pytest.mark.requirement("ARCH-32")
def test_the_other_system_gets_a_key_to_recognise_a_repetition_by(curator: Client, other: OtherSystem) -> None:
    curator.post.send_letter(to="Ada", client_request_id=KEY)
    curator.post.send_letter(to="Ada")
    curator.post.send_letter(to="Ada")
    keyed, *unkeyed = other.calls
    assert keyed.key == KEY
    assert [call.key for call in unkeyed] == [call.context.message_id for call in unkeyed]
    assert len({call.key for call in other.calls}) == 3


@pytest.mark.requirement("ARCH-37")
def test_the_other_system_gets_the_trace_to_hand_on(curator: Client, other: OtherSystem) -> None:
    done = curator.call(
        "post.send-letter",
        {"to": "Ada"},
        traceparent=f"00-{'a' * 32}-{'b' * 16}-01",
        tracestate="vendor=1",
        correlation_id="order-17",
    )
    (call,) = other.calls
    assert call.context.trace.traceparent == done.traceparent
    assert call.context.trace.trace_id == "a" * 32
    assert call.context.trace.tracestate == "vendor=1"
    assert call.context.correlation_id == "order-17"


@pytest.mark.requirement("NEW-10")
def test_a_dry_run_calls_nobody_and_leaves_nothing(curator: Client, other: OtherSystem) -> None:
    before = everything(curator)
    rehearsed = curator.post.send_letter.dry_run(to="Ada", client_request_id=KEY)
    assert rehearsed.message_key == "VALIDATION_DONE"
    assert rehearsed.data["would"]["mode"] == "direct"
    answer = curator.call("record.validate-write", {"operation": "sendLetter", "payload": {"to": "Ada"}})
    assert answer.data["valid"] is True
    assert other.calls == []
    assert everything(curator) == before


# --- while it runs ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32")
@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_while_the_call_is_under_way_a_retry_is_told_when_to_come_back(
    offices: Offices,
    curator: Client,
    other: OtherSystem,
    signal: Event,
    where: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remember, "WAIT_SECONDS", 0.01)
    under_way = Event()

    def wait(reaching: Reaching) -> Any:
        under_way.set()
        signal.wait(PATIENCE)
        return {"posted": True}

    other.answer = wait
    asking = curator if where == "here" else offices.open(post(other))
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(curator.post.send_letter, to="Ada", client_request_id=KEY)
        assert under_way.wait(PATIENCE)
        told = asking.post.send_letter(to="Ada", client_request_id=KEY)
        signal.set()
        assert first.result(PATIENCE).message_key == "DONE"
    assert told.message_key == "REQUEST_IN_PROGRESS"
    assert 1 <= told.data["retry_after_seconds"] <= 60
    assert is_replay(asking.post.send_letter(to="Ada", client_request_id=KEY))
    assert len(other.calls) == 1


@pytest.mark.requirement("ARCH-32")
def test_a_lease_belongs_to_its_request_and_its_principal(curator: Client, other: OtherSystem) -> None:
    other.answer = raising(ConnectionResetError())
    curator.post.send_letter(to="Ada", client_request_id=KEY)
    boris = curator.as_("boris", roles=["curator"])
    refused = [
        curator.post.send_letter(to="Bob", client_request_id=KEY),
        boris.post.send_letter(to="Ada", client_request_id=KEY),
    ]
    assert {answer.message_key for answer in refused} == {"IDEMPOTENCY_KEY_REUSED"}
    assert len(other.calls) == 1


# --- when it goes wrong ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32")
@pytest.mark.parametrize(
    "refusal",
    [Invalid(codes.RECORD_NOT_FOUND, {"kind": "person", "id": "Ada"}), Denied(codes.WRITE_DENIED)],
    ids=["invalid", "denied"],
)
def test_what_was_refused_was_not_done_and_the_lease_is_given_back(
    curator: Client, other: OtherSystem, refusal: Exception
) -> None:
    other.answer = raising(refusal)
    refused = curator.post.send_letter(to="Ada", client_request_id=KEY)
    assert refused.code == getattr(refusal, "code", None)
    assert count(curator, "keys") == 0
    assert facts(curator) == []
    other.answer = lambda reaching: {"posted": True}
    done = curator.post.send_letter(to="Bob", client_request_id=KEY)
    assert (done.message_key, is_replay(done)) == ("DONE", False)


@pytest.mark.requirement("ARCH-32")
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(raising(ConnectionResetError()), codes.SYS_CRASH, id="crash"),
        pytest.param(raising(StopIteration()), codes.SYS_CRASH, id="stop iteration"),
        pytest.param(raising(Failed(codes.STORE_UNAVAILABLE)), codes.STORE_UNAVAILABLE, id="failed"),
        pytest.param(lambda reaching: object(), codes.NON_REPLY_RETURN, id="no answer"),
        pytest.param(lambda reaching: {"posted": object()}, codes.NOT_SERIALIZABLE, id="unserialisable"),
        pytest.param(lambda reaching: {"posted": float("nan")}, codes.NOT_SERIALIZABLE, id="not finite"),
    ],
)
def test_what_went_wrong_after_the_call_went_out_keeps_the_lease(
    offices: Offices, curator: Client, other: OtherSystem, answer: Any, code: str
) -> None:
    other.answer = answer
    failed = curator.post.send_letter(to="Ada", client_request_id=KEY)
    assert (failed.code, failed.data["outcome"], failed.data["client_request_id"]) == (code, "unknown", KEY)
    assert [key["state"] for key in keys(curator)] == ["leased"]
    assert facts(curator) == []
    other.answer = lambda reaching: {"posted": True}
    for client in (curator, offices.open(post(other))):
        told = client.post.send_letter(to="Ada", client_request_id=KEY)
        assert told.message_key == "REQUEST_IN_PROGRESS"
        assert told.data["retry_after_seconds"] == 60
    assert len(other.calls) == 1


@pytest.mark.requirement("ARCH-32")
def test_of_a_call_that_must_not_be_repeated_an_expired_lease_leaves_the_outcome_unknown(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    other.answer = raising(ConnectionResetError())
    curator.post.send_letter(to="Ada", client_request_id=KEY)
    began = moment(offices)
    other.answer = lambda reaching: {"posted": True}
    offices.clock.pass_(seconds=59)
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "REQUEST_IN_PROGRESS"
    offices.clock.pass_(seconds=1)
    for client in (curator, offices.open(post(other))):
        unknown = client.post.send_letter(to="Ada", client_request_id=KEY)
        assert (unknown.message_key, unknown.reply_type) == ("OUTCOME_UNKNOWN", "E")
        assert unknown.data["outcome"] == "unknown"
        assert unknown.data["original_request_time"] == began
        assert not unknown.retryable
    assert len(other.calls) == 1


@pytest.mark.requirement("ARCH-32")
def test_a_call_that_may_be_repeated_runs_again_once_its_lease_has_expired(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    other.answer = raising(ConnectionResetError())
    curator.post.announce(to="everybody", client_request_id=KEY)
    other.answer = lambda reaching: {"posted": True}
    offices.clock.pass_(seconds=59)
    assert curator.post.announce(to="everybody", client_request_id=KEY).message_key == "REQUEST_IN_PROGRESS"
    offices.clock.pass_(seconds=1)
    done = curator.post.announce(to="everybody", client_request_id=KEY)
    assert (done.message_key, is_replay(done)) == ("DONE", False)
    assert [call.key for call in other.calls] == [KEY, KEY]
    assert facts(curator) == [("post", "Reached")]
    assert is_replay(curator.post.announce(to="everybody", client_request_id=KEY))


def test_a_lease_is_in_question_for_a_week_and_is_then_purged(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    other.answer = raising(ConnectionResetError())
    curator.post.send_letter(to="Ada", client_request_id=KEY)
    curator.post.send_letter(to="Ada", client_request_id="letter-0002")
    offices.clock.pass_(days=6, hours=23)
    curator.office.tidy()
    assert count(curator, "keys") == 2
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "OUTCOME_UNKNOWN"
    other.answer = lambda reaching: {"posted": True}
    offices.clock.pass_(hours=1)
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "DONE"
    curator.office.tidy()
    assert [key["key"] for key in keys(curator)] == [KEY]


@pytest.mark.requirement("ARCH-32")
def test_of_two_that_ran_under_one_key_the_first_to_settle_gives_the_answer(
    offices: Offices, curator: Client, other: OtherSystem, signal: Event
) -> None:
    under_way = Event()

    def wait(reaching: Reaching) -> Any:
        if len(other.calls) > 1:
            return {"posted": "by the second"}
        under_way.set()
        signal.wait(PATIENCE)
        return {"posted": "by the first"}

    other.answer = wait
    successor = offices.open(post(other))
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(curator.post.announce, to="everybody", client_request_id=KEY)
        assert under_way.wait(PATIENCE)
        offices.clock.pass_(minutes=5)
        second = successor.post.announce(to="everybody", client_request_id=KEY)
        signal.set()
        late = first.result(PATIENCE)
    assert (second.data["posted"], is_replay(second)) == ("by the second", False)
    assert (late.data["posted"], is_replay(late)) == ("by the second", True)
    assert facts(curator) == [("post", "Reached")]


@pytest.mark.requirement("ARCH-32")
def test_a_call_that_takes_too_long_is_given_up_and_says_that_nobody_knows(
    offices: Offices, other: OtherSystem, signal: Event
) -> None:
    other.answer = lambda reaching: signal.wait(PATIENCE) or {"posted": True}
    curator = offices.open(post(other, timeout_seconds=0.05))
    late = curator.post.send_letter(to="Ada", client_request_id=KEY)
    assert (late.message_key, late.reply_type) == ("TIMEOUT", "E")
    assert (late.data["outcome"], late.data["client_request_id"]) == ("unknown", KEY)
    assert [key["state"] for key in keys(curator)] == ["leased"]
    unkeyed = curator.post.send_letter(to="Ada")
    assert unkeyed.data["outcome"] == "unknown"
    other.answer = lambda reaching: {"posted": True}
    assert curator.post.send_letter(to="Bob").ok


def test_a_store_that_fails_when_settling_leaves_the_lease(
    curator: Client, other: OtherSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = curator.office.store
    write = store.write

    def fail(*arguments: Any, **options: Any) -> Any:
        raise Failed(codes.STORE_UNAVAILABLE)

    def take_the_store_away(reaching: Reaching) -> Any:
        monkeypatch.setattr(store, "write", fail)
        return {"posted": True}

    other.answer = take_the_store_away
    failed = curator.post.send_letter(to="Ada", client_request_id=KEY)
    monkeypatch.setattr(store, "write", write)
    assert failed.message_key == "STORE_UNAVAILABLE"
    assert failed.data["outcome"] == "unknown"
    assert [key["state"] for key in keys(curator)] == ["leased"]
    assert curator.post.send_letter(to="Ada", client_request_id=KEY).message_key == "REQUEST_IN_PROGRESS"


# --- confirmed, and approved -----------------------------------------------------------------------------------------


@pytest.mark.requirement("NEW-02")
def test_a_risky_call_goes_out_only_when_it_was_confirmed(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    asked = curator.post.send_money(to="Ada", client_request_id=KEY)
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    assert other.calls == []
    assert count(curator, "keys") == 0
    token = asked.data["confirm_token"]
    drifted = curator.post.send_money(to="Bob", client_request_id=KEY, confirm_token=token)
    assert drifted.message_key == "PLAN_DRIFT"
    assert drifted.data["moved"] == [{"what": "arguments"}]
    done = curator.post.send_money(to="Ada", client_request_id=KEY, confirm_token=token)
    assert done.message_key == "DONE"
    offices.clock.pass_(hours=1)
    # The token has run out, but a repetition needs none.
    for client in (curator, offices.open(post(other))):
        for more in ({"confirm_token": token}, {}):
            assert is_replay(client.post.send_money(to="Ada", client_request_id=KEY, **more))
    assert len(other.calls) == 1


def confirmed(client: Client, **arguments: Any) -> dict[str, Any]:
    """The arguments of a risky call, with a token for it."""
    return {**arguments, "confirm_token": client.post.send_money(**arguments).data["confirm_token"]}


def assert_used(answer: Reply) -> None:
    assert (answer.reply_type, answer.message_key) == ("D", "CONFIRMATION_REQUIRED"), answer
    assert answer.data["confirm_token_used"] is True
    assert answer.data["confirm_token"]


@pytest.mark.requirement("NEW-02")
@pytest.mark.parametrize("key", [None, KEY], ids=["without a key", "with a key"])
def test_a_token_lets_one_call_out(offices: Offices, curator: Client, other: OtherSystem, key: str | None) -> None:
    money = confirmed(curator, to="Ada")
    assert curator.post.send_money(**money, client_request_id=key).message_key == "DONE"
    elsewhere = offices.open(post(other))
    for client in (curator, elsewhere):
        for more in ({}, {"client_request_id": "letter-0002"}):
            assert_used(client.post.send_money(**money, **more))
            assert_used(client.post.send_money.dry_run(**money, **more))
    assert len(other.calls) == 1
    fresh = elsewhere.post.send_money(**money).data["confirm_token"]
    assert elsewhere.post.send_money(to="Ada", confirm_token=fresh).message_key == "DONE"
    assert len(other.calls) == 2
    assert facts(curator) == [("post", "Reached")] * 2


@pytest.mark.requirement("NEW-02")
@pytest.mark.parametrize("processes", [1, 2], ids=["one process", "two processes"])
@pytest.mark.parametrize("keyed", [False, True], ids=["without keys", "with a key each"])
def test_of_several_who_use_one_token_at_once_one_calls_out(
    offices: Offices, curator: Client, other: OtherSystem, processes: int, keyed: bool
) -> None:
    clients = [curator, offices.open(post(other))][:processes]
    money = confirmed(curator, to="Ada")
    together = Barrier(4)

    def send(caller: int) -> Reply:
        key = {"client_request_id": f"{KEY}-{caller}"} if keyed else {}
        together.wait(PATIENCE)
        return clients[caller % processes].post.send_money(**money, **key)

    with ThreadPoolExecutor(4) as threads:
        answers = sorted(threads.map(send, range(4)), key=lambda answer: answer.message_key)
    for late in answers[:3]:
        assert_used(late)
    assert answers[3].message_key == "DONE"
    assert len(other.calls) == 1


@pytest.mark.requirement("NEW-02")
def test_the_token_is_spent_before_the_other_system_is_called(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    money = confirmed(curator, to="Ada")
    elsewhere = offices.open(post(other))
    meanwhile: list[Reply] = []

    def use_it_again(reaching: Reaching) -> Any:
        meanwhile.extend(client.post.send_money(**money) for client in (curator, elsewhere))
        return {"posted": True}

    other.answer = use_it_again
    assert curator.post.send_money(**money).message_key == "DONE"
    for answer in meanwhile:
        assert_used(answer)
    assert len(other.calls) == 1


@pytest.mark.requirement("NEW-02", "ARCH-32")
def test_a_call_that_was_not_done_goes_on_under_its_key_and_is_confirmed_anew_without(
    offices: Offices, curator: Client, other: OtherSystem
) -> None:
    keyed, unkeyed = confirmed(curator, to="Ada"), confirmed(curator, to="Ada")
    other.answer = raising(Failed(codes.STORE_UNAVAILABLE, data={"outcome": "not_done"}))
    assert curator.post.send_money(**keyed, client_request_id=KEY).message_key == "STORE_UNAVAILABLE"
    assert curator.post.send_money(**unkeyed).message_key == "STORE_UNAVAILABLE"
    other.answer = lambda reaching: {"posted": True}
    assert_used(curator.post.send_money(**unkeyed))
    for key in ({}, {"client_request_id": "letter-0002"}):
        assert_used(curator.post.send_money(**keyed, **key))
    done = offices.open(post(other)).post.send_money(**keyed, client_request_id=KEY)
    assert (done.message_key, is_replay(done)) == ("DONE", False)
    assert is_replay(curator.post.send_money(**keyed, client_request_id=KEY))
    assert len(other.calls) == 3


@pytest.mark.requirement("NEW-02", "NEW-10")
def test_a_dry_run_of_a_risky_call_uses_no_token_up(curator: Client, other: OtherSystem) -> None:
    money = confirmed(curator, to="Ada")
    before = everything(curator)
    for more in ({}, {"client_request_id": KEY}):
        tried = curator.post.send_money.dry_run(**money, **more)
        assert (tried.data["valid"], tried.data["would"]["confirmation_required"]) == (True, False)
    assert everything(curator) == before
    assert curator.post.send_money(**money).message_key == "DONE"
    assert len(other.calls) == 1


def approval(curator: Client, proposed: Reply, **more: Any) -> Reply:
    proposal_id = proposed.data["proposal"]["id"]
    shown = curator.proposals.get_proposal(proposal_id=proposal_id)
    token = shown.data["approval_token"]
    return curator.proposals.review_proposal(proposal_id=proposal_id, decision="approve", approval_token=token, **more)


@pytest.mark.requirement("ARCH-32")
def test_an_agents_call_is_proposed_and_goes_out_exactly_once_when_approved(
    curator: Client, other: OtherSystem
) -> None:
    agent = curator.as_("scout", "agent", ["agent"])
    proposed = agent.post.send_letter(to="Ada", client_request_id=KEY)
    assert proposed.message_key == "PROPOSAL_RECORDED"
    assert other.calls == []
    done = approval(curator, proposed, client_request_id="review-0001")
    assert done.message_key == "PROPOSAL_COMMITTED"
    (carried,) = done.data["carried_out"]
    assert (carried["operation"], carried["message_key"]) == ("post.send-letter", "DONE")
    (call,) = other.calls
    assert call.context.principal.id == "scout"
    assert facts(curator)[-1] == ("post", "Reached")
    again = agent.post.send_letter(to="Ada", client_request_id=KEY)
    assert is_replay(again)
    assert again.data["proposal"]["current_status"] == "accepted"
    curator.office.tidy()
    assert len(other.calls) == 1


def test_approving_twice_with_one_key_calls_once(curator: Client, other: OtherSystem) -> None:
    agent = curator.as_("scout", "agent", ["agent"])
    proposed = agent.post.send_letter(to="Ada")
    shown = curator.proposals.get_proposal(proposal_id=proposed.data["proposal"]["id"])
    review = {
        "proposal_id": proposed.data["proposal"]["id"],
        "decision": "approve",
        "approval_token": shown.data["approval_token"],
        "client_request_id": "review-0001",
    }
    first = curator.proposals.review_proposal(**review)
    second = curator.proposals.review_proposal(**review)
    assert (first.message_key, second.message_key) == ("PROPOSAL_COMMITTED", "PROPOSAL_COMMITTED")
    assert is_replay(second)
    assert len(other.calls) == 1


def test_nobody_can_take_the_key_of_an_approved_call_beforehand(curator: Client, other: OtherSystem) -> None:
    agent = curator.as_("scout", "agent", ["agent"])
    proposed = agent.post.send_letter(to="Ada")
    approval(curator, proposed)
    (call,) = other.calls
    tried = agent.post.send_letter(to="Ada", client_request_id=call.key)
    assert tried.message_key == "VALIDATION_ERROR"


def test_facts_of_asking_and_of_doing_have_different_ids(curator: Client) -> None:
    agent = curator.as_("scout", "agent", ["agent"])
    approval(curator, agent.post.send_letter(to="Ada"))
    ids = [fact["id"] for fact in rows(curator, "SELECT id FROM facts WHERE tenant = :tenant")]
    assert len(ids) == len(set(ids))
    assert len(ids) >= 4


@pytest.mark.parametrize(
    "failure", [ConnectionResetError("token hunter2"), Failed(codes.STORE_UNAVAILABLE)], ids=["crash", "failed"]
)
def test_an_approval_stands_even_if_the_call_it_approved_fails(
    offices: Offices, curator: Client, other: OtherSystem, failure: Exception
) -> None:
    agent = curator.as_("scout", "agent", ["agent"])
    proposed = agent.post.announce(to="everybody")
    other.answer = raising(failure)
    done = approval(curator, proposed)
    assert done.message_key == "PROPOSAL_COMMITTED"
    assert [carried["code"][:-4][-1] for carried in done.data["carried_out"]] == ["E"]
    assert "hunter2" not in repr(done)
    other.answer = lambda reaching: {"posted": True}
    offices.clock.pass_(minutes=2)
    curator.office.tidy()
    assert len(other.calls) == 2
    assert facts(curator)[-1] == ("post", "Reached")
    curator.office.tidy()
    assert len(other.calls) == 2
