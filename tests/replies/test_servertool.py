"""A safe tool under the SDK's MCPServer, as the SDK's client sees it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import mcp_types as types
import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field, PydanticSchemaGenerationError

from engross.replies import (
    Denied,
    Invalid,
    Reply,
    codes,
    configure_crash_log,
    crashes,
    mcp_safe_tool,
    mcp_server_tool,
    reply,
)
from tests.surfaces.mcp.house import ERAS, connected, on_a_loop, told

from .watching import crashes_in


class Card(BaseModel):
    """What only this module knows by name."""

    title: str
    tags: list[str] = []


@pytest.fixture(autouse=True)
def crash_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(crashes, "_configured", None)
    configure_crash_log(tmp_path)
    return tmp_path


def serving(*tools: Callable[..., Any]) -> MCPServer:
    """A server with these tools, each made fit for it."""
    server = MCPServer("cards")
    for tool in tools:
        server.add_tool(mcp_server_tool(tool))
    return server


async def called(server: MCPServer, tool: str, arguments: dict[str, Any], era: str = ERAS[-1]) -> types.CallToolResult:
    async with connected(server, era) as client:
        return await client.call_tool(tool, arguments)


def act(outcome: str) -> Reply:
    if outcome == "denied":
        raise Denied(codes.WRITE_DENIED)
    if outcome == "invalid":
        raise Invalid(codes.RECORD_NOT_FOUND, {"kind": "card", "id": "c-9"})
    if outcome == "crash":
        raise KeyError("c-9")
    return reply(codes.READ_OK, data={"cards": [{"title": "Buy milk", "due": None}]})


async def act_async(outcome: str) -> Reply:
    return act(outcome)


OUTCOMES = [
    ("done", codes.READ_OK),
    ("invalid", codes.RECORD_NOT_FOUND),
    ("denied", codes.WRITE_DENIED),
    ("crash", codes.SYS_CRASH),
]


@pytest.mark.parametrize(("outcome", "code"), OUTCOMES)
@pytest.mark.parametrize("tool", [act, act_async])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("REP-08")
@on_a_loop
async def test_only_what_was_done_is_no_error_and_all_is_told_twice(
    tool: Callable[..., Any], outcome: str, code: str, era: str
) -> None:
    server = serving(mcp_safe_tool(tool, name="act"))
    answer = told(await called(server, tool.__name__, {"outcome": outcome}, era))
    assert answer["reply"]["code"] == code
    assert answer.get("cards") == ([{"title": "Buy milk", "due": None}] if outcome == "done" else None)


@on_a_loop
async def test_a_crash_is_on_disk_under_the_trace_that_the_client_got(crash_folder: Path) -> None:
    answer = told(await called(serving(mcp_safe_tool(act)), "act", {"outcome": "crash"}))
    (record,) = crashes_in(crash_folder)
    assert (record["trace_id"], record["error"]) == (answer["reply"]["trace_id"], "KeyError")


def annotated(title: str) -> dict[str, str]:
    return {"title": title}


def bare(title):
    return {"title": title}


async def annotated_async(title: str) -> dict[str, str]:
    return {"title": title}


def apologetic(title: str) -> dict[str, object]:
    return {"success": False, "error": "no such card"}


@pytest.mark.parametrize("tool", [annotated, bare, annotated_async])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("REP-08")
@on_a_loop
async def test_a_raw_result_is_wrapped_while_migrating_whatever_the_tool_is_annotated_with(tool: Any, era: str) -> None:
    answer = told(await called(serving(mcp_safe_tool(tool, strict=False)), tool.__name__, {"title": "Buy milk"}, era))
    assert (answer["reply"]["code"], answer["result"]) == (codes.LEGACY_WRAP, {"title": "Buy milk"})


@pytest.mark.parametrize(("tool", "strict"), [(annotated, True), (bare, True), (apologetic, False)])
@on_a_loop
async def test_a_raw_result_in_strict_mode_and_a_raw_failure_in_any_are_errors(tool: Any, strict: bool) -> None:
    answer = told(await called(serving(mcp_safe_tool(tool, strict=strict)), tool.__name__, {"title": "Buy milk"}))
    assert answer["reply"]["code"] == codes.NON_REPLY_RETURN


# --- what the server makes of the signature


def save(card: Card, ctx: Context, copies: Annotated[int, Field(ge=1)] = 1, note: str | None = None) -> Reply:
    """Keep a card."""
    return reply(codes.CREATED, data={"tags": card.tags, "copies": copies, "server": ctx.mcp_server.name})


async def save_async(card: Card, ctx: Context, copies: Annotated[int, Field(ge=1)] = 1) -> Reply:
    """Keep a card."""
    return save(card, ctx, copies)


@pytest.mark.parametrize("tool", [save, save_async])
@pytest.mark.requirement("REP-08")
@on_a_loop
async def test_the_input_schema_and_the_description_are_those_of_the_tool_as_it_was(tool: Callable[..., Any]) -> None:
    unwrapped = MCPServer("cards")
    unwrapped.add_tool(tool, structured_output=False)
    (before,) = await unwrapped.list_tools()
    (after,) = await serving(mcp_safe_tool(tool)).list_tools()
    assert after == before
    assert set(after.input_schema["properties"]) >= {"card", "copies"}
    assert "ctx" not in after.input_schema["properties"]


@pytest.mark.parametrize("tool", [save, save_async])
@pytest.mark.requirement("REP-08")
@on_a_loop
async def test_a_tool_gets_its_arguments_as_their_types_and_the_context(tool: Callable[..., Any]) -> None:
    arguments = {"card": {"title": "Buy milk", "tags": ["shop"]}, "copies": 2}
    answer = told(await called(serving(mcp_safe_tool(tool)), tool.__name__, arguments))
    assert (answer["tags"], answer["copies"], answer["server"]) == (["shop"], 2, "cards")


class Drawer:
    def __call__(self, card: Card, ctx: Context) -> Reply:
        return save(card, ctx)

    @mcp_safe_tool
    def put(self, card: Card, ctx: Context) -> Reply:
        return save(card, ctx)


@pytest.mark.parametrize(
    "tool", [Drawer().put, mcp_safe_tool(Drawer()), mcp_safe_tool(functools.partial(save, copies=3))]
)
@on_a_loop
async def test_methods_callables_and_partials_are_tools_too(tool: Any) -> None:
    answer = told(await called(serving(tool), tool.__name__, {"card": {"title": "Buy milk"}}))
    assert (answer["reply"]["code"], answer["server"]) == (codes.CREATED, "cards")


@on_a_loop
async def test_right_under_the_registration_it_is_a_decorator() -> None:
    server = MCPServer("cards")

    @server.tool()
    @mcp_server_tool
    @mcp_safe_tool(strict=False, timeout=30)
    def count(cards: list[str]) -> int:
        return len(cards)

    assert told(await called(server, "count", {"cards": ["c-1", "c-2"]}))["result"] == 2


# --- what is refused while the module is loaded


def test_a_tool_that_is_not_safe_is_refused() -> None:
    with pytest.raises(TypeError, match="mcp_safe_tool"):
        mcp_server_tool(act)


def test_once_is_enough_and_the_other_way_round_is_refused() -> None:
    made: Any = mcp_server_tool(mcp_safe_tool(act))
    with pytest.raises(TypeError, match="mcp_safe_tool"):
        mcp_server_tool(made)
    with pytest.raises(TypeError, match="once"):
        mcp_safe_tool(made)


@pytest.mark.parametrize("tool", [act, act_async, annotated, bare])
@pytest.mark.requirement("REP-08")
def test_a_safe_tool_alone_is_refused_by_the_server_and_not_sent_as_a_success(tool: Callable[..., Any]) -> None:
    with pytest.raises(PydanticSchemaGenerationError):
        MCPServer("cards").add_tool(mcp_safe_tool(tool, strict=False))
