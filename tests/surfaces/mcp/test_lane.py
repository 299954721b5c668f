"""The short way gives the answers that the SDK gives: the same requests are sent both ways and compared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.surfaces.desk import Desk
from engross.surfaces.mcp.streamable import McpApp, mcp_app
from tests.bed.offices import Offices, shelf
from tests.bed.sameness import masked
from tests.surfaces.mcp.house import CURATOR, MODERN, envelope
from tests.surfaces.mcp.talkative import talkative

HOST = "office.test"
Headers = list[tuple[bytes, bytes]]


class Answered(NamedTuple):
    """What came back, and whether the SDK had a hand in it."""

    status: int
    media_type: bytes | None
    body: Any
    by_sdk: bool


class TwoWays:
    """One office that takes the short way where it can, and one that never does."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self._offices = [Offices(folder / name, None) for name in ("short", "long")]
        short, long = [offices.open(shelf(), talkative()) for offices in self._offices]
        self.apps = [mcp_app(Desk(short.office)), mcp_app(Desk(long.office), allowed_hosts=[HOST])]
        self._end = asyncio.Event()
        begun = asyncio.Event()
        self._life = self.loop.create_task(self._live(begun))
        self.loop.run_until_complete(begun.wait())

    def ask(self, headers: Headers, body: bytes) -> tuple[Answered, Answered]:
        """The same request, both ways."""
        short, long = (self.loop.run_until_complete(answer_of(app, headers, body)) for app in self.apps)
        return short, long

    async def _live(self, begun: asyncio.Event) -> None:
        async with self.apps[0].run(), self.apps[1].run():
            begun.set()
            await self._end.wait()

    def close(self) -> None:
        """End."""
        self._end.set()
        self.loop.run_until_complete(self._life)
        self.loop.close()
        for offices in self._offices:
            offices.close()


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoWays]:
    """Both ways."""
    made = TwoWays(tmp_path_factory.mktemp("ways"))
    yield made
    made.close()


async def answer_of(app: McpApp, headers: Headers, body: bytes) -> Answered:
    """What an application answers, by itself or with the SDK's help."""
    sent: list[dict[str, Any]] = []
    reached: list[bool] = []
    received = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return received.pop() if received else await asyncio.Event().wait() and {}

    async def send(message: Any) -> None:
        sent.append(message)

    for manager in (app._brief, app._streaming):
        _noting(manager, reached)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "headers": headers,
        "state": {"caller": CURATOR},
        "http_version": "1.1",
        "scheme": "http",
    }
    await app(scope, receive, send)
    told = dict(sent[0].get("headers", ()))
    content = b"".join(part.get("body", b"") for part in sent[1:])
    return Answered(sent[0]["status"], told.get(b"content-type"), _read(content), bool(reached))


def _noting(manager: Any, reached: list[bool]) -> None:
    handle = type(manager).handle_request

    async def noting(*args: Any) -> None:
        reached.append(True)
        await handle(manager, *args)

    manager.handle_request = noting


def _read(content: bytes) -> Any:
    text = content.decode()
    if "data: " in text:
        text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
    return _comparable(json.loads(text)) if text.startswith(("{", "[")) else text


def _comparable(value: Any) -> Any:
    """The same text, whichever library wrote the JSON inside it."""
    if isinstance(value, dict):
        inner = {name: "<>" if name == "requestState" else _comparable(part) for name, part in value.items()}
        text = inner.get("text")
        if isinstance(text, str) and text.startswith("{"):
            inner["said"] = masked(json.loads(inner.pop("text")))
        return masked(inner)
    return [_comparable(part) for part in value] if isinstance(value, list) else value


def head(name: str = "getBook", **more: str) -> dict[str, str]:
    """The headers of a plain request."""
    return {
        "host": HOST,
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": name,
        **more,
    }


def message(
    name: str = "getBook", arguments: Any = None, meta: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """The body of a plain request, by a client with these capabilities."""
    told = {"id": "book_1"} if arguments is None else arguments
    params = {"name": name, "arguments": told, "_meta": envelope(**(meta or {}))}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params, **more}


