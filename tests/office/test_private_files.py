"""What belongs to single users: others neither see, fetch nor erase it, and do not learn that it is there."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.memory.kept import memory_at

LETTER = b"Dear Bob, the results are in."
HASH = sha256(LETTER).hexdigest()
NOWHERE = "0" * 64


class Town:
    """Bob, who has something of his own, and those around him."""

    def __init__(self, offices: Offices) -> None:
        self.clara = offices.open(shelf(), memory_at(offices.folder))
        self.bob = self.clara.as_("bob", "human", ["contributor"])
        self.his_agent = self.clara.as_("agent:bob", "agent", ["agent"])
        self.strangers = [
            self.clara.as_("eve", "human", ["contributor"]),
            self.clara.as_("agent:eve", "agent", ["agent"]),
            self.clara.as_("robot", "service", ["curator", "admin"]),
        ]


@pytest.fixture
def town(offices: Offices) -> Town:
    """On each engine in turn."""
    return Town(offices)


def kept(client: Client, name: str = "results.txt") -> Reply:
    answer = client.upload(LETTER, name=name, media_type="text/plain")
    assert answer.ok, answer
    return answer


def fetched(client: Client, digest: str = HASH) -> bytes | None:
    stream = BytesIO()
    return stream.getvalue() if client.download(digest, stream).ok else None


def asked(client: Client, flow: str, **arguments: Any) -> tuple[str, Any]:
    """What is answered, without the id that was asked for."""
    answer = client.call(flow, arguments)
    return answer.message_key, answer.data.get("errors") and len(answer.data["errors"])


def test_a_file_is_shown_to_who_uploaded_it_to_their_agent_and_to_reviewers(town: Town) -> None:
    kept(town.bob)
    assert [fetched(one) for one in (town.bob, town.his_agent, town.clara)] == [LETTER] * 3
    for stranger in town.strangers:
        assert fetched(stranger) is None
        assert asked(stranger, "record.get-blob", content_hash=HASH) == asked(
            stranger, "record.get-blob", content_hash=NOWHERE
        )
        assert "results.txt" not in str(stranger.call("record.read-facts", {}).data)


def test_who_brings_the_same_bytes_has_them_under_a_name_of_their_own(town: Town) -> None:
    kept(town.bob)
    eve = town.strangers[0]
    assert kept(eve, "mine.txt").message_key == "CREATED"
    assert eve.call("record.get-blob", {"content_hash": HASH}).data["blob"]["name"] == "mine.txt"
    assert town.bob.call("record.get-blob", {"content_hash": HASH}).data["blob"]["name"] == "results.txt"
    assert fetched(eve) == LETTER
    assert town.clara.office.rebuild(town.clara.tenant).same


def test_nobody_takes_anothers_upload_into_their_memory(town: Town) -> None:
    kept(town.bob)
    arguments = {"content_hash": HASH}
    assert town.strangers[0].call("memory.ingest", arguments).message_key == "RECORD_NOT_FOUND"
    assert town.his_agent.call("memory.ingest", arguments).ok


def test_a_file_can_be_erased_by_who_may_see_it(town: Town) -> None:
    kept(town.bob)
    erasure = {"aggregate": "record", "subject": HASH}
    for stranger in town.strangers:
        assert stranger.call("record.erase", erasure, dry_run=True).message_key == "RECORD_NOT_FOUND"
    token = town.clara.call("record.erase", erasure).data["confirm_token"]
    assert town.clara.call("record.erase", {**erasure, "confirm_token": token}).message_key == "ERASED"
    assert [fetched(one) for one in (town.bob, town.clara)] == [None, None]
    assert town.clara.office.rebuild(town.clara.tenant).same
    assert kept(town.bob).message_key == "CREATED"
    assert fetched(town.bob) == LETTER


def test_who_does_not_see_a_memory_can_neither_erase_it_nor_find_out_about_it(town: Town) -> None:
    said = town.bob.call("memory.ingest-structured", {"entities": [{"entity_type": "person", "name": "Hans"}]})
    subject = {"aggregate": "memory", "subject": said.data["source_id"]}
    nobody = {"aggregate": "memory", "subject": "nowhere"}
    for stranger in town.strangers:
        assert asked(stranger, "record.erase", **subject) == asked(stranger, "record.erase", **nobody)
        rehearsed = stranger.call("record.erase", subject, dry_run=True)
        assert rehearsed.message_key == "RECORD_NOT_FOUND"
    assert town.bob.call("record.erase", subject).data["status"] == "proposed"
    assert town.clara.call("record.erase", subject).message_key == "CONFIRMATION_REQUIRED"


def test_who_does_not_see_a_proposal_cannot_propose_to_erase_it(town: Town) -> None:
    hans = {"entities": [{"entity_type": "person", "name": "Hans"}], "commit_mode": "proposal"}
    proposal = town.bob.call("memory.ingest-structured", hans).data["proposal"]["id"]
    subject = {"aggregate": "proposals", "subject": proposal}
    assert {one.call("record.erase", subject).message_key for one in town.strangers} == {"RECORD_NOT_FOUND"}


def test_a_receipt_is_shown_to_who_may_see_what_it_vouches_for(town: Town) -> None:
    said = town.bob.call("memory.ingest-structured", {"entities": [{"entity_type": "person", "name": "Hans"}]})
    shared = town.clara.call("shelf.add-book", {"title": "Dune"})
    for reply, seen in ((said, False), (shared, True)):
        position = {"position": reply.data["position"]}
        assert all(one.call("record.get-receipt", position).ok for one in (town.bob, town.his_agent, town.clara))
        assert {one.call("record.get-receipt", position).ok for one in town.strangers} == {seen}
