"""Hearing of changes: of a record, of a proposal's decision, whoever committed it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.client.subscriptions import ResourceUpdated
from msgspec.structs import replace

from engross.calls import Caller, Principal
from engross.office import Change
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.bed.served import Served, wait_for
from tests.memory.kept import memory_at
from tests.memory.people import confirmed, correct, person
from tests.office.desk import policies
from tests.surfaces.mcp.house import (
    AGENT,
    CLARA,
    CURATOR,
    LEGACY,
    MODERN,
    TENANT,
    VIEWER,
    a_book,
    connected,
    on_a_loop,
    over_http,
    server_at,
    stdio_parameters,
)


class Ear:
    """Collects what a client of the handshake era is notified of."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.heard.put_nowait(message.params.uri)


Asked: TypeAlias = Callable[..., dict[str, Any]]
"""Calls a flow with arguments, for the data of its answer."""
TOPICS = ("a record", "a decision")
NUMBERS = count()


class News(NamedTuple):
    """Something that has not happened yet, and where to hear of it."""

    uri: str
    happens: Callable[[], object]


def news_of(topic: str, owner: Asked, agent: Asked) -> News:
    """A change of a book by its owner, or the owner's decision about an agent's proposal."""
    if topic == "a record":
        book = owner("shelf.add-book", a_wish())["book"]["id"]
        return News(f"shelf://books/{book}", lambda: owner("shelf.change-book", {"id": book, "notes": "signed"}))
    proposal = agent("shelf.add-book", a_wish())["proposal"]["id"]

    def decide() -> None:
        token = owner("proposals.get-proposal", {"proposal_id": proposal})["approval_token"]
        decision = {"proposal_id": proposal, "decision": "approve", "approval_token": token}
        assert owner("proposals.review-proposal", decision)["proposal"]["status"] == "accepted"

    return News(f"engross://proposals/{proposal}", decide)


def a_wish() -> dict[str, Any]:
    """A book that no shelf has."""
    return {"title": f"Heard of {next(NUMBERS)}"}


def data_of(answer: Reply) -> dict[str, Any]:
    assert answer.ok, answer
    return dict(answer.data)


def address(event: object) -> str:
    assert isinstance(event, ResourceUpdated)
    return event.uri


async def subscribe(session: Any, uri: str) -> None:
    request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
    await session.session.send_request(request, types.EmptyResult)


async def unsubscribe(session: Any, uri: str) -> None:
    request = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
    await session.session.send_request(request, types.EmptyResult)


async def approve(clara: Client, proposal: str) -> None:
    def decide() -> None:
        shown = clara.proposals.get_proposal(proposal_id=proposal)
        token = shown.data["approval_token"]
        assert clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token).ok

    await asyncio.to_thread(decide)


@pytest.mark.requirement("GOV-02")
@on_a_loop
async def test_an_agent_hears_the_decision_about_its_proposal(curator: Client, agent: Client) -> None:
    proposal = agent.shelf.add_book(title="Dune").data["proposal"]["id"]
    uri = f"engross://proposals/{proposal}"
    ear = Ear()
    async with connected(server_at(curator, AGENT), LEGACY, message_handler=ear) as session:
        await subscribe(session, uri)
        await approve(curator, proposal)
        assert await ear.heard.get() == uri
        seen = await session.call_tool("run_flow", {"flow": "getProposal", "arguments": {"proposal_id": proposal}})
        assert seen.structured_content["proposal"]["status"] == "accepted"


@pytest.mark.requirement("GOV-02")
@on_a_loop
async def test_an_agent_of_the_later_era_hears_it_on_a_stream(curator: Client, agent: Client) -> None:
    proposal = agent.shelf.add_book(title="Dune").data["proposal"]["id"]
    uri = f"engross://proposals/{proposal}"
    async with (
        connected(server_at(curator, AGENT), MODERN) as session,
        session.listen(resource_subscriptions=[uri]) as stream,
    ):
        await approve(curator, proposal)
        async for event in stream:
            assert address(event) == uri
            break


