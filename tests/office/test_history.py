"""All facts about one subject, and the last commits."""

from __future__ import annotations

from engross.surfaces.client import Client


def test_the_history_of_a_record_is_its_facts_in_order(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    curator.shelf.add_book(title="Emma")
    curator.shelf.change_book(id=book, notes="Read twice.")
    read = curator.record.read_history(aggregate="shelf", subject=book)
    assert [(fact["subject"], fact["data"]["version"]) for fact in read.data["facts"]] == [(book, 1), (book, 2)]
    assert read.data["next"] is None


def test_a_history_comes_in_pages(curator: Client) -> None:
    book = curator.shelf.add_book(title="Dune").data["book"]["id"]
    for number in range(3):
        curator.shelf.change_book(id=book, notes=f"{number}")
    seen, after = [], 0
    while after is not None:
        page = curator.record.read_history(aggregate="shelf", subject=book, after=after, limit=2).data
        seen += [fact["data"]["version"] for fact in page["facts"]]
        after = page["next"]
    assert seen == [1, 2, 3, 4]
    assert curator.record.read_history(aggregate="shelf", subject=book, after=4).data["facts"] == []


def test_a_subject_without_facts_is_not_there(curator: Client) -> None:
    there = curator.as_("dora", "human", ["curator"], tenant="elsewhere")
    book = there.shelf.add_book(title="Dune").data["book"]["id"]
    assert curator.record.read_history(aggregate="shelf", subject=book).message_key == "RECORD_NOT_FOUND"


def test_the_last_commits_can_be_asked_for(curator: Client) -> None:
    added = [curator.shelf.add_book(title=f"Book {number}").data["book"]["id"] for number in range(4)]
    latest = curator.record.read_facts(latest=True, limit=2)
    assert [fact["subject"] for fact in latest.data["facts"]] == added[-2:]
    assert latest.data["next"] == latest.data["facts"][-1]["position"]
