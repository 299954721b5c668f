"""Logs: one JSON object a line, findable by the trace id of the Reply, and fit to be shown around."""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.calls import Principal
from engross.office import Request, Settings
from engross.office.capabilities import catalogue_of
from engross.replies import Failed, Reply
from engross.replies.crashes import CrashLog
from engross.surfaces.watching import Daybook, Ended
from engross.surfaces.watching.logs import CallLog, configure_logs, write_line
from engross.visible import visible
from tests.bed.served import Served
from tests.replies.watching import crashes_in
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import Wire, ask

SECRET = "hunter2-is-a-secret"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjbGFyYSJ9.c2lnbmVkLWJ5LW5vYm9keQ"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Terminal(StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def logging_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logging is the whole process's own; what a test changes is put back."""
    monkeypatch.setattr("engross.replies.crashes._configured", CrashLog(tmp_path))
    root, ours, calls = logging.getLogger(), logging.getLogger("engross"), logging.getLogger("engross.calls")
    handlers, levels, disabled = root.handlers[:], (root.level, ours.level), calls.disabled
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
    calls.disabled = disabled
    logging.captureWarnings(False)


def test_every_call_leaves_one_line_with_its_trace_id(served: Served) -> None:
    answer = served.call("shelf.add-book", {"title": "Logged"}).json()["reply"]
    (line,) = [line for line in served.lines() if line.get("trace_id") == answer["trace_id"]]
    assert line["duration_ms"] > 0
    del line["duration_ms"], line["time"]
    assert line == {
        "level": "info",
        "logger": "engross.served",
        "event": "call",
        "flow": "shelf.add-book",
        "surface": "rest",
        "tenant": "main",
        "principal": line["principal"],
        "reply_type": "S",
        "code": answer["code"],
        "trace_id": answer["trace_id"],
        "span_id": answer["span_id"],
    }


def test_the_callers_own_trace_is_found_in_the_log(served: Served) -> None:
    with served.client(served.owner) as client:
        for number in (1, 2):
            parent = {"traceparent": f"00-{TRACE}-000000000000000{number}-01"}
            assert client.get("/v1/shelf/list-books", headers=parent).status_code == 200
    lines = [line for line in served.lines() if line.get("trace_id") == TRACE]
    assert [line["flow"] for line in lines] == ["shelf.list-books"] * 2


@pytest.mark.parametrize(
    ("flow", "arguments", "level"),
    [
        ("shelf.get-book", {"id": "book_x"}, "warning"),
        ("rig.crash", {"words": "oh no"}, "error"),
    ],
)
def test_what_goes_wrong_is_logged_louder(served: Served, flow: str, arguments: dict[str, str], level: str) -> None:
    answer = served.call(flow, arguments).json()["reply"]
    (line,) = [line for line in served.lines() if line.get("trace_id") == answer["trace_id"]]
    assert (line["level"], line["code"]) == (level, answer["code"])


def test_a_refusal_is_logged_with_its_trace_id(plain: Served) -> None:
    heard = ask(plain, f"GET /v1/shelf/list-books?token={SECRET}")
    (line,) = [line for line in plain.lines() if line.get("trace_id") == heard.told["reply"]["trace_id"]]
    assert (line["event"], line["path"], line["code"]) == ("refused", "/v1/shelf/list-books", "MCP-CFG-I-001")


def test_no_secret_and_no_argument_is_in_the_log(serving: Serving) -> None:
    served = serving(log_level="debug")
    with served.client(served.owner) as client:
        client.post("/v1/shelf/add-book", json={"title": SECRET, "notes": SECRET})
        client.get(f"/v1/shelf/list-books?author={SECRET}", headers={"Cookie": SECRET, "X-Key": SECRET})
        client.post("/v1/rig/crash", json={"words": f"password={SECRET}, {SECRET}"})
        client.post(f"/v1/shelf/{SECRET}", json={})
        client.post("/v1/shelf/add-book", content=f"{{{SECRET}", headers={"Content-Type": "application/json"})
    for credential in (f"Bearer {SECRET}", f"Basic {SECRET}", f"Bearer {served.owner}x"):
        ask(served, "GET /v1/shelf/list-books", f"Authorization: {credential}")
    ask(served, f"GET /health/live?{SECRET}")
    with Wire(served) as wire:
        wire.say(f"{SECRET}\r\n\r\n")
        wire.hear()
    assert served.stop() == 0
    log = served.log.read_text()
    assert len(list(served.lines())) > 8
    assert served.owner not in log
    assert served.agent not in log
    # An unknown flow is named by whoever asked for it.
    told = [line for line in served.lines() if SECRET in orjson.dumps(line).decode()]
    assert [line["asked"] for line in told] == [f"shelf.{SECRET}"]


