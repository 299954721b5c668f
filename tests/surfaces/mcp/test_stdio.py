"""The raw wire over a pipe: only the protocol goes out, and whatever comes in, the server goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.bed.offices import Offices
from tests.bed.served import ROOT, wait_for
from tests.surfaces.mcp.house import (
    ERAS,
    FOR_ONE_CALLER,
    LEGACY,
    MODERN,
    SECONDS,
    UNCARRIED,
    Pipe,
    arguments,
    envelope,
    environment,
    hello,
    piped,
)

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
NUMBERS = count()


@pytest.fixture(params=ERAS, scope="module")
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A client that has opened an era. One after the other, the tests send the same server what they have."""
    folder = tmp_path_factory.mktemp("talk") / "office"
    with piped(folder, role="curator", type="human", name="clara") as pipe:
        yield Talk(pipe, request.param)


def new_title() -> str:
    """A title that no book has."""
    return f"Book {next(NUMBERS)}"


class Talk:
    """Calls tools in one era."""

    def __init__(self, pipe: Pipe, era: str) -> None:
        self.pipe = pipe
        self.meta = {"_meta": envelope()} if era == MODERN else {}
        if era == LEGACY:
            pipe.shake_hands()

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.pipe.ask(method, {**(params or {}), **self.meta})

    def call(self, tool: str, given: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": given or {}})["result"]
        return result

    def key(self, tool: str, given: Any = None) -> str:
        result = self.call(tool, given)
        key: str = result["structuredContent"]["reply"]["message_key"]
        assert json.loads(result["content"][-1]["text"]) == result["structuredContent"]
        return key

    def send(self, number: int | str, text: str) -> dict[str, Any]:
        """A call of addBook with arguments as they are written, for its whole answer."""
        meta = json.dumps(self.meta["_meta"]) if self.meta else "{}"
        line = (
            '{"jsonrpc":"2.0","id":' + json.dumps(number) + ',"method":"tools/call","params":'
            '{"name":"addBook","arguments":' + text + ',"_meta":' + meta + "}}"
        )
        self.pipe.write(line.encode("utf-8", "surrogatepass"))
        return self.pipe.read()


def test_what_is_written_is_answered(talk: Talk) -> None:
    assert [tool["name"] for tool in talk.ask("tools/list")["result"]["tools"]][:3] == [
        "find_flow",
        "describe_flow",
        "run_flow",
    ]
    assert talk.key("addBook", {"title": new_title()}) == "CREATED"
    assert talk.key("listBooks") == "READ_OK"


def test_a_modern_client_discovers_what_is_served(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        found = pipe.ask("server/discover", {"_meta": envelope()})["result"]
    assert found["supportedVersions"] == [MODERN]
    assert found["resultType"] == "complete"
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "engross"
    assert found["capabilities"]["resources"]["subscribe"] is True


@pytest.mark.parametrize("role", ["viewer", "curator"])
def test_what_depends_on_the_caller_is_kept_for_nobody_else(tmp_path: Path, role: str) -> None:
    with piped(tmp_path / "office", role=role, type="human") as pipe:
        for method, params in FOR_ONE_CALLER:
            answer = pipe.ask(method, {**params, "_meta": envelope()})["result"]
            assert (method, answer["cacheScope"]) == (method, "private")


def test_an_older_handshake_is_accepted(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        opened = pipe.ask("initialize", {**hello(), "protocolVersion": "2025-06-18"})["result"]
    assert opened["protocolVersion"] == "2025-06-18"


def refused(talk: Talk, line: bytes) -> tuple[Any, int]:
    """The id and the code of the error that answers a line; the next line is answered as ever."""
    talk.ask("tools/list")
    talk.pipe.write(line)
    answer = talk.pipe.read()
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert talk.key("listBooks") == "READ_OK"
    return answer["id"], answer["error"]["code"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json", PARSE_ERROR),
        (b"{", PARSE_ERROR),
        (b"[" * 5000, PARSE_ERROR),
        (b"null", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b"[]", INVALID_REQUEST),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7,"method":7}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7,"result":[]}', INVALID_REQUEST),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(talk: Talk, line: bytes, code: int) -> None:
    assert refused(talk, line) == (None, code)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"x":"\\ud800"}}', (7, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"x":"\xed\xa0\x80"}}', (7, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"x":"\xff\xfe"}}', (7, PARSE_ERROR)),
        (b'{"params":{"x":"\\ud800"},"method":"tools/call","jsonrpc":"2.0","id":"\xc3\xbc"}', ("\u00fc", PARSE_ERROR)),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', (7, INVALID_REQUEST)),
        (b'{"jsonrpc":"2.0","id":-7,"method":"ping","params":[1]}', (-7, INVALID_REQUEST)),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"method":"ping"}', (7, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":%s}}' % (b"9" * 5_000), (7, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":' + b"[" * 5000, (7, PARSE_ERROR)),
        # These ids are as broken as the rest of the line.
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', (None, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', (None, PARSE_ERROR)),
        (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping","params":[1]}', (None, INVALID_REQUEST)),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_under_its_id(
    talk: Talk, line: bytes, answer: tuple[int | str | None, int]
) -> None:
    assert refused(talk, line) == answer


@pytest.mark.parametrize("tool", ["addBook", "run_flow"])
@pytest.mark.parametrize(("written", "key"), UNCARRIED)
def test_arguments_that_cannot_be_read_are_answered_with_a_reply(talk: Talk, tool: str, written: str, key: str) -> None:
    talk.ask("tools/list")
    meta = json.dumps(talk.meta)[1:-1]
    params = f'{{"name":"{tool}","arguments":{written}{"," if meta else ""}{meta}}}'
    talk.pipe.write(f'{{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{params}}}'.encode())
    answer = talk.pipe.read()
    assert (answer["id"], answer["result"]["isError"]) == ("mine", True)
    assert answer["result"]["structuredContent"]["reply"]["message_key"] == key
    assert ("resultType" in answer["result"]) is bool(meta)
    assert talk.key("listBooks") == "READ_OK"


@pytest.mark.parametrize("method", ["tools/call", "ping", "notifications/cancelled"])
@pytest.mark.parametrize("number", ["{}", "[1]", "null", "true", "1.5"])
def test_an_id_that_is_none_does_not_make_a_notification_of_a_request(talk: Talk, method: str, number: str) -> None:
    params = json.dumps({"name": "listBooks", "arguments": {}, **talk.meta})
    line = f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}'
    assert refused(talk, line.encode()) == (None, INVALID_REQUEST)


