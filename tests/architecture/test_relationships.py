"""Relating elements: what the metamodel allows, names instead of ids, junctions, and ends that go away."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engross.domains.architecture import metamodel
from tests.architecture.studio import Studio, done, errors, validate, warned


@pytest.mark.requirement("ARCH-06", "ARCH-25")
def test_a_relationship_that_the_metamodel_knows_is_made(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    answer = done(
        studio.clara.architecture.create_relationship(
            type="realisation", source_id=orders["id"], target_id=service["id"], name="offers"
        )
    )
    relationship = answer.data["relationship"]
    assert relationship == {
        "id": relationship["id"],
        "type": "Realization",
        "source_id": orders["id"],
        "target_id": service["id"],
        "model_id": "default",
        "version": 1,
        "name": "offers",
    }
    assert warned(answer) == ["ALIAS_USED"]
    assert answer.data["suggestions"]
    assert answer.data["citation"] == {"relationship_id": relationship["id"], "version": 1}


@pytest.mark.requirement("ARCH-06", "ARCH-20")
def test_one_that_it_does_not_know_is_refused_with_what_it_knows_in_both_directions(studio: Studio) -> None:
    capability, component = studio.element("Sales", "Capability"), studio.element("Shop")
    answer = studio.clara.architecture.create_relationship(
        type="Realization", source_id=capability["id"], target_id=component["id"]
    )
    assert errors(answer) == {"type": "INVALID_RELATIONSHIP"}
    assert answer.data["suggestions"]["valid_relationships"] == ["Association"]
    assert answer.data["suggestions"]["reverse"] == ["Realization", "Association"]
    assert answer.data["suggestions"]["hint"]


def test_a_wrong_type_of_relationship_is_answered_with_what_was_meant(studio: Studio) -> None:
    answer = studio.clara.architecture.create_relationship(type="Realizes", source_id="a", target_id="b")
    assert errors(answer) == {
        "type": "INVALID_RELATIONSHIP_TYPE",
        "source_id": "ELEMENT_NOT_FOUND",
        "target_id": "ELEMENT_NOT_FOUND",
    }
    assert answer.data["suggestions"]["did_you_mean"][0] == "Realization"
    assert len(answer.data["suggestions"]["valid_types"]) == 11


@pytest.mark.requirement("ARCH-24")
def test_ends_can_be_named_by_name_and_type(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Orders", "ApplicationService")
    answer = done(
        studio.clara.architecture.create_relationship(
            type="Realization", source_ref="ApplicationComponent/orders", target_ref="application service/ORDERS"
        )
    )
    assert answer.data["relationship"]["source_id"] == orders["id"]
    assert answer.data["relationship"]["target_id"] == service["id"]


@pytest.mark.requirement("ARCH-24")
def test_a_name_that_several_have_needs_to_be_made_clear(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Orders", "ApplicationService")
    answer = studio.clara.architecture.create_relationship(
        type="Realization", source_ref="Orders", target_id=service["id"]
    )
    assert errors(answer) == {"source_ref": "NEEDS_DISAMBIGUATION"}
    candidates = answer.data["suggestions"]["candidates"]
    assert {one["id"] for one in candidates} == {orders["id"], service["id"]}
    assert {one["path"] for one in candidates} == {"ApplicationComponent/Orders", "ApplicationService/Orders"}


def test_each_end_is_named_in_one_way(studio: Studio) -> None:
    orders = studio.element("Orders")
    answer = studio.clara.architecture.create_relationship(type="Flow", source_id=orders["id"], source_ref="Orders")
    assert errors(answer) == {"source_id": "VALIDATION_ERROR", "target_id": "VALIDATION_ERROR"}


def test_a_name_with_a_slash_is_still_a_name(studio: Studio) -> None:
    both = studio.element("Order/Invoice")
    found = done(studio.clara.architecture.get_element(ref="Order/Invoice"))
    assert found.data["element"]["id"] == both["id"]


def test_the_same_relationship_twice_is_refused(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    first = studio.relate("Realization", orders, service)
    answer = studio.clara.architecture.create_relationship(
        type="Realization", source_id=orders["id"], target_id=service["id"]
    )
    assert errors(answer) == {"type": "DUPLICATE_RELATIONSHIP"}
    assert answer.data["suggestions"]["existing_relationship"]["id"] == first["id"]


def test_attributes_go_with_their_own_type_only(studio: Studio) -> None:
    orders, data = studio.element("Orders"), studio.element("Order", "DataObject")
    answer = studio.clara.architecture.create_relationship(
        type="Access", source_id=orders["id"], target_id=data["id"], modifier="+", is_directed=True
    )
    assert errors(answer) == {"modifier": "VALIDATION_ERROR", "is_directed": "VALIDATION_ERROR"}
    assert studio.relate("Access", orders, data)["access_type"] == "Access"
    assert studio.relate("Association", orders, data, is_directed=True)["is_directed"] is True
    goal = studio.element("Growth", "Goal")
    assert studio.relate("Influence", orders, goal, modifier="++")["modifier"] == "++"


def test_relationships_stay_within_one_model(studio: Studio) -> None:
    other = done(studio.clara.architecture.create_model(name="Target")).data["model"]["id"]
    here, there = studio.element("Orders"), studio.element("Orders 2030", model_id=other)
    answer = studio.clara.architecture.create_relationship(type="Flow", source_id=here["id"], target_id=there["id"])
    assert errors(answer) == {"target_id": "ELEMENT_NOT_FOUND"}
    child = studio.clara.architecture.create_element(
        type="ApplicationComponent", name="Part", parent_id=there["id"], model_id="default"
    )
    assert errors(child) == {"parent_id": "ELEMENT_NOT_FOUND"}


def test_nothing_is_composed_of_itself(studio: Studio) -> None:
    orders = studio.element("Orders")
    answer = studio.clara.architecture.create_relationship(
        type="Composition", source_id=orders["id"], target_id=orders["id"]
    )
    assert errors(answer) == {"type": "INVALID_RELATIONSHIP"}
    studio.relate("Flow", orders, orders)


def test_a_junction_joins_relationships_of_one_type(studio: Studio) -> None:
    first, second = studio.element("Pick", "BusinessProcess"), studio.element("Pack", "BusinessProcess")
    junction = studio.element("both", "AndJunction")
    studio.relate("Triggering", first, junction)
    answer = studio.clara.architecture.create_relationship(
        type="Flow", source_id=junction["id"], target_id=second["id"]
    )
    assert errors(answer) == {"type": "JUNCTION_CONFLICT"}
    assert answer.data["suggestions"]["existing_type"] == "Triggering"
    studio.relate("Triggering", junction, second)


def test_through_a_junction_only_what_may_be_joined_directly(studio: Studio) -> None:
    component, thing = studio.element("Orders"), studio.element("Order", "DataObject")
    first, second = studio.element("one", "OrJunction"), studio.element("two", "AndJunction")
    studio.relate("Realization", component, first)
    studio.relate("Realization", first, second)
    answer = studio.clara.architecture.create_relationship(
        type="Realization", source_id=second["id"], target_id=thing["id"]
    )
    assert errors(answer) == {"type": "JUNCTION_CONFLICT"}
    pairs = answer.data["suggestions"]["offending_pairs"]
    assert pairs == [{"source_type": "ApplicationComponent", "target_type": "DataObject"}]


def suggested(studio: Studio, kind: str, source: Mapping[str, Any], target: Mapping[str, Any]) -> Mapping[str, Any]:
    """What helps with a relationship that cannot be."""
    answer = studio.clara.architecture.create_relationship(type=kind, source_id=source["id"], target_id=target["id"])
    assert answer.reply_type == "I", answer
    told: Mapping[str, Any] = answer.data["suggestions"]
    return told


def accepted(studio: Studio, source: Mapping[str, Any], target: Mapping[str, Any]) -> list[str]:
    """By what the two could really be related."""
    ends = {"source_id": source["id"], "target_id": target["id"]}
    return [
        kind
        for kind in metamodel().relationship_types
        if validate(studio.clara, "createRelationship", {"type": kind, **ends})["valid"]
    ]


@pytest.mark.requirement("ARCH-20")
def test_only_what_would_be_accepted_is_suggested(studio: Studio) -> None:
    first, second = studio.element("Pick", "BusinessProcess"), studio.element("Pack", "BusinessProcess")
    junction, goal = studio.element("both", "AndJunction"), studio.element("Fast", "Goal")
    follows = studio.relate("Triggering", first, second)
    told = suggested(studio, "Association", follows, first)
    assert (told["valid_relationships"], told["reverse"]) == ([], [])
    told = suggested(studio, "Access", first, second)
    assert "Triggering" not in told["valid_relationships"]
    assert told["valid_relationships"] == accepted(studio, first, second)
    studio.relate("Triggering", first, junction)
    told = suggested(studio, "Composition", second, junction)
    assert told["valid_relationships"] == ["Triggering"] == accepted(studio, second, junction)
    told = suggested(studio, "Flow", second, junction)
    assert told["valid_relationships"] == ["Triggering"]
    told = suggested(studio, "Triggering", junction, goal)
    assert (told["valid_relationships"], told["reverse"]) == ([], [])


@pytest.mark.requirement("ARCH-20")
def test_nothing_is_suggested_that_a_junction_could_not_lead_on(studio: Studio) -> None:
    junction, goal = studio.element("both", "AndJunction"), studio.element("Fast", "Goal")
    told = suggested(studio, "Triggering", junction, goal)
    assert "Triggering" not in told["reverse"]
    assert "swap" not in told["hint"]
    for kind in told["reverse"]:
        assert metamodel().targets_for(kind, "Goal")


@pytest.mark.shows_text
def test_what_is_said_of_a_junction_is_true_of_the_one_that_is_refused(studio: Studio) -> None:
    process, goal = studio.element("Pick", "BusinessProcess"), studio.element("Fast", "Goal")
    junction = studio.element("both", "AndJunction")
    studio.relate("Triggering", goal, junction)
    answer = studio.clara.architecture.create_relationship(
        type="Triggering", source_id=junction["id"], target_id=process["id"]
    )
    assert errors(answer) == {"type": "JUNCTION_CONFLICT"}
    assert "already" not in answer.message
    assert answer.data["suggestions"]["offending_pairs"]


def test_a_deleted_relationship_does_not_count_itself(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    realizes = studio.relate("Realization", orders, service)
    studio.relate("Association", studio.element("Why", "Meaning"), realizes)
    call = studio.clara.architecture.delete_relationship
    token = call(id=realizes["id"]).data["confirm_token"]
    suggestions = done(call(id=realizes["id"], confirm_token=token)).data["suggestions"]
    assert suggestions[0].startswith("1 relationship went with it")


def test_a_relationship_can_be_an_end_but_not_of_its_own_ends(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    note = studio.element("Why", "Meaning")
    realizes = studio.relate("Realization", orders, service)
    studio.relate("Association", note, realizes)
    answer = studio.clara.architecture.create_relationship(
        type="Association", source_id=orders["id"], target_id=realizes["id"]
    )
    assert errors(answer) == {"type": "INVALID_RELATIONSHIP"}


def test_a_deleted_relationship_leaves_its_ends_alone(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    realizes = studio.relate("Realization", orders, service)
    asked = studio.clara.architecture.delete_relationship(id=realizes["id"])
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    answer = studio.clara.architecture.delete_relationship(id=realizes["id"], confirm_token=asked.data["confirm_token"])
    assert answer.message_key == "DELETED"
    assert warned(answer) == ["ISOLATED_ELEMENT", "ISOLATED_ELEMENT"]
    done(studio.clara.architecture.get_element(id=orders["id"]))


def test_an_end_that_is_deleted_in_the_same_moment_never_leaves_a_relationship_behind(studio: Studio) -> None:
    service = studio.element("Ordering", "ApplicationService")
    for number in range(100):
        element = studio.element(f"Component {number}")
        token = studio.clara.architecture.delete_element(id=element["id"]).data["confirm_token"]
        with ThreadPoolExecutor(2) as pool:
            related = pool.submit(
                studio.robot.architecture.create_relationship,
                type="Realization",
                source_id=element["id"],
                target_id=service["id"],
            )
            gone = pool.submit(studio.clara.architecture.delete_element, id=element["id"], confirm_token=token)
            outcomes = (related.result(timeout=30), gone.result(timeout=30))
        assert outcomes[1].message_key in ("DELETED", "PLAN_DRIFT"), outcomes
        is_there = studio.clara.architecture.get_element(id=element["id"]).ok
        related_to = studio.clara.architecture.list_relationships(target_id=service["id"], limit=500).data
        tied = [one for one in related_to["relationships"] if one["source_id"] == element["id"]]
        assert is_there or tied == []
        assert outcomes[0].ok or not is_there
