"""Agents propose, people decide: drafts that grow, what goes stale, and why an element is what it is."""

from pathlib import Path
from typing import Any

import pytest

from engross.replies import Reply
from tests.architecture.studio import Studio, done, errors, validate
from tests.bed.offices import Offices


def approve(studio: Studio, proposal: str) -> Reply:
    token = studio.clara.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    return studio.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)


NODES = 'direct_commit_grants = [{ role = "agent", operations = ["architecture.*"], types = ["Node"] }]'


@pytest.mark.requirement("ARCH-27")
def test_a_grant_for_a_type_lets_an_agent_commit_what_is_of_that_type(offices: Offices, tmp_path: Path) -> None:
    (tmp_path / "knobs.toml").write_text(NODES)
    studio = Studio(offices, policies=tmp_path)
    agent = studio.scout.architecture

    def outcome(answer: Reply) -> str:
        return str(done(answer).data["status"])

    server = done(agent.create_element(type="node", name="Server"))
    assert server.data["status"] == "committed"
    made = server.data["element"]["id"]
    orders = studio.element("Orders")["id"]
    assert outcome(agent.update_element(id=made, name="Host")) == "committed"
    assert outcome(agent.update_element(id=orders, name="Sales")) == "proposed"
    assert outcome(agent.create_element(type="ApplicationComponent", name="Billing")) == "proposed"
    assert outcome(agent.create_element(type="Node", name="Blade", parent_id=made)) == "proposed"
    assert outcome(agent.create_model(name="Mine")) == "proposed"
    nodes = [{"operation": "createElement", "payload": {"type": "Node", "name": f"N{n}"}} for n in range(3)]
    assert outcome(agent.apply_changes(operations=nodes)) == "committed"
    mixed = [
        {"operation": "createElement", "payload": {"type": kind, "name": "One more"}}
        for kind in ("Node", "ApplicationComponent")
    ]
    assert outcome(agent.apply_changes(operations=mixed)) == "proposed"
    for kind, mode in (("Node", "direct"), ("ApplicationComponent", "proposal")):
        told = validate(studio.scout, "createElement", {"type": kind, "name": "Another", "description": "x"})
        assert told["would"]["mode"] == mode
    assert outcome(studio.clara.architecture.create_element(type="Goal", name="Uptime")) == "committed"


@pytest.mark.requirement("ARCH-27", "GOV-01")
def test_an_agent_drafts_two_elements_and_relates_them_and_one_review_commits_all(studio: Studio) -> None:
    first = done(
        studio.scout.architecture.create_element(type="ApplicationComponent", name="Orders", commit_mode="draft")
    )
    draft = first.data["proposal"]["id"]
    second = done(
        studio.scout.architecture.create_element(type="ApplicationService", name="Ordering", proposal_id=draft)
    )
    related = done(
        studio.scout.architecture.create_relationship(
            type="Realization",
            source_id=first.data["element"]["id"],
            target_ref="ApplicationService/Ordering",
            proposal_id=draft,
        )
    )
    assert related.data["relationship"]["target_id"] == second.data["element"]["id"]
    assert studio.scout.architecture.list_elements().data["elements"] == []
    inside = studio.scout.architecture.list_elements(proposal_id=draft).data
    assert [one["name"] for one in inside["elements"]] == ["Orders", "Ordering"]
    assert inside["read_context"]["proposal_id"] == draft
    found = studio.scout.architecture.semantic_search(query="ordering", proposal_id=draft).data["results"]
    assert found[0]["name"] == "Ordering"
    around = studio.scout.architecture.get_neighborhood(id=first.data["element"]["id"], proposal_id=draft).data
    assert len(around["elements"]) == 2
    done(studio.scout.proposals.submit_proposal(proposal_id=draft))
    committed = done(approve(studio, draft))
    assert committed.message_key == "PROPOSAL_COMMITTED"
    assert studio.clara.architecture.get_element(id=first.data["element"]["id"]).data["element"]["name"] == "Orders"
    assert len(studio.clara.architecture.list_relationships().data["relationships"]) == 1


@pytest.mark.requirement("ARCH-27")
def test_two_agents_can_propose_in_a_fresh_store_and_both_be_approved(studio: Studio) -> None:
    proposals = [
        done(studio.scout.architecture.create_element(type="Node", name=name)).data["proposal"]["id"]
        for name in ("Server", "Rack")
    ]
    for proposal in proposals:
        done(approve(studio, proposal))
    assert len(studio.clara.architecture.list_elements().data["elements"]) == 2


