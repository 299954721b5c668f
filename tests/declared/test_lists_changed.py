"""Who has read what is offered hears that it has changed, once the new state of a document is taken up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.subscriptions import PromptsListChanged, ToolsListChanged

from engross.surfaces.client import Client, connect
from tests.bed.served import Served
from tests.declared.papers import WORDS, written
from tests.declared.warehouse import Mcp
from tests.surfaces.cli.shell import run
from tests.surfaces.mcp.house import AGENT, LEGACY, MODERN, connected, on_a_loop, over_http, server_at

NEWER = WORDS.replace("greet:", "welcome:")
LISTS: dict[type, str] = {
    types.ToolListChangedNotification: "tools",
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
}


class Ear:
    """Collects which lists a client of the handshake era hears about."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, message: Any) -> None:
        if type(message) in LISTS:
            self.heard.put_nowait(LISTS[type(message)])


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """The document."""
    return written(tmp_path, WORDS, "words.yaml")


@pytest.fixture
def served(paper: Path, tmp_path: Path) -> Iterator[Served]:
    """An office that serves it."""
    with Served(tmp_path / "office", capabilities=[str(paper)]) as running:
        yield running


@pytest.fixture
def curator(paper: Path, tmp_path: Path) -> Iterator[Client]:
    """A person in an office with the document."""
    with connect(tmp_path / "office", capabilities=[paper]) as client:
        yield client


def renew(paper: Path, folder: Path) -> None:
    """Change the document and accept it."""
    paper.write_text(NEWER)
    assert run("flow", "accept", paper, "--data", folder, "--yes").code == 0


async def names(session: Any) -> set[str]:
    """The tools that a client sees."""
    return {tool.name for tool in (await session.list_tools()).tools}


@on_a_loop
async def test_a_session_that_has_read_the_tools_hears_of_the_new_ones(served: Served, paper: Path) -> None:
    ear = Ear()
    async with over_http(served, served.agent, LEGACY, message_handler=ear) as session:
        assert "greet" in await names(session)
        await asyncio.to_thread(renew, paper, served.folder)
        assert await ear.heard.get() == "tools"
        assert "welcome" in await names(session)


@on_a_loop
async def test_who_listens_on_a_stream_hears_of_the_new_ones(served: Served, paper: Path) -> None:
    async with (
        over_http(served, served.agent, MODERN) as session,
        session.listen(tools_list_changed=True) as stream,
    ):
        assert "greet" in await names(session)
        await asyncio.to_thread(renew, paper, served.folder)
        async for event in stream:
            assert event == ToolsListChanged()
            break
        assert "welcome" in await names(session)


@on_a_loop
async def test_only_the_lists_that_were_read_are_told_of(curator: Client, paper: Path, tmp_path: Path) -> None:
    ear = Ear()
    server = server_at(curator, AGENT)
    async with (
        connected(server, LEGACY, message_handler=ear) as early,
        connected(server, MODERN) as late,
        late.listen(prompts_list_changed=True) as stream,
    ):
        await early.list_prompts()
        await early.list_resource_templates()
        await asyncio.to_thread(renew, paper, tmp_path / "office")
        assert {await ear.heard.get(), await ear.heard.get()} == {"prompts", "resources"}
        async for event in stream:
            assert event == PromptsListChanged()
            break
        assert ear.heard.empty()


@on_a_loop
async def test_it_is_promised_when_a_session_begins(curator: Client) -> None:
    async with connected(server_at(curator, AGENT), LEGACY) as session:
        offered = session.server_capabilities
        parts = (offered.tools, offered.prompts, offered.resources)
        assert [part is not None and part.list_changed for part in parts] == [True, True, True]


def test_it_is_promised_to_who_asks_what_is_there(served: Served) -> None:
    agent = Mcp(served, served.agent)
    offered = agent.result("server/discover")["capabilities"]
    agent.close()
    assert [offered[part]["listChanged"] for part in ("tools", "prompts", "resources")] == [True, True, True]


@on_a_loop
async def test_an_office_without_documents_promises_nothing(tmp_path: Path) -> None:
    with connect(tmp_path / "office") as client:
        async with connected(server_at(client, AGENT), LEGACY) as session:
            offered = session.server_capabilities
            assert offered.tools is not None
            assert not offered.tools.list_changed


@on_a_loop
async def test_a_session_that_has_ended_is_forgotten(curator: Client) -> None:
    catalogue = curator.office.catalogue
    async with connected(server_at(curator, AGENT), LEGACY) as session:
        await session.list_tools()
        assert len(catalogue._hearing) == 1
    assert not catalogue._hearing
