"""Three tools reach every flow that a caller may use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS

from engross.calls import Caller
from engross.office.built_in import DOMAINS
from engross.office.toolsets import HIDDEN
from engross.replies import codes
from engross.surfaces.client import Client, connect
from tests.bed.offices import Offices
from tests.surfaces.mcp.house import (
    AGENT,
    CURATOR,
    MODERN,
    VIEWER,
    a_book,
    connected,
    key_of,
    on_a_loop,
    server_at,
    told,
)

pytestmark = pytest.mark.requirement("ECO-04")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("put a book on the shelf", "addBook"),
        ("add book", "addBook"),
        ("import many books", "importBooks"),
        ("remove a book", "removeBook"),
        ("delete book", "removeBook"),
        ("list authors", "listAuthors"),
        ("check a write without making it", "validateWrite"),
        ("receipt of a commit", "getReceipt"),
        ("take back a proposal", "withdrawProposal"),
        ("submit a draft to be reviewed", "submitProposal"),
        ("chang bok", "changeBook"),
    ],
)
@on_a_loop
async def test_a_flow_is_found_by_what_it_does(clara: Client, words: str, first: str) -> None:
    async with connected(server_at(clara), "2026-07-28") as session:
        found = told(await session.call_tool("find_flow", {"words": words}))
    assert found["flows"][0]["tool"] == first


@on_a_loop
async def test_without_words_everything_is_found(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        found = told(await session.call_tool("find_flow", {"limit": 100}))
        tools = {one["tool"] for one in found["flows"]}
        assert found["found"] == len({one["flow"] for one in found["flows"]})
        assert {"addBook", "listProposals", "validateWrite", "count"} <= tools
        assert len(told(await session.call_tool("find_flow", {}))["flows"]) == 10
        assert told(await session.call_tool("find_flow", {"words": "zzz qqq"}))["flows"] == []


@on_a_loop
async def test_only_what_a_caller_may_use_is_found(clara: Client, era: str) -> None:
    async with connected(server_at(clara, VIEWER), era) as session:
        found = told(await session.call_tool("find_flow", {"limit": 100}))
    assert not any(one["writes"] for one in found["flows"])


@on_a_loop
async def test_a_hidden_toolset_is_found_only_when_it_is_named(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        found = told(await session.call_tool("find_flow", {"limit": 100}))
        assert "crash" not in {one["tool"] for one in found["flows"]}
        for name in ("crash", "talk.crash"):
            for tool in ("describe_flow", "run_flow"):
                refused = told(await session.call_tool(tool, {"flow": name}))
                assert refused["reply"]["message_key"] == "UNKNOWN_OPERATION"
                assert "crash" not in str(refused["suggestions"])
    async with connected(server_at(clara, toolsets=["legacy"]), era) as session:
        assert told(await session.call_tool("describe_flow", {"flow": "talk.crash"}))["tool"] == "crash"


@on_a_loop
async def test_a_hidden_write_cannot_be_tried_out_before_its_toolset_is_named(house: Offices) -> None:
    clara = house.open(domains="documents")
    payload = {"target_path": "x.oct.md", "content": "===X===\n===END==="}

    async def tried(name: str, **options: Any) -> dict[str, Any]:
        async with connected(server_at(clara, **options), MODERN) as session:
            return told(await session.call_tool("validateWrite", {"operation": name, "payload": payload}))

    for name in ("octave_create", "documents.octave-create"):
        refused = await tried(name)
        assert refused["reply"]["message_key"] == "UNKNOWN_OPERATION"
        assert "octave_create" not in str(refused["suggestions"])
        assert (await tried(name, toolsets=["legacy", "record"]))["reply"]["message_key"] == "VALIDATION_DONE"


@pytest.mark.parametrize("caller", [AGENT, CURATOR, VIEWER], ids=["agent", "curator", "viewer"])
@on_a_loop
async def test_every_flow_of_every_domain_that_a_caller_may_use_is_reached(tmp_path: Path, caller: Caller) -> None:
    with connect(tmp_path / "office", domains=",".join(DOMAINS)) as office:
        catalogue = office.office.catalogue
        hidden = {tool.flow.ref for tool in catalogue.tools(HIDDEN)}
        offered = [flow for flow in catalogue if flow.ref not in hidden]
        usable = {flow.ref: flow for flow in offered if office.office.may_call(caller, flow, "mcp-stdio")}
        async with connected(server_at(office, caller), "2026-07-28") as session:
            listed = {tool.name for tool in (await session.list_tools()).tools}
            found = [
                one
                for flow in usable.values()
                for one in told(await session.call_tool("find_flow", {"words": flow.title, "limit": 100}))["flows"]
            ]
            assert {one["flow"] for one in found} == set(usable)
            assert {one["flow"] for one in found if one["tool"] is None} >= {"memory.list-schemas", "record.why"}
            assert len(usable) > len(listed)
            for ref, flow in usable.items():
                assert told(await session.call_tool("describe_flow", {"flow": ref}))["inputSchema"] == flow.published
                # An argument that nobody takes: what answers is the flow's own check, and nothing happens.
                ran = told(await session.call_tool("run_flow", {"flow": ref, "arguments": {"nobody": 1}}))
                assert ran["reply"]["code"] != codes.UNKNOWN_OPERATION, ref
                assert ran["reply"]["reply_type"] == "I", ref


@on_a_loop
async def test_a_flow_without_a_tool_is_found_and_run_by_its_ref_and_is_no_tool(tmp_path: Path, era: str) -> None:
    with connect(tmp_path / "office", domains="memory,documents") as office:
        async with connected(server_at(office), era) as session:
            found = told(await session.call_tool("find_flow", {"words": "schemas of memory"}))["flows"]
            assert {"tool": None, "toolset": None, "flow": "memory.list-schemas"}.items() <= found[0].items()
            ran = told(await session.call_tool("run_flow", {"flow": "memory.list-schemas"}))
            assert "wallet" in {one["entity_type"] for one in ran["schemas"]}
            near = told(await session.call_tool("run_flow", {"flow": "memory.list-schema"}))
            assert near["suggestions"]["did_you_mean"]
            for name in ("memory.list-schemas", ""):
                with pytest.raises(MCPError) as refused:
                    await session.call_tool(name, {})
                assert refused.value.error.code == INVALID_PARAMS


@on_a_loop
async def test_a_description_says_all_about_a_flow(clara: Client, era: str) -> None:
    flow = clara.office.catalogue.flow("shelf.remove-book")
    async with connected(server_at(clara), era) as session:
        by_ref = told(await session.call_tool("describe_flow", {"flow": "shelf.remove-book"}))
        by_tool = told(await session.call_tool("describe_flow", {"flow": "removeBook"}))
    del by_ref["reply"], by_tool["reply"]
    assert by_ref == by_tool
    assert by_ref["inputSchema"] == flow.published
    assert by_ref["outputSchema"] == flow.output
    assert by_ref["hints"] == flow.hints()
    assert (by_ref["dialect"], by_ref["version"], by_ref["risk_tier"]) == ("architecture", "1.0.0", 3)
    assert [one["title"] for one in by_ref["examples"]] == [one.title for one in flow.examples]
    errors = {one["message_key"]: one for one in by_ref["errors"]}
    assert {"RECORD_NOT_FOUND", "CONFIRMATION_REQUIRED", "VALIDATION_ERROR"} <= set(errors)
    assert all(one["advice"] for one in errors.values())
    assert {one["retryable"] for one in errors.values()} == {False}
    assert "READ_OK" not in errors


@on_a_loop
async def test_running_a_flow_is_the_call_it_names(clara: Client, era: str) -> None:
    book = a_book(clara)
    async with connected(server_at(clara, CURATOR), era) as session:
        by_tool = told(await session.call_tool("getBook", {"id": book}))
        for name in ("getBook", "shelf.get-book"):
            run = told(await session.call_tool("run_flow", {"flow": name, "arguments": {"id": book}}))
            assert run["book"] == by_tool["book"]
            assert run["success"] is True
        refused = told(await session.call_tool("run_flow", {"flow": "getBook", "arguments": {"idd": book}}))
        assert {error["code"] for error in refused["error"]["details"]["errors"]} == {
            "UNKNOWN_FIELD",
            "VALIDATION_ERROR",
        }
        assert key_of(await session.call_tool("run_flow", {"flow": "listAuthors"})) == "READ_OK"
        shown = await session.call_tool("run_flow", {"flow": "show"})
        assert [block.type for block in shown.content] == ["text", "image", "audio", "resource", "text"]


@on_a_loop
async def test_a_flow_that_is_run_dry_changes_nothing(clara: Client, era: str) -> None:
    async with connected(server_at(clara, CURATOR), era) as session:
        wish = {"flow": "addBook", "arguments": {"title": "Dune"}, "dry_run": True}
        dry = told(await session.call_tool("run_flow", wish))
    assert (dry["valid"], dry["would"]["mode"]) == (True, "direct")
    assert clara.shelf.list_books().data["books"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("find_flow", {"word": "x"}, "UNKNOWN_FIELD"),
        ("find_flow", {"words": 7}, "VALIDATION_ERROR"),
        ("find_flow", {"limit": 0}, "VALIDATION_ERROR"),
        ("find_flow", {"words": "x" * 201}, "VALIDATION_ERROR"),
        ("describe_flow", {}, "VALIDATION_ERROR"),
        ("describe_flow", {"flow": "nowhere"}, "UNKNOWN_OPERATION"),
        ("run_flow", {}, "VALIDATION_ERROR"),
        ("run_flow", {"flow": "nowhere"}, "UNKNOWN_OPERATION"),
        ("run_flow", {"flow": "getBook", "arguments": "x"}, "VALIDATION_ERROR"),
        ("run_flow", {"flow": "getBook", "principal": "clara"}, "FIELD_NOT_ALLOWED"),
        ("run_flow", {"flow": "run_flow", "arguments": {"flow": "run_flow"}}, "UNKNOWN_OPERATION"),
        ("run_flow", {"flow": "record.erase", "arguments": {}}, "VALIDATION_ERROR"),
    ],
)
@on_a_loop
async def test_bad_arguments_are_replies_too(clara: Client, tool: str, arguments: dict[str, object], key: str) -> None:
    async with connected(server_at(clara, AGENT), "2026-07-28") as session:
        answer = told(await session.call_tool(tool, arguments))
    assert answer["reply"]["message_key"] == key
    assert answer["errors"]
    assert answer["reply"]["trace_id"]