@pytest.mark.requirement("GOV-02")
@on_a_loop
async def test_a_commit_of_another_process_is_heard(offices: Offices, curator: Client) -> None:
    book = a_book(curator)
    elsewhere = offices.open()
    ear = Ear()
    server = server_at(curator, AGENT)
    uris = [f"shelf://books/{book}", f"engross://facts/shelf/{book}", "engross://facts", "shelf://authors"]
    async with (
        connected(server, LEGACY, message_handler=ear) as early,
        connected(server, MODERN) as late,
        late.listen(resource_subscriptions=uris) as stream,
    ):
        for uri in uris:
            await subscribe(early, uri)
        await asyncio.to_thread(lambda: elsewhere.shelf.change_book(id=book, notes="signed"))
        assert {await ear.heard.get() for _ in uris} == set(uris)
        heard = set()
        async for event in stream:
            heard.add(address(event))
            if heard == set(uris):
                break


@on_a_loop
async def test_only_what_was_asked_for_is_heard(clara: Client) -> None:
    book, other = a_book(clara), a_book(clara, "Emma")
    ear = Ear()
    async with connected(server_at(clara), LEGACY, message_handler=ear) as session:
        await subscribe(session, f"shelf://books/{book}")
        await subscribe(session, "engross://proposals")
        await subscribe(session, "engross://receipts/1")
        clara.shelf.change_book(id=other, notes="signed")
        clara.shelf.change_book(id=book, notes="signed")
        assert await ear.heard.get() == f"shelf://books/{book}"
        await unsubscribe(session, f"shelf://books/{book}")
        clara.shelf.change_book(id=book, notes="signed twice")
        clara.shelf.add_book(title="Persuasion", commit_mode="proposal")
        assert await ear.heard.get() == "engross://proposals"
    assert ear.heard.empty()


@on_a_loop
async def test_nobody_hears_of_another_tenant(curator: Client) -> None:
    dora = Caller("elsewhere", CLARA, "cred-dora")
    there = curator.as_("dora", "human", ["curator"], tenant="elsewhere")
    ear = Ear()
    async with (
        connected(server_at(curator, CURATOR), LEGACY, message_handler=ear) as early,
        connected(server_at(curator, dora), MODERN) as late,
        late.listen(resource_subscriptions=["engross://facts", "shelf://authors"]) as stream,
    ):
        await subscribe(early, "engross://facts")
        mine, theirs = await asyncio.to_thread(lambda: (a_book(curator), a_book(there)))
        assert mine != theirs
        assert await ear.heard.get() == "engross://facts"
        async for event in stream:
            assert address(event) in ("engross://facts", "shelf://authors")
            break
        # Each heard of the one commit of their own tenant, and a second one shows that no other was on its way.
        await asyncio.to_thread(lambda: a_book(curator, "Emma"))
        assert await ear.heard.get() == "engross://facts"
        assert ear.heard.empty()


@on_a_loop
async def test_what_a_caller_may_not_look_up_cannot_be_subscribed_to(clara: Client) -> None:
    async with connected(server_at(clara), LEGACY) as session:
        for uri in ("nowhere://x", "talk://broken/x", "shelf://books/a/b"):
            with pytest.raises(MCPError) as refused:
                await subscribe(session, uri)
            assert refused.value.code == -32002
        await unsubscribe(session, "nowhere://x")
    async with (
        connected(server_at(clara), MODERN) as session,
        session.listen(resource_subscriptions=["nowhere://x", "talk://broken/x", "engross://facts"]) as stream,
    ):
        assert stream.honored.resource_subscriptions == ["engross://facts"]


