"""How an agent gets on at an office, whichever way it comes in: it finds out what there is, is told clearly what is
wrong, proposes instead of committing, cannot approve, and what a person then approves is on the record as facts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.bed.served import Served
from tests.surfaces.matrix.ways import CATALOGUE, McpHttp, McpSession, Rest, Way

NUMBERS = count()
WAYS: dict[str, Callable[[Served], Way]] = {
    "mcp-http": lambda served: McpHttp(served, served.agent, CATALOGUE),
    "mcp-http-2025": lambda served: McpSession(served, served.agent, CATALOGUE),
    "rest": lambda served: Rest(served, served.agent),
}


@pytest.fixture(params=WAYS)
def agent(request: pytest.FixtureRequest, served: Served) -> Any:
    """The owner's agent, by each way in turn."""
    way = WAYS[request.param](served)
    yield way
    way.close()


@pytest.fixture
def title() -> str:
    """A title that no book has yet."""
    return f"Book number {next(NUMBERS)}"


def listed(served: Served) -> set[str]:
    """The tools that the agent's client is shown."""
    with served.client(served.agent) as client:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/list",
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        tools = client.post("/mcp", json=message, headers=headers).json()["result"]["tools"]
        return {tool["name"] for tool in tools}


@pytest.mark.requirement("ARCH-39")
def test_what_there_is_can_be_found_out(served: Served) -> None:
    with served.client() as anybody:
        described = anybody.get("/openapi.json").json()["paths"]
    assert "/v1/shelf/add-book" in described
    assert {"addBook", "validateWrite", "find_flow", "describe_flow", "run_flow"} <= listed(served)


@pytest.mark.requirement("ARCH-39")
def test_a_failure_says_what_is_wrong_where_and_what_would_help(agent: Way) -> None:
    answer = agent.call("shelf.add-book", {"titel": "Dune"})
    assert answer["success"] is False
    assert answer["reply"]["reply_type"] == "I"
    wrong = {error["field"]: error for error in answer["error"]["details"]["errors"]}
    assert wrong["titel"]["suggestions"]["did_you_mean"] == ["title"]
    assert wrong["title"]["code"] == "VALIDATION_ERROR"


@pytest.mark.requirement("ARCH-39", "NEW-03")
def test_an_agent_proposes_and_cannot_decide_and_what_a_person_approves_becomes_facts(
    served: Served, agent: Way, title: str
) -> None:
    proposed = agent.call("shelf.add-book", {"title": title, "notes": "Read it."})
    assert (proposed["reply"]["message_key"], proposed["status"]) == ("PROPOSAL_RECORDED", "proposed")
    proposal, book = proposed["proposal"]["id"], proposed["book"]["id"]
    assert agent.call("shelf.get-book", {"id": book})["reply"]["message_key"] == "RECORD_NOT_FOUND"
    person = Rest(served, served.owner)
    shown = person.call("proposals.get-proposal", {"proposal_id": proposal})
    verdict = {"proposal_id": proposal, "decision": "approve", "approval_token": shown["approval_token"]}
    refused = agent.call("proposals.review-proposal", verdict)
    assert refused["reply"]["message_key"] == "PEOPLE_ONLY"
    approved = person.call("proposals.review-proposal", verdict)
    assert approved["reply"]["message_key"] == "PROPOSAL_COMMITTED", approved
    assert agent.call("shelf.get-book", {"id": book})["book"]["title"] == title
    facts = agent.call("record.read-facts", {"after": approved["position"] - 1})["facts"]
    assert f"io.engross.shelf.fact.BookAdded.v2 {book}" in {f"{fact['type']} {fact['subject']}" for fact in facts}
    receipt = person.call("record.get-receipt", {"position": approved["position"]})["receipt"]
    assert receipt["proposal"] == proposal
    person.close()
