"""Declared flows in an office: governed like any other, and nothing of what is bound is left behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engross.replies import Reply, codes
from engross.surfaces.client import Client, connect
from tests.bed.offices import EXAMPLES, shelf
from tests.declared.engines import document
from tests.declared.papers import written
from tests.declared.upstream import Asked, Told, Upstream
from tests.surfaces.cli.shell import Shell

SECRET = "sesame-sesame-1234"
DESK = """
orders:
  path: /orders
  description: "Orders"
  operations:
    place: { method: POST, body: { type: json, data: { sku: "{{sku}}" } } }
    list: { method: GET }
"""
FLOWS = """
order:
  description: "Order an article."
  inputParameters: { sku: { type: string, description: "Article number" } }
  call: up.place
look:
  description: "Look at orders."
  semantics: { safe: true }
  call: up.list
keep:
  description: "Order, and keep a book about it."
  inputParameters: { sku: { type: string, description: "Article number" } }
  steps:
    order: { type: call, call: up.place }
    book: { type: call, call: shelf.add-book, with: { title: "Order {{order.id}}" } }
  mappings:
    - { target: title, value: "$.book.book.title" }
    - { target: status, value: "$.book.status" }
"""
CLIENT = 'authentication: { type: bearer, token: "{{KEY}}" }'
BINDS = "binds: [{ namespace: env, keys: { KEY: ENGINE_TEST_KEY } }]"


class Desk:
    """An upstream that places each order once, and echoes what it should not."""

    def __init__(self) -> None:
        self.orders: dict[str, str] = {}
        self.status = 201

    def __call__(self, asked: Asked) -> object:
        if asked.method == "GET":
            return {"orders": list(self.orders.values()), "token": asked.headers["authorization"]}
        if self.status >= 400:
            return Told(self.status, f'{{"you sent": "{asked.headers["authorization"]}"}}'.encode())
        number = self.orders.setdefault(asked.headers["idempotency-key"], f"o-{len(self.orders)}")
        body = f'{{"id": "{number}", "token": "{asked.headers["authorization"]}"}}'
        return Told(self.status, body.encode())


@pytest.fixture
def desk() -> Desk:
    """What the upstream holds."""
    return Desk()


@pytest.fixture
def erp(desk: Desk) -> Iterator[Upstream]:
    """The upstream."""
    with Upstream(desk) as running:
        yield running


@pytest.fixture
def curator(erp: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A person at an office with the document."""
    monkeypatch.setenv("ENGINE_TEST_KEY", SECRET)
    file = tmp_path / "document.yaml"
    file.write_text(document(erp, DESK, FLOWS, client=CLIENT, binds=BINDS, tool="order"))
    with connect(tmp_path / "office", shelf(), capabilities=[file], private_hosts="127.0.0.1") as client:
        yield client


def data(answer: Reply) -> Any:
    """What a successful call answers."""
    assert answer.ok, answer
    return answer.data


@pytest.mark.requirement("FLOW-13")
def test_the_same_request_is_carried_out_once_and_its_key_goes_along(
    curator: Client, erp: Upstream, desk: Desk
) -> None:
    wish = {"sku": "A", "client_request_id": "order-00017"}
    first, again = curator.call("test.order", wish), curator.call("test.order", wish)
    assert data(first)["id"] == data(again)["id"] == "o-0"
    assert again.data["idempotent_replay"] is True
    assert [asked.headers["idempotency-key"] for asked in erp.asked] == ["order-00017"]


@pytest.mark.requirement("FLOW-13")
def test_an_agents_order_waits_for_a_person_and_then_goes_out_once(curator: Client, erp: Upstream) -> None:
    agent = curator.as_("scout", "agent", ["contributor"])
    proposed = agent.call("test.order", {"sku": "A"})
    assert proposed.code == codes.PROPOSAL_RECORDED
    assert erp.asked == []
    shown = curator.call("proposals.get-proposal", {"proposal_id": proposed.data["proposal"]["id"]})
    verdict = {
        "proposal_id": proposed.data["proposal"]["id"],
        "decision": "approve",
        "approval_token": data(shown)["approval_token"],
    }
    assert curator.call("proposals.review-proposal", verdict).ok
    assert [asked.method for asked in erp.asked] == ["POST"]


def test_an_agent_learns_what_came_of_what_it_proposed(curator: Client, desk: Desk) -> None:
    agent = curator.as_("scout", "agent", ["contributor"])
    asked = {"proposal_id": data(agent.call("test.order", {"sku": "A"}))["proposal"]["id"]}

    def outcome(reader: Client) -> Any:
        return data(reader.call("proposals.get-proposal", asked))["proposal"]["operations"][0].get("carried_out")

    assert outcome(agent) is None
    token = data(curator.call("proposals.get-proposal", asked))["approval_token"]
    desk.status = 500
    assert curator.call("proposals.review-proposal", {**asked, "decision": "approve", "approval_token": token}).ok
    assert outcome(agent) == {"state": "pending"}


