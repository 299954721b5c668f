"""Capabilities, and the templates that make a whole structure at once."""

from typing import Any

import pytest

from engross.domains.architecture import Habits, Ways
from tests.architecture.studio import Studio, done, errors, validate, warned
from tests.bed.offices import Offices

PROFILE = {"owner": "Supply Chain", "criticality": "High", "lifecycle": "Active"}


@pytest.mark.requirement("ARCH-09", "ARCH-25")
def test_a_capability_has_its_profile_and_revision(studio: Studio) -> None:
    answer = done(
        studio.clara.architecture.create_capability(
            name="Fulfillment", description="Ability to fulfill customer orders", profile=PROFILE
        )
    )
    capability = answer.data["capability"]
    assert (capability["type"], capability["layer"], capability["revision"]) == ("Capability", "strategy", 1)
    assert capability["profile"] == PROFILE
    assert studio.clara.architecture.get_element(id=capability["id"]).data["element"]["profile"] == PROFILE


@pytest.mark.requirement("ARCH-09")
@pytest.mark.parametrize(
    ("profile", "refused"),
    [
        (None, {"profile.owner", "profile.criticality", "profile.lifecycle"}),
        ({"owner": "x"}, {"profile.criticality", "profile.lifecycle"}),
        ({**PROFILE, "criticality": "Huge"}, {"profile.criticality"}),
        ({**PROFILE, "colour": "red"}, {"profile.colour"}),
        ({**PROFILE, "owner": ""}, {"profile.owner"}),
    ],
)
def test_a_profile_that_does_not_fit_is_refused_field_by_field(
    studio: Studio, profile: dict[str, Any] | None, refused: set[str]
) -> None:
    given = {} if profile is None else {"profile": profile}
    answer = studio.clara.architecture.create_capability(name="Fulfillment", **given)
    assert errors(answer) == dict.fromkeys(refused, "PROFILE_INVALID")


def test_a_capability_as_an_element_may_lack_its_profile_and_hears_of_it(studio: Studio) -> None:
    answer = done(studio.clara.architecture.create_element(type="Capability", name="Sales", description="x"))
    assert warned(answer) == ["ISOLATED_ELEMENT", "PROFILE_MISSING"]
    whole = done(studio.clara.architecture.create_element(type="Capability", name="Buying", profile=PROFILE))
    assert whole.data["element"]["profile"] == PROFILE
    changed = done(
        studio.clara.architecture.update_element(id=whole.data["element"]["id"], profile={"lifecycle": "Retiring"})
    )
    assert changed.data["element"]["profile"] == {**PROFILE, "lifecycle": "Retiring"}
    assert errors(studio.clara.architecture.create_element(type="Node", name="N", profile=PROFILE)) == {
        "profile": "PROFILE_INVALID"
    }


@pytest.mark.requirement("ARCH-10")
def test_a_structure_is_made_whole_and_takes_what_is_there(studio: Studio) -> None:
    stream = studio.element("Order to cash", "ValueStream")
    answer = done(
        studio.clara.architecture.create_capability_structure(
            name="Fulfillment",
            profile=PROFILE,
            value_streams=["order TO cash", "Returns"],
            sub_capabilities=["Picking", "Packing"],
        )
    )
    capability = answer.data["capability"]
    made = [(one["type"], one["name"]) for one in answer.data["created_elements"]]
    assert made == [
        ("Capability", "Fulfillment"),
        ("ValueStream", "Returns"),
        ("Capability", "Picking"),
        ("Capability", "Packing"),
    ]
    assert [one["id"] for one in answer.data["reused_elements"]] == [stream["id"]]
    related = [(one["type"], one["source_id"]) for one in answer.data["created_relationships"]]
    assert related == [(kind, capability["id"]) for kind in ("Serving", "Serving", "Composition", "Composition")]


@pytest.mark.requirement("ARCH-10")
def test_a_template_builds_what_the_single_calls_build(studio: Studio) -> None:
    done(
        studio.clara.architecture.create_capability_structure(
            name="Fulfillment", value_streams=["Returns"], sub_capabilities=["Picking"]
        )
    )
    other = done(studio.clara.architecture.create_model(name="By hand")).data["model"]["id"]
    whole = studio.element("Fulfillment", "Capability", model_id=other)
    studio.relate("Serving", whole, studio.element("Returns", "ValueStream", model_id=other))
    studio.relate("Composition", whole, studio.element("Picking", "Capability", model_id=other))

    def drawn(model: str) -> tuple[Any, Any]:
        elements = studio.clara.architecture.list_elements(model_id=model).data["elements"]
        names = {one["id"]: one["name"] for one in elements}
        relationships = studio.clara.architecture.list_relationships(model_id=model).data["relationships"]
        ends = sorted((one["type"], names[one["source_id"]], names[one["target_id"]]) for one in relationships)
        return [(one["type"], one["name"], one["properties"]) for one in elements], ends

    assert drawn("default") == drawn(other)