def test_of_a_flow_that_is_not_there_the_log_has_what_was_asked_for_and_metrics_have_not(serving: Serving) -> None:
    served = serving()
    for name in ("add-bok", "x" * 200, "%1B%5B2J%E2%80%AE", f"token={SECRET}"):
        served.call(f"shelf.{name}", {})
    with served.client(served.owner) as client:
        metrics = client.get("/metrics").text
    assert served.stop() == 0
    asked = [line["asked"] for line in served.lines() if line.get("flow") == "unknown"]
    assert asked == ["shelf.add-bok", f"shelf.{'x' * 71}...", r"shelf.\x1b[2J\u202e", "shelf.token=***"]
    assert 'flow="unknown"' in metrics
    assert "add-bok" not in metrics


@pytest.mark.requirement("REL-11")
def test_a_credential_that_somebody_puts_into_an_address_is_not_in_the_log(serving: Serving) -> None:
    served = serving()
    for credential in (served.owner, served.agent, JWT):
        ask(served, f"GET /v1/{credential}/x")
        ask(served, f"GET /v1/{credential}", host="evil.example")
        ask(served, f"GET /{credential}", "Origin: http://evil.example")
        served.call(f"record.{credential}", {})
        served.call(f"{credential}.x", {})
    assert served.stop() == 0
    log = served.log.read_text()
    assert all(piece not in log for one in (served.owner, served.agent) for piece in one.split("_")[1:])
    assert all(piece not in log for piece in JWT.split("."))
    asked = [line["asked"] for line in served.lines() if line.get("flow") == "unknown"]
    assert asked[:2] == ["record.egr_***...", "egr_***..."]
    assert [line["path"] for line in served.lines() if line["event"] == "refused"][:3] == [
        "/v1/egr_***/x",
        "/v1/egr_***",
        "/egr_***",
    ]


def test_what_a_stranger_asks_for_cannot_give_orders_to_whoever_prints_the_log(serving: Serving) -> None:
    served = serving()
    asked = "%1b]0;pwned%07%C2%9b31m%E2%80%AE%7f"
    shown = r"\x1b]0;pwned\x07\x9b31m\u202e\x7f"
    ask(served, f"GET /v1/{asked}")
    ask(served, f"GET /v1/{asked}", host="evil.example")
    ask(served, f"GET /v1/{asked}", "Origin: http://evil.example")
    served.call(f"shelf.{asked}", {})
    assert served.stop() == 0
    log = served.log.read_text()
    assert visible(log) == log
    assert [line["path"] for line in served.lines() if line["event"] == "refused"] == [f"/v1/{shown}"] * 3
    assert [line["asked"] for line in served.lines() if line["event"] == "call"] == [f"shelf.{shown}"]


@pytest.mark.usefixtures("logging_as_before")
@pytest.mark.parametrize("kind", [StringIO, Terminal], ids=["a file", "a terminal"])
def test_no_field_of_any_line_is_obeyed_by_a_terminal(kind: type[StringIO]) -> None:
    stream = kind()
    obeyed = "\x1b[2J\x9b31m\u202e\x7f\U000e0041"
    configure_logs("info", stream)
    nobody = Principal(f"who {obeyed}", "human", frozenset())
    CallLog(catalogue_of(Settings(data=Path("nowhere"), domains=""))).read(
        [Ended(Request(f"a.{obeyed}", {}, f"where {obeyed}", nobody), None, 0)]
    )
    fields = {"event": f"it {obeyed}", "method": obeyed, f"name {obeyed}": f"value {obeyed}", "number": 7}
    write_line(logging.getLogger("engross.serving"), logging.WARNING, fields)
    extra = {"deep": {"list": [f"inside {obeyed}"], obeyed: Path(obeyed)}, "thing": Path(obeyed)}
    logging.getLogger(f"else {obeyed}").warning("heard %s", obeyed, extra=extra)
    write_line(logging.getLogger("engross.serving"), logging.WARNING, {"event": "deleted \x7f"})
    # Colours are our own.
    said = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert visible(said) == said
    assert said.count("u202e") == 13
    assert "7" in said