def test_an_id_that_is_none_is_answered_before_there_is_an_era(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        pipe.write(json.dumps({"jsonrpc": "2.0", "id": {}, "method": "initialize", "params": hello()}).encode())
        answer = pipe.read()
        assert (answer["id"], answer["error"]["code"]) == (None, INVALID_REQUEST)
        assert "result" in pipe.shake_hands()


@pytest.mark.parametrize("number", ["[1]", '{"a":1}', "null", "1.5"])
def test_a_notice_that_cancels_nothing_is_nothing(talk: Talk, number: str) -> None:
    talk.ask("tools/list")
    notice = f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}'
    talk.pipe.write(notice.encode())
    assert talk.key("listBooks") == "READ_OK"


def test_blank_lines_mean_nothing(talk: Talk) -> None:
    talk.pipe.write(b"\n\r\n   ")
    assert talk.key("listBooks") == "READ_OK"


LARGE = b"x" * 17_000_000


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"%s"}}', 7),
        (b'{"method":"ping","params":{"x":"%s"},"jsonrpc":"2.0","id":"seven"}', "seven"),
        (b'{"params": {"x": "%s"}, "id": -8, "method": "ping"}\r', -8),
        (b'{"params":{"x":"%s","id":9}}', None),
        (b'{"params":{"x":"%s"},"id":[9]}', None),
        (b"%s", None),
    ],
)
def test_a_line_that_is_too_long_is_refused_under_its_id_and_forgotten(
    talk: Talk, line: bytes, number: int | str | None
) -> None:
    talk.ask("tools/list")
    talk.pipe.write(line % LARGE)
    refused = talk.pipe.read()
    assert (refused["id"], refused["error"]["code"]) == (number, INVALID_REQUEST)
    assert "16777216" in refused["error"]["message"]
    assert talk.key("listBooks") == "READ_OK"