def packed(headers: dict[str, str]) -> Headers:
    """Headers as a server hands them on."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def with_meta(**more: Any) -> dict[str, Any]:
    """A body whose envelope says more."""
    made = message()
    made["params"]["_meta"] = {**envelope(), **more}
    return made


def without_meta(name: str) -> dict[str, Any]:
    """A body whose envelope says less."""
    made = message()
    made["params"]["_meta"] = {key: value for key, value in envelope().items() if not key.endswith(name)}
    return made


def changed(path: str, value: Any) -> dict[str, Any]:
    """A body with another value at a place."""
    made: Any = message()
    *way, last = path.split(".")
    place = made
    for step in way:
        place = place[step]
    place[last] = value
    return made


PLAIN: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "a read of nothing": (head(), message()),
    "a write": (head("addBook"), message("addBook", {"title": "Dune"})),
    "the same title again": (head("addBook"), message("addBook", {"title": "dune"})),
    "an unknown field": (head("addBook"), message("addBook", {"titel": "Dune"})),
    "nothing that it needs": (head("addBook"), message("addBook", {})),
    "identity among the arguments": (head("addBook"), message("addBook", {"title": "x", "tenant_id": "other"})),
    "a text as id": (head(), message(id="seven")),
    "text of many scripts": (head("addBook"), message("addBook", {"title": "Война и мир 👩‍🚀 \u2028"})),
    "trace and correlation in the envelope": (
        head(),
        with_meta(traceparent=f"00-{'a' * 32}-{'b' * 16}-01", correlationId="c"),
    ),
    "trace in the headers": (head(traceparent=f"00-{'a' * 32}-{'b' * 16}-01"), message()),
    "a list": (head("listBooks"), message("listBooks", {})),
    "a client without a name": (head(), without_meta("clientInfo")),
}
NOT_PLAIN: dict[str, tuple[dict[str, str], Any]] = {
    "an unknown tool": (head("nowhere"), message("nowhere")),
    "a ref as a name": (head("shelf.get-book"), message("shelf.get-book")),
    "one of the guides": (head("find_flow"), message("find_flow", {"words": "book"})),
    "a flow that talks": (head("speak"), message("speak", {})),
    "no arguments": (head(), {**message(), "params": {"name": "getBook", "_meta": envelope()}}),
    "null for arguments": (head(), changed("params.arguments", None)),
    "a list for arguments": (head(), changed("params.arguments", [])),
    "more in the parameters": (head(), changed("params.more", 1)),
    "more in the message": (head(), message(more=1)),
    "another name in the header": (head("addBook"), message()),
    "another method in the header": (head(**{"mcp-method": "tools/list"}), message()),
    "another version in the envelope": (head(), with_meta(**{"io.modelcontextprotocol/protocolVersion": "2025-11-25"})),
    "a version nobody knows": (head(**{"mcp-protocol-version": "2030-01-01"}), message()),
    "no version in the envelope": (head(), without_meta("protocolVersion")),
    "no capabilities": (head(), without_meta("clientCapabilities")),
    "capabilities that are none": (head(), with_meta(**{"io.modelcontextprotocol/clientCapabilities": []})),
    "a client that is none": (head(), with_meta(**{"io.modelcontextprotocol/clientInfo": {"name": 1}})),
    "more in the envelope": (head(), with_meta(more=1)),
    "a trace that is no text": (head(), with_meta(traceparent=1)),
    "a progress token": (head(), with_meta(progressToken="p")),
    "no envelope": (head(), changed("params._meta", None)),
    "an envelope of some size": (
        head(),
        with_meta(**{"io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1" * 5000}}),
    ),
    "a call that may have to be confirmed, by a client that can": (
        head("removeBook"),
        message("removeBook", {"id": "x"}, meta={"elicitation": {"form": {}}}),
    ),
    "a flow that looks whether it can ask, for a client that can be asked": (
        head("introduce"),
        message("introduce", {}, meta={"elicitation": {"form": {}}}),
    ),
    "a number with a point as id": (head(), message(id=1.5)),
    "true as id": (head(), message(id=True)),
    "null as id": (head(), message(id=None)),
    "no id": (head(), {key: value for key, value in message().items() if key != "id"}),
    "another JSON-RPC": (head(), message(jsonrpc="1.0")),
    "several at once": (head(), [message()]),
    "a number beyond 64 bits": (head(), message("getBook", {"id": 10**30})),
    "text in another type": (head(**{"content-type": "text/plain"}), message()),
    "a charset": (head(**{"content-type": "application/json; charset=utf-8"}), message()),
    "JSON only": (head(accept="application/json"), message()),
    "anything": (head(accept="*/*"), message()),
    "nothing that we have": (head(accept="text/html"), message()),
    "a parameter in the headers": (head(**{"mcp-param-id": "x"}), message()),
    "a name in base64": (head("=?base64?Z2V0Qm9vaw==?="), message()),
}


@pytest.mark.parametrize("what", PLAIN)
def test_a_plain_call_is_answered_without_the_sdk_and_as_the_sdk_would(ways: TwoWays, what: str) -> None:
    headers, body = PLAIN[what]
    short, long = ways.ask(packed(headers), json.dumps(body).encode())
    assert (short.by_sdk, long.by_sdk) == (False, True)
    assert short._replace(by_sdk=True) == long
    assert short.status == 200


@pytest.mark.parametrize("what", NOT_PLAIN)
def test_whatever_is_not_plain_is_left_to_the_sdk(ways: TwoWays, what: str) -> None:
    headers, body = NOT_PLAIN[what]
    short, long = ways.ask(packed(headers), json.dumps(body).encode())
    assert short.by_sdk
    assert short == long


@pytest.mark.parametrize("name", ["mcp-method", "mcp-name", "mcp-protocol-version", "accept", "x-other"])
def test_a_header_that_comes_twice_is_left_to_the_sdk(ways: TwoWays, name: str) -> None:
    headers = packed(head(**{"x-other": "1"}))
    twice = [*headers, *[pair for pair in headers if pair[0] == name.encode()]]
    short, long = ways.ask(twice, json.dumps(message()).encode())
    assert short.by_sdk
    assert short == long


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"{",
        b"\xef\xbb\xbf{}",
        b"NaN",
        json.dumps(message()).encode().replace(b"book_1", b"\xff\xfe"),
        json.dumps(message()).encode().replace(b"book_1", rb"\ud800"),
        json.dumps(message()).encode().replace(b'"book_1"', b"NaN"),
        json.dumps(message()).encode().replace(b'"book_1"', b"1e999"),
        json.dumps(message()).encode().replace(b'"book_1"', b"[" * 5000 + b"]" * 5000),
        json.dumps(message()).encode() + b"x",
    ],
    ids=lambda written: repr(written[:12]),
)
def test_what_two_libraries_might_read_differently_is_left_to_the_sdk(ways: TwoWays, written: bytes) -> None:
    short, long = ways.ask(packed(head()), written)
    assert short.by_sdk
    assert short == long


def test_a_confirmation_is_asked_for_where_the_client_can_ask(ways: TwoWays) -> None:
    asking = {**envelope(), "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    made = message("addBook", {"title": "To be removed"})
    answers = ways.ask(packed(head("addBook")), json.dumps(made).encode())
    books = [answer.body["result"]["structuredContent"]["book"] for answer in answers]
    assert all(book["version"] == 1 for book in books)
    for meta, kind in ((asking, "input_required"), (envelope(), "complete")):
        told = []
        for app, book in zip(ways.apps, _ids(ways), strict=True):
            body = message("removeBook", {"id": book})
            body["params"]["_meta"] = meta
            told.append(
                ways.loop.run_until_complete(answer_of(app, packed(head("removeBook")), json.dumps(body).encode()))
            )
        assert [answer.body["result"]["resultType"] for answer in told] == [kind, kind]


def _ids(ways: TwoWays) -> list[str]:
    """The first book of each office, as it is called there."""
    found = []
    for app in ways.apps:
        raw: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": json.dumps(message("listBooks", {})).encode(), "more_body": False}

        async def send(part: Any, raw: list[Any] = raw) -> None:
            raw.append(part.get("body", b""))

        scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b""}
        state = {"headers": packed(head("listBooks")), "state": {"caller": CURATOR}, "http_version": "1.1"}
        ways.loop.run_until_complete(app({**scope, **state, "scheme": "http"}, receive, send))
        books = json.loads(b"".join(raw))["result"]["structuredContent"]["books"]
        found.append(next(book["id"] for book in books if book["title"] == "To be removed"))
    return found


def test_nothing_is_kept_of_what_callers_make_up(ways: TwoWays) -> None:
    lane = ways.apps[0]._lane
    assert lane is not None
    before = (len(lane._flows), len(lane._envelopes))
    for number in range(5):
        ways.ask(packed(head(f"made-up-{number}")), json.dumps(message(f"made-up-{number}")).encode())
        large = with_meta(**{"io.modelcontextprotocol/clientInfo": {"name": f"{number}", "version": "1" * 5000}})
        ways.ask(packed(head()), json.dumps(large).encode())
    assert (len(lane._flows), len(lane._envelopes)) == before


LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20)
INNER = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=8), LEAVES, max_size=3)
JSON = INNER | st.lists(INNER, max_size=3) | st.dictionaries(st.text(max_size=8), INNER, max_size=3)
PLACES = (
    *("id", "jsonrpc", "method", "params", "params.name", "params.arguments", "params._meta"),
    *("params.arguments.id", "params.arguments.more", "params._meta.traceparent", "params._meta.tracestate"),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), value=JSON)
def test_a_request_with_anything_anywhere_is_answered_alike_both_ways(ways: TwoWays, place: str, value: Any) -> None:
    body = json.dumps(changed(place, value), ensure_ascii=True).encode()
    short, long = ways.ask(packed(head()), body)
    assert short._replace(by_sdk=True) == long