@pytest.mark.usefixtures("logging_as_before")
def test_no_text_looks_like_a_line_of_its_own_on_a_terminal() -> None:
    stream = Terminal()
    configure_logs("info", stream)
    logging.getLogger("somebody.else").warning("one\nfake event")
    write_line(logging.getLogger("engross.serving"), logging.WARNING, {"event": "refused", "path": "/a\nfake path"})
    assert [line for line in stream.getvalue().splitlines() if line.startswith("fake")] == []
    assert "\n    fake event" in stream.getvalue()
    assert "fake path" in stream.getvalue()


def test_the_level_can_be_set(serving: Serving) -> None:
    served = serving(log_level="error")
    assert served.call("shelf.list-books").status_code == 200
    assert ask(served, "GET /nowhere").status == 401
    served.call("rig.crash", {"words": "oh no"})
    assert served.stop() == 0
    assert [(line["level"], line["event"]) for line in served.lines()] == [("error", "call")]


def test_the_servers_own_life_is_logged(serving: Serving) -> None:
    served = serving()
    assert served.stop() == 0
    assert [line["event"] for line in served.lines()] == ["serving", "closing", "ended"]


@pytest.mark.usefixtures("logging_as_before")
def test_other_peoples_logs_are_lines_like_ours_without_stacks_or_secrets() -> None:
    stream = StringIO()
    configure_logs("info", stream)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("somebody.else").exception("it broke, token=%s", SECRET)
    logging.getLogger("somebody.else").warning("half a character: %s", "\ud800")
    logging.getLogger("somebody.else").info("not worth it")
    broken, half = (orjson.loads(line) for line in stream.getvalue().splitlines())
    assert (broken["level"], broken["logger"], broken["error"]) == ("error", "somebody.else", "ValueError")
    assert broken["at"].startswith("test_logs.py:")
    assert SECRET not in stream.getvalue()
    assert half["level"] == "warning"


@pytest.mark.usefixtures("logging_as_before")
def test_secrets_in_what_others_log_beside_the_text_stay_out_too() -> None:
    stream = StringIO()
    configure_logs("info", stream)
    extra = {"url": f"https://clara:{SECRET}@db", "deep": {"headers": [f"Bearer {SECRET}"]}, "line": 7}
    logging.getLogger("somebody.else").warning("asking", extra=extra)
    line = orjson.loads(stream.getvalue())
    assert (line["url"], line["deep"], line["line"]) == ("https://clara:***@db", {"headers": ["Bearer ***"]}, 7)


class Unspeakable:
    """What cannot be written down."""

    def __str__(self) -> str:
        raise ValueError(SECRET)