@on_a_loop
async def test_nobody_hears_of_what_they_cannot_read(house: Offices, era: str) -> None:
    clara = house.open(shelf(), memory_at(house.folder))
    entity = person(clara, "Ada Lovelace")
    proposal = clara.call(
        "memory.ingest-structured", {"entities": [{"entity_type": "person", "name": "Bo"}], "commit_mode": "proposal"}
    ).data["proposal"]["id"]
    vic = Caller(TENANT, Principal("vic", "human", frozenset({"contributor"})), "cred-vic")
    hidden = [f"memory://entities/{entity}", f"engross://facts/memory/{entity}", f"engross://proposals/{proposal}"]
    nowhere = ["shelf://books/book_nowhere", "engross://receipts/99999", "engross://receipts/first"]
    for caller in (vic, VIEWER):
        async with connected(server_at(clara, caller), era) as session:
            if era == LEGACY:
                for uri in (*hidden, *nowhere):
                    with pytest.raises(MCPError) as read:
                        await session.read_resource(uri)
                    with pytest.raises(MCPError) as refused:
                        await subscribe(session, uri)
                    assert refused.value.code == read.value.code
                    assert refused.value.data["reply"]["code"] == read.value.data["reply"]["code"]
            else:
                async with session.listen(resource_subscriptions=[*hidden, *nowhere, "shelf://authors"]) as stream:
                    assert stream.honored.resource_subscriptions == ["shelf://authors"]
    async with (
        connected(server_at(clara, CURATOR), MODERN) as session,
        session.listen(resource_subscriptions=[hidden[0], hidden[-1]]) as stream,
    ):
        assert stream.honored.resource_subscriptions == [hidden[0], hidden[-1]]
        await asyncio.to_thread(lambda: correct(clara, entity, "name", "Ada King"))
        async for event in stream:
            assert address(event) == hidden[0]
            break


@on_a_loop
async def test_what_is_taken_out_of_sight_is_no_news(clara: Client, era: str) -> None:
    admin = clara.as_("anna", "human", ["admin"])
    removed, erased = a_book(clara, "Removed"), a_book(clara, "Erased")
    uris = [f"shelf://books/{removed}", f"shelf://books/{erased}", "engross://facts"]

    def take_away() -> None:
        assert confirmed(clara, "shelf.remove-book", {"id": removed}).ok
        assert confirmed(admin, "record.erase", {"aggregate": "shelf", "subject": erased}).ok

    ear = Ear()
    async with connected(server_at(clara), era, message_handler=ear) as session:
        if era == LEGACY:
            for uri in uris:
                await subscribe(session, uri)
            await asyncio.to_thread(take_away)
            assert await ear.heard.get() == "engross://facts"
        else:
            async with session.listen(resource_subscriptions=uris) as stream:
                await asyncio.to_thread(take_away)
                async for event in stream:
                    assert address(event) == "engross://facts"
                    break
    while not ear.heard.empty():
        assert ear.heard.get_nowait() == "engross://facts"