@pytest.mark.requirement("ARCH-10")
def test_a_structure_that_cannot_be_made_whole_is_not_made_at_all(studio: Studio) -> None:
    answer = studio.clara.architecture.create_capability_structure(
        name="Fulfillment",
        value_streams=["Returns", "returns"],
        sub_capabilities=["Picking", "Fulfillment"],
        profile={"owner": "x"},
    )
    assert errors(answer) == {
        "value_streams.1": "VALIDATION_ERROR",
        "sub_capabilities.1": "VALIDATION_ERROR",
        "profile.criticality": "PROFILE_INVALID",
        "profile.lifecycle": "PROFILE_INVALID",
    }
    assert studio.clara.architecture.list_elements().data["elements"] == []


@pytest.mark.requirement("ARCH-11")
def test_a_component_realizes_its_capability_and_its_services(studio: Studio) -> None:
    capability = studio.element("Fulfillment", "Capability")
    existing = studio.element("Stock keeping", "ApplicationService")
    answer = done(
        studio.clara.architecture.add_component_to_capability(
            capability_id=capability["id"],
            component_name="Warehouse",
            component_description="Knows what lies where",
            services=["Stock keeping", "Picking lists"],
        )
    )
    component = answer.data["component"]
    assert component["description"] == "Knows what lies where"
    assert [one["name"] for one in answer.data["reused_elements"]] == ["Stock keeping"]
    ends = [(one["type"], one["source_id"], one["target_id"]) for one in answer.data["created_relationships"]]
    assert ends[0] == ("Realization", component["id"], capability["id"])
    assert ends[1] == ("Realization", component["id"], existing["id"])
    assert len(ends) == 3


@pytest.mark.requirement("ARCH-11")
def test_a_component_is_added_to_a_capability_only(studio: Studio) -> None:
    node = studio.element("Server", "Node")
    for asked in (node["id"], "el_nowhere"):
        answer = studio.clara.architecture.add_component_to_capability(capability_id=asked, component_name="Shop")
        assert errors(answer) == {"capability_id": "ELEMENT_NOT_FOUND"}
    assert [one["name"] for one in studio.clara.architecture.list_elements().data["elements"]] == ["Server"]


def test_a_house_that_does_not_reuse_says_which_name_is_taken(offices: Offices) -> None:
    studio = Studio(offices, Ways(habits=lambda context: Habits(duplicate_name="reject", template_reuse=False)))
    studio.element("Returns", "ValueStream")
    studio.element("Fulfillment", "Capability")
    answer = studio.clara.architecture.create_capability_structure(name="Fulfillment", value_streams=["x", "Returns"])
    assert errors(answer) == {"name": "DUPLICATE_NAME", "value_streams.1": "DUPLICATE_NAME"}


@pytest.mark.requirement("ARCH-12")
def test_a_capability_that_nothing_is_related_to_is_said_to_be_alone(studio: Studio) -> None:
    call = studio.clara.architecture.create_capability
    alone = done(call(name="Sales", description="x", profile=PROFILE))
    assert warned(alone) == ["ISOLATED_ELEMENT"]
    held = done(call(name="Ordering", description="x", profile=PROFILE, parent_id=alone.data["capability"]["id"]))
    assert warned(held) == []


@pytest.mark.requirement("ARCH-12")
def test_a_template_warns_as_the_single_calls_do(studio: Studio) -> None:
    studio.element("PCap", "Capability")
    studio.element("OrderService")
    capability = studio.element("Sales", "Capability")
    structure = {"name": "PCaps", "sub_capabilities": ["Order Services"]}
    checked = validate(studio.clara, "createCapabilityStructure", structure)
    assert [(one["code"], one["field"]) for one in checked["warnings"]] == [
        ("MISSING_DESCRIPTION", "description"),
        ("PROFILE_MISSING", "profile"),
        ("SIMILAR_ELEMENT", "name"),
        ("SIMILAR_ELEMENT", "sub_capabilities.0"),
    ]
    assert any("PCap" in one for one in checked["suggestions"])
    component = {"capability_id": capability["id"], "component_name": "Order Service"}
    told = [("MISSING_DESCRIPTION", "component_description"), ("SIMILAR_ELEMENT", "component_name")]
    checked = validate(studio.clara, "addComponentToCapability", component)
    assert [(one["code"], one["field"]) for one in checked["warnings"]] == told
    made = done(studio.clara.architecture.add_component_to_capability(**component))
    assert [(one["code"], one["field"]) for one in made.data["warnings"]] == told
    empty = done(studio.clara.architecture.create_capability_structure(name="Buying", description="x", profile=PROFILE))
    assert warned(empty) == ["ISOLATED_ELEMENT"]


def test_what_is_made_together_is_no_double_of_each_other(studio: Studio) -> None:
    structure = {"name": "Sales", "description": "x", "profile": PROFILE, "sub_capabilities": ["Sales 1", "Sales 2"]}
    assert validate(studio.clara, "createCapabilityStructure", structure)["warnings"] == []
    assert warned(done(studio.clara.architecture.create_capability_structure(**structure))) == []
