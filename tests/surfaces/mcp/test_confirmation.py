"""A change of high risk is committed at once only when a person says so: at the client, or by a token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.bed.served import Served
from tests.office.desk import policies
from tests.office.notes import Bench
from tests.surfaces.mcp.house import (
    AGENT,
    CURATOR,
    LEGACY,
    MODERN,
    a_book,
    connected,
    envelope,
    key_of,
    on_a_loop,
    over_http,
    piped,
    server_at,
    stdio_parameters,
    told,
)


class Person:
    """Says yes or no, or nothing, to what a client shows."""

    def __init__(self, action: str, content: dict[str, Any] | None = None) -> None:
        self.action = action
        self.content = content
        self.shown: list[str] = []

    async def __call__(self, context: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        self.shown.append(params.message)
        assert list(params.requested_schema["properties"]) == ["confirm"]
        return types.ElicitResult.model_validate({"action": self.action, "content": self.content})


YES = ("accept", {"confirm": True})
NO: list[tuple[str, dict[str, Any] | None]] = [
    *(("decline", None), ("cancel", None), ("accept", {"confirm": False})),
    *(("accept", {"confirm": "maybe"}), ("accept", {"confirm": "true"}), ("accept", {}), ("accept", None)),
]


def titles(client: Client) -> list[str]:
    return [book["title"] for book in client.shelf.list_books().data["books"]]


@on_a_loop
async def test_a_person_sees_what_would_change_and_confirms_it(clara: Client, era: str) -> None:
    book = a_book(clara)
    person = Person(*YES)
    async with connected(server_at(clara, CURATOR), era, elicitation_callback=person) as session:
        wish = {"id": book, "client_request_id": "remove-dune"}
        removed = told(await session.call_tool("removeBook", wish))
        assert (removed["reply"]["message_key"], removed["status"]) == ("DELETED", "committed")
        assert titles(clara) == []
        again = told(await session.call_tool("removeBook", wish))
        assert again["idempotent_replay"] is True
    assert len(person.shown) == 1
    assert book in person.shown[0]


@pytest.mark.parametrize(("action", "content"), NO)
@on_a_loop
async def test_a_person_who_does_not_confirm_denies_it(
    clara: Client, era: str, action: str, content: dict[str, Any] | None
) -> None:
    book = a_book(clara)
    async with connected(server_at(clara, CURATOR), era, elicitation_callback=Person(action, content)) as session:
        denied = told(await session.call_tool("removeBook", {"id": book}))
    assert (denied["reply"]["reply_type"], denied["reply"]["message_key"]) == ("D", "CONFIRMATION_DECLINED")
    assert "confirm_token" not in str(denied)
    assert titles(clara) == ["Dune"]


@on_a_loop
async def test_a_client_that_cannot_ask_gets_the_token(clara: Client, era: str) -> None:
    book = a_book(clara)
    async with connected(server_at(clara, CURATOR), era) as session:
        denied = told(await session.call_tool("removeBook", {"id": book}))
        assert denied["reply"]["message_key"] == "CONFIRMATION_REQUIRED"
        token = denied["error"]["details"]["confirm_token"]
        assert key_of(await session.call_tool("removeBook", {"id": book, "confirm_token": token})) == "DELETED"


@on_a_loop
async def test_whoever_brings_a_token_is_not_asked(clara: Client, era: str) -> None:
    book = a_book(clara)
    person = Person(*YES)
    async with connected(server_at(clara, CURATOR), era, elicitation_callback=person) as session:
        write = {"operation": "removeBook", "payload": {"id": book}}
        token = told(await session.call_tool("validateWrite", write))["confirm_token"]
        assert key_of(await session.call_tool("removeBook", {"id": book, "confirm_token": token})) == "DELETED"
    assert person.shown == []


@on_a_loop
async def test_a_proposal_needs_no_confirmation(clara: Client, era: str) -> None:
    book = a_book(clara)
    person = Person(*YES)
    async with connected(server_at(clara, AGENT), era, elicitation_callback=person) as session:
        assert told(await session.call_tool("removeBook", {"id": book}))["status"] == "proposed"
    assert person.shown == []


@on_a_loop
async def test_a_flow_that_is_run_by_name_is_confirmed_as_well(clara: Client, era: str) -> None:
    book = a_book(clara)
    wish = {"flow": "shelf.remove-book", "arguments": {"id": book}}
    async with connected(server_at(clara, CURATOR), era, elicitation_callback=Person(*YES)) as session:
        dry = told(await session.call_tool("run_flow", {**wish, "dry_run": True}))
        assert dry["would"]["confirmation_required"] is True
        assert titles(clara) == ["Dune"]
        assert key_of(await session.call_tool("run_flow", wish)) == "DELETED"


@on_a_loop
async def test_a_token_confirms_once_over_the_protocol(house: Offices, tmp_path: Path, era: str) -> None:
    clara = house.open(Bench().notes, policies=policies(tmp_path / "policies", "confirm_tier = 2"))
    async with connected(server_at(clara, CURATOR), era) as session:
        asked = told(await session.call_tool("addNote", {"text": "hello"}))
        wish = {"text": "hello", "confirm_token": asked["confirm_token"]}
        assert key_of(await session.call_tool("addNote", wish)) == "CREATED"
        again = told(await session.call_tool("addNote", wish))
    assert again["reply"]["message_key"] == "CONFIRMATION_REQUIRED"
    assert again["confirm_token_used"] is True
    person = Person(*YES)
    async with connected(server_at(clara, CURATOR), era, elicitation_callback=person) as session:
        # Whoever can ask the person does so again.
        assert key_of(await session.call_tool("addNote", wish)) == "CREATED"
    assert len(person.shown) == 1


@on_a_loop
async def test_the_state_of_a_question_that_was_answered_is_good_for_one_change(house: Offices, tmp_path: Path) -> None:
    clara = house.open(Bench().notes, policies=policies(tmp_path / "policies", "confirm_tier = 2"))
    yes: Any = {"confirm_change": types.ElicitResult.model_validate({"action": "accept", "content": {"confirm": True}})}
    person = Person(*YES)
    async with connected(server_at(clara, CURATOR), MODERN, elicitation_callback=person) as client:
        wish: dict[str, Any] = {"name": "addNote", "arguments": {"text": "hello"}, "allow_input_required": True}
        asked = await client.session.call_tool(**wish)
        answered = {**wish, "input_responses": yes, "request_state": asked.request_state}
        assert key_of(await client.session.call_tool(**answered)) == "CREATED"
        again = await client.session.call_tool(**answered)
        # The person is asked anew, not said to have declined.
        assert again.result_type == "input_required"
        fresh = {**wish, "input_responses": yes, "request_state": again.request_state}
        assert key_of(await client.session.call_tool(**fresh)) == "CREATED"


@on_a_loop
async def test_what_is_very_long_is_cut(clara: Client) -> None:
    text = "\n".join(f"Book {number} {'x' * 150}, Somebody" for number in range(100))
    person = Person(*YES)
    async with connected(server_at(clara, CURATOR), MODERN, elicitation_callback=person) as session:
        assert key_of(await session.call_tool("importBooks", {"text": text})) == "CREATED"
    assert 1000 < len(person.shown[0]) < 6000


@on_a_loop
async def test_what_moved_while_a_person_thought_is_not_committed(clara: Client, era: str) -> None:
    book = a_book(clara)

    class Slow(Person):
        async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
            clara.shelf.change_book(id=book, notes="signed")
            return await super().__call__(context, params)

    async with connected(server_at(clara, CURATOR), era, elicitation_callback=Slow(*YES)) as session:
        assert key_of(await session.call_tool("removeBook", {"id": book})) == "PLAN_DRIFT"
    assert titles(clara) == ["Dune"]


@on_a_loop
async def test_a_client_that_breaks_when_it_is_asked_gets_the_token(clara: Client) -> None:
    book = a_book(clara)

    async def breaks(context: Any, params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32603, message="no window")

    async with connected(server_at(clara, CURATOR), LEGACY, elicitation_callback=breaks) as session:
        denied = told(await session.call_tool("removeBook", {"id": book}))
    assert denied["error"]["details"]["confirm_token"]


def test_the_state_of_a_question_is_bound_to_the_call_and_the_caller(house: Offices, tmp_path: Path) -> None:
    clara = house.open()
    book, other = a_book(clara), a_book(clara, "Emma")
    office, meta = tmp_path / "office", {"_meta": envelope(elicitation={})}
    yes = {"inputResponses": {"confirm_change": {"action": "accept", "content": {"confirm": True}}}}

    def wish(identifier: str) -> dict[str, Any]:
        return {"name": "removeBook", "arguments": {"id": identifier}, **meta}

    with piped(office, name="clara", type="human", role="curator") as pipe:
        asked = pipe.ask("tools/call", wish(book))["result"]
        state = {"requestState": asked["requestState"]}
        assert asked["resultType"] == "input_required"
        assert "confirm_token" not in str(asked)
        assert pipe.ask("tools/call", {**wish(other), **yes, **state})["error"]["code"] == -32602
        unsealed = pipe.ask("tools/call", {**wish(book), **yes})["result"]
        assert unsealed["resultType"] == "input_required"
        with piped(office, name="dora", type="human", role="curator") as elsewhere:
            assert elsewhere.ask("tools/call", {**wish(book), **yes, **state})["error"]["code"] == -32602
        with piped(office, name="clara", type="human", role="curator") as restarted:
            # Another process of the same office, and the same person.
            done = restarted.ask("tools/call", {**wish(book), **yes, **state})["result"]
        assert done["structuredContent"]["reply"]["message_key"] == "DELETED"
    assert titles(clara) == ["Emma"]


def test_the_state_of_a_question_is_of_no_use_with_another_token_of_the_same_caller(served: Served) -> None:
    tokens = [served.token("clara", "human", "curator") for _ in range(2)]
    book = served.call("shelf.add-book", {"title": "The Left Hand of Darkness"}).json()["book"]["id"]
    yes = {"inputResponses": {"confirm_change": {"action": "accept", "content": {"confirm": True}}}}
    head = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "removeBook",
    }

    def remove(token: str, **more: Any) -> dict[str, Any]:
        wish = {"name": "removeBook", "arguments": {"id": book}, "_meta": envelope(elicitation={}), **more}
        with served.client(token) as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": wish}
            message: dict[str, Any] = http.post("/mcp", headers=head, json=body).json()
        return message

    asked = remove(tokens[0])["result"]
    assert asked["resultType"] == "input_required"
    state = {"requestState": asked["requestState"]}
    refused = remove(tokens[1], **yes, **state)["error"]
    assert (refused["code"], refused["data"]) == (-32602, {"reason": "invalid_request_state"})
    done = remove(tokens[0], **yes, **state)["result"]
    assert done["structuredContent"]["reply"]["message_key"] == "DELETED"


@on_a_loop
async def test_a_person_is_asked_over_a_pipe_too(house: Offices, era: str) -> None:
    clara = house.open()
    book, person = a_book(clara), Person(*YES)
    server = stdio_parameters(house.folder, name="clara", type="human", role="curator")
    async with connected(server, era, elicitation_callback=person) as session:
        assert key_of(await session.call_tool("removeBook", {"id": book})) == "DELETED"
    assert len(person.shown) == 1
    assert titles(clara) == []


@on_a_loop
async def test_a_person_is_asked_over_http_too(served: Served, era: str) -> None:
    added = served.call("shelf.add-book", {"title": f"Dune {era}"}).json()
    person = Person(*YES)
    async with over_http(served, served.owner, era, elicitation_callback=person) as session:
        assert key_of(await session.call_tool("removeBook", {"id": added["book"]["id"]})) == "DELETED"
    assert len(person.shown) == 1