@on_a_loop
async def test_what_the_policy_no_longer_lets_a_caller_read_is_no_news(
    clara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, other = a_book(clara), a_book(clara, "Emma")
    may_call = clara.office.may_call
    ear = Ear()
    async with connected(server_at(clara), LEGACY, message_handler=ear) as session:
        await subscribe(session, f"shelf://books/{book}")
        await subscribe(session, f"engross://facts/shelf/{other}")
        monkeypatch.setattr(
            clara.office,
            "may_call",
            lambda caller, flow, surface: flow.ref != "shelf.get-book" and may_call(caller, flow, surface),
        )
        await asyncio.to_thread(lambda: clara.shelf.change_book(id=book, notes="signed"))
        await asyncio.to_thread(lambda: clara.shelf.change_book(id=other, notes="signed"))
        assert await ear.heard.get() == f"engross://facts/shelf/{other}"


@on_a_loop
async def test_being_told_does_not_use_up_what_a_caller_may_read(house: Offices, tmp_path: Path) -> None:
    rates = 'rate_limit_surfaces = ["mcp-http"]\nrate_limits = { "shelf.get-book" = "2/hour" }\n'
    clara = house.open(policies=policies(tmp_path / "policies", rates))
    books = [a_book(clara, title) for title in ("Dune", "Emma", "Ulysses")]
    uris = [f"shelf://books/{book}" for book in books]
    async with connected(server_at(clara, surface="mcp-http"), MODERN) as session:
        async with session.listen(resource_subscriptions=uris) as stream:
            assert stream.honored.resource_subscriptions == uris
            for number in range(4):
                await asyncio.to_thread(clara.call, "shelf.change-book", {"id": books[0], "notes": str(number)})
                async for event in stream:
                    assert address(event) == uris[0]
                    break
        await session.read_resource(uris[0])
        with pytest.raises(MCPError) as refused:
            async with session.listen(resource_subscriptions=uris):
                pass
        assert refused.value.data["reply"]["message_key"] == "RATE_LIMIT_EXCEEDED"


@on_a_loop
async def test_when_nobody_listens_any_more_nobody_looks(clara: Client) -> None:
    feed = clara.office.feed
    async with connected(server_at(clara), LEGACY) as session:
        await subscribe(session, "engross://facts")
        assert not feed.is_idle
    await asyncio.to_thread(wait_for, lambda: feed.is_idle)
    async with connected(server_at(clara), MODERN) as session:
        async with session.listen(resource_subscriptions=["engross://facts"]):
            assert not feed.is_idle
        await asyncio.to_thread(wait_for, lambda: feed.is_idle)


@on_a_loop
async def test_there_is_an_end_to_how_much_one_session_may_want(clara: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engross.surfaces.mcp.subscriptions.MOST_ADDRESSES", 2)
    async with connected(server_at(clara), LEGACY) as session:
        await subscribe(session, "engross://facts")
        await subscribe(session, "engross://proposals")
        with pytest.raises(MCPError) as refused:
            await subscribe(session, "shelf://authors")
        assert refused.value.code == -32602
    monkeypatch.setattr("engross.surfaces.mcp.subscriptions.MOST_STREAMS", 0)
    async with connected(server_at(clara), MODERN) as session:
        with pytest.raises(MCPError):
            async with session.listen(resource_subscriptions=["engross://facts"]):
                pass


@pytest.mark.requirement("GOV-04")
@on_a_loop
async def test_a_session_whose_token_is_revoked_hears_nothing_any_more(curator: Client) -> None:
    ada = curator.as_("ada", "human", ["admin"])
    made = ada.call("door.create-token", {"principal": "carla", "type": "agent", "roles": ["agent"]})
    token = made.data["token"]["id"]
    revoked, standing = Ear(), Ear()
    async with (
        connected(server_at(curator, replace(AGENT, credential=token)), LEGACY, message_handler=revoked) as one,
        connected(server_at(curator, AGENT), LEGACY, message_handler=standing) as other,
    ):
        for session in (one, other):
            await subscribe(session, "shelf://authors")
        await asyncio.to_thread(lambda: a_book(curator, "Before"))
        assert await revoked.heard.get() == await standing.heard.get() == "shelf://authors"
        await asyncio.to_thread(lambda: ada.call("door.revoke-token", {"token_id": token}))
        await asyncio.to_thread(lambda: a_book(curator, "After"))
        assert await standing.heard.get() == "shelf://authors"
        await one.list_prompts()
        assert revoked.heard.empty()


@pytest.mark.requirement("GOV-04")
@on_a_loop
async def test_a_stream_ends_when_the_token_is_revoked(served: Served) -> None:
    number, token = served.token_with_id("carla", "agent", "agent")
    async with (
        over_http(served, token, MODERN) as session,
        session.listen(resource_subscriptions=["shelf://authors"]) as stream,
    ):
        revoked = await asyncio.to_thread(served.call, "door.revoke-token", {"token_id": number})
        assert revoked.status_code == 200
        assert [event async for event in stream] == []


@pytest.mark.requirement("GOV-02")
@pytest.mark.parametrize("topic", TOPICS)
@on_a_loop
async def test_over_a_pipe_changes_are_heard_too(house: Offices, era: str, topic: str) -> None:
    clara = house.open()
    scout = clara.as_("scout", "agent", ["agent"])
    news = news_of(topic, lambda *call: data_of(clara.call(*call)), lambda *call: data_of(scout.call(*call)))
    ear = Ear()
    async with connected(stdio_parameters(house.folder), era, message_handler=ear) as session:
        if era == LEGACY:
            await subscribe(session, news.uri)
            await asyncio.to_thread(news.happens)
            assert await ear.heard.get() == news.uri
        else:
            await heard_on_a_stream(session, news)


@pytest.mark.requirement("GOV-02")
@pytest.mark.parametrize("topic", TOPICS)
@on_a_loop
async def test_over_http_changes_are_heard_too(served: Served, era: str, topic: str) -> None:
    def asked(token: str) -> Asked:
        return lambda *call: dict(served.call(*call, token=token).raise_for_status().json())

    news = news_of(topic, asked(served.owner), asked(served.agent))
    ear = Ear()
    async with over_http(served, served.agent, era, message_handler=ear) as session:
        if era == LEGACY:
            await subscribe(session, news.uri)
            await until_notifications_arrive(session, ear, asked(served.owner))
            await asyncio.to_thread(news.happens)
            while await ear.heard.get() != news.uri:
                pass
        else:
            await heard_on_a_stream(session, news)


async def heard_on_a_stream(session: Any, news: News) -> None:
    async with session.listen(resource_subscriptions=[news.uri]) as stream:
        await asyncio.to_thread(news.happens)
        async for event in stream:
            assert address(event) == news.uri
            break


async def until_notifications_arrive(session: Any, ear: Ear, owner: Asked) -> None:
    """The stream for them is opened in the background: until it is there, they are lost."""
    await subscribe(session, "shelf://authors")
    first = asyncio.ensure_future(ear.heard.get())
    while not first.done():
        await asyncio.to_thread(owner, "shelf.add-book", a_wish())
    assert first.result() == "shelf://authors"


@pytest.mark.requirement("GOV-04")
@on_a_loop
async def test_a_credential_that_was_revoked_before_anybody_listened_hears_nothing(clara: Client) -> None:
    admin = clara.as_("anna", "human", ["admin"])
    made = await admin.door.create_token.acall(principal="scout", type="agent", roles=["agent"])
    token = made.data["token"]["id"]
    caller = await clara.office.door.admit(clara.office.door.text_of(clara.tenant, token))
    async with connected(server_at(clara, caller, "mcp-http"), MODERN) as session:
        assert (await admin.door.revoke_token.acall(token_id=token)).ok
        with pytest.raises(MCPError):
            async with session.listen(resource_subscriptions=["shelf://authors"]):
                pass


@on_a_loop
async def test_a_credential_that_is_revoked_while_somebody_begins_to_listen_hears_nothing(
    clara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, door, loop = clara.as_("anna", "human", ["admin"]), clara.office.door, asyncio.get_running_loop()
    token = (await admin.door.create_token.acall(principal="scout", type="agent", roles=["agent"])).data["token"]["id"]
    caller = await door.admit(door.text_of(clara.tenant, token))
    is_good, told = door.is_good, asyncio.Event()

    def heard(change: Change) -> None:
        loop.call_soon_threadsafe(told.set)

    async def is_good_and_then_revoked(caller: Caller) -> bool:
        good = await is_good(caller)
        # Whoever began to listen before this hears of it before this.
        leave = await asyncio.to_thread(clara.office.feed.listen, clara.tenant, heard)
        assert (await admin.door.revoke_token.acall(token_id=token)).ok
        await told.wait()
        leave()
        return good

    monkeypatch.setattr(door, "is_good", is_good_and_then_revoked)
    async with connected(server_at(clara, caller, "mcp-http"), MODERN) as session:
        with pytest.raises(MCPError):
            async with session.listen(resource_subscriptions=["shelf://authors"]):
                pass


@on_a_loop
async def test_a_stream_ends_with_the_time_of_its_credential(clara: Client) -> None:
    caller = replace(AGENT, until=time.time() + 0.3)
    async with (
        connected(server_at(clara, caller, "mcp-http"), MODERN) as session,
        session.listen(resource_subscriptions=["shelf://authors"]) as heard,
    ):
        async for _ in heard:
            raise AssertionError("nothing was committed")


@on_a_loop
async def test_what_the_ledger_says_of_tokens_is_not_for_an_agents_ear(clara: Client) -> None:
    wanted = ["engross://facts/door/tok_1", "shelf://authors"]
    async with (
        connected(server_at(clara), MODERN) as session,
        session.listen(resource_subscriptions=wanted) as heard,
    ):
        assert heard.honored.resource_subscriptions == ["shelf://authors"]
