"""Whatever comes in, and whatever a domain's code does with it: one clean Reply, nothing half-written, and on it goes."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from threading import Event
from typing import Any

import orjson
import pytest

from engross.calls import Answer
from engross.flows import SERVER_OWNED
from engross.ledger import Unit
from engross.replies import Failed, Invalid, Reply, codes
from engross.replies.envelopes import DIALECTS, parse, serialise
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.pipeline.board import Conduct, board
from tests.pipeline.tables import count, everything, holds, rows

PATIENCE = 20
SECRET = "swordfish-4711"


class Colour(str, Enum):
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


@pytest.mark.requirement("ARCH-18")
@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments_are_invalid_and_leave_nothing(curator: Client, name: str) -> None:
    arguments, code = ARGUMENTS[name]
    before = everything(curator)
    refused = curator.call("shelf.add-book", arguments)
    assert (refused.reply_type, refused.code) == ("I", code)
    assert refused.data is not None
    assert refused.data["errors"]
    assert all(error["message"] for error in refused.data["errors"])
    assert_clean(refused)
    assert len(serialise(refused)) < 100_000
    assert everything(curator) == before
    assert curator.shelf.add_book(title="Emma").ok


@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments_are_invalid_on_an_event_loop_too(curator: Client, name: str) -> None:
    arguments, code = ARGUMENTS[name]
    refused = asyncio.run(curator.acall("shelf.add-book", arguments))
    assert (refused.reply_type, refused.code) == ("I", code)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_validate_write_says_of_bad_arguments_what_the_write_says(curator: Client, name: str) -> None:
    arguments, code = ARGUMENTS[name]
    tried = curator.call("office.validate-write", {"operation": "shelf.add-book", "payload": arguments})
    assert_clean(tried)
    if not isinstance(arguments, dict) or code in (NOT_JSON, TOO_MUCH):
        # Then validateWrite's own arguments are bad.
        assert tried.reply_type == "I"
        return
    assert tried.data is not None
    assert (tried.message_key, tried.data["valid"]) == ("VALIDATION_DONE", False)
    refused = curator.call("shelf.add-book", arguments)
    assert refused.data is not None
    assert tried.data["errors"] == refused.data["errors"]


@pytest.mark.parametrize(
    "flow",
    ["", "shelf", "shelf.add-bok", "SHELF.ADD-BOOK", "x" * 10_000_000, "\ud800", "a\x00b", "../../etc", None, 17],
)
def test_an_unknown_flow_is_invalid(curator: Client, flow: Any) -> None:
    refused = curator.call(flow, {"title": "Dune"})
    assert (refused.reply_type, refused.message_key) == ("I", "UNKNOWN_OPERATION")
    assert_clean(refused)
    assert len(serialise(refused)) < 10_000
    assert curator.shelf.add_book(title="Emma").ok


def test_an_unknown_flow_names_the_nearest_one(curator: Client) -> None:
    refused = curator.call("shelf.add-bok", {})
    assert refused.data is not None
    assert refused.data["suggestions"]["did_you_mean"][0] == "shelf.add-book"


@pytest.mark.requirement("ARCH-15", "ARCH-18")
@pytest.mark.parametrize("field", sorted(SERVER_OWNED))
def test_fields_that_say_who_is_calling_are_not_for_callers(curator: Client, field: str) -> None:
    refused = curator.shelf.add_book(title="Dune", **{field: "x"})
    assert refused.message_key == "FIELD_NOT_ALLOWED"
    assert refused.params["field"] == field
    assert refused.data is not None
    assert refused.data["field"] == field
    assert count(curator, "books") == 0


@pytest.mark.parametrize("value", [float("nan"), "\ud800", object(), 2**70, -1, "now", "1; DROP TABLE books", True])
def test_bad_control_fields_are_invalid_and_named(curator: Client, value: Any) -> None:
    refused = curator.call("shelf.get-book", {"id": "book_x", "as_of": value})
    assert refused.reply_type == "I"
    assert refused.data is not None
    assert "as_of" in {error["field"] for error in refused.data["errors"]}
    assert_clean(refused)


@pytest.mark.parametrize("token", ["x", "A" * 2048, "=", "\u00e9", "AAAA.BBBB"])
def test_a_token_that_is_none_of_ours_is_invalid(curator: Client, token: str) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    refused = curator.shelf.remove_book(id=book, confirm_token=token)
    assert (refused.reply_type, refused.message_key) == ("I", "TOKEN_INVALID")
    assert curator.shelf.get_book(id=book).ok


@pytest.mark.parametrize("place", ["'; DROP TABLE books; --", ":tenant", "%s", "%(tenant)s", "{0}", "$text", "\\"])
def test_text_that_means_something_to_a_store_is_text(curator: Client, place: str) -> None:
    done = curator.shelf.add_book(title=place, author=place, notes=place)
    assert done.data is not None
    found = curator.shelf.get_book(id=done.data["book"]["id"]).data["book"]
    assert (found["title"], found["author"], found["notes"]) == (place, place, place)
    assert curator.office.rebuild("main").same


def test_a_tenant_that_cannot_be_is_refused(curator: Client) -> None:
    for tenant in ("", "../main", "a b", "x" * 200, "a'b", "a\x00b", "\ud800"):
        stranger = Client(curator.office, tenant, curator.principal)
        for answer in (stranger.shelf.list_books(), stranger.shelf.add_book(title="Dune")):
            assert answer.reply_type == "E"
            assert_clean(answer)


# --- what a domain's code does ---------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[..., Any]:
    def act(*_: Any) -> Any:
        raise error

    return act


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


def pinned(client: Client, *, loop: bool, **arguments: Any) -> Reply:
    call = {"text": "a", "client_request_id": "note-0001", **arguments}
    return asyncio.run(client.board.pin_note.acall(**call)) if loop else client.board.pin_note(**call)


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("error", ERRORS)
def test_code_that_raises_is_an_error_without_a_word_of_it(
    offices: Offices, place: str, error: str, loop: bool
) -> None:
    conduct = Conduct()
    curator = offices.open(board(conduct))
    before = everything(curator)
    setattr(conduct, place, raising(ERRORS[error]()))
    failed = pinned(curator, loop=loop)
    assert failed.reply_type == "E"
    assert_clean(failed)
    assert everything(curator) == before
    setattr(conduct, place, lambda *_: None)
    done = pinned(curator, loop=loop)
    assert (done.message_key, count(curator, "notes")) == ("CREATED", 1)


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("error", ERRORS)
def test_a_read_that_raises_is_an_error_without_a_word_of_it(
    offices: Offices, error: str, loop: bool
) -> None:
    curator = offices.open(board(Conduct(read=raising(ERRORS[error]()))))
    failed = asyncio.run(curator.board.read_notes.acall()) if loop else curator.board.read_notes()
    assert failed.reply_type == "E"
    assert_clean(failed)
    assert curator.board.pin_note(text="a").ok


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("error", ERRORS)
def test_suggestions_that_fail_change_nothing(offices: Offices, error: str, loop: bool) -> None:
    conduct = Conduct(suggest=raising(ERRORS[error]()))
    curator = offices.open(board(conduct))
    done = pinned(curator, loop=loop)
    assert done.message_key == "CREATED"
    assert done.data is not None
    assert "suggestions" not in done.data
    assert_clean(done)
    conduct.suggest = lambda reader: None
    again = pinned(curator, loop=loop)
    assert again.data is not None
    assert again.data["suggestions"] == [f"Paint {done.data['note']['id']}."]


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
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_cannot_be_sent_is_an_error_and_nothing_is_written(
    offices: Offices, name: str, loop: bool
) -> None:
    make, code = ANSWERS[name]
    conduct = Conduct(finish=lambda unit: make())
    curator = offices.open(board(conduct))
    before = everything(curator)
    for call in ({}, {"commit_mode": "proposal"}):
        failed = pinned(curator, loop=loop, **call)
        assert failed.reply_type == "E"
        assert_clean(failed)
        assert everything(curator) == before
        if not call:
            assert failed.code == code
    conduct.finish = lambda unit: None
    assert pinned(curator, loop=loop).message_key == "CREATED"


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
@pytest.mark.parametrize("name", ANSWERS)
def test_a_read_whose_answer_cannot_be_sent_is_an_error(offices: Offices, name: str, loop: bool) -> None:
    make, code = ANSWERS[name]
    curator = offices.open(board(Conduct(read=lambda reader: make())))
    failed = asyncio.run(curator.board.read_notes.acall()) if loop else curator.board.read_notes()
    assert (failed.reply_type, failed.code) == ("E", code)
    assert_clean(failed)


@pytest.mark.parametrize("name", [name for name, (_, code) in ANSWERS.items() if code != codes.NON_REPLY_RETURN])
def test_suggestions_that_cannot_be_sent_are_left_out(offices: Offices, name: str) -> None:
    make, _ = ANSWERS[name]
    curator = offices.open(board(Conduct(suggest=lambda reader: [make()])))
    done = pinned(curator, loop=False)
    assert done.message_key == "CREATED"
    assert_clean(done)
    assert len(serialise(done)) < 100_000


@pytest.mark.parametrize(
    "payload",
    [
        {"text": object()},
        {"text": float("nan")},
        {"text": "\ud800"},
        {"text": 2**70},
        {1: "a"},
        {"text": datetime(2026, 1, 1, tzinfo=UTC)},
        {"text": Colour.RED},
        {"text": nested(10_000)},
    ],
    ids=["object", "nan", "surrogate", "huge", "numbered", "date", "enumeration", "deep"],
)
def test_a_fact_that_cannot_be_written_down_is_an_error(offices: Offices, payload: Any) -> None:
    def state_it(unit: Unit) -> None:
        unit.append("NotePinned", "note_x", 0, {"colour": "red", **payload})

    curator = offices.open(board(Conduct(perform=state_it)))
    before = everything(curator)
    failed = pinned(curator, loop=False)
    assert (failed.reply_type, failed.message_key) == ("E", "NOT_SERIALIZABLE")
    assert_clean(failed)
    assert everything(curator) == before


@pytest.mark.parametrize("tier", ["high", None, 2.5, -1, 99])
def test_a_risk_that_is_none_never_commits(offices: Offices, tier: Any) -> None:
    curator = offices.open(board(Conduct(assess=lambda arguments: "none" if tier is None else tier)))
    before = everything(curator)
    answer = pinned(curator, loop=False)
    assert not answer.ok
    assert_clean(answer)
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
    done = pinned(curator, loop=loop)
    assert done.message_key == "CREATED", done
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
    again = asyncio.run(curator.board.read_notes.acall()) if loop else curator.board.read_notes()
    assert again.ok


@pytest.mark.parametrize("loop", [False, True], ids=["thread", "loop"])
def test_suggestions_that_hang_are_left_out(offices: Offices, loop: bool, signal: Event) -> None:
    curator = offices.open(
        board(Conduct(suggest=lambda reader: signal.wait(PATIENCE) and None)), call_seconds=0.5
    )
    done = pinned(curator, loop=loop)
    assert done.message_key == "CREATED"
    assert done.data is not None
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
    assert curator.board.read_notes().ok
    assert curator.board.pin_note(text="a").ok


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
    suggesting = offices.open(
        board(Conduct(suggest=lambda reader: ["x" * 20_000])), most_reply_bytes=10_000
    )
    done = suggesting.board.pin_note(text="a")
    assert done.message_key == "CREATED"
    assert len(serialise(done)) < 10_000
    assert len(rows(curator, "SELECT id FROM notes WHERE tenant = :tenant")) == 3
