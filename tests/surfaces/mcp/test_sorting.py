"""Over a pipe, too, the short way gives the answers that the SDK gives: the same lines are sent both ways."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.surfaces.desk import Desk
from engross.surfaces.mcp.lane import Lane
from engross.surfaces.mcp.pipes import Ending, Lines, pen_for, source_of
from engross.surfaces.mcp.stdio import converse
from tests.bed.offices import Offices, shelf
from tests.bed.served import wait_for
from tests.surfaces.mcp.house import CURATOR, SECONDS, envelope, hello, piped
from tests.surfaces.mcp.talkative import talkative
from tests.surfaces.mcp.test_lane import JSON, NOT_PLAIN, PLACES, PLAIN, _comparable, changed, message

# What only headers tell apart is nothing here.
ONLY_IN_HEADERS = {"another name in the header", "another method in the header", "a version nobody knows"} | {
    *("text in another type", "a charset", "JSON only", "anything", "nothing that we have"),
    *("a parameter in the headers", "a name in base64"),
}
OPENING = {"jsonrpc": "2.0", "id": "first", "method": "tools/list", "params": {"_meta": envelope()}}
LAST = {"jsonrpc": "2.0", "id": "last", "method": "tools/list", "params": {"_meta": envelope()}}


class ShutLane(Lane):
    """A short way that nobody can take."""

    def plain(self, body: bytes) -> None:
        """Nothing is plain."""


class Talk:
    """A conversation over pipes, in the later era, with an office of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, folder: Path, lane: type[Lane]) -> None:
        self._loop = loop
        self._offices = Offices(folder, None)
        self._desk = Desk(self._offices.open(shelf(), talkative()).office)
        self._lane = lane
        self._input, self._output = os.pipe(), os.pipe()
        self._answers = loop.run_until_complete(source_of(os.fdopen(self._output[0], "rb", buffering=0), Ending()))
        self._rest = b""
        self.life = loop.create_task(self._live())
        assert self.ask(OPENING)["id"] == "first"

    def ask(self, *lines: Any) -> Any:
        """Send lines; the next answer. Where none would come, that to another request comes."""
        for line in lines:
            os.write(self._input[1], line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        return self._loop.run_until_complete(asyncio.wait_for(self._next(), SECONDS))

    def close(self) -> None:
        """End."""
        os.close(self._input[1])
        self._loop.run_until_complete(asyncio.wait_for(self.life, SECONDS))
        self._offices.close()

    async def _live(self) -> None:
        lines = Lines(await source_of(os.fdopen(self._input[0], "rb", buffering=0), Ending()), 1 << 20)
        pen = await pen_for(os.fdopen(self._output[1], "wb", buffering=0))
        await converse(self._desk, CURATOR, lines, pen, lane=self._lane)
        await pen.finish(1.0)

    async def _next(self) -> Any:
        while b"\n" not in self._rest:
            self._rest += await self._answers.read(65536)
        line, self._rest = self._rest.split(b"\n", 1)
        return _comparable(json.loads(line))


class Counting(Lane):
    """The short way, which counts who takes it."""

    taken = 0

    async def answer(self, *args: Any) -> bytes | None:
        """Answer, and count it."""
        answer = await super().answer(*args)
        Counting.taken += answer is not None
        return answer


class TwoWays:
    """One conversation that takes the short way where it can, and one that never does."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.short = Talk(self.loop, folder / "short", Counting)
        self.long = Talk(self.loop, folder / "long", ShutLane)

    def ask(self, *lines: Any) -> tuple[Any, Any, bool]:
        """The same lines both ways, and whether the SDK had a hand in the first answer."""
        before = Counting.taken
        short = self.short.ask(*lines)
        return short, self.long.ask(*lines), Counting.taken == before

    def close(self) -> None:
        """End."""
        self.short.close()
        self.long.close()
        self.loop.close()


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoWays]:
    """Both ways."""
    made = TwoWays(tmp_path_factory.mktemp("ways"))
    yield made
    made.close()


@pytest.mark.parametrize("what", [name for name in PLAIN if name != "trace in the headers"])
def test_a_plain_call_is_answered_without_the_sdk_and_as_the_sdk_would(ways: TwoWays, what: str) -> None:
    short, long, by_sdk = ways.ask(PLAIN[what][1])
    assert not by_sdk
    assert short == long
    assert short["result"]["resultType"] == "complete"


@pytest.mark.parametrize("what", [name for name in NOT_PLAIN if name not in ONLY_IN_HEADERS])
def test_whatever_is_not_plain_is_left_to_the_sdk(ways: TwoWays, what: str) -> None:
    # A notification is not answered: the answer to another request shows that.
    following = [LAST] if what == "no id" else []
    short, long, by_sdk = ways.ask(NOT_PLAIN[what][1], *following)
    assert by_sdk
    assert short == long
    assert (short["id"] == "last") is bool(following)


def test_a_call_that_turns_out_to_be_a_question_is_the_sdks_after_all(ways: TwoWays) -> None:
    short, long, by_sdk = ways.ask(message("insist", {}))
    assert by_sdk
    assert short == long
    assert "error" in short


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), value=JSON)
def test_a_line_with_anything_anywhere_is_answered_alike_both_ways(ways: TwoWays, place: str, value: Any) -> None:
    # Some lines are no requests: an answer to another one shows that there is none to them.
    short, long, _ = ways.ask(json.dumps(changed(place, value)).encode() + b"\n", LAST)
    while short["id"] != "last":
        assert short == long
        short, long, _ = ways.ask()
    assert long["id"] == "last"


@pytest.mark.parametrize("number", [7, "7"])
def test_a_call_that_is_taken_back_is_not_answered(tmp_path: Path, number: int | str) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    with piped(tmp_path / "office") as pipe:
        pipe.write(json.dumps(OPENING).encode())
        assert pipe.read()["id"] == "first"
        pipe.write(json.dumps(message("wait", {"begun": str(begun), "until": str(until)})).encode())
        wait_for(begun.exists)
        back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        pipe.write(json.dumps(back).encode())
        pipe.write(json.dumps(message("listBooks", {}, id=8)).encode())
        assert pipe.read()["id"] == 8
        until.touch()


def test_calls_run_side_by_side_and_are_answered_before_the_end(tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    with piped(tmp_path / "office") as pipe:
        pipe.write(json.dumps(OPENING).encode())
        assert pipe.read()["id"] == "first"
        pipe.write(json.dumps(message("wait", {"begun": str(begun), "until": str(until)})).encode())
        wait_for(begun.exists)
        pipe.write(json.dumps(message("listBooks", {}, id=8)).encode())
        assert pipe.read()["id"] == 8
        assert pipe.process.stdin is not None
        pipe.process.stdin.flush()
        until.touch()
        out, _ = pipe.end()
    assert json.loads(out)["result"]["structuredContent"]["waited"] is True


def test_a_call_with_the_id_of_one_that_still_runs_is_left_to_the_sdk(tmp_path: Path) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    with piped(tmp_path / "office") as pipe:
        pipe.write(json.dumps(OPENING).encode())
        assert pipe.read()["id"] == "first"
        pipe.write(json.dumps(message("wait", {"begun": str(begun), "until": str(until)})).encode())
        wait_for(begun.exists)
        pipe.write(json.dumps(message("listBooks", {})).encode())
        assert "books" in pipe.read()["result"]["structuredContent"]
        until.touch()
        assert pipe.read()["result"]["structuredContent"]["waited"] is True


def test_where_hands_were_shaken_there_is_no_short_way(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        pipe.ask("initialize", hello())
        pipe.write(json.dumps(message("listBooks", {})).encode())
        assert pipe.read()["error"]["code"] == -32600


def test_the_first_request_opens_the_era_even_if_it_is_plain(tmp_path: Path) -> None:
    with piped(tmp_path / "office") as pipe:
        pipe.write(json.dumps(message("listBooks", {})).encode())
        assert pipe.read()["result"]["structuredContent"]["books"] == []
        assert "error" in pipe.ask("initialize", hello())
