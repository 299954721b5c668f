"""The answers that callers see, in the shape that was promised to them."""

import pytest

from engross.domains.architecture import architecture
from engross.domains.architecture.metamodel import Metamodel
from engross.replies.envelopes import structured
from tests.architecture.studio import Studio, done


def wire(answer):
    return structured(answer, "architecture")


@pytest.mark.requirement("ARCH-19")
def test_an_invalid_type_on_the_wire(studio: Studio) -> None:
    told = wire(studio.scout.architecture.create_element(type="AppComponent", name="OrderService"))
    assert told["success"] is False
    error = told["error"]
    assert (error["code"], error["field"]) == ("INVALID_ELEMENT_TYPE", "type")
    assert error["suggestions"]["did_you_mean"][0] == "ApplicationComponent"
    assert set(error["suggestions"]) == {"did_you_mean", "valid_types_for_context", "hint"}
    assert told["reply"]["reply_type"] == "I"


@pytest.mark.requirement("ARCH-20")
def test_an_invalid_relationship_on_the_wire(studio: Studio) -> None:
    capability, component = studio.element("Sales", "Capability"), studio.element("Shop")
    told = wire(
        studio.scout.architecture.create_relationship(
            type="Realization", source_id=capability["id"], target_id=component["id"]
        )
    )
    error = told["error"]
    assert (error["code"], error["field"]) == ("INVALID_RELATIONSHIP", "type")
    assert error["suggestions"]["valid_relationships"] == ["Association"]
    assert error["suggestions"]["reverse"][0] == "Realization"
    assert told["reply"]["params"] == {
        "type": "Realization",
        "source_type": "Capability",
        "target_type": "ApplicationComponent",
    }


@pytest.mark.requirement("ARCH-21")
def test_an_element_that_is_not_there_on_the_wire(studio: Studio) -> None:
    component = studio.element("OrderProcessor")
    told = wire(
        studio.scout.architecture.create_relationship(type="Flow", source_id="OrderProcesor", target_id=component["id"])
    )
    error = told["error"]
    assert (error["code"], error["field"]) == ("ELEMENT_NOT_FOUND", "source_id")
    assert error["suggestions"]["similar_elements"] == [
        {"id": component["id"], "type": "ApplicationComponent", "name": "OrderProcessor"}
    ]
    assert "semanticSearch" in error["suggestions"]["hint"]


@pytest.mark.requirement("ARCH-22")
def test_a_duplicate_name_on_the_wire(studio: Studio) -> None:
    existing = studio.element("OrderService")
    told = wire(studio.scout.architecture.create_element(type="ApplicationComponent", name="OrderService"))
    error = told["error"]
    assert (error["code"], error["field"]) == ("DUPLICATE_NAME", "name")
    assert error["suggestions"]["existing_element"]["id"] == existing["id"]
    assert error["suggestions"]["alternatives"] == ["OrderService2", "OrderServiceV2", "NewOrderService"]
    assert "updateElement" in error["suggestions"]["hint"]


@pytest.mark.requirement("ARCH-25", "ARCH-27")
def test_a_proposed_write_on_the_wire(studio: Studio) -> None:
    told = wire(studio.scout.architecture.create_element(type="Node", name="Server"))
    assert (told["success"], told["status"]) == (True, "proposed")
    assert told["element"]["id"].startswith("el_")
    assert set(told["proposal"]) >= {"id", "status", "risk_tier", "approvals_required"}
    assert told["suggestions"]


@pytest.mark.requirement("ARCH-26")
def test_every_write_has_next_steps(studio: Studio) -> None:
    assert [flow.ref for flow in architecture().flows.values() if flow.writes and flow.suggester is None] == []


def test_a_proposal_is_checked_by_the_metamodel_in_force_when_it_is_approved(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    proposed = done(
        studio.scout.architecture.create_relationship(
            type="Realization", source_id=orders["id"], target_id=service["id"]
        )
    )
    proposal = proposed.data["proposal"]["id"]
    token = studio.clara.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    monkeypatch.setattr(Metamodel, "allows", lambda self, *_: False)
    answer = studio.clara.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token)
    assert answer.message_key == "PROPOSAL_STALE"
    assert studio.clara.architecture.list_relationships().data["relationships"] == []