@pytest.mark.usefixtures("logging_as_before")
@pytest.mark.parametrize("extra", [{}, {"thing": Unspeakable()}, {"engross_line": "x"}])
def test_a_record_that_cannot_be_written_down_is_told_without_what_is_in_it(
    extra: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    stream = StringIO()
    configure_logs("info", stream)
    text = "asking" if extra else "asked %d times"
    logging.getLogger("somebody.else").warning(text, *([] if extra else [f"Bearer {SECRET}"]), extra=extra)
    line = orjson.loads(stream.getvalue())
    assert (line["level"], line["logger"]) == ("warning", "somebody.else")
    assert SECRET not in stream.getvalue()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("logging_as_before")
def test_what_is_named_as_a_secret_is_none_that_the_log_has() -> None:
    stream = StringIO()
    configure_logs("info", stream)
    extra = {"password": SECRET, "headers": [{"Authorization": f"Basic {SECRET}", "accept": "text"}]}
    logging.getLogger("somebody.else").warning("asking", extra=extra)
    line = orjson.loads(stream.getvalue())
    assert (line["password"], line["headers"]) == ("***", [{"Authorization": "***", "accept": "text"}])


@pytest.mark.usefixtures("logging_as_before")
@pytest.mark.parametrize("before", ["", "the server fell\nover\n"])
def test_a_stack_that_somebody_logs_as_a_text_is_a_kind_and_a_place_like_any_other(tmp_path: Path, before: str) -> None:
    stream = StringIO()
    configure_logs("info", stream)
    try:
        try:
            raise ValueError(f"first {SECRET}")
        except ValueError:
            raise orjson.JSONDecodeError(f"then {SECRET}\n{SECRET}", "", 0)  # noqa: B904
    except orjson.JSONDecodeError:
        logging.getLogger("somebody.else").error("%s%s", before, traceback.format_exc())
    line = orjson.loads(stream.getvalue())
    assert (line["event"], line["error"]) == (before.partition("\n")[0] or "failed", "JSONDecodeError")
    assert line["at"].startswith("test_logs.py:")
    assert SECRET not in stream.getvalue()
    (record,) = crashes_in(tmp_path)
    assert (record["error"], record["tool"]) == ("JSONDecodeError", "somebody.else")
    assert f"first {SECRET}" in record["stack"]


@pytest.mark.usefixtures("logging_as_before")
def test_what_an_exception_says_is_not_in_the_log_of_a_task_that_nobody_waited_for(tmp_path: Path) -> None:
    stream = StringIO()
    configure_logs("info", stream)
    loop = asyncio.new_event_loop()
    failure = ValueError(SECRET)
    loop.call_exception_handler({"message": "a task failed", "exception": failure, "future": f"of {failure!r}"})
    loop.close()
    line = orjson.loads(stream.getvalue())
    assert (line["event"], line["error"]) == ("a task failed", "ValueError")
    assert SECRET not in stream.getvalue()


@pytest.mark.usefixtures("logging_as_before")
def test_a_line_that_is_no_json_as_it_is_costs_no_other() -> None:
    stream = StringIO()
    configure_logs("info", stream)
    catalogue = catalogue_of(Settings(data=Path("nowhere"), domains=""))
    made = [
        Ended(Request("shelf.list-books", {}, "main", Principal(name, "human", frozenset())), None, 0)
        for name in ("adam", "half \ud800", "clara")
    ]
    CallLog(catalogue).read(made)
    principals = [orjson.loads(line)["principal"] for line in stream.getvalue().splitlines()]
    assert principals == ["adam", "half \\ud800", "clara"]


@pytest.mark.usefixtures("logging_as_before")
def test_a_call_that_cannot_be_written_down_costs_no_line_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    configure_logs("info", stream)
    write_down = CallLog._line

    def choosy(log: CallLog, request: Request, answer: Reply | None) -> dict[str, Any]:
        if request.principal.id == "nobody":
            raise ValueError("not that one")
        return write_down(log, request, answer)

    monkeypatch.setattr(CallLog, "_line", choosy)
    daybook = Daybook([CallLog(catalogue_of(Settings(data=Path("nowhere"), domains=""))).read])

    async def turn() -> None:
        for name in ("adam", "bella", "nobody", "clara"):
            request = Request("shelf.list-books", {}, "main", Principal(name, "human", frozenset()))
            daybook.begin()
            daybook.end(request, None)
        await asyncio.sleep(0)

    asyncio.run(turn())
    lines = [orjson.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["principal"] for line in lines if line["event"] == "call abandoned"] == ["adam", "bella", "clara"]


@pytest.mark.usefixtures("logging_as_before")
def test_people_at_a_terminal_get_something_to_read() -> None:
    stream = Terminal()
    configure_logs("info", stream)
    logging.getLogger("engross.serving").info("hello")
    assert "hello" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


@pytest.mark.usefixtures("logging_as_before")
def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(Failed) as refused:
        configure_logs("loud", StringIO())
    assert refused.value.params == {"setting": "log_level"}
