"""What somebody proposes about a memory is known to them, to their agent, and to the people who review."""

from __future__ import annotations

from typing import Any

import pytest

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.bed.offices import shelf
from tests.memory.kept import Library, done, memory_at

HANS = {"entity_type": "person", "name": "Hidden Hans", "ssn": "999"}


def proposed(client: Client) -> str:
    answer = client.call("memory.ingest-structured", {"entities": [HANS], "commit_mode": "proposal"})
    identifier: str = done(answer)["proposal"]["id"]
    return identifier


def listed(client: Client, **wanted: Any) -> list[str]:
    return [one["id"] for one in done(client.call("proposals.list-proposals", wanted))["proposals"]]


def facts(client: Client) -> str:
    return str(done(client.call("record.read-facts", {"limit": 100})))


def looks(client: Client, proposal: str) -> list[Reply]:
    """Every way to ask for a proposal by its id."""
    asked = {"proposal_id": proposal}
    return [
        client.call("proposals.get-proposal", asked),
        client.call("proposals.submit-proposal", asked),
        client.call("proposals.withdraw-proposal", asked),
        client.call("proposals.rebase-proposal", asked),
        client.call("memory.retrieve-entities", {"limit": 1, **asked}),
        client.call("memory.ingest-structured", {"entities": [{"entity_type": "person", "name": "X"}], **asked}),
    ]


def test_nobody_else_learns_of_it(library: Library) -> None:
    bob = library.clara.as_("bob", "human", ["contributor"])
    proposal = proposed(bob)
    (touched,) = bob.call("proposals.get-proposal", {"proposal_id": proposal}).data["proposal"]["based_on"]
    strangers = [
        library.clara.as_("eve", "human", ["contributor"]),
        library.clara.as_("agent:eve", "agent", ["agent"]),
        library.clara.as_("robot", "service", ["curator", "admin"]),
    ]
    for stranger in strangers:
        assert listed(stranger) == listed(stranger, target=touched) == listed(stranger, author="bob") == []
        unknown = [answer.message_key for answer in looks(stranger, "prop_nowhere")]
        assert [answer.message_key for answer in looks(stranger, proposal)] == unknown
        assert proposal not in facts(stranger)
        assert "999" not in facts(stranger)
        history = stranger.call("record.read-history", {"aggregate": "proposals", "subject": proposal})
        assert history.message_key == "RECORD_NOT_FOUND"


def test_its_author_with_their_agent_and_who_reviews_see_it(library: Library) -> None:
    bob = library.clara.as_("bob", "human", ["contributor"])
    by_the_agent = proposed(library.clara.as_("agent:bob", "agent", ["agent"]))
    for somebody in (bob, library.clara.as_("agent:bob", "agent", ["agent"]), library.clara):
        assert listed(somebody) == [by_the_agent]
        shown = done(somebody.call("proposals.get-proposal", {"proposal_id": by_the_agent}))
        assert "999" in str(shown)
        assert "999" in facts(somebody)
    approval = {"proposal_id": by_the_agent, "decision": "approve"}
    token = done(library.clara.call("proposals.get-proposal", {"proposal_id": by_the_agent}))["approval_token"]
    assert done(library.clara.call("proposals.review-proposal", {**approval, "approval_token": token}))
    assert "Hidden Hans" in str(done(bob.call("memory.retrieve-entities", {"limit": 5})))


@pytest.mark.parametrize("used", [True, False], ids=["used", "never used"])
def test_what_is_everybodys_stays_so_beside_it(library: Library, used: bool) -> None:
    library.offices.close()
    clara = library.offices.open(memory_at(library.offices.folder), shelf()) if used else library.offices.open(shelf())
    bob, eve = (clara.as_(name, "human", ["contributor"]) for name in ("bob", "eve"))
    answer = bob.call("shelf.add-book", {"title": "Emma", "commit_mode": "proposal"})
    assert listed(eve) == [done(answer)["proposal"]["id"]]
