"""Sessions of the handshake era: whose they are, how many there may be, and when they end."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from engross.calls import Caller, Principal
from engross.office import Office, Request, Settings
from engross.replies import codes
from engross.surfaces.client import Client
from engross.surfaces.mcp import mcp_app
from tests.bed.offices import TestClock, shelf
from tests.bed.rig import rig
from tests.bed.served import Served, wait_for
from tests.surfaces.conftest import Serving
from tests.surfaces.door.issuing import AUDIENCE, TestIssuer
from tests.surfaces.mcp.house import AGENT, LEGACY, desk_of, hello, on_a_loop

OLDER = "2025-03-26"
HEAD = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
NUMBERS = count(1)


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}


def shake(http: httpx2.Client, version: str = LEGACY) -> httpx2.Response:
    """Ask for a session."""
    return http.post("/mcp", headers=HEAD, json=message("initialize", **{**hello(), "protocolVersion": version}))


def opened(http: httpx2.Client, version: str = LEGACY) -> dict[str, str]:
    """A new session: the headers that requests in it have."""
    answer = shake(http, version)
    assert answer.status_code == 200, answer.text
    head = {**HEAD, "Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": version}
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert http.post("/mcp", headers=head, json=notice).status_code == 202
    return head


def ping(http: httpx2.Client, head: dict[str, str]) -> int:
    """What a request in a session is answered with."""
    return http.post("/mcp", headers=head, json=message("ping")).status_code


@contextmanager
def listening(http: httpx2.Client, head: dict[str, str]) -> Iterator[Iterator[str]]:
    """The stream of a session, which is open."""
    with http.stream("GET", "/mcp", headers=head) as stream:
        assert (stream.status_code, stream.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
        yield (line for line in stream.iter_lines() if line.startswith("data:"))


def revoke(served: Served, number: str) -> None:
    """Revoke a token in the process that serves."""
    revoked = served.call("door.revoke-token", {"token_id": number})
    assert revoked.status_code == 200, revoked.text


def revoke_elsewhere(served: Served, number: str) -> None:
    """Revoke a token in another process."""
    office = Office(Settings(data=served.folder, store=served.store), [shelf(), rig])
    try:
        owner = Principal("owner", "human", frozenset({"admin", "curator"}))
        assert office.call(Request("door.revoke-token", {"token_id": number}, "main", owner)).ok
    finally:
        office.close()


@asynccontextmanager
async def in_a_session(client: Client) -> AsyncIterator[tuple[httpx2.AsyncClient, dict[str, str], list[Caller]]]:
    """A client with a session, its headers, and who it is taken for: the one in the list, at every request anew."""
    app, admitted = mcp_app(desk_of(client)), [AGENT]

    async def admitting(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"caller": admitted[0]}
        await app(scope, receive, send)

    transport = httpx2.ASGITransport(admitting)
    async with app.run(), httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        answer = await http.post("/mcp", headers=HEAD, json=message("initialize", **hello()))
        yield (
            http,
            {**HEAD, "Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": LEGACY},
            admitted,
        )


@pytest.mark.requirement("GOV-04")
@pytest.mark.parametrize("version", [LEGACY, OLDER])
@pytest.mark.parametrize("revoking", [revoke, revoke_elsewhere])
def test_a_stream_ends_when_its_token_is_revoked_in_whatever_process(
    served: Served, version: str, revoking: Callable[[Served, str], None]
) -> None:
    number, token = served.token_with_id("carla", "agent", "agent")
    with served.client(token) as carla, served.client(served.agent) as other:
        mine, theirs = opened(carla, version), opened(other, version)
        with listening(carla, mine) as ending, listening(other, theirs) as staying:
            revoking(served, number)
            assert list(ending) == []
            assert ping(carla, mine) == 401
            subscription = message("resources/subscribe", uri="shelf://authors")
            assert other.post("/mcp", headers=theirs, json=subscription).status_code == 200
            assert served.call("shelf.add-book", {"title": f"Book {next(NUMBERS)}"}).status_code == 201
            assert "notifications/resources/updated" in next(staying)


def test_a_stream_that_broke_off_begins_anew(served: Served) -> None:
    with served.client(served.agent) as http:
        head = opened(http)
        with listening(http, {**head, "Last-Event-ID": "7"}) as stream:
            subscription = message("resources/subscribe", uri="shelf://authors")
            assert http.post("/mcp", headers=head, json=subscription).status_code == 200
            assert served.call("shelf.add-book", {"title": f"Book {next(NUMBERS)}"}).status_code == 201
            assert "notifications/resources/updated" in next(stream)


@on_a_loop
async def test_a_stream_and_its_session_end_with_the_time_of_the_credential(clara: Client) -> None:
    async with in_a_session(clara) as (http, head, admitted):
        assert (await http.post("/mcp", headers=head, json=message("ping"))).status_code == 200
        until = time.time() + 0.3
        admitted[0] = replace(AGENT, until=until)
        stream = await http.get("/mcp", headers=head)
        assert (stream.status_code, stream.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
        assert time.time() >= until
        admitted[0] = AGENT
        while (await http.post("/mcp", headers=head, json=message("ping"))).status_code != 404:
            pass


@on_a_loop
async def test_a_credential_that_is_no_longer_good_does_not_begin_to_listen(clara: Client) -> None:
    async with in_a_session(clara) as (http, head, admitted):
        admitted[0] = replace(AGENT, until=1.0)
        refused = await http.get("/mcp", headers=head)
    assert (refused.status_code, refused.json()["code"]) == (401, codes.AUTH_INVALID)


def test_a_call_that_runs_when_its_token_is_revoked_is_still_answered(served: Served, tmp_path: Path) -> None:
    number, token = served.token_with_id("dora", "agent", "agent")
    begun, until = tmp_path / "begun", tmp_path / "until"
    wish = message("tools/call", name="hold", arguments={"begun": str(begun), "until": str(until)})
    with served.client(token) as dora, ThreadPoolExecutor(1) as elsewhere:
        head = opened(dora)
        with listening(dora, head) as stream:
            call = elsewhere.submit(dora.post, "/mcp", headers=head, json=wish)
            wait_for(begun.exists)
            revoke(served, number)
            assert list(stream) == []
            until.touch()
            assert '"held":true' in call.result().text


def test_a_session_of_somebody_elses_is_no_other_than_one_that_is_not_there(served: Served) -> None:
    owner = next(one for one in served.call("door.list-tokens").json()["tokens"] if "owner" in (one["note"] or ""))
    others = [
        served.agent,
        served.token(owner["principal"], "human", "admin", "curator"),
        served.token(owner["principal"], "human", "admin", "curator", tenant="elsewhere"),
    ]
    with served.client(served.owner) as http:
        head = opened(http)
        nowhere = {**head, "Mcp-Session-Id": "0" * len(head["Mcp-Session-Id"])}
        for token in others:
            with served.client(token) as other:
                assert attempts(other, head) == attempts(other, nowhere)
        assert ping(http, head) == 200


def attempts(http: httpx2.Client, head: dict[str, str]) -> list[Any]:
    """All that may be tried with a session, as it is answered."""
    bodies = [
        message("ping"),
        message("initialize", **hello()),
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
    ]
    answers = [
        *(http.post("/mcp", headers=head, json=body) for body in bodies),
        *(http.request(method, "/mcp", headers=head) for method in ("GET", "DELETE", "PUT")),
    ]
    assert {answer.status_code for answer in answers} == {404}
    return [(answer.status_code, answer.content, _told(answer.headers)) for answer in answers]


def _told(headers: httpx2.Headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name != "date"}


def test_a_session_is_not_for_another_jwt_of_the_same_person(serving: Serving) -> None:
    issuer = TestIssuer(TestClock())
    served = serving(issuer=issuer.url, audience=AUDIENCE)
    until = int(time.time()) + 600
    admin, viewer = (issuer.token(exp=until, roles=[role]) for role in ("admin", "viewer"))
    try:
        with served.client(admin) as http, served.client(viewer) as other:
            head = opened(http)
            assert ping(other, head) == 404
            assert ping(http, head) == 200
    finally:
        issuer.go_away()


def test_one_caller_has_so_many_sessions_and_no_more(serving: Serving) -> None:
    served = serving(most_sessions_each=2)
    second = served.token("owner", "human", "curator")
    first = served.token("owner", "human", "curator")
    with served.client(first) as http, served.client(second) as again, served.client(served.agent) as other:
        heads = [opened(http), opened(again)]
        for client in (http, again):
            refused(shake(client), 2)
        assert [ping(http, heads[0]), ping(again, heads[1])] == [200, 200]
        opened(other)
        assert http.delete("/mcp", headers=heads[0]).status_code == 200
        heads[0] = opened(http)
        refused(shake(http), 2)


def refused(answer: httpx2.Response, limit: int) -> None:
    """There was no place for another session, and the answer says so."""
    told = answer.json()
    assert (answer.status_code, told["code"], told["most_sessions"]) == (503, codes.OFFICE_BUSY, limit)
    assert int(answer.headers["retry-after"]) == told["retry_after_seconds"] > 0
    assert told["hint"]


def test_all_callers_together_have_so_many_sessions_and_no_more(serving: Serving) -> None:
    served = serving(most_sessions=2)
    with served.client(served.owner) as http, served.client(served.agent) as other:
        head = opened(http)
        opened(other)
        refused(shake(http), 2)
        refused(shake(other), 2)
        assert http.delete("/mcp", headers=head).status_code == 200
        opened(other)


def test_what_opens_no_session_takes_no_place(serving: Serving) -> None:
    served = serving(most_sessions_each=1)
    with served.client(served.owner) as http:
        for _ in range(3):
            assert http.post("/mcp", headers=HEAD, json=message("ping")).status_code == 400
            assert http.get("/mcp", headers=HEAD).status_code == 400
            assert http.post("/mcp", headers={**HEAD, "Accept": "text/html"}, json=message("ping")).status_code == 406
        opened(http)


def test_a_session_that_nobody_uses_ends_and_one_with_a_stream_does_not(serving: Serving) -> None:
    served = serving(most_sessions_each=2, session_seconds=0.5)
    with served.client(served.owner) as http:
        used = opened(http)
        with listening(http, used):
            idle = opened(http)
            wait_for(lambda: shake(http).status_code == 200)
            assert ping(http, idle) == 404
            assert ping(http, used) == 200


def test_a_session_whose_token_is_revoked_gives_its_place_free(serving: Serving) -> None:
    served = serving(most_sessions_each=1)
    number, token = served.token_with_id("carla", "agent", "agent")
    renewed = served.token("carla", "agent", "agent")
    with served.client(token) as http, served.client(renewed) as again:
        with listening(http, opened(http)) as stream:
            refused(shake(again), 1)
            revoke(served, number)
            assert list(stream) == []
        wait_for(lambda: shake(again).status_code == 200)