def test_a_proposal_whose_end_went_meanwhile_is_stale(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    proposed = done(
        studio.scout.architecture.create_relationship(
            type="Realization", source_id=orders["id"], target_id=service["id"]
        )
    )
    studio.delete(service)
    proposal = proposed.data["proposal"]["id"]
    answer = approve(studio, proposal)
    assert answer.message_key == "PROPOSAL_STALE"
    assert studio.clara.architecture.list_relationships().data["relationships"] == []


def test_a_proposal_is_brought_up_to_date_over_changes_to_other_fields(studio: Studio) -> None:
    orders = studio.element("Orders", properties={"team": "A"})
    proposed = done(studio.scout.architecture.update_element(id=orders["id"], properties={"tier": "1"}))
    done(studio.clara.architecture.update_element(id=orders["id"], properties={"team": "B"}))
    proposal = proposed.data["proposal"]["id"]
    assert "approval_token" not in studio.clara.proposals.get_proposal(proposal_id=proposal).data
    rebased = done(studio.scout.proposals.rebase_proposal(proposal_id=proposal)).data["proposal"]["id"]
    done(approve(studio, rebased))
    element = studio.clara.architecture.get_element(id=orders["id"]).data["element"]
    assert element["properties"] == {"team": "B", "tier": "1"}


@pytest.mark.requirement("ARCH-28")
def test_a_contributor_describes_at_once_and_proposes_a_rename(studio: Studio) -> None:
    orders = studio.element("Orders")
    carl = studio.clara.as_("carl", "human", ["contributor"])
    assert done(carl.architecture.update_element(id=orders["id"], description="x")).data["status"] == "committed"
    assert done(carl.architecture.update_element(id=orders["id"], name="Sales")).data["status"] == "proposed"
    assert done(carl.architecture.delete_element(id=orders["id"])).data["status"] == "proposed"


@pytest.mark.requirement("ARCH-32")
def test_a_repeated_call_with_its_key_makes_one_element(studio: Studio) -> None:
    call: dict[str, Any] = {"type": "Node", "name": "Server", "client_request_id": "make-a-server"}
    first, second = (done(studio.robot.architecture.create_element(**call)) for _ in range(2))
    assert second.data["idempotent_replay"] is True
    assert first.data["element"] == second.data["element"]
    assert errors(studio.robot.architecture.create_element(**{**call, "name": "Other"})) == {
        "client_request_id": "IDEMPOTENCY_KEY_REUSED"
    }


@pytest.mark.requirement("ARCH-31", "ARCH-39")
def test_committed_writes_state_facts_in_order(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    studio.relate("Realization", orders, service)
    studio.clara.architecture.update_element(id=orders["id"], description="x")
    studio.delete(orders)
    found = studio.clara.record.read_facts().data["facts"]
    assert [one["type"].split(".")[-2] for one in found] == [
        "ElementCreated",
        "ElementCreated",
        "RelationshipCreated",
        "ElementUpdated",
        "RelationshipDeleted",
        "ElementDeleted",
    ]


@pytest.mark.requirement("NEW-05")
def test_why_tells_facts_proposal_approver_and_receipt(studio: Studio) -> None:
    proposed = done(studio.scout.architecture.create_element(type="Node", name="Server", reason="We need one"))
    proposal = proposed.data["proposal"]["id"]
    done(approve(studio, proposal))
    server = proposed.data["element"]["id"]
    done(studio.clara.architecture.update_element(id=server, description="In the cellar"))
    told = done(studio.scout.architecture.why_element(ref="Node/Server")).data
    created, updated = told["reasons"]
    assert (created["fact"], created["by"]["id"], created["proposal"]) == ("ElementCreated", "scout", proposal)
    assert created["approvers"] == ["clara"]
    assert created["reason"] == "We need one"
    assert (updated["fact"], updated["by"]["id"], updated["approvers"]) == ("ElementUpdated", "clara", [])
    assert told["fields"]["description"] == updated["fact_id"]
    assert told["fields"]["name"] == created["fact_id"]
    receipt = studio.clara.record.get_receipt(position=created["position"]).data["receipt"]
    assert receipt["facts_digest"] == created["receipt"]["facts_digest"]
    assert errors(studio.scout.architecture.why_element(id="el_nowhere")) == {"id": "ELEMENT_NOT_FOUND"}


@pytest.mark.requirement("NEW-05")
def test_why_still_tells_of_an_element_that_is_gone(studio: Studio) -> None:
    orders = studio.element("Orders")
    studio.delete(orders)
    told = done(studio.scout.architecture.why_element(id=orders["id"])).data
    assert told["is_deleted"] is True
    assert [one["fact"] for one in told["reasons"]] == ["ElementCreated", "ElementDeleted"]
