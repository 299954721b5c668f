"""The Python surface: flows as methods, Replies back."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from engross.calls import Principal
from engross.replies import Reply
from engross.surfaces.client import Client, connect
from tests.bed.offices import Offices, shelf


def test_a_flow_is_a_method_and_a_call_by_ref_is_the_same(curator: Client) -> None:
    assert curator.shelf.add_book(title="Dune").message_key == "CREATED"
    assert curator.call("shelf.add-book", {"title": "dune"}).message_key == "DUPLICATE_NAME"


def test_a_call_can_be_awaited(curator: Client) -> None:
    async def calls() -> tuple[str, str, str]:
        made = await curator.shelf.add_book.acall(title="Dune")
        book = await curator.acall("shelf.get-book", {"id": made.data["book"]["id"]})
        books = await curator.acall("shelf.list-books")
        return made.message_key, book.data["book"]["title"], books.data["books"][0]["title"]

    assert asyncio.run(calls()) == ("CREATED", "Dune", "Dune")


def test_many_tasks_and_threads_may_call_at_once(curator: Client) -> None:
    async def tasks() -> list[bool]:
        return [reply.ok for reply in await asyncio.gather(*(one(number) for number in range(20)))]

    async def one(number: int) -> Reply:
        return await curator.acall("shelf.add-book", {"title": f"Task {number}"})

    def thread(number: int) -> None:
        assert curator.shelf.add_book(title=f"Thread {number}").ok

    threads = [threading.Thread(target=thread, args=(number,)) for number in range(8)]
    for one_thread in threads:
        one_thread.start()
    assert all(asyncio.run(tasks()))
    for one_thread in threads:
        one_thread.join()
    assert len(curator.shelf.list_books(limit=100).data["books"]) == 28


def test_a_dry_run_says_what_would_be_and_writes_nothing(curator: Client) -> None:
    tried = curator.shelf.add_book.dry_run(title="Dune")
    assert (tried.message_key, tried.data["would"]["mode"]) == ("VALIDATION_DONE", "direct")
    assert curator.shelf.list_books().data["books"] == []


def test_an_unknown_method_or_aggregate_is_a_python_error(curator: Client) -> None:
    with pytest.raises(AttributeError):
        curator.shelf.burn_books  # noqa: B018
    with pytest.raises(AttributeError):
        curator.shelves  # noqa: B018


def test_an_unknown_ref_is_invalid_and_names_the_nearest(curator: Client) -> None:
    refused = curator.call("shelf.add-bok")
    assert refused.message_key == "UNKNOWN_OPERATION"
    assert refused.data["suggestions"]["did_you_mean"][0] == "shelf.add-book"


def test_whoever_opens_the_folder_is_a_curator_unless_told_otherwise(tmp_path: Path) -> None:
    with connect(tmp_path / "office", shelf()) as office:
        assert (office.principal.type, office.principal.roles) == ("human", frozenset({"curator"}))
    viewer = Principal("vera", "human", frozenset({"viewer"}))
    with connect(tmp_path / "office", shelf(), principal=viewer) as office:
        assert office.shelf.add_book(title="Dune").reply_type == "D"
        assert office.shelf.list_books().ok


def test_a_closed_office_answers_with_an_error_and_keeps_what_it_had(offices: Offices) -> None:
    office = offices.open()
    assert office.shelf.add_book(title="Dune").ok
    office.close()
    assert office.shelf.add_book(title="Emma").message_key == "STORE_UNAVAILABLE"
    assert [book["title"] for book in offices.open().shelf.list_books().data["books"]] == ["Dune"]


def test_an_office_may_be_closed_twice(tmp_path: Path) -> None:
    office = connect(tmp_path / "office", shelf())
    office.close()
    office.close()


def test_one_role_may_be_given_as_a_word_and_a_made_up_kind_of_principal_is_refused(curator: Client) -> None:
    assert curator.as_("carl", "human", "curator").principal.roles == frozenset({"curator"})
    with pytest.raises(ValueError, match="human, agent, service"):
        curator.as_("robbie", "robot")  # type: ignore[arg-type]
