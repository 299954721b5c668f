"""Resources: what read flows answer, under addresses. Prompts: the words that start a job. What completes both."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from engross.calls import Caller
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.surfaces.mcp.house import (
    AGENT,
    CURATOR,
    LEGACY,
    MODERN,
    VIEWER,
    a_book,
    connected,
    on_a_loop,
    server_at,
)
from tests.surfaces.mcp.talkative import PICTURE

INVALID_PARAMS, INTERNAL_ERROR, NOT_FOUND = -32602, -32603, -32002


async def text_at(session: Any, uri: str) -> str:
    read = await session.read_resource(uri)
    (only,) = read.contents
    assert isinstance(only, types.TextResourceContents)
    assert only.uri == uri
    return only.text


@on_a_loop
async def test_what_can_be_looked_up_is_listed(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        plain = {one.uri: one for one in (await session.list_resources()).resources}
        templates = {one.uri_template: one for one in (await session.list_resource_templates()).resource_templates}
    assert {"engross://facts", "engross://proposals", "shelf://authors", "talk://note"} <= set(plain)
    assert set(templates) == {
        "engross://facts/{aggregate}/{subject}",
        "engross://proposals/{proposal_id}",
        "engross://receipts/{position}",
        "shelf://books/{id}",
    }
    assert all(one.name and one.description and one.mime_type for one in plain.values())
    assert plain["talk://picture"].mime_type == "image/png"


@on_a_loop
async def test_a_book_is_what_its_flow_answers(clara: Client, era: str) -> None:
    book = a_book(clara)
    async with connected(server_at(clara), era) as session:
        shown = json.loads(await text_at(session, f"shelf://books/{book}"))
        authors = json.loads(await text_at(session, "shelf://authors"))
    assert (shown["success"], shown["book"]["title"]) == (True, "Dune")
    assert shown["reply"]["reply_type"] == "S"
    assert authors["authors"] == []


@on_a_loop
async def test_facts_proposals_and_receipts_are_looked_up(clara: Client, era: str) -> None:
    agent = clara.as_("scout", "agent", ["agent"])
    book = a_book(clara)
    position = clara.record.read_facts().data["next"]
    proposal = agent.shelf.change_book(id=book, notes="signed").data["proposal"]["id"]
    async with connected(server_at(clara), era) as session:
        history = json.loads(await text_at(session, f"engross://facts/shelf/{book}"))
        waiting = json.loads(await text_at(session, "engross://proposals"))
        shown = json.loads(await text_at(session, f"engross://proposals/{proposal}"))
        receipt = json.loads(await text_at(session, f"engross://receipts/{position}"))
        latest = json.loads(await text_at(session, "engross://facts"))
    assert [fact["subject"] for fact in history["facts"]] == [book]
    assert [one["id"] for one in waiting["proposals"]] == [proposal]
    assert shown["proposal"]["status"] == "proposed"
    assert receipt["receipt"]["principal"]["id"] == "clara"
    assert latest["facts"][-1]["subject"] == proposal


@on_a_loop
async def test_a_field_of_the_answer_can_be_the_content(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        assert await text_at(session, "talk://note") == "A note."
        (picture,) = (await session.read_resource("talk://picture")).contents
        assert isinstance(picture, types.BlobResourceContents)
        assert (picture.blob, picture.mime_type) == (PICTURE, "image/png")
        with pytest.raises(MCPError) as refused:
            await session.read_resource("talk://nothing")
    assert refused.value.data["reply"]["message_key"] == "NOT_SERIALIZABLE"


@pytest.mark.parametrize("uri", ["shelf://books/book_nowhere", "engross://receipts/4611", "engross://facts/shelf/x"])
@on_a_loop
async def test_what_is_not_there_is_not_found_and_says_why(clara: Client, era: str, uri: str) -> None:
    async with connected(server_at(clara), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.read_resource(uri)
    assert refused.value.code == (INVALID_PARAMS if era == MODERN else NOT_FOUND)
    assert refused.value.data["uri"] == uri
    assert refused.value.data["reply"]["message_key"] == "RECORD_NOT_FOUND"


@pytest.mark.parametrize("uri", ["shelf://", "nowhere://x", "not an address", "shelf://books/a/b", "x" * 5000])
@on_a_loop
async def test_an_address_that_nobody_has_is_not_found(clara: Client, era: str, uri: str) -> None:
    async with connected(server_at(clara), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.read_resource(uri)
    assert refused.value.code == (INVALID_PARAMS if era == MODERN else NOT_FOUND)


@on_a_loop
async def test_a_bad_value_in_an_address_is_told_like_one_in_a_call(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.read_resource("engross://receipts/soon")
    assert refused.value.code == INVALID_PARAMS
    assert refused.value.data["reply"]["message_key"] == "VALIDATION_ERROR"
    assert refused.value.data["errors"][0]["pointer"] == "/position"


@on_a_loop
async def test_a_read_that_breaks_tells_nothing_of_it(clara: Client, era: str) -> None:
    async with connected(server_at(clara, toolsets=["legacy"]), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.read_resource("talk://broken/a%20secret")
    assert refused.value.code == INTERNAL_ERROR
    assert refused.value.data["reply"]["message_key"] == "SYS_CRASH"
    assert refused.value.data["reply"]["trace_id"]
    assert "secret" not in str(refused.value.data["reply"])


@on_a_loop
async def test_what_is_hidden_cannot_be_looked_up(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        templates = (await session.list_resource_templates()).resource_templates
        assert "talk://broken/{words}" not in {one.uri_template for one in templates}
        with pytest.raises(MCPError) as refused:
            await session.read_resource("talk://broken/x")
    assert refused.value.data == {"uri": "talk://broken/x"}


@on_a_loop
async def test_another_tenants_record_is_not_found(clara: Client, era: str) -> None:
    there = clara.as_("dora", "human", ["curator"], tenant="elsewhere")
    book = a_book(there)
    async with connected(server_at(clara, CURATOR), era) as session:
        for uri in (f"shelf://books/{book}", f"engross://facts/shelf/{book}"):
            with pytest.raises(MCPError) as refused:
                await session.read_resource(uri)
            assert refused.value.data["reply"]["message_key"] == "RECORD_NOT_FOUND"
        assert json.loads(await text_at(session, "engross://facts"))["facts"] == []


@on_a_loop
async def test_there_is_a_prompt_for_each_main_job(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        prompts = {one.name: one for one in (await session.list_prompts()).prompts}
        assert {"propose-change", "review-what-waits", "find-out-why", "catalogue-books"} <= set(prompts)
        assert all(one.description and one.title for one in prompts.values() if "-" in one.name)
        got = await session.get_prompt("catalogue-books", {"books": "Dune and Emma"})
    (message,) = got.messages
    assert message.role == "user"
    assert isinstance(message.content, types.TextContent)
    assert "Dune and Emma" in message.content.text


@on_a_loop
async def test_a_prompt_names_only_calls_that_are_there(clara: Client) -> None:
    async with connected(server_at(clara), MODERN) as session:
        for prompt in (await session.list_prompts()).prompts:
            if prompt.name in ("greet", "mumble", "paint"):
                continue
            given = {argument.name: "x" for argument in prompt.arguments or []}
            text = str((await session.get_prompt(prompt.name, given)).messages[0].content)
            for word in ("listBooks", "importBooks", "validateWrite", "readHistory", "getReceipt"):
                if word in text:
                    assert clara.office.catalogue.tool(word) is not None


@on_a_loop
async def test_a_prompt_can_hold_any_content(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        got = await session.get_prompt("paint", {"colour": "red"})
        assert [message.content.type for message in got.messages] == ["image"]
        with pytest.raises(MCPError) as refused:
            await session.get_prompt("mumble")
    assert refused.value.data["reply"]["message_key"] == "NOT_SERIALIZABLE"


@on_a_loop
async def test_a_prompt_whose_flows_a_caller_may_not_use_is_not_offered(clara: Client, era: str) -> None:
    async with connected(server_at(clara, VIEWER), era) as session:
        names = {one.name for one in (await session.list_prompts()).prompts}
        assert "catalogue-books" not in names
        assert "find-out-why" in names
        with pytest.raises(MCPError) as refused:
            await session.get_prompt("catalogue-books", {"books": "Dune"})
    assert refused.value.code == INVALID_PARAMS


@pytest.mark.requirement("ECO-05")
@pytest.mark.parametrize(
    ("caller", "read_only", "offered"),
    [
        (AGENT, False, True),
        (CURATOR, False, True),
        (VIEWER, False, False),
        (AGENT, True, False),
        (CURATOR, True, False),
    ],
    ids=["agent", "curator", "viewer", "agent-read-only", "curator-read-only"],
)
@on_a_loop
async def test_proposing_a_change_is_offered_to_whoever_can_write_something(
    house: Offices, era: str, caller: Caller, read_only: bool, offered: bool
) -> None:
    clara = house.open(read_only=read_only)
    async with connected(server_at(clara, caller), era) as session:
        names = {one.name for one in (await session.list_prompts()).prompts}
        assert ("propose-change" in names) is offered
        assert {"review-what-waits", "find-out-why"} <= names
        if offered:
            assert (await session.get_prompt("propose-change", {"change": "x"})).messages
        else:
            with pytest.raises(MCPError) as refused:
                await session.get_prompt("propose-change", {"change": "x"})
            assert refused.value.code == INVALID_PARAMS


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("catalogue-book", {"books": "x"}),
        ("catalogue-books", {}),
        ("catalogue-books", {"books": ""}),
        ("catalogue-books", {"books": "x", "boks": "y"}),
        ("greet", {"name": "x"}),
    ],
)
@on_a_loop
async def test_a_prompt_that_does_not_fit_is_an_error_of_the_protocol(
    clara: Client, era: str, name: str, arguments: dict[str, str]
) -> None:
    async with connected(server_at(clara, AGENT), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.get_prompt(name, arguments)
    assert refused.value.code == INVALID_PARAMS


@on_a_loop
async def test_values_are_completed_where_they_are_known(clara: Client, era: str) -> None:
    scout = clara.as_("scout", "agent", ["agent"])
    closed = scout.shelf.add_book(title="Emma").data["proposal"]["id"]
    assert scout.proposals.withdraw_proposal(proposal_id=closed).ok
    proposal = scout.shelf.add_book(title="Dune").data["proposal"]["id"]

    async def completed(session: Any, ref: Any, name: str, start: str) -> list[str]:
        values: list[str] = (await session.complete(ref, {"name": name, "value": start})).completion.values
        return values

    history = types.ResourceTemplateReference(uri="engross://facts/{aggregate}/{subject}")
    one = types.ResourceTemplateReference(uri="engross://proposals/{proposal_id}")
    nowhere = types.ResourceTemplateReference(uri="nowhere://{x}")
    paint = types.PromptReference(name="paint")
    async with connected(server_at(clara), era) as session:
        assert await completed(session, history, "aggregate", "SH") == ["shelf"]
        assert await completed(session, history, "subject", "b") == []
        assert await completed(session, one, "proposal_id", "prop") == [proposal]
        assert await completed(session, nowhere, "x", "") == []
        assert await completed(session, paint, "colour", "r") == ["red", "rose"]
        assert await completed(session, paint, "size", "r") == []
        why = types.PromptReference(name="find-out-why")
        assert await completed(session, why, "aggregate", "SH") == ["shelf"]
        assert await completed(session, why, "subject", "b") == []
        with pytest.raises(MCPError):
            await completed(session, types.PromptReference(name="nothing"), "x", "")


@on_a_loop
async def test_what_an_era_offers_is_declared(clara: Client) -> None:
    async with connected(server_at(clara), LEGACY) as session:
        offered = session.server_capabilities
        assert offered.resources is not None
        assert offered.resources.subscribe is True
        assert None not in (offered.tools, offered.prompts, offered.completions, offered.logging)
