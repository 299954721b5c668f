"""What answers in whole Replies, and still is no office: its answers hold other things than those of an office."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from engross.replies import codes, reply
from engross.replies.envelopes import REPLY_JSON, neutral
from tests.surfaces.cli.shell import run
from tests.surfaces.cli.test_visit import Answer, answering

LISTED = ("facts", "tokens", "proposals")
ODD: dict[str, Any] = {
    "nothing": {},
    "a text": {name: "x" for name in LISTED},
    "numbers": {name: [1] for name in LISTED},
    "hollow": {**{name: [{}] for name in LISTED}, "next": "x", "next_cursor": 5},
}
LISTS = (["facts"], ["token", "list"], ["proposals", "list"])


def answered(words: list[str], data: object) -> tuple[int, str, str]:
    """What a command makes of this answer; its exit code, output and refusal."""
    body = orjson.dumps({**neutral(reply(codes.READ_OK)), "data": data})

    def told(*_: object) -> Answer:
        return 200, {"Content-Type": REPLY_JSON}, body

    with answering(told) as url:
        done = run(*words, "--url", url, "--token", "egr_x")
    return done.code, done.out, done.err


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
@pytest.mark.parametrize("what", ["nothing", "a text", "numbers"])
def test_what_answers_with_other_things_is_no_office(words: list[str], what: str) -> None:
    code, _, told = answered(words, ODD[what])
    assert code == 4
    assert told.startswith("OFFICE_UNREACHABLE")


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_hollow_answer_is_no_crash_of_ours(words: list[str]) -> None:
    assert "SYS_CRASH" not in answered(words, ODD["hollow"])[2]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_who_asks_for_json_gets_one_answer_as_it_came(words: list[str]) -> None:
    code, out, _ = answered([*words, "--json"], {})
    assert (code, orjson.loads(out)["reply"]["message_key"]) == (0, "READ_OK")
