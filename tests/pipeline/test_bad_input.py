"""Whatever comes in, and whatever a domain's code makes of it: one clean Reply, nothing half-written, and so on."""

from __future__ import annotations

import asyncio
import gc
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from operator import le
from pathlib import Path
from threading import Event
from typing import Any

import apsw
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.calls import Answer
from engross.flows import SERVER_OWNED, Aggregate, NoArguments
from engross.ledger import Unit
from engross.replies import Failed, Invalid, Reply, codes
from engross.replies.envelopes import DIALECTS, parse, serialise
from engross.store import open_store
from engross.surfaces.client import Client, EmbeddedPort
from tests.bed.offices import Offices
from tests.bed.patience import eventually
from tests.bed.postgres import PostgresServer
from tests.pipeline.board import Conduct, board
from tests.pipeline.shapes import arguments_of, spoiled
from tests.pipeline.tables import count, everything, holds, rows
from tests.store.faulty import BROKEN, FULL, FaultyDisk, Kind

PATIENCE = 20
SECRET = "swordfish-4711"


class Colour(StrEnum):
    """A kind of text that is no plain text."""

    RED = "red"


def nested(depth: int, container: type = list) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if container is dict else [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def assert_clean(answer: Reply) -> None:
    """It can be sent in every dialect and read back, and shows nothing of the inside."""
    for dialect in DIALECTS:
        wire = orjson.loads(serialise(answer, dialect))
        assert parse(dialect, wire) == (answer.reply_type, answer.code)
        text = repr(wire)
        for inside in (SECRET, "Traceback", ".py", "engross.", "apsw", "psycopg", "SELECT ", "/tmp/"):
            assert inside not in text, (inside, text[:500])


@pytest.fixture
def signal() -> Iterator[Event]:
    """Lets whatever hangs go on, at the latest when the test ends."""
    event = Event()
    yield event
    event.set()


# --- what callers send -----------------------------------------------------------------------------------------------

NOT_JSON = codes.MALFORMED_INPUT
TOO_MUCH = codes.LIMIT_EXCEEDED

ARGUMENTS: dict[str, tuple[Any, str]] = {
    "nothing": ({}, codes.VALIDATION_ERROR),
    "unknown field": ({"title": "Dune", "colour": "red"}, codes.UNKNOWN_FIELD),
    "misspelled field": ({"titel": "Dune"}, codes.VALIDATION_ERROR),
    "number for text": ({"title": 17}, codes.VALIDATION_ERROR),
    "null for text": ({"title": None}, codes.VALIDATION_ERROR),
    "list for text": ({"title": ["Dune"]}, codes.VALIDATION_ERROR),
    "object for text": ({"title": {"$op": "DELETE"}}, codes.VALIDATION_ERROR),
    "empty text": ({"title": ""}, codes.VALIDATION_ERROR),
    "blank text": ({"title": "  "}, codes.VALIDATION_ERROR),
    "long text": ({"title": "x" * 201}, codes.VALIDATION_ERROR),
    "a list": (["title", "Dune"], codes.VALIDATION_ERROR),
    "a text": ("title=Dune", codes.VALIDATION_ERROR),
    "a number": (17, codes.VALIDATION_ERROR),
    "ten megabytes": ({"title": "x" * 10_000_000}, TOO_MUCH),
    "ten megabytes of field name": ({"x" * 10_000_000: 1}, TOO_MUCH),
    "many texts": ({"title": ["x" * 1_000_000] * 20}, TOO_MUCH),
    "many values": ({"title": [0] * 60_000}, TOO_MUCH),
    "deep lists": ({"title": nested(100_000)}, TOO_MUCH),
    "deep objects": (nested(100_000, dict), TOO_MUCH),
    "a circle": ({"title": cyclic()}, TOO_MUCH),
    "huge number": ({"title": "Dune", "author": 2**70}, TOO_MUCH),
    "bytes": ({"title": b"\xff\xfe"}, NOT_JSON),
    "bytes for all": (b'{"title": "\xff"}', NOT_JSON),
    "not a number": ({"title": float("nan")}, NOT_JSON),
    "infinite": ({"title": float("-inf")}, NOT_JSON),
    "half a character": ({"title": "half \ud83d"}, NOT_JSON),
    "half a character in a name": ({"\udc00": 1}, NOT_JSON),
    "bad UTF-8 let through": ({"title": b"caf\xe9".decode("utf-8", "surrogateescape")}, NOT_JSON),
    "zero character": ({"title": "Du\x00ne"}, NOT_JSON),
    "zero character in a name": ({"ti\x00tle": "Dune"}, NOT_JSON),
    "a date": ({"title": datetime(2026, 1, 1, tzinfo=UTC)}, NOT_JSON),
    "a set": ({"title": {"Dune"}}, NOT_JSON),
    "an object of Python's": ({"title": object()}, NOT_JSON),
    "an enumeration": ({"title": Colour.RED}, NOT_JSON),
    "names that are numbers": ({1: "Dune"}, NOT_JSON),
}


def called(client: Client, flow: Any, arguments: Any, *, loop: bool, **options: Any) -> Reply:
    if loop:
        return asyncio.run(client.acall(flow, arguments, **options))
    return client.call(flow, arguments, **options)


@pytest.mark.requirement("ARCH-18")
@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_bad_arguments_are_invalid_and_leave_nothing(curator: Client, loop: bool) -> None:
    curator.shelf.add_book(title="Emma")
    before = everything(curator)
    for name, (arguments, code) in ARGUMENTS.items():
        refused = called(curator, "shelf.add-book", arguments, loop=loop)
        assert (name, refused.reply_type, refused.code) == (name, "I", code)
        assert refused.data["errors"]
        assert all(error["message"] for error in refused.data["errors"])
        assert_clean(refused)
        assert len(serialise(refused)) < 100_000
        assert curator.shelf.list_books().ok
    assert everything(curator) == before


def test_validate_write_says_of_bad_arguments_what_the_write_says(curator: Client) -> None:
    for name, (arguments, code) in ARGUMENTS.items():
        payload = {"operation": "shelf.add-book", "payload": arguments}
        tried = curator.call("record.validate-write", payload)
        assert_clean(tried)
        if not isinstance(arguments, dict) or code in (NOT_JSON, TOO_MUCH):
            # Then validateWrite's own arguments are bad.
            assert (name, tried.reply_type) == (name, "I")
            continue
        refused = curator.call("shelf.add-book", arguments)
        assert (name, tried.message_key, tried.data["valid"]) == (name, "VALIDATION_DONE", False)
        assert tried.data["errors"] == refused.data["errors"]


FLOWS = ["", "shelf", "shelf.add-bok", "SHELF.ADD-BOOK", "x" * 10_000_000, "\ud800", "a\x00b", "../../etc", None, 17]


def test_an_unknown_flow_is_invalid(curator: Client) -> None:
    for flow in FLOWS:
        for loop in (False, True):
            refused = called(curator, flow, {"title": "Dune"}, loop=loop)
            assert (refused.reply_type, refused.message_key) == ("I", "UNKNOWN_OPERATION")
            assert_clean(refused)
            assert len(serialise(refused)) < 10_000
    assert curator.shelf.add_book(title="Emma").ok


def test_an_unknown_flow_names_the_nearest_one(curator: Client) -> None:
    refused = curator.call("shelf.add-bok", {})
    assert refused.data["suggestions"]["did_you_mean"][0] == "shelf.add-book"


@pytest.mark.requirement("ARCH-15", "ARCH-18")
def test_fields_that_say_who_is_calling_are_not_for_callers(curator: Client) -> None:
    for field in sorted(SERVER_OWNED):
        refused = curator.shelf.add_book(title="Dune", **{field: "x"})
        assert (refused.message_key, refused.params["field"]) == ("FIELD_NOT_ALLOWED", field)
        assert refused.data["field"] == field
    assert count(curator, "books") == 0


def test_bad_control_fields_are_invalid_and_named(curator: Client) -> None:
    for value in (float("nan"), "\ud800", object(), 2**70, -1, "now", "1; DROP TABLE books", True, [1], {"a": 1}):
        refused = curator.call("shelf.get-book", {"id": "book_x", "as_of": value})
        assert refused.reply_type == "I"
        assert "as_of" in {error["field"] for error in refused.data["errors"]}
        assert_clean(refused)


def test_a_token_that_is_none_of_ours_is_invalid(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    for token in ("x", "A" * 2048, "=", "\u00e9", "AAAA.BBBB"):
        refused = curator.shelf.remove_book(id=book, confirm_token=token)
        assert (refused.reply_type, refused.message_key) == ("I", "TOKEN_INVALID")
    assert curator.shelf.get_book(id=book).ok


def test_text_that_means_something_to_a_store_is_text(curator: Client) -> None:
    for text in (
        "'; DROP TABLE books; --",
        ":tenant",
        "%s",
        "%(tenant)s",
        "{0}",
        "$text",
        "\\",
        "\U0001f600",
    ):
        done = curator.shelf.add_book(title=text, author=text, notes=text)
        found = curator.shelf.get_book(id=done.data["book"]["id"]).data["book"]
        assert (found["title"], found["author"], found["notes"]) == (text, text, text)
    assert curator.office.rebuild("main").same


def test_a_tenant_that_cannot_be_is_refused(curator: Client) -> None:
    for tenant in ("", "../main", "a b", "x" * 200, "a'b", "a\x00b", "\ud800"):
        stranger = Client(EmbeddedPort(curator.office, tenant, curator.principal))
        for answer in (stranger.shelf.list_books(), stranger.shelf.add_book(title="Dune")):
            assert answer.reply_type == "E"
            assert_clean(answer)


# --- what a domain's code does ---------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[..., Any]:
    def act(*_: Any) -> Any:
        raise error

    return act


def answering(make: Callable[[], Any], *, several: bool = False) -> Callable[..., Any]:
    return lambda *_: [make()] if several else make()


def always(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def stating(payload: dict[Any, Any]) -> Callable[[Unit], Any]:
    return lambda unit: unit.append("NotePinned", "note_x", 0, payload)


class Unprintable(Exception):
    """Cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError(SECRET)

    __repr__ = __str__


ERRORS: dict[str, Callable[[], Exception]] = {
    "an error": lambda: ValueError(SECRET),
    "a key error": lambda: KeyError(SECRET),
    "an assertion": lambda: AssertionError(SECRET),
    "a recursion": lambda: RecursionError(SECRET),
    "stop iteration": lambda: StopIteration(SECRET),
    "stop async iteration": lambda: StopAsyncIteration(SECRET),
    "its own timeout": lambda: TimeoutError(SECRET),
    "memory": lambda: MemoryError(SECRET),
    "unprintable": Unprintable,
    "a group": lambda: ExceptionGroup(SECRET, [ValueError(SECRET), KeyError(SECRET)]),
    "a failure with secrets inside": lambda: chained(),
}
PLACES = ["normalise", "prepare", "perform", "finish", "apply", "assess"]


def chained() -> Exception:
    try:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise Failed(codes.STORE_UNAVAILABLE) from error
    except Failed as failure:
        return failure


def pinned(client: Client, *, loop: bool, key: str = "note-0001", **arguments: Any) -> Reply:
    call = {"text": "a", "client_request_id": key, **arguments}
    return called(client, "board.pin-note", call, loop=loop)


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("place", PLACES)
def test_code_that_raises_is_an_error_without_a_word_of_it(
    offices: Offices, place: str, loop: bool, caplog: pytest.LogCaptureFixture
) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    before = everything(curator)
    for error in ERRORS.values():
        setattr(conduct, place, raising(error()))
        failed = pinned(curator, loop=loop)
        assert failed.reply_type == "E"
        assert_clean(failed)
    assert everything(curator) == before
    setattr(conduct, place, lambda *_: None)
    done = pinned(curator, loop=loop)
    assert (done.message_key, count(curator, "notes")) == ("CREATED", 1)
    gc.collect()
    assert SECRET not in caplog.text


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_a_read_that_raises_is_an_error_without_a_word_of_it(
    offices: Offices, loop: bool, caplog: pytest.LogCaptureFixture
) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    for error in ERRORS.values():
        conduct.read = raising(error())
        failed = called(curator, "board.read-notes", {}, loop=loop)
        assert failed.reply_type == "E"
        assert_clean(failed)
    conduct.read = lambda reader: None
    assert called(curator, "board.read-notes", {}, loop=loop).ok
    gc.collect()
    assert SECRET not in caplog.text


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("place", PLACES)
def test_code_that_asks_the_program_to_exit_has_crashed(offices: Offices, place: str, loop: bool) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    before = everything(curator)
    setattr(conduct, place, raising(SystemExit(3)))
    assert pinned(curator, loop=loop).message_key == "SYS_CRASH"
    assert everything(curator) == before
    setattr(conduct, place, lambda *_: None)
    assert pinned(curator, loop=loop).message_key == "CREATED"


def test_a_caller_who_interrupts_a_normaliser_is_not_held_up(offices: Offices) -> None:
    conduct = Conduct(normalise=raising(KeyboardInterrupt()))
    curator = offices.open(board(conduct))
    with pytest.raises(KeyboardInterrupt):
        pinned(curator, loop=False)
    conduct.normalise = lambda *_: None
    assert pinned(curator, loop=False).message_key == "CREATED"


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("how", [{}, {"inline": True}, {"alone": True}], ids=["with a reader", "in place", "alone"])
def test_suggestions_that_ask_the_program_to_exit_change_nothing(
    offices: Offices, how: dict[str, bool], loop: bool
) -> None:
    aggregate = board()
    aggregate.flows["paint-note"].suggest(raising(SystemExit(3)), **how)
    curator = offices.open(aggregate)
    note = pinned(curator, loop=loop).data["note"]
    done = called(curator, "board.paint-note", {"id": note["id"], "colour": "blue"}, loop=loop)
    assert done.message_key == "UPDATED"
    assert "suggestions" not in done.data


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_suggestions_that_fail_change_nothing(offices: Offices, loop: bool) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    for number, error in enumerate(ERRORS.values()):
        conduct.suggest = raising(error())
        done = pinned(curator, loop=loop, key=f"note-{number:04}")
        assert done.message_key == "CREATED"
        assert "suggestions" not in done.data
        assert_clean(done)
    conduct.suggest = lambda reader: None
    again = pinned(curator, loop=loop, key="note-0000")
    assert again.data["suggestions"] == [f"Paint {again.data['note']['id']}."]


def test_one_callers_crash_on_a_loop_does_not_keep_the_others_waiting(offices: Offices) -> None:
    def stop_now_and_then(unit: Unit) -> None:
        if unit.context.correlation_id == "bad":
            raise StopIteration

    curator = offices.open(board(Conduct(perform=stop_now_and_then)), unit_seconds=60.0)

    async def together() -> list[Reply]:
        calls = (
            curator.acall("board.pin-note", {"text": str(n)}, correlation_id="bad" if n % 3 == 0 else "good")
            for n in range(12)
        )
        return await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)

    kinds = [answer.reply_type for answer in asyncio.run(together())]
    assert kinds == ["E", "S", "S"] * 4


ANSWERS: dict[str, tuple[Callable[[], Any], str]] = {
    "an object of Python's": (lambda: {"note": object()}, codes.NOT_SERIALIZABLE),
    "bytes": (lambda: {"note": {"text": b"x"}}, codes.NOT_SERIALIZABLE),
    "a date": (lambda: {"note": datetime(2026, 1, 1, tzinfo=UTC)}, codes.NOT_SERIALIZABLE),
    "an enumeration": (lambda: {"note": Colour.RED}, codes.NOT_SERIALIZABLE),
    "not a number": (lambda: {"note": [float("nan")]}, codes.NOT_SERIALIZABLE),
    "half a character": (lambda: {"note": "\ud800"}, codes.NOT_SERIALIZABLE),
    "a huge number": (lambda: {"note": 2**70}, codes.NOT_SERIALIZABLE),
    "a name that is a number": (lambda: {1: "note"}, codes.NOT_SERIALIZABLE),
    "too deep": (lambda: {"note": nested(10_000)}, codes.NOT_SERIALIZABLE),
    "a circle": (lambda: {"note": cyclic()}, codes.NOT_SERIALIZABLE),
    "a set": (lambda: {"note": {1, 2}}, codes.NOT_SERIALIZABLE),
    "too large": (lambda: {"note": "x" * 5_000_000}, codes.RESPONSE_TOO_LARGE),
    "a text": (lambda: "done", codes.NON_REPLY_RETURN),
    "a list": (lambda: [1], codes.NON_REPLY_RETURN),
    "a number": (lambda: 0, codes.NON_REPLY_RETURN),
    "an answer that is a failure": (
        lambda: Answer({}, codes.DUPLICATE_NAME, {"kind": "note"}),
        codes.NON_REPLY_RETURN,
    ),
    "an answer under an unknown code": (lambda: Answer({}, "EN-NONE-S-999"), codes.SYS_CRASH),
    "an answer without data": (lambda: Answer(None), codes.NON_REPLY_RETURN),  # type: ignore[arg-type]
    "an answer with our own field": (lambda: {"reply": 1}, codes.SYS_CRASH),
}


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_an_answer_that_cannot_be_sent_is_an_error_and_nothing_is_written(offices: Offices, loop: bool) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    before = everything(curator)
    for name, (make, code) in ANSWERS.items():
        conduct.finish = answering(make)
        failed = pinned(curator, loop=loop)
        assert (name, failed.reply_type, failed.code) == (name, "E", code)
        assert_clean(failed)
        proposed = pinned(curator, loop=loop, commit_mode="proposal")
        assert (name, proposed.reply_type) == (name, "E")
        assert_clean(proposed)
    assert everything(curator) == before
    conduct.finish = lambda unit: None
    assert pinned(curator, loop=loop).message_key == "CREATED"


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_a_read_whose_answer_cannot_be_sent_is_an_error(offices: Offices, loop: bool) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    for name, (make, code) in ANSWERS.items():
        conduct.read = answering(make)
        failed = called(curator, "board.read-notes", {}, loop=loop)
        assert (name, failed.reply_type, failed.code) == (name, "E", code)
        assert_clean(failed)


def test_suggestions_that_cannot_be_sent_are_left_out(offices: Offices) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    for number, (make, code) in enumerate(ANSWERS.values()):
        if code == codes.NON_REPLY_RETURN:
            continue
        conduct.suggest = answering(make, several=True)
        done = pinned(curator, loop=False, key=f"note-{number:04}")
        assert done.message_key == "CREATED"
        assert_clean(done)
        assert len(serialise(done)) < 100_000


PAYLOADS: dict[str, dict[Any, Any]] = {
    "an object of Python's": {"text": object()},
    "not a number": {"text": float("nan")},
    "half a character": {"text": "\ud800"},
    "a huge number": {"text": 2**70},
    "a name that is a number": {1: "a"},
    "a date": {"text": datetime(2026, 1, 1, tzinfo=UTC)},
    "an enumeration": {"text": Colour.RED},
    "too deep": {"text": nested(10_000)},
}


def test_a_fact_that_cannot_be_written_down_is_an_error(offices: Offices) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    before = everything(curator)
    for name, payload in PAYLOADS.items():
        conduct.perform = stating({"colour": "red", **payload})
        failed = pinned(curator, loop=False)
        assert (name, failed.reply_type, failed.message_key) == (name, "E", "NOT_SERIALIZABLE")
        assert_clean(failed)
    assert everything(curator) == before


def test_a_risk_that_is_none_never_commits(offices: Offices) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    before = everything(curator)
    for tier in ("high", "2", 2.0, True, -1, 0, 5, 99):
        conduct.assess = always(tier)
        failed = pinned(curator, loop=False)
        assert (tier, failed.reply_type) == (tier, "E")
        assert_clean(failed)
    assert everything(curator) == before


def test_an_invalid_that_carries_nonsense_is_an_error(offices: Offices) -> None:
    refusal = Invalid(codes.VALIDATION_ERROR, {"problem": "x"}, details={"value": object()})
    curator = offices.open(board(Conduct(perform=raising(refusal))))
    failed = pinned(curator, loop=False)
    assert (failed.reply_type, failed.message_key) == ("E", "NOT_SERIALIZABLE")
    assert_clean(failed)


# --- code that does not come back ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("place", ["prepare", "perform", "finish", "apply"])
def test_code_that_hangs_is_given_up_and_nothing_of_it_stays(
    offices: Offices, place: str, loop: bool, signal: Event
) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct), unit_seconds=0.2, call_seconds=1.0)
    before = everything(curator)
    setattr(conduct, place, lambda *_: signal.wait(PATIENCE) and None)
    late = pinned(curator, loop=loop)
    assert (late.reply_type, late.message_key) == ("E", "TIMEOUT")
    assert_clean(late)
    setattr(conduct, place, lambda *_: None)
    assert everything(curator) == before
    # A busy machine may take longer than this office waits to connect to its store again.
    eventually(lambda: pinned(curator, loop=loop).message_key == "CREATED")
    signal.set()
    assert [count(curator, table) for table in ("notes", "facts", "receipts", "keys")] == [1, 1, 1, 1]


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_a_read_that_hangs_is_given_up(offices: Offices, loop: bool, signal: Event) -> None:
    conduct = Conduct(read=lambda reader: signal.wait(PATIENCE) and None)
    curator = offices.open(board(conduct), call_seconds=0.1)
    late = asyncio.run(curator.board.read_notes.acall()) if loop else curator.board.read_notes()
    assert (late.reply_type, late.message_key) == ("E", "TIMEOUT")
    assert_clean(late)
    conduct.read = lambda reader: None
    eventually(lambda: (asyncio.run(curator.board.read_notes.acall()) if loop else curator.board.read_notes()).ok)


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_suggestions_that_hang_are_left_out(offices: Offices, loop: bool, signal: Event) -> None:
    curator = offices.open(board(Conduct(suggest=lambda reader: signal.wait(PATIENCE) and None)), call_seconds=0.5)
    done = pinned(curator, loop=loop)
    assert done.message_key == "CREATED"
    assert "suggestions" not in done.data


def test_a_hanging_suggestion_does_not_hold_up_the_loop(offices: Offices, signal: Event) -> None:
    hanging = Event()

    def hang(reader: Any) -> Any:
        hanging.set()
        signal.wait(PATIENCE)

    curator = offices.open(board(Conduct(suggest=hang)), call_seconds=1.0)

    async def go_on() -> None:
        call = asyncio.ensure_future(curator.board.pin_note.acall(text="a"))
        await asyncio.to_thread(hanging.wait, PATIENCE)
        # The loop still turns while the suggestion hangs.
        signal.set()
        assert (await call).ok

    asyncio.run(asyncio.wait_for(go_on(), PATIENCE))


def test_very_many_hanging_calls_do_not_use_up_the_office(offices: Offices, signal: Event) -> None:
    conduct = Conduct(
        read=lambda reader: signal.wait(PATIENCE) and None, prepare=lambda reader: signal.wait(PATIENCE) and None
    )
    curator = offices.open(board(conduct), call_seconds=0.3, unit_seconds=0.5)
    with ThreadPoolExecutor(12) as threads:
        for call in (curator.board.read_notes, lambda: curator.board.pin_note(text="a")):
            late = list(threads.map(lambda _, call=call: call(), range(12)))
            assert {answer.reply_type for answer in late} == {"E"}
    conduct.read = conduct.prepare = lambda reader: None
    # A busy machine may take longer than this office waits to connect to its store again.
    eventually(lambda: curator.board.read_notes().ok)
    eventually(lambda: curator.board.pin_note(text="a").ok)


def test_a_caller_who_waits_only_so_long_gets_an_answer_by_then(offices: Offices, signal: Event) -> None:
    curator = offices.open(board(Conduct(read=lambda reader: signal.wait(PATIENCE) and None)))
    late = curator.call("board.read-notes", {}, timeout=0.05)
    assert late.message_key == "TIMEOUT"


# --- what the operator finds -----------------------------------------------------------------------------------------


def crashes(offices: Offices) -> list[dict[str, Any]]:
    log = offices.folder / "logs" / "crashes.jsonl"
    return [orjson.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []


@pytest.mark.parametrize("place", [*PLACES, "suggest"])
def test_a_secret_in_an_exception_goes_to_the_crash_log_and_nowhere_else(offices: Offices, place: str) -> None:
    conduct = Conduct()
    setattr(conduct, place, raising(ValueError(f"the vault opens with {SECRET}")))
    curator = offices.open(board(conduct))
    answer = pinned(curator, loop=False)
    assert_clean(answer)
    assert holds(curator, SECRET) == []
    (crash,) = crashes(offices)
    assert crash["trace_id"] == answer.trace_id
    assert crash["tool"] == "board.pin-note"
    assert SECRET in crash["stack"]
    log = offices.folder / "logs" / "crashes.jsonl"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_secret_in_a_read_goes_to_the_crash_log_and_nowhere_else(offices: Offices) -> None:
    curator = offices.open(board(Conduct(read=raising(ValueError(SECRET)))))
    answer = curator.board.read_notes()
    assert_clean(answer)
    (crash,) = crashes(offices)
    assert (crash["trace_id"], SECRET in crash["stack"]) == (answer.trace_id, True)


def forgetful() -> Aggregate:
    """Flows of each kind whose functions do not return anything."""
    aggregate = Aggregate("shelves", "Shelves", tables=[], migrations=[])

    @aggregate.record(effect="update", posture="direct")
    def shuffle(unit: object, arguments: NoArguments) -> None:
        """Shuffle the books."""

    @aggregate.read
    def look(reader: object, arguments: NoArguments) -> None:
        """Look at the shelves."""

    @aggregate.reach
    def order(reaching: object, arguments: NoArguments) -> None:
        """Order new shelves."""

    return aggregate


@pytest.mark.parametrize("flow", ["shelves.shuffle", "shelves.look", "shelves.order"])
@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_a_flow_that_returns_nothing_is_named_and_found_in_the_crash_log(
    offices: Offices, flow: str, loop: bool
) -> None:
    answer = called(offices.open(forgetful()), flow, {}, loop=loop)
    assert (answer.code, answer.params) == (codes.NON_REPLY_RETURN, {"tool": flow, "kind": "NoneType"})
    assert "mapping" in answer.data["hint"]
    assert_clean(answer)
    (crash,) = crashes(offices)
    assert (crash["trace_id"], crash["tool"]) == (answer.trace_id, flow)
    assert f"{flow} returned NoneType. A flow returns a mapping" in crash["stack"]


def taciturn() -> Aggregate:
    """A flow that refuses everything, and does not say what its messages need."""
    aggregate = Aggregate("shelves", "Shelves", tables=[], migrations=[])

    @aggregate.read
    def look(reader: object, arguments: NoArguments) -> dict[str, Any]:
        """Look at the shelves."""
        raise Invalid(codes.VERSION_CONFLICT, {"expected": 3})

    return aggregate


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_what_a_refusal_leaves_unsaid_is_named_in_the_crash_log_with_the_line(offices: Offices, loop: bool) -> None:
    answer = called(offices.open(taciturn()), "shelves.look", {}, loop=loop)
    assert (answer.code, answer.params) == (codes.VERSION_CONFLICT, {"expected": 3})
    assert_clean(answer)
    (told,) = crashes(offices)
    assert (told["trace_id"], told["tool"]) == (answer.trace_id, "shelves.look")
    assert "VERSION_CONFLICT needs params that were not given: current." in told["stack"]
    assert "raise Invalid(codes.VERSION_CONFLICT" in told["stack"]


def test_what_callers_do_wrong_is_no_crash(offices: Offices, curator: Client) -> None:
    for arguments, _ in ARGUMENTS.values():
        curator.call("shelf.add-book", arguments)
    curator.call("no.such-flow", {})
    curator.shelf.add_book.dry_run(title="Dune", author="Frank Herbert")
    curator.shelf.add_book.dry_run(title="Dune", author=17)
    assert crashes(offices) == []


def test_a_crash_log_that_cannot_be_written_changes_no_outcome(offices: Offices) -> None:
    curator = offices.open(board(Conduct(perform=raising(ValueError(SECRET)))))
    log = offices.folder / "logs"
    with suppress(FileNotFoundError):
        (log / "crashes.jsonl").unlink()
    log.rmdir()
    log.write_text("in the way")
    failed = pinned(curator, loop=False)
    assert failed.message_key == "SYS_CRASH"
    assert_clean(failed)


# --- a large answer --------------------------------------------------------------------------------------------------


def test_an_answer_over_the_limit_is_an_error_that_says_how_large_it_is(offices: Offices) -> None:
    curator = offices.open(board(), most_reply_bytes=10_000)
    assert curator.board.pin_note(text="x" * 5_000).ok
    refused = curator.board.pin_note(text="x" * 20_000)
    assert (refused.reply_type, refused.message_key) == ("E", "RESPONSE_TOO_LARGE")
    assert refused.params["size"] > refused.params["limit"] == 10_000
    assert count(curator, "notes") == 1
    assert curator.board.pin_note(text="x" * 5_000).ok
    assert curator.board.read_notes().message_key == "RESPONSE_TOO_LARGE"
    suggesting = offices.open(board(Conduct(suggest=lambda reader: ["x" * 20_000])), most_reply_bytes=10_000)
    done = suggesting.board.pin_note(text="a")
    assert done.message_key == "CREATED"
    assert len(serialise(done)) < 10_000
    assert len(rows(curator, "SELECT id FROM notes WHERE tenant = :tenant")) == 3


# --- a store that goes away ------------------------------------------------------------------------------------------


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FaultyDisk, Offices]]:
    """An office on a disk that fails on demand."""
    disk = FaultyDisk()
    monkeypatch.setattr("engross.office.office.open_store", partial(open_store, vfs=disk.name))
    offices = Offices(tmp_path / "office", None)
    yield disk, offices
    disk.heal()
    offices.close()


@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize(("kind", "error"), [("write", FULL), ("write", BROKEN), ("sync", BROKEN)])
def test_wherever_the_disk_fails_a_call_is_done_whole_or_refused_whole(
    faulty: tuple[FaultyDisk, Offices], kind: Kind, error: type[apsw.Error]
) -> None:
    disk, offices = faulty
    curator = offices.open()
    curator.shelf.add_book(title="Emma")
    outcomes = set()
    for number in range(1, 13):
        call = {"title": f"Book {number}", "notes": "x" * 20_000, "client_request_id": f"change-{number:04}"}
        disk.fail(kind, error, at=partial(le, number))
        answer = curator.shelf.add_book(**call)
        disk.heal()
        outcomes.add(answer.message_key)
        assert answer.reply_type in ("S", "E")
        assert_clean(answer)
        again = curator.shelf.add_book(**call)
        assert (again.message_key, again.data["idempotent_replay"]) == ("CREATED", answer.ok)
    assert outcomes <= {"CREATED", "STORE_FULL", "STORE_UNAVAILABLE"}
    assert outcomes & {"STORE_FULL", "STORE_UNAVAILABLE"}
    assert [count(curator, table) for table in ("books", "facts", "receipts", "keys")] == [13, 13, 13, 12]
    assert curator.office.rebuild("main").same


@pytest.mark.requirement("REL-04")
def test_reads_from_a_failing_disk_are_errors_and_work_again_later(
    faulty: tuple[FaultyDisk, Offices],
) -> None:
    disk, offices = faulty
    curator = offices.open()
    for number in range(60):
        curator.shelf.add_book(title=f"Book {number}", notes="x" * 5_000)
    curator.close()
    curator = offices.open()
    disk.fail("read", BROKEN)
    failed = curator.shelf.list_books()
    disk.heal()
    assert (failed.reply_type, failed.message_key) == ("E", "STORE_UNAVAILABLE")
    assert_clean(failed)
    assert len(curator.shelf.list_books().data["books"]) == 50


@pytest.mark.requirement("REL-04")
@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("place", ["read", "prepare", "perform", "finish", "suggest"])
def test_a_database_that_goes_away_in_mid_call_is_an_error_and_is_used_again_when_it_is_back(
    postgres_server: PostgresServer, postgres_dsn: str, tmp_path: Path, place: str, loop: bool
) -> None:
    def hang_up(reader: Any) -> None:
        pid = reader.value("SELECT pg_backend_pid() AS pid")
        postgres_server.administer(f"SELECT pg_terminate_backend({pid}, 5000)")
        reader.value("SELECT 1 AS one")

    conduct = Conduct()
    offices = Offices(tmp_path / "office", postgres_dsn)
    curator = offices.open(board(conduct))
    curator.board.pin_note(text="before")
    setattr(conduct, place, hang_up)
    flow = "board.read-notes" if place == "read" else "board.pin-note"
    call = {} if place == "read" else {"text": "a", "client_request_id": "note-0001"}
    answer = called(curator, flow, call, loop=loop)
    assert_clean(answer)
    if place == "suggest":
        assert answer.message_key == "CREATED"
    else:
        assert (answer.message_key, answer.retryable) == ("STORE_UNAVAILABLE", True)
    setattr(conduct, place, lambda *_: None)
    again = called(curator, flow, call, loop=loop)
    assert again.ok, again
    written = 1 if place == "read" else 2
    assert [count(curator, table) for table in ("notes", "facts", "receipts")] == [written] * 3
    offices.close()


def test_an_office_that_is_closed_answers_that_it_is(curator: Client) -> None:
    curator.close()
    for loop in (False, True):
        for flow, arguments in (("shelf.list-books", {}), ("shelf.add-book", {"title": "Dune"})):
            answer = called(curator, flow, arguments, loop=loop)
            assert (flow, answer.message_key) == (flow, "OFFICE_UNREACHABLE")
            assert_clean(answer)


# --- anything at all -------------------------------------------------------------------------------------------------


@pytest.fixture
def known(curator: Client) -> dict[str, list[Any]]:
    """Values that mean something in this office, so that made-up calls get further than `not found`."""
    agent = curator.as_("scout", "agent", ["agent"])
    books = [curator.shelf.add_book(title=title).data["book"]["id"] for title in ("Dune", "Emma")]
    proposal = agent.shelf.change_book(id=books[0], notes="sand").data["proposal"]["id"]
    flows = [flow.ref for flow in curator.office.catalogue if flow.writes]
    return {
        "id": books,
        "title": ["Dune", "Ulysses"],
        "proposal_id": [proposal],
        "operation": flows,
        "payload": [{"title": "Persuasion"}, {"id": books[1], "title": "Dune"}, {"proposal_id": proposal}],
        "aggregate": ["shelf", "proposals"],
        "subject": [*books, proposal],
        "client_request_id": ["change-0001"],
        "as_of": [0, 1, 2**62],
    }


@pytest.mark.requirement("REL-06")
@given(data=st.data())
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_whatever_is_made_up_from_the_schemas_gets_a_reply_and_never_an_error(
    curator: Client, known: dict[str, list[Any]], data: st.DataObject
) -> None:
    flow = data.draw(st.sampled_from(sorted(curator.office.catalogue, key=lambda one: one.ref)), label="flow")
    good = arguments_of(flow, known)
    arguments = data.draw(st.one_of(good, good, spoiled(good)), label="arguments")
    client = data.draw(st.sampled_from([curator, curator.as_("scout", "agent", ["agent"])]), label="caller")
    answer = client.call(flow.ref, arguments, dry_run=data.draw(st.booleans(), label="dry run"))
    assert answer.reply_type in ("S", "I", "D"), answer
    wire = orjson.loads(serialise(answer, flow.dialect))
    assert parse(flow.dialect, wire) == (answer.reply_type, answer.code)