def test_what_came_of_a_proposal_is_for_its_author_and_who_approved_it(curator: Client) -> None:
    agent = curator.as_("scout", "agent", ["contributor"])
    asked = {"proposal_id": data(agent.call("test.order", {"sku": "A"}))["proposal"]["id"]}
    token = data(curator.call("proposals.get-proposal", asked))["approval_token"]
    assert curator.call("proposals.review-proposal", {**asked, "decision": "approve", "approval_token": token}).ok
    told = {}
    for name, reader in {
        "author": agent,
        "approver": curator,
        "other": curator.as_("eve", "human", ["curator"]),
    }.items():
        told[name] = data(reader.call("proposals.get-proposal", asked))["proposal"]["operations"][0]["carried_out"]
    assert told["author"]["data"]["id"] == "o-0"
    assert told["author"] == told["approver"]
    assert told["other"] == {"state": "done"}


def test_whoever_approves_at_a_shell_sees_what_is_sent_and_what_came_back(
    curator: Client, erp: Upstream, tmp_path: Path
) -> None:
    agent = curator.as_("scout", "agent", ["contributor"])
    proposal = data(agent.call("test.order", {"sku": "A-4711"}))["proposal"]["id"]
    shell = Shell(tmp_path / "office", capabilities=[EXAMPLES / "04-the-whole.py", tmp_path / "document.yaml"])
    assert "A-4711" in shell.run("proposals", "show", proposal).out
    done = shell.run("proposals", "approve", proposal, "--yes", env={"ENGROSS_PRIVATE_HOSTS": "127.0.0.1"})
    assert done.code == 0, done
    assert [asked.method for asked in erp.asked] == ["POST"]
    assert "o-0" in done.out


def test_a_flow_is_listed_with_its_own_tool_whoever_else_offers_it(tmp_path: Path) -> None:
    other = """\
ikanos: "1.0.0-beta5"
capability:
  exposes:
    - { type: mcp, namespace: a-first, tools: { new-book: { ref: shelf.add-book } } }
    - { type: mcp, namespace: z-last, tools: { last-book: { ref: shelf.add-book } } }
"""
    shell = Shell(tmp_path / "second", capabilities=[EXAMPLES / "04-the-whole.py", written(tmp_path, other, "o.yaml")])
    (found,) = [one for one in shell.run("flows", "--json").json["flows"] if one["flow"] == "shelf.add-book"]
    assert found["tool"] == "addBook"


def test_a_dry_run_calls_nobody(curator: Client, erp: Upstream) -> None:
    answer = curator.call("test.order", {"sku": "A"}, dry_run=True)
    assert answer.code == codes.VALIDATION_DONE
    assert erp.asked == []


def test_what_the_upstream_refuses_leaves_the_key_free(curator: Client, erp: Upstream, desk: Desk) -> None:
    wish = {"sku": "A", "client_request_id": "order-00018"}
    desk.status = 422
    assert curator.call("test.order", wish).code == codes.UPSTREAM_REFUSED
    desk.status = 201
    assert curator.call("test.order", wish).ok


def test_a_failing_upstream_leaves_the_outcome_unknown(curator: Client, desk: Desk) -> None:
    desk.status = 500
    failed = curator.call("test.order", {"sku": "A", "client_request_id": "order-00019"})
    assert (failed.code, failed.data["outcome"]) == (codes.UPSTREAM_FAILED, "unknown")
    desk.status = 201
    held = curator.call("test.order", {"sku": "A", "client_request_id": "order-00019"})
    assert held.code == codes.REQUEST_IN_PROGRESS


def test_a_step_may_call_a_flow_of_the_office(curator: Client) -> None:
    answer = curator.call("test.keep", {"sku": "A"})
    assert data(answer)["title"] == "Order o-0"
    titles = [book["title"] for book in data(curator.call("shelf.list-books"))["books"]]
    assert titles == ["Order o-0"]


def test_it_all_works_on_an_event_loop(curator: Client, erp: Upstream) -> None:
    async def several() -> list[Reply]:
        wishes = [curator.acall("test.keep", {"sku": str(number)}) for number in range(5)]
        return [*(await asyncio.gather(*wishes)), await curator.acall("test.look")]

    assert all(answer.ok for answer in asyncio.run(several()))
    assert len(erp.asked) == 6


@pytest.mark.requirement("FLOW-13")
def test_what_is_bound_is_in_no_reply_receipt_fact_file_or_log(
    curator: Client, desk: Desk, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    done = curator.call("test.order", {"sku": "A", "client_request_id": "order-00020"})
    seen = curator.call("test.look")
    desk.status = 422
    refused = curator.call("test.order", {"sku": "B"})
    desk.status = 500
    failed = curator.call("test.order", {"sku": "C"})
    facts = curator.call("record.read-facts")
    receipt = curator.call("record.get-receipt", {"position": done.data["position"]})
    for answer in (done, seen, refused, failed, facts, receipt):
        assert SECRET not in repr(answer)
        assert SECRET not in repr(answer.data)
    assert data(seen)["token"] == "Bearer [hidden]"
    curator.close()
    for folder, _, names in os.walk(tmp_path / "office"):
        for name in names:
            assert SECRET.encode() not in (Path(folder) / name).read_bytes(), name
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.requirement("FLOW-12", "FLOW-13")
def test_the_receipt_names_the_version_of_the_document(curator: Client) -> None:
    done = curator.call("test.order", {"sku": "A"})
    receipt = data(curator.call("record.get-receipt", {"position": data(done)["position"]}))["receipt"]
    assert receipt["flow"] == "test.order"
    assert "+" in receipt["flow_version"], "the digest of the document is a part of it"
