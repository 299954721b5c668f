"""Next steps: thought of when the outcome is certain, on whichever thread that takes, and for a retry as well."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from threading import Thread, current_thread
from typing import Any

import pytest

from engross.flows import Aggregate, FlowDefinitionError
from engross.ledger import Reader
from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices
from tests.pipeline.board import board

LONG = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 60000)
SELECT max(n) AS n FROM numbers
"""
"""More steps than a reader takes before it looks at its time twice, and over in a moment all the same."""

Suggester = Callable[..., list[Any]]


def suggesting(suggester: Suggester, **how: bool) -> Aggregate:
    """A board on which painting a note suggests something."""
    aggregate = board()
    aggregate.flows["paint-note"].suggest(suggester, **how)
    return aggregate


def painted(curator: Client, **more: Any) -> Reply:
    """The Reply to a caller on an event loop."""
    note = curator.board.pin_note(text="a", client_request_id="pinned-1").data["note"]
    call = {"id": note["id"], "colour": "blue", "client_request_id": "painted-1", **more}
    answer: Reply = asyncio.run(curator.acall("board.paint-note", call))
    assert answer.message_key == "UPDATED"
    return answer


def test_a_retry_is_told_what_the_first_answer_suggested(offices: Offices) -> None:
    thought: list[Mapping[str, Any]] = []

    def think(answer: Mapping[str, Any]) -> list[str]:
        thought.append(answer)
        return [f"Paint {answer['note']['id']} once more — thought of {len(thought)} times."]

    curator = offices.open(suggesting(think, alone=True))
    first, again, third = (painted(curator) for _ in range(3))
    assert "1 times" in first.data["suggestions"][0]
    assert first.data["suggestions"] == again.data["suggestions"] == third.data["suggestions"]
    assert third.data["idempotent_replay"]


@pytest.mark.parametrize("inline", [False, True])
def test_what_a_look_at_the_store_suggests_is_looked_up_anew_for_a_retry(offices: Offices, inline: bool) -> None:
    def think(reader: Reader, answer: Mapping[str, Any]) -> list[str]:
        return [row["text"] for row in reader.rows("SELECT text FROM notes WHERE tenant = :tenant ORDER BY text")]

    curator = offices.open(suggesting(think, inline=inline))
    assert painted(curator).data["suggestions"] == ["a"]
    curator.board.pin_note(text="b")
    again = painted(curator)
    assert (again.data["idempotent_replay"], again.data["suggestions"]) == (True, ["a", "b"])


def test_a_look_by_key_is_made_in_place_where_the_store_is_in_this_process(offices: Offices, store_kind: str) -> None:
    threads: list[Thread] = []

    def think(reader: Reader, answer: Mapping[str, Any]) -> list[str]:
        threads.append(current_thread())
        found = reader.row("SELECT colour FROM notes WHERE tenant = :tenant AND id = :id", id=answer["note"]["id"])
        return [found["colour"] if found else "gone"]

    curator = offices.open(suggesting(think, inline=True))
    assert painted(curator).data["suggestions"] == ["blue"]
    assert (threads == [current_thread()]) is (store_kind == "sqlite")


def test_a_look_that_is_not_brief_after_all_is_made_on_another_thread(offices: Offices) -> None:
    threads: list[Thread] = []

    def think(reader: Reader, answer: Mapping[str, Any]) -> list[Any]:
        threads.append(current_thread())
        return [row["n"] for row in reader.rows(LONG)]

    curator = offices.open(suggesting(think, inline=True))
    assert painted(curator).data["suggestions"] == [60000]
    assert threads[-1] is not current_thread()


def test_who_looks_at_nothing_does_not_look_in_place() -> None:
    with pytest.raises(FlowDefinitionError):
        suggesting(lambda reader, answer: [], alone=True, inline=True)
