"""A dry run of a flow that writes: it reads, changes nothing, and tells each request that it would make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engross.replies import codes
from engross.surfaces.client import Client, connect
from tests.bed.offices import shelf
from tests.declared.engines import document, engine, run
from tests.declared.upstream import Asked, Told, Upstream

SECRET = "sesame-sesame-1234"
DESK = """
item:
  path: "/items/{{sku}}"
  description: "One article."
  operations: { get: { method: GET } }
orders:
  path: /orders
  description: "Orders"
  operations:
    place: { method: POST, body: { type: json, data: { sku: "{{sku}}", depot: "{{depot}}" } } }
    tell: { method: POST, body: { type: json, data: { order: "{{order}}" } } }
    count: { method: PUT, body: { type: json, data: { sku: "{{sku}}" } } }
    track: { method: GET, inputParameters: { order: { in: query } } }
"""
FLOWS = """
one:
  description: "Order an article, tell of it, and count."
  inputParameters: { sku: { type: string, description: "Article number" } }
  steps:
    item: { type: call, call: up.get }
    place: { type: call, call: up.place, with: { depot: "{{item.depot}}" } }
    track: { type: call, call: up.track, with: { order: "{{place.id}}" } }
    tell: { type: call, call: up.tell, with: { order: "{{place.id}}" } }
    count: { type: call, call: up.count }
  mappings: [{ target: id, value: "$.place.id" }]
ask:
  description: "Says nothing of being safe, and yet only reads."
  inputParameters: { sku: { type: string, description: "Article number" } }
  call: up.get
order:
  description: "Order an article."
  inputParameters:
    sku: { type: string, description: "Article number" }
    depot: { type: string, description: "From where", required: false }
  call: up.place
twice:
  description: "Order by other flows."
  inputParameters: { sku: { type: string, description: "Article number" } }
  steps:
    first: { type: call, call: test.order, with: { depot: north } }
    book: { type: call, call: shelf.add-book, with: { title: "About {{sku}}" } }
"""
CLIENT = 'authentication: { type: apikey, key: api_key, value: "{{KEY}}", placement: query }'
BINDS = "binds: [{ namespace: env, keys: { KEY: REHEARSAL_KEY } }]"


def answered(asked: Asked) -> object:
    """What the upstream says."""
    return {"sku": "A", "depot": 7, "seen": SECRET} if asked.method == "GET" else Told(201, b'{"id": "o-1"}')


@pytest.fixture
def erp() -> Iterator[Upstream]:
    """The upstream."""
    with Upstream(answered) as running:
        yield running


@pytest.fixture
def curator(tmp_path: Path, erp: Upstream, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A person in an office with the document."""
    monkeypatch.setenv("REHEARSAL_KEY", SECRET)
    monkeypatch.setenv("ENGROSS_PRIVATE_HOSTS", "127.0.0.1")
    file = tmp_path / "document.yaml"
    file.write_text(document(erp, DESK, FLOWS, client=CLIENT, binds=BINDS))
    with connect(tmp_path / "office", shelf(), capabilities=[file]) as client:
        yield client


def rehearsed(client: Client, flow: str, **arguments: Any) -> list[dict[str, Any]]:
    """The requests that a flow would make."""
    answer = client.call(flow, arguments, dry_run=True)
    assert answer.code == codes.VALIDATION_DONE
    return [dict(one) for one in answer.data["would"]["requests"]]


@pytest.mark.requirement("FLOW-13")
@pytest.mark.requirement("NEW-10")
def test_a_dry_run_makes_the_reads_and_lists_every_request_that_may_change_something(
    curator: Client, erp: Upstream
) -> None:
    place, tell, count = rehearsed(curator, "test.one", sku="A")
    assert [asked.method for asked in erp.asked] == ["GET"]
    assert (place["step"], place["method"]) == ("place", "POST")
    assert place["url"] == f"{erp.url}/orders?api_key=[hidden]"
    assert place["body"] == '{"sku":"A","depot":7}'
    assert tell == {"step": "tell", "call": "up.tell", "depends_on": ["place"]}
    assert (count["method"], count["body"]) == ("PUT", '{"sku":"A"}')


def test_nothing_that_is_bound_is_in_a_rehearsal(curator: Client) -> None:
    assert SECRET not in repr(curator.call("test.one", {"sku": "A"}, dry_run=True).data)
    assert SECRET not in repr(curator.call("test.twice", {"sku": "A"}, dry_run=True).data)


def test_the_requests_of_inner_flows_are_listed_under_their_step(curator: Client, erp: Upstream) -> None:
    first, book = rehearsed(curator, "test.twice", sku="A")
    assert (first["step"], first["body"]) == ("first/up.place", '{"sku":"A","depot":"north"}')
    assert (book["step"], book["call"], book["arguments"]) == ("book", "shelf.add-book", {"title": "About A"})
    assert erp.asked == []
    assert curator.call("shelf.list-books").data["books"] == []


def test_a_flow_that_turns_out_to_change_nothing_answers_in_a_dry_run(curator: Client, erp: Upstream) -> None:
    answer = curator.call("test.ask", {"sku": "A"}, dry_run=True)
    assert answer.code == codes.VALIDATION_DONE
    assert answer.data["would"]["requests"] == []
    assert answer.data["answer"]["depot"] == 7


def test_a_dry_run_whose_reads_fail_says_so_and_holds_no_key(curator: Client, erp: Upstream) -> None:
    erp.answering = lambda asked: Told(500)
    wish = {"sku": "A", "client_request_id": "rehearsal-1"}
    failed = curator.call("test.one", wish, dry_run=True)
    assert failed.code == codes.UPSTREAM_FAILED
    assert "outcome" not in failed.data
    erp.answering = answered
    assert curator.call("test.one", wish).ok


@pytest.mark.requirement("NEW-10")
def test_a_dry_run_of_an_agents_call_says_that_it_would_be_a_proposal(curator: Client, erp: Upstream) -> None:
    agent = curator.as_("scout", "agent", ["contributor"])
    answer = agent.call("test.order", {"sku": "A"}, dry_run=True)
    assert answer.data["would"]["mode"] == "proposal"
    assert [one["method"] for one in answer.data["would"]["requests"]] == ["POST"]
    assert erp.asked == []


def test_a_step_waits_for_the_step_that_an_inner_flow_takes_by_name(tmp_path: Path, erp: Upstream) -> None:
    flows = """
    item:
      description: "Take what a step is called like."
      semantics: { safe: true }
      inputParameters: { found: { type: object, description: "An article" } }
      outputParameters: { depot: { type: integer, value: "{{found.depot}}" } }
    one:
      description: "Hand a step on by its name."
      semantics: { safe: true }
      inputParameters: { sku: { type: string, description: "Article number" } }
      steps:
        found: { type: call, call: up.get }
        told: { type: call, call: test.item }
      mappings: [{ target: depot, value: "$.told.depot" }]
    """
    shop = engine(tmp_path, document(erp, DESK, flows))
    assert run(shop, "test.one", {"sku": "A"}).value == {"depot": 7}