@pytest.mark.parametrize("ends_with_id", [False, True])
def test_a_call_that_is_too_long_gets_a_reply(talk: Talk, ends_with_id: bool) -> None:
    talk.ask("tools/list")
    params = {"name": "addBook", "arguments": {"title": LARGE.decode()}, **talk.meta}
    told = {"jsonrpc": "2.0", "id": "long", "method": "tools/call"}
    message = {"method": told.pop("method"), "params": params, **told} if ends_with_id else {**told, "params": params}
    talk.pipe.write(json.dumps(message).encode())
    answer = talk.pipe.read()
    assert answer["id"] == "long"
    assert answer["result"]["isError"] is True
    refused = answer["result"]["structuredContent"]
    assert refused["reply"]["message_key"] == "LIMIT_EXCEEDED"
    assert "content_hash" in json.dumps(refused)
    assert talk.key("listBooks") == "READ_OK"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ('{"title":"Dune","colour":"red"}', "UNKNOWN_FIELD"),
        ('{"title":7}', "VALIDATION_ERROR"),
        ('{"title":"Dune","tenant_id":"elsewhere"}', "FIELD_NOT_ALLOWED"),
        ('{"title":"Dune","notes":NaN}', "MALFORMED_INPUT"),
        ('{"title":"Dune","notes":Infinity}', "MALFORMED_INPUT"),
        ('{"title":"Dune","notes":' + "[" * 100 + "]" * 100 + "}", "LIMIT_EXCEEDED"),
        ('{"title":"' + "x" * 3_000_000 + '"}', "VALIDATION_ERROR"),
        ('{"title":123456789012345678901234567890}', "LIMIT_EXCEEDED"),
    ],
)
def test_bad_arguments_are_replies(talk: Talk, written: str, key: str) -> None:
    talk.ask("tools/list")
    answer = talk.send("odd", written)["result"]
    assert answer["isError"] is True
    told = answer["structuredContent"]
    keys = {told["reply"]["message_key"], *(one["code"] for one in told["error"].get("details", {}).get("errors", []))}
    assert key in keys
    assert talk.key("addBook", {"title": new_title()}) == "CREATED"


def test_a_crash_over_a_call_that_is_no_plain_json_is_a_reply(talk: Talk) -> None:
    talk.ask("tools/list")
    params = {"name": "stumble", "arguments": {"words": "a"}, "odd": "\ud800", **talk.meta}
    talk.pipe.write(json.dumps({"jsonrpc": "2.0", "id": "odd", "method": "tools/call", "params": params}).encode())
    answer = talk.pipe.read()
    assert answer["id"] == "odd"
    assert answer["result"]["structuredContent"]["reply"]["message_key"] == "SYS_CRASH"
    assert talk.key("listBooks") == "READ_OK"


@pytest.mark.parametrize("written", ['"Dune"', "[1]", "7"])
def test_arguments_that_are_no_object_are_an_error_of_the_protocol(talk: Talk, written: str) -> None:
    talk.ask("tools/list")
    assert talk.send("odd", written)["error"]["code"] == INVALID_PARAMS
    assert talk.key("listBooks") == "READ_OK"


def test_null_arguments_are_none(talk: Talk) -> None:
    talk.ask("tools/list")
    told = talk.send("odd", "null")["result"]["structuredContent"]
    assert told["reply"]["message_key"] == "VALIDATION_ERROR"


def test_an_unknown_method_is_an_error_of_the_protocol(talk: Talk) -> None:
    assert talk.ask("tools/invent")["error"]["code"] == -32601
    assert talk.key("listBooks") == "READ_OK"


