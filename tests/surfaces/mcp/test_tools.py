"""What a client is offered as tools, and what a call of one answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from engross.calls import Caller
from engross.surfaces.client import Client
from engross.surfaces.mcp import tool_bytes
from engross.surfaces.mcp.tools import lean_input
from tests.bed.offices import Offices, shelf
from tests.surfaces.mcp.house import (
    AGENT,
    CURATOR,
    MODERN,
    VIEWER,
    a_book,
    connected,
    desk_of,
    key_of,
    on_a_loop,
    server_at,
    told,
)
from tests.surfaces.mcp.talkative import talkative

GUIDE = ["find_flow", "describe_flow", "run_flow"]
INVALID_PARAMS = -32602


async def names(client: Client, caller: Caller = AGENT, era: str = MODERN, **options: Any) -> list[str]:
    async with connected(server_at(client, caller, **options), era) as session:
        return [tool.name for tool in (await session.list_tools()).tools]


@on_a_loop
async def test_a_tool_is_its_flow(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    tool = listed["addBook"]
    flow = clara.office.catalogue.flow("shelf.add-book")
    assert tool.input_schema == lean_input(flow)
    assert tool.output_schema is not None
    assert tool.output_schema["required"] == ["reply"]
    assert tool.title == flow.title
    assert tool.description is not None
    assert tool.description.startswith(flow.description)


@on_a_loop
async def test_a_listed_tool_takes_the_fields_of_its_flow_and_says_less_about_their_bounds(
    clara: Client, era: str
) -> None:
    async with connected(server_at(clara), era) as session:
        listed = {tool.name: tool for tool in (await session.list_tools()).tools}
        told = (await session.call_tool("describe_flow", {"flow": "addBook"})).structured_content
    assert told is not None
    shown, whole = listed["addBook"].input_schema, told["inputSchema"]
    assert whole == clara.office.catalogue.flow("shelf.add-book").published
    assert {word: shown[word] for word in ("type", "required", "additionalProperties")} == {
        word: whole[word] for word in ("type", "required", "additionalProperties")
    }
    for name, field in whole["properties"].items():
        # What is listed is part of what is described, so whoever keeps to the one keeps to the other's shape.
        assert shown["properties"][name].items() <= field.items()
        assert shown["properties"][name]["type"] == field["type"]
    assert "maxLength" not in str(shown)
    assert "maxLength" in str(whole)


@pytest.mark.requirement("ARCH-36")
@on_a_loop
async def test_every_tool_carries_all_four_hints_of_its_flow(clara: Client, era: str) -> None:
    async with connected(server_at(clara, CURATOR, toolsets=clara.office.catalogue.toolsets), era) as session:
        listed = (await session.list_tools()).tools
    for tool in listed:
        assert tool.annotations is not None
        hints = tool.annotations.model_dump(by_alias=True, exclude_none=True)
        assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, tool.name
        offered = clara.office.catalogue.tool(tool.name)
        if offered is not None:
            assert hints == {f"{name}Hint": value for name, value in offered.hints.items()}
    by_name = {tool.name: tool.annotations for tool in listed}
    assert by_name["getBook"].read_only_hint is True  # type: ignore[union-attr]
    assert by_name["removeBook"].destructive_hint is True  # type: ignore[union-attr]
    assert by_name["addBook"].destructive_hint is False  # type: ignore[union-attr]


@pytest.mark.requirement("ARCH-13")
@on_a_loop
async def test_every_write_says_to_validate_first_and_nothing_else_does(clara: Client, era: str) -> None:
    async with connected(server_at(clara, CURATOR, toolsets=clara.office.catalogue.toolsets), era) as session:
        listed = (await session.list_tools()).tools
    for tool in listed:
        offered = clara.office.catalogue.tool(tool.name)
        writes = offered is not None and offered.flow.writes
        assert (tool.description or "").endswith("TIP: call validateWrite first.") is writes, tool.name
        assert "TIP" not in (offered.flow.description if offered else "")


@pytest.mark.requirement("ECO-04")
@on_a_loop
async def test_tools_are_listed_by_toolset(clara: Client, era: str) -> None:
    usual = await names(clara, era=era)
    assert usual[:3] == GUIDE
    assert {"addBook", "validateWrite", "count"} <= set(usual)
    assert not {"listProposals", "crash"} & set(usual)
    assert await names(clara, era=era, toolsets=["review"]) == [
        *GUIDE,
        "getProposal",
        "listProposals",
        "rebaseProposal",
        "submitProposal",
        "withdrawProposal",
    ]
    assert await names(clara, era=era, toolsets=[]) == GUIDE
    assert await names(clara, era=era, toolsets=["legacy"]) == [*GUIDE, "crash"]


@on_a_loop
async def test_tools_are_listed_by_what_the_caller_may_use(clara: Client, era: str) -> None:
    async with connected(server_at(clara, VIEWER), era) as session:
        listed = (await session.list_tools()).tools
    assert "getBook" in {tool.name for tool in listed}
    assert not {"addBook", "removeBook"} & {tool.name for tool in listed}


@pytest.mark.requirement("ECO-05")
@on_a_loop
async def test_in_an_office_that_only_reads_nothing_else_is_offered_or_done(house: Offices, era: str) -> None:
    clara = house.open(shelf(), talkative())
    book = a_book(clara)
    reading = house.open(shelf(), talkative(), read_only=True)
    async with connected(server_at(reading, CURATOR, toolsets=reading.office.catalogue.toolsets), era) as session:
        listed = (await session.list_tools()).tools
        assert [tool.name for tool in listed if tool.annotations and not tool.annotations.read_only_hint] == []
        assert {"getBook", "run_flow"} <= {tool.name for tool in listed}
        assert key_of(await session.call_tool("removeBook", {"id": book})) == "READ_ONLY"
        wish = {"flow": "shelf.remove-book", "arguments": {"id": book}}
        assert key_of(await session.call_tool("run_flow", wish)) == "READ_ONLY"
        assert key_of(await session.call_tool("getBook", {"id": book})) == "READ_OK"


@pytest.mark.requirement("NEW-03")
@on_a_loop
async def test_approving_is_not_offered_whoever_asks(clara: Client, era: str) -> None:
    everything = clara.office.catalogue.toolsets
    agent = clara.as_("scout", "agent", ["agent"])
    proposal = agent.shelf.add_book(title="Dune").data["proposal"]["id"]
    shown = clara.proposals.get_proposal(proposal_id=proposal)
    decision = {"proposal_id": proposal, "decision": "approve", "approval_token": shown.data["approval_token"]}
    for caller in (AGENT, CURATOR):
        async with connected(server_at(clara, caller, toolsets=everything), era) as session:
            listed = {tool.name for tool in (await session.list_tools()).tools}
            assert "listProposals" in listed
            assert "reviewProposal" not in listed
            found = told(await session.call_tool("find_flow", {"words": "review proposal approve", "limit": 100}))
            assert "reviewProposal" not in {one["tool"] for one in found["flows"]}
            described = await session.call_tool("describe_flow", {"flow": "reviewProposal"})
            assert key_of(described) == "UNKNOWN_OPERATION"
            assert key_of(await session.call_tool("reviewProposal", decision)) == "PEOPLE_ONLY"
            wish = {"flow": "proposals.review-proposal", "arguments": decision}
            assert key_of(await session.call_tool("run_flow", wish)) == "PEOPLE_ONLY"
            seen = told(await session.call_tool("getProposal", {"proposal_id": proposal}))
            assert "approval_token" not in seen
    assert clara.proposals.get_proposal(proposal_id=proposal).data["proposal"]["status"] == "proposed"


@on_a_loop
async def test_a_call_answers_in_the_dialect_of_its_flow_twice_the_same(clara: Client, era: str) -> None:
    async with connected(server_at(clara, CURATOR), era) as session:
        added = told(await session.call_tool("addBook", {"title": "Dune", "client_request_id": "dune-one"}))
        assert (added["success"], added["book"]["title"], added["status"]) == (True, "Dune", "committed")
        again = told(await session.call_tool("addBook", {"title": "Dune", "client_request_id": "dune-one"}))
        assert (again["idempotent_replay"], again["book"]) == (True, added["book"])
        refused = told(await session.call_tool("addBook", {"titel": "Dune"}))
        assert refused["success"] is False
        assert refused["reply"]["reply_type"] == "I"


@on_a_loop
async def test_a_null_in_an_answer_arrives_as_one(clara: Client, era: str) -> None:
    book = a_book(clara)
    async with connected(server_at(clara), era) as session:
        shown = told(await session.call_tool("getBook", {"id": book}))
    assert "notes" in shown["book"]
    assert shown["book"]["notes"] is None


@on_a_loop
async def test_an_agents_write_becomes_a_proposal(clara: Client, era: str) -> None:
    async with connected(server_at(clara, AGENT), era) as session:
        proposed = told(await session.call_tool("addBook", {"title": "Dune"}))
    assert (proposed["reply"]["reply_type"], proposed["status"]) == ("S", "proposed")
    assert clara.shelf.list_books().data["books"] == []


@on_a_loop
async def test_without_arguments_a_call_has_none(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        assert key_of(await session.call_tool("listBooks")) == "READ_OK"
        assert key_of(await session.call_tool("getBook")) == "VALIDATION_ERROR"


@pytest.mark.parametrize("name", ["noSuchTool", "crash", "talk.crash", "shelf.get-book", ""])
@on_a_loop
async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(clara: Client, era: str, name: str) -> None:
    async with connected(server_at(clara), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.call_tool(name, {})
    assert refused.value.code == INVALID_PARAMS
    assert "crash" not in str(refused.value.data)


@on_a_loop
async def test_a_misspelt_tool_names_the_nearest(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        with pytest.raises(MCPError) as refused:
            await session.call_tool("adBook", {})
    assert refused.value.data["did_you_mean"][0] == "addBook"


@on_a_loop
async def test_what_is_not_listed_but_may_be_used_can_be_called(clara: Client, era: str) -> None:
    async with connected(server_at(clara, toolsets=["record"]), era) as session:
        assert key_of(await session.call_tool("listBooks", {})) == "READ_OK"
        assert key_of(await session.call_tool("listProposals", {})) == "READ_OK"


@on_a_loop
async def test_who_may_not_call_a_flow_is_denied_with_a_reply(clara: Client, era: str) -> None:
    async with connected(server_at(clara, VIEWER), era) as session:
        denied = told(await session.call_tool("addBook", {"title": "Dune"}))
    assert denied["reply"]["reply_type"] == "D"


@on_a_loop
async def test_a_flow_that_breaks_is_answered_and_nothing_of_it_is_told(clara: Client, era: str) -> None:
    async with connected(server_at(clara, toolsets=["legacy"]), era) as session:
        answer = await session.call_tool("crash", {"words": "a secret of the house"})
        assert key_of(answer) == "SYS_CRASH"
        assert "secret" not in answer.model_dump_json()
        assert key_of(await session.call_tool("listBooks", {})) == "READ_OK"


@on_a_loop
async def test_when_the_house_itself_fails_nothing_of_it_is_told(
    clara: Client, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("a secret of the house")

    async with connected(server_at(clara), era) as session:
        with monkeypatch.context() as broken:
            broken.setattr("engross.surfaces.desk.Desk.tools", breaks)
            with pytest.raises(MCPError) as refused:
                await session.list_tools()
        assert key_of(await session.call_tool("listBooks", {})) == "READ_OK"
    assert refused.value.code == -32603
    assert "secret" not in str(refused.value.error)
    assert len(refused.value.data["trace_id"]) == 32


@on_a_loop
async def test_content_blocks_come_as_such_and_once(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        shown = await session.call_tool("show", {})
        assert [block.type for block in shown.content] == ["text", "image", "audio", "resource", "text"]
        assert "content" not in told(shown)
        assert told(shown)["shown"] == 4
        refused = await session.call_tool("refuse", {})
        assert key_of(refused) == "RECORD_NOT_FOUND"
        assert len(refused.content) == 1
        assert key_of(await session.call_tool("mumble", {})) == "NOT_SERIALIZABLE"


@on_a_loop
async def test_a_trace_and_a_correlation_come_from_meta(clara: Client, era: str) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    meta: Any = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01", "correlationId": "order-66"}
    async with connected(server_at(clara, CURATOR), era) as session:
        added = told(await session.call_tool("addBook", {"title": "Dune"}, meta=meta))
        found = told(await session.call_tool("find_flow", {}, meta=meta))
    assert added["reply"]["trace_id"] == found["reply"]["trace_id"] == trace
    receipt = clara.record.get_receipt(position=added["position"]).data["receipt"]
    assert receipt["correlation_id"] == "order-66"
    assert receipt["surface"] == "mcp-stdio"


@pytest.mark.requirement("ARCH-15")
@on_a_loop
async def test_nothing_that_is_said_changes_who_calls(clara: Client, era: str) -> None:
    meta: Any = {"tenant": "elsewhere", "principal": "clara", "roles": ["admin"], "user_id": "clara"}
    async with connected(server_at(clara, AGENT), era) as session:
        for field in ("tenant", "tenant_id", "principal", "roles", "user_id"):
            refused = told(await session.call_tool("addBook", {"title": "Dune", field: "clara"}))
            assert refused["error"]["code"] == "FIELD_NOT_ALLOWED"
        done = told(await session.call_tool("addBook", {"title": "Dune"}, meta=meta))
    assert done["status"] == "proposed"
    shown = clara.proposals.get_proposal(proposal_id=done["proposal"]["id"])
    assert shown.data["proposal"]["proposed_by"]["actor_id"] == "scout"


@on_a_loop
async def test_every_list_comes_on_one_page(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        assert (await session.list_tools()).next_cursor is None
        for listing in (
            session.session.list_tools,
            session.session.list_resources,
            session.session.list_resource_templates,
            session.session.list_prompts,
        ):
            with pytest.raises(MCPError) as refused:
                await listing(params=page("made-up"))
            assert refused.value.code == INVALID_PARAMS


def page(cursor: str) -> Any:
    from mcp_types import PaginatedRequestParams

    return PaginatedRequestParams(cursor=cursor)


@pytest.mark.requirement("ECO-04")
def test_what_a_desk_costs_is_told_by_toolset(clara: Client) -> None:
    sizes = tool_bytes(desk_of(clara), AGENT, "mcp-stdio")
    assert set(sizes) >= {"guide", "record", "shelf", "talk", "tools/list", "instructions"}
    assert "review" not in sizes
    assert sum(sizes[toolset] for toolset in ("guide", "record", "shelf", "talk")) <= sizes["tools/list"] + 100
    assert 0 < sizes["instructions"] < 2048
    fewer = tool_bytes(desk_of(clara, toolsets=["shelf"]), AGENT, "mcp-stdio")
    assert fewer["tools/list"] < sizes["tools/list"]
    assert tool_bytes(desk_of(clara), VIEWER, "mcp-stdio")["shelf"] < sizes["shelf"]


@on_a_loop
async def test_a_client_is_told_who_serves_and_how_to_work_here(clara: Client, era: str) -> None:
    from engross import __version__

    async with connected(server_at(clara), "auto" if era == MODERN else era) as session:
        assert session.server_info is not None
        assert (session.server_info.name, session.server_info.version) == ("engross", __version__)
        text = session.instructions or ""
        for word in ("validateWrite", "client_request_id", "find_flow", "proposal", "reply_type", "shelf"):
            assert word in text


def test_instructions_stay_small_however_much_there_is(tmp_path: Path) -> None:
    from engross.flows import Aggregate, NoArguments
    from engross.surfaces.mcp.instructions import MOST_BYTES, instructions

    def nothing(reader: object, arguments: NoArguments) -> None:
        """Do nothing."""

    many = [Aggregate(f"domain-{number}", f"The domain number {number} " + "x" * 60) for number in range(40)]
    for aggregate in many:
        aggregate.define("read", nothing, name=f"look-{aggregate.namespace}")
    offices = Offices(tmp_path / "office", None)
    try:
        told_here = instructions(desk_of(offices.open(*many)))
    finally:
        offices.close()
    assert len(told_here.encode()) < MOST_BYTES
