"""Why, asked over REST and MCP: one question to all domains, and to each owner only what is their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engross.office import Settings
from engross.office.capabilities import catalogue_of
from tests.bed.served import UNLIMITED, Served
from tests.surfaces.matrix.ways import McpHttp, Rest

pytestmark = pytest.mark.requirement("NEW-05")

DOMAINS = "architecture,memory,documents"
CATALOGUE = catalogue_of(Settings(data=Path("nowhere"), domains=DOMAINS))
ORDERS = "Order Service"
PLAN = "===PLAN===\nOWNER::alice\nSTATUS::DRAFT\n===END===\n"


@pytest.fixture(scope="module")
def office(module_store: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served office in which an element and an entity have the same name, and there is a document."""
    folder = tmp_path_factory.mktemp("why") / "office"
    with Served(folder, module_store, domains=DOMAINS, knobs=UNLIMITED) as running:
        made(running, "architecture.create-element", {"type": "ApplicationService", "name": ORDERS})
        entity = {"entity_type": "product", "name": ORDERS, "price": 12}
        made(running, "memory.ingest-structured", {"entities": [entity]})
        made(running, "documents.octave-write", {"target_path": "plan.oct.md", "content": PLAN})
        yield running


def made(office: Served, flow: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = office.call(flow, arguments)
    assert answer.is_success, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.fixture(params=["rest", "mcp"])
def ask(request: pytest.FixtureRequest, office: Served) -> Iterator[Any]:
    """The owner of what is there, by each way in turn."""
    way: Any = Rest(office, office.owner) if request.param == "rest" else McpHttp(office, office.owner, CATALOGUE)
    yield way
    way.close()


def why(office: Served, token: str | None = None, **arguments: Any) -> dict[str, Any]:
    told: dict[str, Any] = office.call("record.why", arguments, token=token).json()
    return told


def test_one_question_finds_the_element_and_the_entity_of_a_name(office: Served) -> None:
    found = {one["aggregate"]: one for one in why(office, of=ORDERS)["found"]}
    assert set(found) == {"architecture", "memory"}
    for one in found.values():
        assert one["reasons"][0]["receipt"]["facts_digest"]
        assert one["proposals"] == []
    (alone,) = why(office, of=ORDERS, aggregate="memory")["found"]
    assert alone["subject"] == found["memory"]["subject"]


def test_the_field_goes_on_to_every_domain(office: Served) -> None:
    found = {one["aggregate"]: one for one in why(office, of=ORDERS, field="name")["found"]}
    assert [list(found[name]["fields"]) for name in ("architecture", "memory")] == [["name"], ["name"]]
    assert found["memory"]["snapshot"] == {"name": ORDERS}
    (plan,) = why(office, of="plan.oct.md", field="STATUS")["found"]
    assert plan["reasons"][0]["paragraphs"][0]["text"] == "STATUS::DRAFT"
    (priced,) = why(office, of=ORDERS, field="price")["found"]
    assert priced["aggregate"] == "memory"
    for subject, field in (("plan.oct.md", "COLOUR"), (ORDERS, "colour")):
        refused = why(office, of=subject, field=field)
        assert (refused["reply"]["message_key"], refused["field"]) == ("FIELD_NOT_FOUND", "field")


def test_what_is_only_proposed_is_found_in_its_proposal(office: Served) -> None:
    made_up = {"type": "Node", "name": "Proposed Server"}
    proposed = office.call("architecture.create-element", made_up, token=office.agent).json()
    element, proposal = proposed["element"]["id"], proposed["proposal"]["id"]
    for called in (element, "proposed server", "Node/Proposed Server"):
        (found,) = why(office, of=called)["found"]
        assert (found["aggregate"], found["subject"], found["is_proposed"]) == ("architecture", element, True)
        assert (found["reasons"], found["proposed"]) == ([], {"type": "Node", "name": "Proposed Server"})
        assert [one["id"] for one in found["proposals"]] == [proposal]
    refused = why(office, of="Proposed Serve")
    assert (refused["reply"]["message_key"], refused["field"]) == ("RECORD_NOT_FOUND", "of")
    made(office, "proposals.review-proposal", {"proposal_id": proposal, "decision": "reject", "rationale": "no"})
    assert why(office, of=element)["reply"]["message_key"] == "RECORD_NOT_FOUND"


def test_an_aggregate_that_nobody_knows_is_told_as_that(office: Served) -> None:
    refused = why(office, of=ORDERS, aggregate="memry")
    assert (refused["reply"]["message_key"], refused["field"]) == ("RECORD_NOT_FOUND", "aggregate")
    assert refused["suggestions"]["did_you_mean"] == ["memory"]
    assert {*DOMAINS.split(","), "shelf"} <= set(refused["suggestions"]["allowed_values"])


@pytest.mark.parametrize(
    ("flow", "ref", "kind"),
    [
        ("memory.why-entity", ORDERS, "entity"),
        ("documents.why-document", "plan.oct.md", "document"),
        ("architecture.why-element", ORDERS, "element"),
    ],
)
def test_each_domain_is_asked_by_its_own_flow(ask: Any, flow: str, ref: str, kind: str) -> None:
    told = ask.call(flow, {"ref": ref})
    assert told["reply"]["reply_type"] == "S"
    assert told[kind]["name"].lower() == ref.lower()
    reason = told["reasons"][0]
    assert {"fact", "fact_id", "version", "time", "by", "flow", "approvers", "receipt"} <= set(reason)
    assert ask.call(flow, {"ref": "nowhere.oct.md"})["reply"]["reply_type"] == "I"


def test_who_does_not_own_the_memory_is_not_even_told_that_there_is_something(office: Served) -> None:
    stranger = office.token("vera", "human", "curator", "admin")
    (found,) = why(office, stranger, of=ORDERS)["found"]
    assert found["aggregate"] == "architecture"
    entity = why(office, of=ORDERS, aggregate="memory")["found"][0]["subject"]
    unseen, unknown = (why(office, stranger, of=one) for one in (entity, "ent_nobody"))
    for told in (unseen, unknown):
        assert told["reply"]["message_key"] == "RECORD_NOT_FOUND"
        assert told["suggestions"]["similar"] == []
    assert set(unseen) == set(unknown)


def test_the_tools_lie_in_toolsets_that_are_not_listed_by_default() -> None:
    toolsets = {tool.name: tool.exposure.toolset for tool in CATALOGUE.tools()}
    assert (toolsets["why_entity"], toolsets["why_document"]) == ("memory-more", "documents-more")
