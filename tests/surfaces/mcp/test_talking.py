"""A flow talks with whoever waits for it: how far it is, what it noticed, what it wants to know."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from engross.surfaces.client import Client
from tests.bed.served import wait_for
from tests.surfaces.mcp.house import (
    LEGACY,
    MODERN,
    connected,
    envelope,
    key_of,
    on_a_loop,
    piped,
    server_at,
    stdio_parameters,
    told,
)

Answers = list[dict[str, Any] | None]


class Person:
    """Answers what a client is asked, and remembers it."""

    def __init__(self, *answers: dict[str, Any] | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        content = self.answers.pop(0)
        if content is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=content)


@on_a_loop
async def test_a_flow_tells_how_far_it_is_in_order(clara: Client, era: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with connected(server_at(clara), era) as session:
        assert told(await session.call_tool("count", {}, progress_callback=hear))["counted"] == 3
        assert heard == [(1, 3, "1 of 3"), (2, 3, "2 of 3"), (3, 3, "3 of 3")]
        assert told(await session.call_tool("count", {}))["counted"] == 3
    assert len(heard) == 3


@on_a_loop
async def test_a_long_call_is_reported_although_its_flow_says_nothing(era: str, tmp_path: Path) -> None:
    done, heard = tmp_path / "done", []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)
        if len(heard) == 2:
            done.touch()

    async with connected(stdio_parameters(tmp_path / "office"), era) as session:
        wish = {"until": str(done)}
        assert told(await session.call_tool("wait", wish, progress_callback=hear))["waited"] is True
    assert heard[:2] == [1, 2]


@on_a_loop
async def test_a_client_of_the_handshake_era_chooses_which_remarks_it_gets(clara: Client) -> None:
    heard: list[Any] = []

    async def hear(params: types.LoggingMessageNotificationParams) -> None:
        heard.append((params.level, params.data))

    async with connected(server_at(clara), LEGACY, logging_callback=hear) as session:
        await session.call_tool("count", {})
        assert heard == [("info", {"counted": number}) for number in (1, 2, 3)]
        heard.clear()
        await session.session.send_request(
            types.SetLevelRequest(params=types.SetLevelRequestParams(level="debug")), types.EmptyResult
        )
        await session.call_tool("count", {})
        assert len(heard) == 6
        heard.clear()
        await session.session.send_request(
            types.SetLevelRequest(params=types.SetLevelRequestParams(level="error")), types.EmptyResult
        )
        await session.call_tool("count", {})
        assert heard == []


@on_a_loop
async def test_a_client_of_the_later_era_gets_remarks_when_it_asks_for_them(clara: Client) -> None:
    heard: list[Any] = []

    async def hear(params: types.LoggingMessageNotificationParams) -> None:
        heard.append(params.level)

    async with connected(server_at(clara), MODERN, logging_callback=hear) as session:
        await session.call_tool("count", {})
        assert heard == []
    async with connected(server_at(clara), MODERN, logging_callback=hear, log_level="debug") as session:
        await session.call_tool("count", {})
    assert heard == ["info", "debug"] * 3


@on_a_loop
async def test_a_flow_asks_one_thing_after_the_other(clara: Client, era: str) -> None:
    person = Person({"name": "Ada"}, {"colour": "green"})
    async with connected(server_at(clara), era, elicitation_callback=person) as session:
        answer = told(await session.call_tool("introduce", {}))
    assert answer["said"] == "Ada likes green"
    assert person.asked == ["What is your name?", "Which colour do you like?"]


@on_a_loop
async def test_a_flow_hears_that_a_person_does_not_want_to_say(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era, elicitation_callback=Person(None)) as session:
        assert told(await session.call_tool("introduce", {}))["said"] == "no name"


@on_a_loop
async def test_where_nobody_can_be_asked_a_flow_can_tell_and_asking_is_invalid(clara: Client, era: str) -> None:
    async with connected(server_at(clara), era) as session:
        assert told(await session.call_tool("introduce", {}))["said"] == "nobody to ask"
        if era == LEGACY:
            refused = told(await session.call_tool("insist", {}))
        else:
            with pytest.raises(MCPError) as raised:
                await session.call_tool("insist", {})
            assert raised.value.code == -32021
            refused = raised.value.data
            assert refused["requiredCapabilities"] == {"elicitation": {}}
    assert refused["reply"]["message_key"] == "INPUT_REQUIRED"
    assert refused["questions"]["name"]["method"] == "elicitation/create"
    embedded = clara.talk.insist()
    assert (embedded.reply_type, embedded.message_key) == ("I", "INPUT_REQUIRED")


@on_a_loop
async def test_the_model_and_the_roots_can_be_asked_at_once(clara: Client, era: str) -> None:
    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        words = types.TextContent(type="text", text="Paris")
        return types.CreateMessageResult(role="assistant", content=words, model="test")

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///work"})])

    callbacks: dict[str, Any] = {"sampling_callback": sample, "list_roots_callback": roots}
    async with connected(server_at(clara), era, **callbacks) as session:
        answer = told(await session.call_tool("consult", {}))
    assert (answer["capital"], answer["folders"]) == ("Paris", 1)


@on_a_loop
async def test_prompts_and_resources_can_ask_as_well(clara: Client, era: str) -> None:
    person = Person({"name": "Ada"})
    async with connected(server_at(clara), era, elicitation_callback=person) as session:
        prompt = await session.get_prompt("greet")
    assert isinstance(prompt.messages[0].content, types.TextContent)
    assert prompt.messages[0].content.text == "Greet Ada."
    person = Person({"name": "Ada"}, {"colour": "green"})
    async with connected(server_at(clara), era, elicitation_callback=person) as session:
        read = await session.read_resource("talk://asking")
    assert isinstance(read.contents[0], types.TextResourceContents)
    assert read.contents[0].text == "Ada likes green"


class TestOnTheWire:
    """The later era, where the client sends the request again with its answers."""

    @pytest.fixture(scope="class")
    @classmethod
    def pipe(cls, tmp_path_factory: pytest.TempPathFactory) -> Any:
        folder = tmp_path_factory.mktemp("rounds") / "office"
        with piped(folder, role="curator", type="human", name="clara") as pipe:
            yield pipe

    def call(self, pipe: Any, name: str = "introduce", **more: Any) -> dict[str, Any]:
        meta = {"_meta": envelope(elicitation={})}
        result: dict[str, Any] = pipe.ask("tools/call", {"name": name, "arguments": {}, **meta, **more})
        return result

    def accepted(self, **content: Any) -> dict[str, Any]:
        return {"action": "accept", "content": content}

    def test_each_round_says_what_is_missing(self, pipe: Any) -> None:
        first = self.call(pipe)["result"]
        assert first["resultType"] == "input_required"
        assert list(first["inputRequests"]) == ["name"]
        second = self.call(
            pipe, inputResponses={"name": self.accepted(name="Ada")}, requestState=first["requestState"]
        )["result"]
        assert list(second["inputRequests"]) == ["colour"]
        third = self.call(
            pipe, inputResponses={"colour": self.accepted(colour="green")}, requestState=second["requestState"]
        )["result"]
        assert third["resultType"] == "complete"
        assert third["structuredContent"]["said"] == "Ada likes green"

    @pytest.mark.parametrize(
        "responses",
        [
            {},
            {"other": {"action": "accept", "content": {"name": "Ada"}}},
            {"name": {"action": "accept", "content": {}}},
            {"name": {"action": "accept", "content": {"name": 7}}},
            {"name": {"action": "accept"}},
        ],
    )
    def test_an_answer_that_does_not_fit_is_asked_for_again(self, pipe: Any, responses: dict[str, Any]) -> None:
        first = self.call(pipe)["result"]
        again = self.call(pipe, inputResponses=responses, requestState=first["requestState"])["result"]
        assert again["resultType"] == "input_required"
        assert list(again["inputRequests"]) == ["name"]

    def test_state_that_was_tampered_with_is_refused(self, pipe: Any) -> None:
        state = self.call(pipe)["result"]["requestState"]
        answers = {"name": self.accepted(name="Ada")}
        forged = (state[:-4] + "AAAA", "v1." + "A" * 80, "", "nonsense", '{"answers":{},"token":"x"}')
        for wrong in forged:
            refused = self.call(pipe, inputResponses=answers, requestState=wrong)
            assert refused["error"]["code"] == -32602
        elsewhere = self.call(pipe, "insist", inputResponses=answers, requestState=state)
        assert elsewhere["error"]["code"] == -32602

    def test_what_is_sealed_cannot_be_read(self, pipe: Any) -> None:
        first = self.call(pipe)["result"]
        second = self.call(
            pipe, inputResponses={"name": self.accepted(name="Ada")}, requestState=first["requestState"]
        )["result"]
        assert "Ada" not in second["requestState"]


@on_a_loop
async def test_when_a_call_is_over_nothing_more_is_said_and_nobody_waits_for_an_answer(
    clara: Client, tmp_path: Path
) -> None:
    heard: list[Any] = []
    released = tmp_path / "released"

    async def stall(context: Any, params: Any) -> types.ElicitResult:
        await asyncio.Event().wait()
        raise AssertionError

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def hear_remark(params: types.LoggingMessageNotificationParams) -> None:
        heard.append(params.data)

    callbacks: dict[str, Any] = {"elicitation_callback": stall, "logging_callback": hear_remark}
    async with connected(server_at(clara), LEGACY, **callbacks) as session:
        late = await session.call_tool("hurry", {"until": str(released)}, progress_callback=hear)
        assert key_of(late) == "TIMEOUT"
        await asyncio.to_thread(wait_for, released.exists)
        assert key_of(await session.call_tool("listBooks", {})) == "READ_OK"
    assert heard == []


@on_a_loop
async def test_a_client_that_breaks_off_in_the_middle_of_a_question_harms_nobody(clara: Client) -> None:
    server = server_at(clara)
    asked = asyncio.Event()

    async def stall(context: Any, params: Any) -> types.ElicitResult:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with connected(server, LEGACY, elicitation_callback=stall) as session:
        waiting = asyncio.ensure_future(session.call_tool("introduce", {}))
        await asked.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with connected(server, LEGACY) as session:
        assert key_of(await session.call_tool("listBooks", {})) == "READ_OK"
