"""The raw wire over HTTP: sessions belong to who opened them, and whatever comes in, the server goes on."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.bed.served import Served, wait_for
from tests.surfaces.conftest import Serving
from tests.surfaces.mcp.house import (
    AGENT,
    ERAS,
    FOR_ONE_CALLER,
    LEGACY,
    MODERN,
    UNCARRIED,
    connected,
    desk_of,
    envelope,
    hello,
    key_of,
    on_a_loop,
    over_http,
    told,
)

BOTH = "application/json, text/event-stream"
NUMBERS = count(1)


class Wire:
    """A raw client of one era, with a token."""

    def __init__(self, http: httpx2.Client, era: str) -> None:
        self.era = era
        self.http = http
        self.headers = {"Accept": BOTH, "Content-Type": "application/json"}
        if era == MODERN:
            self.headers["MCP-Protocol-Version"] = MODERN
            return
        opened = self.post("initialize", hello())
        self.headers |= {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": LEGACY}
        self.http.post("/mcp", headers=self.headers, json={"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> httpx2.Response:
        """Send a request, for its response."""
        params = {**(params or {}), **({"_meta": envelope()} if self.era == MODERN else {})}
        if self.era == MODERN:
            headers = {"Mcp-Method": method, **({"Mcp-Name": params["name"]} if "name" in params else {}), **headers}
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}
        return self.http.post("/mcp", headers={**self.headers, **headers}, json=body)

    def send(self, written: bytes, tool: str = "addBook", **headers: str) -> httpx2.Response:
        """Send a call with arguments as they are written."""
        meta = json.dumps(envelope()).encode() if self.era == MODERN else b"{}"
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":' % tool.encode()
            + written
            + b',"_meta":'
            + meta
            + b"}}"
        )
        names = {"Mcp-Method": "tools/call", "Mcp-Name": tool} if self.era == MODERN else {}
        return self.http.post("/mcp", headers={**self.headers, **names, **headers}, content=body)

    def call(self, name: str, given: dict[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        """Call a tool, for its structured answer."""
        response = self.post("tools/call", {"name": name, "arguments": given or {}}, **headers)
        answer: dict[str, Any] = message_of(response)["result"]["structuredContent"]
        return answer


def message_of(response: httpx2.Response) -> dict[str, Any]:
    """The last message of a response, alone or at the end of a stream."""
    if response.headers["content-type"].startswith("application/json"):
        message: dict[str, Any] = response.json()
        return message
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    told = [line for line in lines if line]
    assert told, (response.status_code, response.text)
    message = json.loads(told[-1])
    return message


@contextmanager
def wired(served: Served, era: str, token: str | None = None) -> Iterator[Wire]:
    with served.client(token or served.owner) as http:
        yield Wire(http, era)


def new_title() -> str:
    return f"Title {next(NUMBERS)}"


@pytest.mark.parametrize("era", ERAS)
def test_calls_are_answered_as_whom_the_token_stands_for(served: Served, era: str) -> None:
    with wired(served, era) as owner, wired(served, era, served.agent) as agent:
        committed = owner.call("addBook", {"title": new_title()})
        assert (committed["reply"]["message_key"], committed["status"]) == ("CREATED", "committed")
        assert agent.call("addBook", {"title": new_title()})["status"] == "proposed"
        again = owner.call("addBook", {"title": new_title()})
        assert again["status"] == "committed"
        receipt = owner.call("getReceipt", {"position": again["position"]})["receipt"]
    assert receipt["surface"] == "mcp-http"
    assert receipt["principal"]["type"] == "human"


@pytest.mark.requirement("ARCH-15")
@pytest.mark.parametrize("era", ERAS)
def test_headers_do_not_change_who_calls(served: Served, era: str) -> None:
    claims = {"X-Tenant": "elsewhere", "X-User": "clara", "X-Roles": "admin", "X-Forwarded-User": "clara"}
    with wired(served, era, served.agent) as agent:
        assert agent.call("addBook", {"title": new_title()}, **claims)["status"] == "proposed"


@pytest.mark.parametrize("era", ERAS)
def test_trace_and_correlation_come_from_headers(served: Served, era: str) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    headers = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01", "X-Correlation-ID": "order-66"}
    with wired(served, era) as wire:
        added = wire.call("addBook", {"title": new_title()}, **headers)
        receipt = wire.call("getReceipt", {"position": added["position"]})["receipt"]
    assert added["reply"]["trace_id"] == trace
    assert receipt["correlation_id"] == "order-66"


def test_a_session_belongs_to_the_credential_that_opened_it(served: Served) -> None:
    with wired(served, LEGACY) as owner, served.client(served.agent) as other:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert other.post("/mcp", headers=owner.headers, json=body).status_code == 404
        assert other.delete("/mcp", headers=owner.headers).status_code == 404
        assert other.get("/mcp", headers=owner.headers).status_code == 404
        assert "result" in message_of(owner.post("tools/list"))
        with served.client() as nobody:
            assert nobody.post("/mcp", headers=owner.headers, json=body).status_code == 401
        assert owner.http.delete("/mcp", headers=owner.headers).status_code == 200
        assert owner.post("tools/list").status_code == 404


def test_a_token_of_another_tenant_does_not_get_into_a_session(served: Served) -> None:
    stranger = served.token("owner", "human", "admin", tenant="elsewhere")
    with wired(served, LEGACY) as owner, served.client(stranger) as other:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert other.post("/mcp", headers=owner.headers, json=body).status_code == 404


@pytest.mark.parametrize("era", ERAS)
def test_without_a_credential_there_is_no_answer(served: Served, era: str) -> None:
    with served.client() as http:
        version = {"MCP-Protocol-Version": MODERN} if era == MODERN else {}
        refused = http.post(
            "/mcp",
            headers={"Accept": BOTH, "Content-Type": "application/json", **version},
            json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()},
        )
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("written", "key"),
    [
        (b'{"title":"Dune","colour":"red"}', "UNKNOWN_FIELD"),
        (b'{"title":"Dune","tenant_id":"elsewhere"}', "FIELD_NOT_ALLOWED"),
        (b'{"title":"Dune","notes":NaN}', "MALFORMED_INPUT"),
        (b'{"title":"Dune","notes":' + b"[" * 100 + b"]" * 100 + b"}", "LIMIT_EXCEEDED"),
        (b'{"title":"' + b"x" * 3_000_000 + b'"}', "VALIDATION_ERROR"),
    ],
)
def test_bad_arguments_are_replies(served: Served, era: str, written: bytes, key: str) -> None:
    with wired(served, era) as wire:
        answer = message_of(wire.send(written))["result"]
        assert answer["isError"] is True
        keys = str(answer["structuredContent"])
        assert key in keys
        assert wire.call("listBooks")["reply"]["message_key"] == "READ_OK"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("written", "number"), [(b'{"title":"\xff\xfe"}', 1), (b"{", None), (b'{"title":"Dune"', None)]
)
def test_a_body_that_is_no_message_is_an_error_of_the_protocol(
    served: Served, era: str, written: bytes, number: int | None
) -> None:
    with wired(served, era) as wire:
        refused = wire.send(written)
        assert refused.status_code == 400
        assert refused.json() == {
            "jsonrpc": "2.0",
            "id": number,
            "error": {"code": -32700, "message": "Parse error"},
        }
        assert wire.call("listBooks")["reply"]["message_key"] == "READ_OK"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["addBook", "run_flow"])
@pytest.mark.parametrize(("written", "key"), UNCARRIED)
def test_arguments_that_cannot_be_read_are_answered_with_a_reply(
    served: Served, era: str, tool: str, written: str, key: str
) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with wired(served, era) as wire:
        refused = wire.send(written.encode(), tool, traceparent=f"00-{trace}-00f067aa0ba902b7-01")
        assert (refused.status_code, refused.headers["content-type"]) == (200, "application/json")
        answer = refused.json()
        assert (answer["id"], answer["result"]["isError"]) == (1, True)
        assert ("resultType" in answer["result"]) is (era == MODERN)
        told_here = answer["result"]["structuredContent"]["reply"]
        assert (told_here["message_key"], told_here["trace_id"]) == (key, trace)
        assert wire.call("listBooks")["reply"]["message_key"] == "READ_OK"


DEEP = ('{"title":' + "[" * 3_000 + "]" * 3_000 + "}").encode()


def test_a_call_that_cannot_be_read_is_answered_to_whose_session_it_is(served: Served) -> None:
    with wired(served, LEGACY) as owner, wired(served, LEGACY, served.agent) as other:
        # Without a session, in somebody else's, and in one that has ended.
        number = owner.headers.pop("Mcp-Session-Id")
        nowhere = owner.send(DEEP)
        assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (400, -32700)
        assert other.send(DEEP, **{"Mcp-Session-Id": number}).status_code == 404
        owner.headers["Mcp-Session-Id"] = number
        assert owner.send(DEEP).status_code == 200
        assert owner.http.delete("/mcp", headers=owner.headers).status_code == 200
        assert owner.send(DEEP).status_code == 404


@pytest.mark.parametrize("named", [{"Mcp-Name": "removeBook"}, {"Accept": "text/html"}])
def test_a_call_that_cannot_be_read_is_not_answered_against_its_head(served: Served, named: dict[str, str]) -> None:
    with wired(served, MODERN) as wire:
        refused = wire.send(DEEP, **named)
    assert refused.status_code in (400, 406)
    assert "result" not in refused.json()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("head", "statuses"),
    [
        ({"Content-Type": "text/plain"}, {400, 415}),
        ({"Accept": "text/html"}, {406}),
        ({"Accept": "text/event-stream"}, {406}),
    ],
)
def test_types_that_the_protocol_does_not_have_are_refused_in_its_words(
    served: Served, era: str, head: dict[str, str], statuses: set[int]
) -> None:
    with wired(served, era) as wire:
        refused = wire.post("tools/list", None, **head)
        assert refused.status_code in statuses
        assert refused.headers["content-type"] == "application/json"
        assert refused.json()["error"]["code"] == -32600
        assert "result" in message_of(wire.post("tools/list"))


def test_a_method_that_the_later_era_does_not_have_is_refused_in_its_words(served: Served) -> None:
    with wired(served, MODERN) as wire:
        refused = wire.http.get("/mcp", headers=wire.headers)
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert refused.json()["error"]["code"] == -32600


@pytest.mark.parametrize("era", ERAS)
def test_a_body_over_the_limit_is_too_large(served: Served, era: str) -> None:
    with wired(served, era) as wire:
        refused = wire.send(b'{"title":"' + b"x" * 5_000_000 + b'"}')
        assert refused.status_code == 413
        assert refused.json()["code"] == "MCP-VAL-I-005"

        def pieces() -> Iterator[bytes]:
            for _ in range(100):
                yield b"x" * 100_000

        # Who does not say how much will come may be cut off while still sending.
        try:
            unmeasured = wire.http.post("/mcp", headers=wire.headers, content=pieces())
            assert unmeasured.status_code == 413
        except httpx2.TransportError:
            pass
        assert wire.call("listBooks")["reply"]["message_key"] == "READ_OK"


def test_a_later_request_is_answered_at_once_unless_it_wants_to_hear_more(served: Served) -> None:
    with wired(served, MODERN) as wire:
        assert wire.post("tools/list").headers["content-type"].startswith("application/json")
        refused = wire.post("tools/list", Accept="application/json")
        assert refused.status_code == 406
        assert refused.json()["error"]["code"] == -32600


@pytest.mark.parametrize(("method", "params"), FOR_ONE_CALLER)
def test_what_depends_on_the_caller_is_kept_for_nobody_else(
    served: Served, method: str, params: dict[str, Any]
) -> None:
    named = {"Mcp-Name": params["uri"]} if "uri" in params else {}
    for token in (served.owner, served.agent):
        with wired(served, MODERN, token) as wire:
            assert message_of(wire.post(method, params, **named))["result"]["cacheScope"] == "private"


@on_a_loop
async def test_progress_is_heard_over_http(served: Served, era: str, tmp_path: Path) -> None:
    done, heard = tmp_path / "done", []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)
        done.touch()

    async with over_http(served, served.agent, era) as session:
        wish = {"begun": str(tmp_path / "begun"), "until": str(done)}
        assert told(await session.call_tool("hold", wish, progress_callback=hear))["held"] is True
    assert heard[0] == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_vanishes_in_the_middle_of_a_call_harms_nobody(served: Served, era: str, tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    with wired(served, era) as wire:
        wish = {"name": "hold", "arguments": {"begun": str(begun), "until": str(until)}}
        meta = {"_meta": envelope()} if era == MODERN else {}
        names = {"Mcp-Method": "tools/call", "Mcp-Name": "hold"} if era == MODERN else {}
        body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {**wish, **meta}}).encode()
        lines = {
            **wire.headers,
            **names,
            **served.headers(served.owner),
            "Host": f"127.0.0.1:{served.port}",
            "Content-Length": str(len(body)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        with socket.create_connection(("127.0.0.1", served.port)) as line:
            line.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
            wait_for(begun.exists)
        until.touch()
        assert wire.call("addBook", {"title": new_title()})["reply"]["message_key"] == "CREATED"


@pytest.mark.parametrize("era", ERAS)
def test_a_request_that_never_came_whole_is_not_carried_out(served: Served, era: str) -> None:
    title = new_title()
    with wired(served, era) as wire:
        params: dict[str, Any] = {"name": "addBook", "arguments": {"title": title}}
        if era == MODERN:
            params["_meta"] = envelope()
        body = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}).encode()
        lines = {
            **wire.headers,
            **({"Mcp-Method": "tools/call", "Mcp-Name": "addBook"} if era == MODERN else {}),
            **served.headers(served.owner),
            "Host": f"127.0.0.1:{served.port}",
            "Content-Length": str(len(body) + 50),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        with socket.create_connection(("127.0.0.1", served.port)) as line:
            line.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        assert wire.call("addBook", {"title": title})["reply"]["message_key"] == "CREATED"


@pytest.mark.parametrize(
    "written",
    [
        b'[{"jsonrpc":"2.0","id":1,"method":"ping","params":{"secret":"S3CRET"}}]',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    ],
)
def test_what_is_no_message_is_not_repeated_to_whoever_sent_it(served: Served, written: bytes) -> None:
    with wired(served, LEGACY) as wire:
        answer = wire.http.post("/mcp", headers=wire.headers, content=written)
        assert answer.json()["error"]["code"] == -32600
        assert b"S3CRET" not in answer.content


@pytest.mark.parametrize("era", ERAS)
def test_half_a_character_as_an_id_is_no_crash(served: Served, era: str) -> None:
    with wired(served, era) as wire:
        answer = wire.http.post(
            "/mcp", headers=wire.headers, content=b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)


@on_a_loop
async def test_many_clients_at_once_are_all_answered(served: Served, era: str) -> None:
    async def one() -> None:
        async with over_http(served, served.owner, era) as session:
            title = new_title()
            key = title.replace(" ", "-").ljust(8, "-")
            added = told(await session.call_tool("addBook", {"title": title, "client_request_id": key}))
            assert added["book"]["title"] == title

    await asyncio.gather(*(one() for _ in range(20)))


@pytest.mark.requirement("GOV-04")
@pytest.mark.parametrize("era", ERAS)
def test_a_revoked_token_is_refused_at_once_in_an_open_session_too(served: Served, era: str) -> None:
    number, token = served.token_with_id("bella", "agent", "agent")
    with wired(served, era, token) as wire:
        assert wire.call("listBooks")["reply"]["message_key"] == "READ_OK"
        revoked = served.call("door.revoke-token", {"token_id": number})
        assert revoked.status_code == 200, revoked.text
        assert wire.post("tools/list").status_code == 401


FEW_READS = 'rate_limits = { read = "2/minute" }'
GUIDING = [("find_flow", {"words": "books"}), ("describe_flow", {"flow": "addBook"})]


@pytest.mark.parametrize(("tool", "given"), GUIDING)
def test_looking_for_flows_is_limited_like_other_reads(serving: Serving, tool: str, given: dict[str, Any]) -> None:
    served = serving(knobs=FEW_READS)
    with wired(served, LEGACY) as early, wired(served, MODERN) as late, wired(served, MODERN, served.agent) as another:
        assert [wire.call(tool, given)["reply"]["message_key"] for wire in (early, late)] == ["SYS_OK", "SYS_OK"]
        for wire in (early, late):
            refused = wire.call(tool, given)
            assert (refused["reply"]["reply_type"], refused["reply"]["message_key"]) == ("D", "RATE_LIMIT_EXCEEDED")
            assert 0 < refused["retry_after_seconds"] <= 60
        assert another.call(tool, given)["reply"]["message_key"] == "SYS_OK"
        wish = {"flow": "listBooks"}
        keys = [late.call("run_flow", wish)["reply"]["message_key"] for _ in range(3)]
        assert keys == ["READ_OK", "READ_OK", "RATE_LIMIT_EXCEEDED"]


AMISS = [("find_flow", {"words": 5}), ("describe_flow", {}), ("run_flow", {"flow": 5}), ("run_flow", {"flow": "no"})]


@pytest.mark.parametrize(("tool", "amiss"), AMISS)
def test_looking_for_flows_counts_also_when_it_says_nothing(serving: Serving, tool: str, amiss: dict[str, Any]) -> None:
    served = serving(knobs='rate_limits = { read = "2/minute", write = "2/minute" }')
    with wired(served, LEGACY) as early, wired(served, MODERN) as late:
        kinds = [wire.call(tool, amiss)["reply"]["reply_type"] for wire in (early, late, early, late)]
        assert kinds == ["I", "I", "D", "D"]
        assert early.call(tool, amiss)["reply"]["message_key"] == "RATE_LIMIT_EXCEEDED"
        # What a call of run_flow does run counts as what that is.
        assert late.call("run_flow", {"flow": "listBooks"})["reply"]["message_key"] == "READ_OK"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["addBook", "find_flow"])
def test_a_call_that_cannot_be_read_counts_like_any_other(serving: Serving, era: str, tool: str) -> None:
    served = serving(knobs='rate_limits = { read = "2/minute", write = "2/minute" }')
    with wired(served, era) as wire:
        answers = [wire.send(DEEP, tool).json()["result"]["structuredContent"] for _ in range(3)]
        assert [answer["reply"]["reply_type"] for answer in answers] == ["I", "I", "D"]
        assert answers[2]["reply"]["message_key"] == "RATE_LIMIT_EXCEEDED"


@on_a_loop
async def test_without_a_door_before_it_the_application_lets_nobody_in(clara: Any) -> None:
    from engross.surfaces.mcp import mcp_app

    app = mcp_app(desk_of(clara), allowed_hosts=["testserver"])
    async with (
        app.run(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://testserver") as http,
    ):
        refused = await http.post("/mcp", json={})
    assert refused.status_code == 401
    assert refused.json()["code"] == "MCP-CFG-I-001"


@on_a_loop
async def test_the_application_itself_looks_at_host_origin_and_size(clara: Any) -> None:
    from engross.surfaces.mcp import mcp_app

    app = mcp_app(desk_of(clara), allowed_hosts=["testserver"], allowed_origins=["http://good"], most_bytes=1000)

    async def admitted(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"caller": AGENT}
        await app(scope, receive, send)

    transport = httpx2.ASGITransport(admitted)
    headers = {"Accept": BOTH, "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": envelope()}}
    async with app.run(), httpx2.AsyncClient(transport=transport, base_url="http://testserver") as http:
        assert (await http.post("/mcp", headers=headers, json=body)).status_code == 200
        assert (await http.post("/mcp", headers={**headers, "Origin": "http://good"}, json=body)).status_code == 200
        assert (await http.post("/mcp", headers={**headers, "Origin": "http://evil"}, json=body)).status_code == 403
        assert (await http.post("/mcp", headers={**headers, "Host": "evil"}, json=body)).status_code == 421
        assert (await http.post("/mcp", headers=headers, content=b"x" * 1001)).status_code == 413
        again = await http.post("/mcp", headers=headers, json=body)
        assert again.json()["result"]["tools"][0]["name"] == "find_flow"


@on_a_loop
async def test_streams_end_when_the_server_is_told_to(clara: Any) -> None:
    from engross.surfaces.mcp.server import make_parts

    server, subscriptions = make_parts(desk_of(clara), lambda: AGENT, "mcp-http")
    async with connected(server, MODERN) as session:
        async with session.listen(resource_subscriptions=["engross://facts"]) as stream:
            subscriptions.close()
            assert [event async for event in stream] == []
        assert key_of(await session.call_tool("listBooks", {})) == "READ_OK"


@on_a_loop
async def test_a_cancelled_write_is_whole_or_not_there(clara: Any) -> None:
    from tests.surfaces.mcp.house import CURATOR, server_at

    async with connected(server_at(clara, CURATOR), LEGACY) as session:

        def wish(number: int) -> dict[str, Any]:
            return {"title": f"Book {number}", "client_request_id": f"cancelled-{number}"}

        calls = [asyncio.ensure_future(session.call_tool("addBook", wish(number))) for number in range(30)]
        for turn, call in enumerate(calls):
            for _ in range(turn % 5):
                await asyncio.sleep(0)
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        for number in range(30):
            assert key_of(await session.call_tool("addBook", wish(number))) == "CREATED"
    titles = [book["title"] for book in clara.shelf.list_books(limit=100).data["books"]]
    assert sorted(titles) == sorted(f"Book {number}" for number in range(30))
    assert clara.office.rebuild(clara.tenant).same