def test_what_a_flow_prints_does_not_get_onto_the_wire(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        pipe.shake_hands()
        words = '{"jsonrpc":"2.0","id":2,"result":{}}'
        answer = pipe.ask("tools/call", {"name": "chatter", "arguments": {"words": words}})
        assert answer["result"]["structuredContent"]["printed"] is True
        out, err = pipe.end()
    assert out == b""
    assert words.encode() in err


def test_what_was_asked_before_the_end_is_answered(tmp_path: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "addBook", "arguments": book}}
            for number, book in enumerate(({"title": f"Book {number}"} for number in range(20)), 2)
        ),
    ]
    text = "\n".join(map(json.dumps, lines))
    run = subprocess.run(
        [sys.executable, *arguments(tmp_path / "office", None, {"role": "curator", "type": "human"})],
        cwd=ROOT,
        env=environment(),
        input=text.encode(),  # without an end of line, and then the end
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert {answer["id"] for answer in answers} == set(range(1, 22))
    keys = {answer["result"]["structuredContent"]["reply"]["message_key"] for answer in answers if answer["id"] > 1}
    assert keys == {"CREATED"}


def test_a_file_and_a_file_will_do_as_well_as_pipes(tmp_path: Path) -> None:
    asked, answered = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    call = {"name": "listBooks", "arguments": {}, "_meta": envelope()}
    asked.write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n")
    with asked.open("rb") as source, answered.open("wb") as target:
        subprocess.run(
            [sys.executable, *arguments(tmp_path / "office", None, {})],
            cwd=ROOT,
            env=environment(),
            stdin=source,
            stdout=target,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
    (line,) = answered.read_text().splitlines()
    assert json.loads(line)["result"]["structuredContent"]["books"] == []


def test_an_end_without_a_beginning_is_an_end(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path / "office")
    out, _ = pipe.end()
    assert out == b""


def test_an_end_that_was_told_before_the_beginning_is_an_end(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path / "office", told=True)
    try:
        assert pipe.process.wait(SECONDS) == 0
    finally:
        pipe.process.kill()
        pipe.process.communicate()


def test_a_cancelled_call_is_not_answered_and_the_next_one_is(tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    with piped(tmp_path / "office") as pipe:
        pipe.shake_hands()
        wish = {"name": "wait", "arguments": {"begun": str(begun), "until": str(until)}}
        number = pipe.send("tools/call", wish)
        wait_for(begun.exists)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        pipe.write(json.dumps(cancel).encode())
        following = pipe.send("tools/call", {"name": "listBooks", "arguments": {}})
        assert pipe.read()["id"] == following
        until.touch()


def test_a_client_that_vanishes_in_the_middle_of_a_call_harms_nobody(house: Offices, tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    pipe = Pipe(house.folder)
    pipe.shake_hands()
    pipe.send("tools/call", {"name": "wait", "arguments": {"begun": str(begun), "until": str(until)}})
    wait_for(begun.exists)
    assert pipe.process.stdout is not None
    assert pipe.process.stdin is not None
    pipe.process.stdout.close()
    pipe.process.stdin.close()
    until.touch()
    assert pipe.process.wait(SECONDS) == 0
    assert pipe.process.stderr is not None
    assert b"Traceback" not in pipe.process.stderr.read()
    pipe.process.stderr.close()
    clara = house.open()
    assert clara.shelf.add_book(title="Dune").ok


def test_the_office_is_read_only_when_it_is_told_to_be(tmp_path: Path) -> None:
    with piped(tmp_path / "office", role="curator", type="human", read_only=True) as pipe:
        pipe.shake_hands()
        told = pipe.call("addBook", {"title": "Dune"})["structuredContent"]
    assert told["reply"]["message_key"] == "READ_ONLY"


def test_over_a_pipe_nobody_counts_who_looks_for_flows(tmp_path: Path) -> None:
    policies = tmp_path / "office" / "policies"
    policies.mkdir(parents=True)
    (policies / "knobs.toml").write_text('rate_limits = { read = "1/minute" }')
    with piped(tmp_path / "office") as pipe:
        pipe.shake_hands()
        for _ in range(3):
            assert pipe.call("find_flow")["structuredContent"]["reply"]["message_key"] == "SYS_OK"


def test_an_era_that_was_opened_is_kept(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        pipe.shake_hands()
        assert pipe.ask("tools/list", {"_meta": envelope()})["error"]["code"] == INVALID_REQUEST
        assert "result" in pipe.ask("tools/list")


def test_on_postgres_it_is_the_same(postgres_dsn: str, tmp_path: Path) -> None:
    with piped(tmp_path / "office", postgres_dsn, role="curator", type="human") as pipe:
        pipe.shake_hands()
        told = pipe.call("addBook", {"title": "Dune"})["structuredContent"]
        assert told["reply"]["message_key"] == "CREATED"
        assert pipe.call("listBooks")["structuredContent"]["books"][0]["title"] == "Dune"
