"""One client request id, one effect: both layers, every row of the table in WRITE_REFERENCE 5.3, on both engines."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import apsw
import orjson
import pytest
from redis import Redis
from typing_extensions import TypedDict

from engross.calls import instant, instant_after
from engross.flows import Aggregate
from engross.ledger import KEPT_DAYS, Unit, find_key, purge_keys
from engross.pipeline import answers, remember
from engross.replies import Failed, Invalid, Reply, codes
from engross.store.rows import Selecting
from engross.surfaces.client import Client, EmbeddedPort
from tests.bed.offices import Offices
from tests.bed.redis import RedisServer
from tests.pipeline.board import Conduct, board
from tests.pipeline.replays import assert_replays, is_replay, lasting
from tests.pipeline.tables import change, count, everything, holds, rows

KEY = "change-0001"
PATIENCE = 20


@pytest.fixture(params=["cache", "table", "restart"])
def retrying(request: pytest.FixtureRequest, offices: Offices, curator: Client) -> Callable[[Client], Client]:
    """Where a retry finds the answer: in this process, from another one, or after a restart."""

    def cache(client: Client) -> Client:
        return client

    def table(client: Client) -> Client:
        return Client(EmbeddedPort(offices.open().office, client.tenant, client.principal, client.surface))

    def restart(client: Client) -> Client:
        client.close()
        return table(client)

    return {"cache": cache, "table": table, "restart": restart}[request.param]


def keys(client: Client) -> list[dict[str, Any]]:
    return rows(client, "SELECT * FROM keys WHERE tenant = :tenant ORDER BY operation, key")


def keep_from_writing(client: Client, patch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("nothing was to be written")

    patch.setattr(client.office.store, "write", refuse)


def moment(offices: Offices) -> str:
    return instant(offices.clock())


def approve(curator: Client, proposed: Reply) -> Reply:
    proposal_id = proposed.data["proposal"]["id"]
    shown = curator.proposals.get_proposal(proposal_id=proposal_id)
    return curator.proposals.review_proposal(
        proposal_id=proposal_id, decision="approve", approval_token=shown.data["approval_token"]
    )


def confirmed(curator: Client, **arguments: Any) -> Reply:
    asked = curator.shelf.remove_book(**arguments)
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    return curator.shelf.remove_book(confirm_token=asked.data["confirm_token"], **arguments)


# --- the first call, and a retry -------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-33")
def test_a_first_call_commits_change_receipt_and_key_together(offices: Offices, curator: Client) -> None:
    done = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    assert done.message_key == "CREATED"
    assert done.data["idempotent_replay"] is False
    (key,) = keys(curator)
    assert (key["operation"], key["key"], key["principal"], key["state"]) == (
        "shelf.add-book",
        KEY,
        "clara",
        "done",
    )
    assert (key["created_at"], key["expires_at"]) == (moment(offices), instant_after(moment(offices), days=7))
    (fact,) = rows(curator, "SELECT position FROM facts WHERE tenant = :tenant")
    (receipt,) = rows(curator, "SELECT position FROM receipts WHERE tenant = :tenant")
    assert fact["position"] == receipt["position"] == key["position"] == done.data["position"]


@pytest.mark.requirement("ARCH-32", "ARCH-33", "ARCH-34")
def test_a_retry_gets_the_first_answer_marked_as_a_replay(
    offices: Offices, curator: Client, retrying: Callable[[Client], Client]
) -> None:
    first = curator.shelf.add_book(title="Dune", author="Frank Herbert", client_request_id=KEY)
    began = moment(offices)
    offices.clock.pass_(minutes=5)
    client = retrying(curator)
    client.office.seal()
    before = everything(client)
    again = client.shelf.add_book(title="Dune", author="Frank Herbert", client_request_id=KEY)
    assert_replays(again, first, at=began)
    assert everything(client) == before


@pytest.mark.requirement("ARCH-32")
def test_a_replay_stays_the_same_however_often_it_is_asked_for(offices: Offices, curator: Client) -> None:
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    other = offices.open()
    asked = [client.shelf.add_book(title="Dune", client_request_id=KEY) for client in (curator, other) * 3]
    assert all(is_replay(answer) for answer in asked)
    assert all(lasting(answer) == lasting(first) for answer in asked)


@pytest.mark.requirement("ARCH-33")
def test_a_retry_soon_after_does_not_even_wait_for_the_writer(curator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    keep_from_writing(curator, monkeypatch)
    assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-33")
def test_an_answer_counts_in_the_cache_only_while_its_row_is_in_the_store(offices: Offices) -> None:
    curator = offices.open(board())
    first = curator.board.pin_note(text="a", client_request_id=KEY)
    change(curator, "DELETE FROM keys WHERE tenant = :tenant")
    began = moment(offices)
    second = curator.board.pin_note(text="a", client_request_id=KEY)
    assert not is_replay(second)
    assert first.data["note"]["id"] != second.data["note"]["id"]
    assert_replays(curator.board.pin_note(text="a", client_request_id=KEY), second, at=began)


@pytest.mark.requirement("ARCH-33", "ARCH-34")
def test_a_retry_at_another_instance_fills_that_instances_cache(
    offices: Offices, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    other = offices.open()
    assert is_replay(other.shelf.add_book(title="Dune", client_request_id=KEY))
    keep_from_writing(other, monkeypatch)
    assert is_replay(other.shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-32")
def test_a_call_that_changed_nothing_is_remembered_too(
    offices: Offices, curator: Client, retrying: Callable[[Client], Client]
) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    began = moment(offices)
    first = curator.shelf.change_book(id=book, title="Dune", client_request_id=KEY)
    assert first.message_key == "NO_EFFECT"
    curator.shelf.change_book(id=book, title="Dune Messiah")
    client = retrying(curator)
    assert_replays(client.shelf.change_book(id=book, title="Dune", client_request_id=KEY), first, at=began)
    assert client.shelf.get_book(id=book).data["book"]["title"] == "Dune Messiah"


def test_without_a_key_a_repetition_runs_again(curator: Client) -> None:
    assert curator.shelf.add_book(title="Dune").message_key == "CREATED"
    again = curator.shelf.add_book(title="Dune")
    assert again.message_key == "DUPLICATE_NAME"
    assert count(curator, "keys") == 0


def test_a_dry_run_neither_uses_nor_stores_a_key(curator: Client) -> None:
    assert curator.shelf.add_book.dry_run(title="Dune", client_request_id=KEY).ok
    assert count(curator, "keys") == 0
    done = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    assert (done.message_key, is_replay(done)) == ("CREATED", False)


# --- the same request, spelled otherwise -----------------------------------------------------------------------------

COMPOSED, DECOMPOSED = "Caf\u00e9", "Cafe\u0301"


SPELLINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "order-of-fields": ({"text": "a", "colour": "red"}, {"colour": "red", "text": "a"}),
    "default-said-or-not": ({"text": "a"}, {"text": "a", "colour": "yellow"}),
    "composed-accents": ({"text": COMPOSED}, {"text": DECOMPOSED}),
    "another-reason": ({"text": "a", "reason": "x"}, {"text": "a", "reason": "y"}),
    "with-a-token": ({"text": "a"}, {"text": "a", "confirm_token": "t"}),
}


@pytest.mark.requirement("ARCH-32")
def test_the_same_request_in_another_spelling_is_a_retry(offices: Offices) -> None:
    here, elsewhere = offices.open(board()), offices.open(board())
    for key, (first, again) in SPELLINGS.items():
        assert (key, is_replay(here.board.pin_note(client_request_id=key, **first))) == (key, False)
        assert (key, is_replay(here.board.pin_note(client_request_id=key, **again))) == (key, True)
        assert (key, is_replay(elsewhere.board.pin_note(client_request_id=key, **again))) == (key, True)


def test_trace_and_correlation_do_not_make_another_request(curator: Client) -> None:
    call = {"title": "Dune", "client_request_id": KEY}
    curator.call("shelf.add-book", call, traceparent=f"00-{'a' * 32}-{'b' * 16}-01", correlation_id="one")
    again = curator.call("shelf.add-book", call, traceparent=f"00-{'c' * 32}-{'d' * 16}-01", correlation_id="two")
    assert is_replay(again)
    assert again.trace_id == "c" * 32
    assert again.data["original_trace_id"] == "a" * 32


# --- the key means something else ------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32")
def test_the_same_key_with_another_payload_is_refused_and_changes_nothing(
    offices: Offices, curator: Client, retrying: Callable[[Client], Client]
) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    began = moment(offices)
    offices.clock.pass_(hours=1)
    client = retrying(curator)
    client.office.seal()
    before = everything(client)
    others: list[dict[str, Any]] = [
        {"title": "Emma"},
        {"title": "Dune", "author": "Frank Herbert"},
        {"title": "Dune", "commit_mode": "proposal"},
    ]
    for other in others:
        refused = client.shelf.add_book(client_request_id=KEY, **other)
        assert (refused.message_key, refused.http_status) == ("IDEMPOTENCY_KEY_REUSED", 422)
        assert refused.data["field"] == "client_request_id"
        assert refused.data["details"] == {"original_request_time": began}
    assert everything(client) == before
    assert is_replay(client.shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-32")
def test_the_same_key_for_another_operation_is_another_request(curator: Client) -> None:
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    second = curator.shelf.import_books(text="Emma", client_request_id=KEY)
    third = curator.shelf.change_book(id=first.data["book"]["id"], title="Dune Messiah", client_request_id=KEY)
    assert [second.message_key, third.message_key] == ["CREATED", "UPDATED"]
    assert not is_replay(second)
    assert not is_replay(third)
    assert count(curator, "keys") == 3


@pytest.mark.requirement("ARCH-32")
def test_another_tenants_key_is_another_request(curator: Client) -> None:
    other = curator.as_("clara", roles=["curator"], tenant="elsewhere")
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    assert not is_replay(other.shelf.add_book(title="Dune", client_request_id=KEY))
    assert len(other.shelf.list_books().data["books"]) == 1


@pytest.mark.requirement("ARCH-32")
def test_another_principal_is_refused_and_learns_nothing(curator: Client, retrying: Callable[[Client], Client]) -> None:
    curator.shelf.add_book(title="Dune", notes="for my eyes only", client_request_id=KEY)
    here = retrying(curator)
    boris = here.as_("boris", roles=["curator"])
    for arguments in ({"title": "Dune", "notes": "for my eyes only"}, {"title": "Emma"}):
        refused = boris.shelf.add_book(client_request_id=KEY, **arguments)
        assert refused.message_key == "IDEMPOTENCY_KEY_REUSED"
        assert "details" not in refused.data
        assert refused.data["field"] == "client_request_id"
        assert "clara" not in repr(refused.data)
    assert is_replay(here.shelf.add_book(title="Dune", notes="for my eyes only", client_request_id=KEY))


@pytest.mark.requirement("ARCH-32")
def test_a_key_in_another_format_is_invalid_and_names_the_field(curator: Client) -> None:
    for key in ("x" * 7, "x" * 256, "with blank", "line-break\n", "slash/es", "caf\u00e9-0001", "", 12345678):
        refused = curator.shelf.add_book(title="Dune", client_request_id=key)
        assert (key, refused.message_key) == (key, "VALIDATION_ERROR")
        assert {error["pointer"] for error in refused.data["errors"]} == {"/client_request_id"}
    assert count(curator, "books") == 0


def test_a_key_in_the_format_is_taken(curator: Client) -> None:
    for number, key in enumerate(("x" * 8, "x" * 255, "A-z.0_9:", "11111111-2222-4333-8444-555555555555")):
        assert curator.shelf.add_book(title=f"Book {number}", client_request_id=key).ok
        assert is_replay(curator.shelf.add_book(title=f"Book {number}", client_request_id=key))


# --- nothing is stored but committed successes -----------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32")
def test_after_an_invalid_call_the_key_is_free_for_the_corrected_one(curator: Client) -> None:
    curator.shelf.add_book(title="Dune")
    assert curator.shelf.add_book(title="Dune", client_request_id=KEY).message_key == "DUPLICATE_NAME"
    assert curator.shelf.add_book(titel="Emma", client_request_id=KEY).message_key == "VALIDATION_ERROR"
    assert count(curator, "keys") == 0
    mended = curator.shelf.add_book(title="Emma", client_request_id=KEY)
    assert (mended.message_key, is_replay(mended)) == ("CREATED", False)


@pytest.mark.requirement("ARCH-32")
def test_after_a_denied_call_the_key_is_free_for_the_confirmed_one(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    asked = curator.shelf.remove_book(id=book, client_request_id=KEY)
    assert asked.reply_type == "D"
    assert count(curator, "keys") == 0
    done = curator.shelf.remove_book(id=book, client_request_id=KEY, confirm_token=asked.data["confirm_token"])
    assert (done.message_key, is_replay(done)) == ("DELETED", False)
    again = curator.shelf.remove_book(id=book, client_request_id=KEY)
    assert (again.message_key, is_replay(again)) == ("DELETED", True)


@pytest.mark.requirement("ARCH-32")
def test_after_a_crash_before_the_commit_the_call_runs_again(offices: Offices) -> None:
    conduct = Conduct(finish=lambda unit: 1 / 0)
    curator = offices.open(board(conduct))
    assert curator.board.pin_note(text="a", client_request_id=KEY).message_key == "SYS_CRASH"
    assert [count(curator, table) for table in ("keys", "notes", "facts", "receipts")] == [0, 0, 0, 0]
    conduct.finish = lambda unit: None
    done = curator.board.pin_note(text="a", client_request_id=KEY)
    assert (done.message_key, is_replay(done)) == ("CREATED", False)


@pytest.mark.requirement("ARCH-32")
@pytest.mark.parametrize("place", ["perform", "finish", "apply"])
def test_a_retry_of_what_was_committed_is_a_replay_even_if_the_flow_would_crash_by_now(
    offices: Offices, place: str
) -> None:
    conduct = Conduct()
    first = offices.open(board(conduct)).board.pin_note(text="a", client_request_id=KEY)
    setattr(conduct, place, lambda unit: 1 / 0)
    elsewhere = offices.open(board(conduct))
    assert_replays(elsewhere.board.pin_note(text="a", client_request_id=KEY), first, at=moment(offices))
    assert elsewhere.board.pin_note(text="a").message_key == "SYS_CRASH"
    assert count(elsewhere, "notes") == 1


@pytest.mark.requirement("ARCH-32")
@pytest.mark.parametrize("place", ["perform", "finish"])
def test_a_retry_of_what_was_committed_is_a_replay_even_if_the_flow_would_end_the_program_by_now(
    offices: Offices, place: str
) -> None:
    conduct = Conduct()
    first = offices.open(board(conduct)).board.pin_note(text="a", client_request_id=KEY)
    setattr(conduct, place, lambda unit: sys.exit(3))
    elsewhere = offices.open(board(conduct))
    assert_replays(elsewhere.board.pin_note(text="a", client_request_id=KEY), first, at=moment(offices))
    assert count(elsewhere, "notes") == 1


PREPARING_FAILS: dict[str, Callable[[], BaseException]] = {
    "refuses": lambda: Invalid(codes.NO_CHANGES),
    "crashes": lambda: RuntimeError("crash"),
    "fails": lambda: Failed(codes.STORE_UNAVAILABLE),
    "ends the program": lambda: SystemExit(3),
}


@pytest.mark.requirement("ARCH-32")
@pytest.mark.parametrize("how", PREPARING_FAILS)
def test_what_a_key_stands_for_is_told_even_if_the_call_cannot_be_prepared_by_now(offices: Offices, how: str) -> None:
    def fail(reader: object) -> None:
        raise PREPARING_FAILS[how]()

    conduct = Conduct()
    first = offices.open(board(conduct)).board.pin_note(text="a", client_request_id=KEY)
    conduct.prepare = fail
    elsewhere = offices.open(board(conduct))
    boris = elsewhere.as_("boris", roles=["curator"])
    reused = [boris.board.pin_note(text="a", client_request_id=KEY)]
    reused += [elsewhere.board.pin_note(text="b", client_request_id=KEY)]
    assert [answer.message_key for answer in reused] == ["IDEMPOTENCY_KEY_REUSED"] * 2
    tried = elsewhere.board.pin_note.dry_run(text="a", client_request_id=KEY)
    assert tried.data["would"] == {"mode": "replay", "original_request_time": moment(offices)}
    assert_replays(elsewhere.board.pin_note(text="a", client_request_id=KEY), first, at=moment(offices))
    for unheard in ({"client_request_id": "change-0002"}, {}):
        assert not elsewhere.board.pin_note(text="a", **unheard).ok
    assert count(elsewhere, "notes") == 1


@pytest.mark.requirement("ARCH-32")
def test_a_look_that_fails_does_not_hide_why_the_call_could_not_be_prepared(
    offices: Offices, monkeypatch: pytest.MonkeyPatch
) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))

    def lose_the_store(*arguments: Any, **options: Any) -> Any:
        raise ConnectionResetError

    def fail(reader: object) -> None:
        monkeypatch.setattr(curator.office.store, "read", lose_the_store)
        raise Failed(codes.TIMEOUT)

    conduct.prepare = fail
    assert curator.board.pin_note(text="a", client_request_id=KEY).message_key == "TIMEOUT"


class Pallet(TypedDict):
    """Very much at once."""


@pytest.mark.requirement("ARCH-32")
def test_a_retry_of_a_bulk_write_does_not_do_all_of_it_again(offices: Offices) -> None:
    unloaded: list[Unit] = []
    dock = Aggregate("dock", "A dock")

    @dock.record(effect="create", posture="direct", bulk=True)
    def unload(unit: Unit, arguments: Pallet) -> dict[str, Any]:
        """Unload a pallet."""
        unloaded.append(unit)
        return {"unloaded": len(unloaded)}

    first = offices.open(dock).dock.unload(client_request_id=KEY)
    assert_replays(offices.open(dock).dock.unload(client_request_id=KEY), first, at=moment(offices))
    assert len(unloaded) == 1


@pytest.mark.requirement("ARCH-34")
def test_retries_and_first_calls_in_one_batch_after_a_restart_each_get_their_own(offices: Offices) -> None:
    async def call(client: Client, numbers: range) -> list[Reply]:
        return await asyncio.gather(
            *(client.acall("board.pin-note", {"text": str(n), "client_request_id": f"change-{n:04d}"}) for n in numbers)
        )

    first = asyncio.run(call(offices.open(board()), range(20)))
    elsewhere = offices.open(board())
    answers = asyncio.run(call(elsewhere, range(10, 30)))
    assert [is_replay(answer) for answer in answers] == [True] * 10 + [False] * 10
    assert [answer.data["note"] for answer in answers[:10]] == [answer.data["note"] for answer in first[10:]]
    assert sorted(note["text"] for note in elsewhere.board.read_notes().data["notes"]) == sorted(map(str, range(30)))


@pytest.mark.requirement("ARCH-32", "ARCH-34")
def test_after_a_crash_between_commit_and_answer_a_retry_is_a_replay(
    offices: Offices, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = curator.office.store
    commit = store.write

    def lose_the_answer(*arguments: Any, **options: Any) -> Any:
        commit(*arguments, **options)
        raise ConnectionResetError

    with monkeypatch.context() as patch:
        patch.setattr(store, "write", lose_the_answer)
        assert curator.shelf.add_book(title="Dune", client_request_id=KEY).reply_type == "E"
    again = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    assert (again.message_key, is_replay(again)) == ("CREATED", True)
    assert [count(curator, table) for table in ("books", "facts", "receipts")] == [1, 1, 1]


@pytest.mark.requirement("ARCH-32")
def test_who_is_told_that_the_outcome_is_unknown_is_told_the_key_to_ask_with(
    curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = curator.office.store
    commit = store.write

    def lose_the_answer(*arguments: Any, **options: Any) -> Any:
        commit(*arguments, **options)
        raise Failed(codes.TIMEOUT, data={"outcome": "unknown"})

    with monkeypatch.context() as patch:
        patch.setattr(store, "write", lose_the_answer)
        late = curator.shelf.add_book(title="Dune", client_request_id=KEY)
        unkeyed = curator.shelf.add_book(title="Emma")
    assert (late.message_key, late.retryable) == ("TIMEOUT", True)
    assert late.data == {"outcome": "unknown", "client_request_id": KEY}
    assert unkeyed.data == {"outcome": "unknown"}
    assert is_replay(curator.shelf.add_book(title="Dune", **{"client_request_id": late.data["client_request_id"]}))


def test_a_key_that_cannot_be_written_takes_the_whole_change_with_it(curator: Client) -> None:
    change(
        curator,
        "ALTER TABLE keys ADD CONSTRAINT refuse CHECK (principal = '') NOT VALID"
        if curator.office.store.engine == "postgres"
        else "CREATE TRIGGER refuse BEFORE INSERT ON keys BEGIN SELECT raise(ABORT, 'no'); END",
    )
    assert curator.shelf.add_book(title="Dune", client_request_id=KEY).reply_type == "E"
    assert [count(curator, table) for table in ("keys", "books", "facts", "receipts")] == [0, 0, 0, 0]
    assert curator.shelf.add_book(title="Dune").message_key == "CREATED"


# --- at the same time ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32", "ARCH-34")
def test_of_many_threads_with_one_key_exactly_one_commits(offices: Offices, curator: Client) -> None:
    clients = [curator, offices.open()] * 8
    barrier = Barrier(len(clients))

    def call(client: Client) -> Reply:
        barrier.wait(PATIENCE)
        return client.shelf.add_book(title="Dune", client_request_id=KEY)

    with ThreadPoolExecutor(len(clients)) as threads:
        answers_ = list(threads.map(call, clients))
    assert Counter(is_replay(answer) for answer in answers_) == {False: 1, True: len(clients) - 1}
    assert len({repr(lasting(answer)) for answer in answers_}) == 1
    assert [count(curator, table) for table in ("books", "facts", "receipts", "keys")] == [1, 1, 1, 1]


@pytest.mark.requirement("ARCH-32")
def test_one_key_many_times_in_one_batch_commits_once(curator: Client) -> None:
    async def together() -> list[Reply]:
        calls = [curator.shelf.add_book.acall(title="Dune", client_request_id=KEY) for _ in range(30)]
        return await asyncio.gather(*calls)

    answers_ = asyncio.run(together())
    assert Counter(is_replay(answer) for answer in answers_) == {False: 1, True: 29}
    assert len({repr(lasting(answer)) for answer in answers_}) == 1
    assert [count(curator, table) for table in ("books", "facts", "receipts", "keys")] == [1, 1, 1, 1]


@pytest.mark.requirement("ARCH-32")
def test_different_keys_in_one_batch_do_not_disturb_each_other(curator: Client) -> None:
    async def together() -> list[Reply]:
        calls = [
            curator.shelf.add_book.acall(title=f"Book {n % 20}", client_request_id=f"change-{n:04}") for n in range(40)
        ]
        return await asyncio.gather(*calls)

    answers_ = asyncio.run(together())
    kinds = Counter(answer.message_key for answer in answers_)
    assert kinds == {"CREATED": 20, "DUPLICATE_NAME": 20}
    assert not any(is_replay(answer) for answer in answers_)
    assert count(curator, "keys") == 20


@pytest.mark.requirement("ARCH-32")
def test_other_payloads_with_the_running_key_are_refused_in_the_same_batch(curator: Client) -> None:
    async def together() -> list[Reply]:
        titles = ["Dune", "Emma", "Dune", "Emma"]
        return await asyncio.gather(
            *(curator.shelf.add_book.acall(title=title, client_request_id=KEY) for title in titles)
        )

    kinds = Counter((answer.message_key, is_replay(answer)) for answer in asyncio.run(together()))
    assert kinds == {("CREATED", False): 1, ("CREATED", True): 1, ("IDEMPOTENCY_KEY_REUSED", False): 2}


@pytest.mark.requirement("ARCH-32")
def test_a_retry_while_the_first_still_runs_is_told_so(offices: Offices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remember, "WAIT_SECONDS", 0.01)
    running, go_on = Event(), Event()

    def wait(unit: object) -> None:
        running.set()
        go_on.wait(PATIENCE)

    curator = offices.open(board(Conduct(perform=wait)))
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(curator.board.pin_note, text="a", client_request_id=KEY)
        assert running.wait(PATIENCE)
        told = curator.board.pin_note(text="a", client_request_id=KEY)
        awaited = asyncio.run(curator.board.pin_note.acall(text="a", client_request_id=KEY))
        go_on.set()
        assert first.result(PATIENCE).message_key == "CREATED"
    for answer in (told, awaited):
        assert (answer.message_key, answer.http_status) == ("REQUEST_IN_PROGRESS", 409)
        assert answer.data["retry_after_seconds"] >= 1
        assert answer.retryable
    assert is_replay(curator.board.pin_note(text="a", client_request_id=KEY))


@pytest.mark.requirement("ARCH-32", "ARCH-34")
def test_a_retry_at_another_instance_waits_for_the_first_or_is_told(
    offices: Offices, monkeypatch: pytest.MonkeyPatch
) -> None:
    if offices.store is not None:
        monkeypatch.setattr("engross.store.postgres.REQUEUE_SECONDS", 0.01)
    running, go_on = Event(), Event()

    def wait(unit: object) -> None:
        running.set()
        go_on.wait(PATIENCE)

    curator = offices.open(board(Conduct(perform=wait)), unit_seconds=PATIENCE)
    other = offices.open(board(), unit_seconds=PATIENCE)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(curator.board.pin_note, text="a", client_request_id=KEY)
        assert running.wait(PATIENCE)
        second = threads.submit(other.board.pin_note, text="a", client_request_id=KEY)
        if offices.store is not None:
            assert second.result(PATIENCE).message_key == "REQUEST_IN_PROGRESS"
        go_on.set()
        assert first.result(PATIENCE).message_key == "CREATED"
        if offices.store is None:
            # The whole file is locked while the first one runs, so the second cannot even look: it waits.
            assert is_replay(second.result(PATIENCE))
    assert is_replay(other.board.pin_note(text="a", client_request_id=KEY))
    assert count(curator, "notes") == 1


@pytest.mark.requirement("ARCH-32", "ARCH-34")
def test_a_call_that_finds_no_row_just_before_the_first_commits_does_not_commit_as_well(
    offices: Offices, monkeypatch: pytest.MonkeyPatch
) -> None:
    if offices.store is None:
        pytest.skip("SQLite's write lock leaves no gap between the look and the write")
    curator, other = offices.open(board()), offices.open(board())
    look, overtaken = find_key, Event()

    def look_and_be_overtaken(*arguments: Any) -> Any:
        found = look(*arguments)
        if found is None and not overtaken.is_set():
            overtaken.set()
            assert other.board.pin_note(text="a", client_request_id=KEY).ok
        return found

    monkeypatch.setattr(remember, "find_key", look_and_be_overtaken)
    again = curator.board.pin_note(text="a", client_request_id=KEY)
    assert (again.message_key, is_replay(again)) == ("CREATED", True)
    assert [count(curator, table) for table in ("notes", "facts", "receipts", "keys")] == [1, 1, 1, 1]


def test_a_caller_who_gives_up_waiting_leaves_the_key_to_others(
    offices: Offices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "WAIT_SECONDS", 0.01)
    running, go_on = Event(), Event()

    def wait(unit: object) -> None:
        running.set()
        go_on.wait(PATIENCE)

    curator = offices.open(board(Conduct(perform=wait)))

    async def give_up() -> Reply:
        call = asyncio.ensure_future(curator.board.pin_note.acall(text="a", client_request_id=KEY))
        await asyncio.to_thread(running.wait, PATIENCE)
        call.cancel()
        with pytest.raises(asyncio.CancelledError) as held:
            await call
        # The exception, and all it refers to, lives on here; the key must be free all the same.
        assert held.value is not None
        go_on.set()
        return await curator.board.pin_note.acall(text="a", client_request_id=KEY)

    # Whether that other call is a replay depends on whether it still came into the batch of the first.
    assert asyncio.run(give_up()).message_key == "CREATED"
    assert count(curator, "notes") == 1


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-33")
def test_the_cache_forgets_before_the_table_does() -> None:
    assert answers.KEPT_HOURS < KEPT_DAYS * 24


@pytest.mark.requirement("ARCH-33")
def test_the_cache_lasts_a_day_and_then_the_store_is_asked(
    offices: Offices, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    with monkeypatch.context() as patch:
        keep_from_writing(curator, patch)
        offices.clock.pass_(hours=23, minutes=59)
        assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))
        offices.clock.pass_(minutes=1)
        assert curator.shelf.add_book(title="Dune", client_request_id=KEY).reply_type == "E"
    assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-33", "ARCH-34")
def test_the_table_lasts_seven_days(offices: Offices, curator: Client) -> None:
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    began = moment(offices)
    offices.clock.pass_(days=6, hours=23, minutes=59)
    assert_replays(curator.shelf.add_book(title="Dune", client_request_id=KEY), first, at=began)
    offices.clock.pass_(minutes=1)
    taken = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    assert taken.message_key == "DUPLICATE_NAME"
    assert taken.data["suggestions"]["existing_book"]["id"] == first.data["book"]["id"]


@pytest.mark.requirement("ARCH-33", "ARCH-34")
def test_an_expired_row_that_is_not_yet_purged_is_as_good_as_none(offices: Offices) -> None:
    curator = offices.open(board())
    first = curator.board.pin_note(text="a", client_request_id=KEY)
    offices.clock.pass_(days=7)
    assert count(curator, "keys") == 1
    second = curator.board.pin_note(text="a", client_request_id=KEY)
    assert not is_replay(second)
    assert first.data["note"]["id"] != second.data["note"]["id"]
    began = moment(offices)
    assert_replays(curator.board.pin_note(text="a", client_request_id=KEY), second, at=began)
    assert count(curator, "notes") == 2
    # An expired key may also stand for something else now, for somebody else.
    offices.clock.pass_(days=7)
    boris = curator.as_("boris", roles=["curator"])
    assert boris.board.pin_note(text="b", client_request_id=KEY).message_key == "CREATED"


@pytest.mark.requirement("ARCH-33")
def test_an_expired_row_is_not_in_the_way_of_a_call_that_changes_nothing(offices: Offices, curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    curator.shelf.change_book(id=book, title="Dune", client_request_id=KEY)
    offices.clock.pass_(days=7)
    again = curator.shelf.change_book(id=book, title="Dune", client_request_id=KEY)
    assert (again.message_key, is_replay(again)) == ("NO_EFFECT", False)
    assert [key["created_at"] for key in keys(curator)] == [moment(offices)]


def test_replays_do_not_prolong_a_keys_life(offices: Offices, curator: Client) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    for _ in range(13):
        offices.clock.pass_(hours=12)
        assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))
    offices.clock.pass_(hours=12)
    assert curator.shelf.add_book(title="Dune", client_request_id=KEY).message_key == "DUPLICATE_NAME"


def test_a_clock_that_jumps_back_does_not_lose_a_key(offices: Offices, curator: Client) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    offices.clock.pass_(days=-3)
    assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))
    assert is_replay(offices.open().shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-34")
def test_the_purge_takes_every_expired_key_and_no_other(offices: Offices, curator: Client) -> None:
    old = moment(offices)
    insert = (
        "INSERT INTO keys (tenant, operation, key, principal, fingerprint, state, created_at, expires_at)"
        " VALUES (:tenant, 'shelf.add-book', :key, 'clara', '', 'done', :at, :until)"
    )

    def fill(transaction: Any) -> None:
        for number in range(2500):
            transaction.execute(insert, {"key": f"old-{number:05}", "at": old, "until": instant_after(old, days=7)})

    curator.office.store.write("main", fill)
    offices.clock.pass_(days=7)
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    curator.office.tidy()
    assert [key["key"] for key in keys(curator)] == [KEY]
    assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-34")
def test_a_purge_takes_a_batch_at_a_time(offices: Offices, curator: Client) -> None:
    for number in range(5):
        curator.shelf.add_book(title=f"Book {number}", client_request_id=f"change-{number:04}")
    offices.clock.pass_(days=8)
    now = moment(offices)
    batches = [curator.office.store.write("main", lambda unit: purge_keys(unit, now, most=2)) for _ in range(4)]
    assert batches == [2, 2, 1, 0]


@pytest.mark.requirement("ARCH-34")
def test_a_purge_leaves_other_tenants_alone(offices: Offices, curator: Client) -> None:
    other = curator.as_("otto", roles=["curator"], tenant="elsewhere")
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    other.shelf.add_book(title="Dune", client_request_id=KEY)
    offices.clock.pass_(days=8)
    now = moment(offices)
    assert curator.office.store.write("main", lambda unit: purge_keys(unit, now)) == 1
    assert count(other, "keys") == 1


@pytest.mark.requirement("ARCH-34")
def test_an_office_that_wrote_purges_when_it_closes(offices: Offices, curator: Client) -> None:
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    curator.close()
    offices.clock.pass_(days=8)
    successor = offices.open()
    successor.shelf.add_book(title="Emma", client_request_id="change-0002")
    successor.close()
    assert [key["key"] for key in keys(offices.open())] == ["change-0002"]


@pytest.mark.requirement("ARCH-33")
def test_there_is_an_index_on_expiry(curator: Client) -> None:
    sql = (
        "SELECT indexdef AS text FROM pg_indexes WHERE tablename = 'keys'"
        if curator.office.store.engine == "postgres"
        else "SELECT sql AS text FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'keys'"
    )
    assert any("(tenant, expires_at)" in (row["text"] or "") for row in rows(curator, sql))


# --- what has become of it since -------------------------------------------------------------------------------------


@pytest.mark.requirement("ARCH-32")
def test_a_replay_after_a_deletion_repeats_the_answer_and_says_that_it_is_gone(
    offices: Offices, curator: Client, retrying: Callable[[Client], Client]
) -> None:
    began = moment(offices)
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    book = first.data["book"]["id"]
    changed = curator.shelf.change_book(id=book, title="Dune Messiah", client_request_id=KEY)
    removed = confirmed(curator, id=book, client_request_id=KEY)
    client = retrying(curator)
    gone = {"current_state": "deleted"}
    assert_replays(client.shelf.add_book(title="Dune", client_request_id=KEY), first, at=began, **gone)
    again = client.shelf.change_book(id=book, title="Dune Messiah", client_request_id=KEY)
    assert_replays(again, changed, at=began, **gone)
    assert_replays(client.shelf.remove_book(id=book, client_request_id=KEY), removed, at=began)


def test_a_replay_does_not_look_through_all_that_came_after_it(
    curator: Client, retrying: Callable[[Client], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    if curator.office.store.engine == "postgres":
        pytest.skip("what PostgreSQL does depends on how much it has")
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    client = retrying(curator)
    seen: dict[str, dict[str, Any]] = {}
    look = Selecting.rows

    def watched(self: Selecting, sql: str, params: dict[str, Any]) -> Any:
        # Sealing goes on meanwhile.
        if "JOIN facts" in sql:
            seen[sql] = {**params, "tenant": "main"}
        return look(self, sql, params)

    monkeypatch.setattr(Selecting, "rows", watched)
    assert is_replay(client.shelf.add_book(title="Dune", client_request_id=KEY))
    database = apsw.Connection(str(client.office.settings.data / "office.db"))
    plans = [row[3] for sql, params in seen.items() for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
    database.close()
    assert any("facts_of_subject (tenant=? AND aggregate=? AND subject=? AND version>?)" in step for step in plans)
    assert [step for step in plans if "position>?" in step or step.startswith("SCAN")] == [], plans


@pytest.mark.requirement("ARCH-32")
def test_a_replay_of_a_proposal_repeats_it_and_adds_where_it_stands_now(
    offices: Offices, curator: Client, retrying: Callable[[Client], Client]
) -> None:
    began = moment(offices)
    agent = curator.as_("scout", "agent", ["agent"])
    first = agent.shelf.add_book(title="Dune", client_request_id=KEY)
    assert first.message_key == "PROPOSAL_RECORDED"
    told = first.data["proposal"]

    def replay(client: Client, status: str) -> None:
        scout = client.as_("scout", "agent", ["agent"])
        again = scout.shelf.add_book(title="Dune", client_request_id=KEY)
        assert_replays(again, first, at=began, proposal={**told, "current_status": status})

    replay(curator, "proposed")
    assert approve(curator, first).message_key == "PROPOSAL_COMMITTED"
    here = retrying(curator)
    replay(here, "accepted")
    assert count(here, "books") == 1
    assert count(here, "proposals") == 1


@pytest.mark.requirement("ARCH-32")
def test_a_replay_of_a_proposal_past_its_time_says_so(offices: Offices, agent: Client) -> None:
    knobs = offices.folder / "policies"
    agent.close()
    knobs.mkdir()
    (knobs / "knobs.toml").write_text("proposal_ttl_days = 1")
    scout = offices.open().as_("scout", "agent", ["agent"])
    scout.shelf.add_book(title="Dune", client_request_id=KEY)
    offices.clock.pass_(days=2)
    again = scout.shelf.add_book(title="Dune", client_request_id=KEY)
    assert again.data["proposal"]["current_status"] == "withdrawn"


def test_a_review_that_is_repeated_is_a_replay_too(curator: Client, agent: Client) -> None:
    proposed = agent.shelf.add_book(title="Dune")
    proposal_id = proposed.data["proposal"]["id"]
    shown = curator.proposals.get_proposal(proposal_id=proposal_id)
    review = {
        "proposal_id": proposal_id,
        "decision": "approve",
        "approval_token": shown.data["approval_token"],
        "client_request_id": KEY,
    }
    first = curator.proposals.review_proposal(**review)
    again = curator.proposals.review_proposal(**review)
    assert (first.message_key, again.message_key) == ("PROPOSAL_COMMITTED", "PROPOSAL_COMMITTED")
    assert is_replay(again)
    assert count(curator, "books") == 1


def test_a_domains_own_field_called_proposal_does_not_break_a_replay(offices: Offices) -> None:
    curator = offices.open(board(Conduct(finish=lambda unit: {"proposal": "marry me", "note": {"id": "x"}})))
    first = curator.board.pin_note(text="a", client_request_id=KEY)
    assert first.message_key == "CREATED"
    assert_replays(curator.board.pin_note(text="a", client_request_id=KEY), first, at=moment(offices))


# --- what was erased -------------------------------------------------------------------------------------------------


def erase(curator: Client, aggregate: str, subject: str) -> None:
    arguments = {"aggregate": aggregate, "subject": subject}
    asked = curator.call("record.erase", arguments)
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    done = curator.call("record.erase", {**arguments, "confirm_token": asked.data["confirm_token"]})
    assert done.message_key == "ERASED", done


@pytest.mark.requirement("ARCH-32")
def test_an_erased_answer_is_not_told_again_from_either_layer(
    offices: Offices, curator: Client, retrying: Callable[[Client], Client]
) -> None:
    other = offices.open()
    secret = "Ada lives at 12 Analytical Row"
    call = {"title": "Ada", "notes": secret, "client_request_id": KEY}
    first = curator.shelf.add_book(**call)
    assert is_replay(other.shelf.add_book(**call))
    book = first.data["book"]["id"]
    unchanged = {"id": book, "notes": secret, "client_request_id": KEY}
    assert curator.shelf.change_book(**unchanged).message_key == "NO_EFFECT"
    erase(curator, "shelf", book)
    assert holds(curator, secret) == []
    for client in (other, retrying(curator)):
        for again in (client.shelf.add_book(**call), client.shelf.change_book(**unchanged)):
            assert again.message_key == "PAYLOAD_ERASED"
            assert secret not in repr(again)


@pytest.mark.requirement("ARCH-32")
def test_an_erased_proposal_is_not_told_again_from_either_layer(
    curator: Client, agent: Client, retrying: Callable[[Client], Client]
) -> None:
    secret = "Ada lives at 12 Analytical Row"
    book = curator.shelf.add_book(title="Ada").data["book"]["id"]
    call = {"id": book, "notes": secret, "client_request_id": KEY}
    assert agent.shelf.change_book(**call).message_key == "PROPOSAL_RECORDED"
    erase(curator, "shelf", book)
    assert holds(curator, secret) == []
    scout = retrying(curator).as_("scout", "agent", ["agent"])
    again = scout.shelf.change_book(**call)
    assert again.message_key == "PAYLOAD_ERASED"
    assert secret not in repr(again)


# --- the cache in Redis ----------------------------------------------------------------------------------------------


@pytest.fixture
def own_redis(redis_server: RedisServer) -> Iterator[RedisServer]:
    """A Redis that a test may stop."""
    server = RedisServer()
    yield server
    server.stop()


@pytest.mark.requirement("ARCH-33", "ARCH-34")
def test_a_cache_in_redis_serves_every_instance(
    offices: Offices, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator, other = offices.open(redis=redis_url), offices.open(redis=redis_url)
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    with monkeypatch.context() as patch:
        keep_from_writing(other, patch)
        again = other.shelf.add_book(title="Dune", client_request_id=KEY)
    assert_replays(again, first, at=moment(offices))
    assert other.shelf.add_book(title="Emma", client_request_id=KEY).message_key == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.requirement("ARCH-33")
def test_a_cache_in_redis_keeps_principals_and_tenants_apart(offices: Offices, redis_url: str) -> None:
    curator = offices.open(redis=redis_url)
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    boris = curator.as_("boris", roles=["curator"])
    elsewhere = curator.as_("clara", roles=["curator"], tenant="elsewhere")
    assert boris.shelf.add_book(title="Dune", client_request_id=KEY).message_key == "IDEMPOTENCY_KEY_REUSED"
    assert not is_replay(elsewhere.shelf.add_book(title="Dune", client_request_id=KEY))


@pytest.mark.requirement("ARCH-33")
def test_a_cache_in_redis_lasts_a_day_and_replays_do_not_prolong_it(
    offices: Offices, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator = offices.open(redis=redis_url)
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    keep_from_writing(curator, monkeypatch)
    offices.clock.pass_(hours=23)
    assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))
    offices.clock.pass_(hours=1)
    assert curator.shelf.add_book(title="Dune", client_request_id=KEY).reply_type == "E"


@pytest.mark.requirement("ARCH-33", "ARCH-34")
def test_an_office_that_was_restored_does_not_replay_from_redis_what_it_never_had(
    offices: Offices, redis_url: str, tmp_path: Path
) -> None:
    if offices.store is not None:
        pytest.skip("a copy of the folder is no backup of a database elsewhere")
    offices.open(redis=redis_url).close()
    shutil.copytree(offices.folder, tmp_path / "restored")
    lost = offices.open(redis=redis_url)
    assert lost.shelf.add_book(title="Dune", client_request_id=KEY).message_key == "CREATED"
    # The state in which the replay finds nothing to add is one that the restored store comes to as well.
    assert is_replay(lost.shelf.add_book(title="Dune", client_request_id=KEY))
    restored_offices = Offices(tmp_path / "restored", None)
    try:
        restored = restored_offices.open(redis=redis_url, clock=offices.clock)
        assert restored.shelf.add_book(title="Emma").ok
        offices.clock.pass_(minutes=1)
        began = moment(offices)
        made = restored.shelf.add_book(title="Dune", client_request_id=KEY)
        assert (made.message_key, is_replay(made)) == ("CREATED", False)
        assert_replays(restored.shelf.add_book(title="Dune", client_request_id=KEY), made, at=began)
        assert sorted(book["title"] for book in restored.shelf.list_books().data["books"]) == ["Dune", "Emma"]
    finally:
        restored_offices.close()


@pytest.mark.requirement("ARCH-33")
def test_an_answer_in_redis_does_not_count_once_its_key_stands_for_another_call(
    offices: Offices, redis_url: str
) -> None:
    curator = offices.open(board(), redis=redis_url)
    curator.board.pin_note(text="a", client_request_id=KEY)
    with Redis.from_url(redis_url) as redis:
        (name,) = redis.keys()
        stale = redis.get(name)
        change(curator, "DELETE FROM keys WHERE tenant = :tenant")
        offices.clock.pass_(minutes=1)
        began = moment(offices)
        second = curator.board.pin_note(text="a", client_request_id=KEY)
        redis.set(name, stale)
        assert_replays(curator.board.pin_note(text="a", client_request_id=KEY), second, at=began)
        change(curator, "DELETE FROM keys WHERE tenant = :tenant")
        assert curator.board.pin_note(text="b", client_request_id=KEY).message_key == "CREATED"
        redis.set(name, stale)
        assert curator.board.pin_note(text="a", client_request_id=KEY).message_key == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.requirement("ARCH-33")
def test_an_answer_that_redis_cannot_drop_keeps_nobody_waiting(offices: Offices, own_redis: RedisServer) -> None:
    clients = [offices.open(board(), redis=own_redis.url) for _ in range(2)] * 4
    clients[0].board.pin_note(text="a", client_request_id=KEY)
    change(clients[0], "DELETE FROM keys WHERE tenant = :tenant")
    with Redis.from_url(own_redis.url) as redis:
        redis.config_set("min-replicas-to-write", 1)
    with ThreadPoolExecutor(len(clients)) as threads:
        calls = [threads.submit(client.board.pin_note, text="a", client_request_id=KEY) for client in clients]
        made = [call.result(PATIENCE) for call in calls]
    assert Counter(is_replay(answer) for answer in made) == {False: 1, True: len(clients) - 1}
    assert count(clients[0], "notes") == 2


@pytest.mark.requirement("ARCH-33")
def test_an_answer_that_redis_got_late_does_not_outlive_its_row(offices: Offices, redis_url: str) -> None:
    curator = offices.open(redis=redis_url)
    curator.shelf.add_book(title="Dune", client_request_id=KEY)
    offices.clock.pass_(days=6, hours=12)
    assert is_replay(curator.shelf.add_book(title="Dune", client_request_id=KEY))
    offices.clock.pass_(hours=12)
    assert curator.shelf.add_book(title="Dune", client_request_id=KEY).message_key == "DUPLICATE_NAME"


@pytest.mark.requirement("ARCH-33")
def test_a_redis_that_stops_changes_no_outcome(offices: Offices, own_redis: RedisServer) -> None:
    curator, other = offices.open(redis=own_redis.url), offices.open(redis=own_redis.url)
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    own_redis.stop()
    assert_replays(other.shelf.add_book(title="Dune", client_request_id=KEY), first, at=moment(offices))
    assert curator.shelf.add_book(title="Emma", client_request_id="change-0002").message_key == "CREATED"
    assert is_replay(other.shelf.add_book(title="Emma", client_request_id="change-0002"))
    refused = other.shelf.add_book(title="Ulysses", client_request_id=KEY)
    assert refused.message_key == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.requirement("ARCH-33")
def test_nonsense_in_redis_changes_no_outcome(offices: Offices, redis_url: str) -> None:
    curator = offices.open(redis=redis_url)
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    with Redis.from_url(redis_url) as redis:
        (name,) = redis.keys()
        kept = orjson.loads(redis.get(name))
        damaged: list[tuple[str, Any]] = [
            ("created_at", value) for value in (17, "then", "9999-12-31T23:59:59.000000Z")
        ]
        damaged += [("text", value) for value in (17, "", "{", "{}", "5", kept["text"].replace('"data"', '"date"'))]
        damaged += [("text", kept["text"].replace(first.code, "EN-WRITE-S-998"))]
        damaged += [("suggestions", value) for value in (17, "", "{", "{}", "5")]
        damaged += [("position", "17"), ("again", {})]
        spoiled = [orjson.dumps({**kept, field: value}) for field, value in damaged]
        for nonsense in (b"", b"\xff\xfe", b"{}", b"[1]", b'{"principal": "clara"}', *spoiled):
            redis.set(name, nonsense)
            again = curator.shelf.add_book(title="Dune", client_request_id=KEY)
            assert_replays(again, first, at=moment(offices))


@pytest.mark.requirement("ARCH-32", "ARCH-33")
@pytest.mark.parametrize("cache", ["memory", "redis"])
def test_what_another_release_did_with_a_code_of_its_own_is_not_done_again(
    offices: Offices, cache: str, redis_url: str
) -> None:
    curator = offices.open(redis=redis_url if cache == "redis" else None)
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    curator.close()
    with Redis.from_url(redis_url) as redis:
        for name in redis.scan_iter():
            redis.set(name, redis.get(name).replace(first.code.encode(), b"EN-WRITE-S-998"))
    curator = offices.open(redis=redis_url if cache == "redis" else None)
    change(
        curator, f"UPDATE keys SET answer = replace(answer, '{first.code}', 'EN-WRITE-S-998') WHERE tenant = :tenant"
    )
    for _ in range(2):
        again = curator.shelf.add_book(title="Dune", client_request_id=KEY)
        assert (again.message_key, again.data["original_code"]) == ("SYS_OK", "EN-WRITE-S-998")
        assert is_replay(again)
        assert again.data["book"] == first.data["book"]


@pytest.mark.requirement("ARCH-33")
def test_a_cache_that_always_fails_changes_no_outcome(offices: Offices, own_redis: RedisServer) -> None:
    url = own_redis.url
    own_redis.stop()
    curator = offices.open(redis=url)
    first = curator.shelf.add_book(title="Dune", client_request_id=KEY)
    assert first.message_key == "CREATED"
    assert_replays(curator.shelf.add_book(title="Dune", client_request_id=KEY), first, at=moment(offices))
