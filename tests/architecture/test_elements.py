"""Creating, changing and deleting elements."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.architecture.studio import Studio, done, errors, validate, warned
from tests.bed.offices import Offices


@pytest.mark.requirement("ARCH-04", "ARCH-17", "ARCH-25", "ARCH-26")
def test_a_new_element_is_answered_whole(studio: Studio) -> None:
    answer = done(
        studio.clara.architecture.create_element(
            type="ApplicationComponent",
            name="  Order   Service ",
            description="Handles orders",
            properties={"team": "Orders", "seats": 3, "cloud": True},
        )
    )
    element = answer.data["element"]
    assert element == {
        "id": element["id"],
        "type": "ApplicationComponent",
        "name": "Order Service",
        "layer": "application",
        "model_id": "default",
        "version": 1,
        "description": "Handles orders",
        "properties": {"team": "Orders", "seats": 3, "cloud": True},
    }
    assert answer.data["status"] == "committed"
    assert answer.data["citation"] == {"element_id": element["id"], "version": 1}
    assert answer.data["suggestions"]
    assert studio.clara.architecture.get_element(id=element["id"]).data["element"] == element


@pytest.mark.requirement("ARCH-17")
def test_every_type_has_its_layer(studio: Studio) -> None:
    found = studio.clara.architecture.get_element_types().data["layers"]
    for layer, types in found.items():
        one = types[0]["type"]
        assert studio.element(f"Some {one}", one)["layer"] == layer


@pytest.mark.requirement("ARCH-17", "ARCH-23")
def test_a_type_in_another_spelling_is_understood_with_a_warning(studio: Studio) -> None:
    answer = done(studio.clara.architecture.create_element(type="application component", name="Orders"))
    assert answer.data["element"]["type"] == "ApplicationComponent"
    assert warned(answer) == ["ALIAS_USED", "ISOLATED_ELEMENT", "MISSING_DESCRIPTION"]


@pytest.mark.requirement("ARCH-19")
def test_a_wrong_type_is_answered_with_what_was_meant(studio: Studio) -> None:
    answer = studio.clara.architecture.create_element(type="AppComponent", name="OrderService")
    assert errors(answer) == {"type": "INVALID_ELEMENT_TYPE"}
    suggestions = answer.data["suggestions"]
    assert suggestions["did_you_mean"][0] == "ApplicationComponent"
    assert set(suggestions["valid_types_for_context"]) >= {"ApplicationService", "ApplicationInterface", "DataObject"}
    assert suggestions["hint"] == "Application layer types start with 'Application' or 'Data'"


@pytest.mark.requirement("ARCH-05")
def test_a_parent_holds_its_new_part_by_a_composition(studio: Studio) -> None:
    parent = studio.element("Orders")
    answer = done(
        studio.clara.architecture.create_element(
            type="ApplicationComponent", name="OrderAPI", description="x", parent_id=parent["id"]
        )
    )
    relationship = answer.data["relationship"]
    assert (relationship["type"], relationship["source_id"]) == ("Composition", parent["id"])
    assert relationship["target_id"] == answer.data["element"]["id"]
    assert warned(answer) == []
    assert len(answer.data["facts"]) == 2


@pytest.mark.requirement("ARCH-05")
def test_a_parent_that_cannot_hold_it_refuses_both(studio: Studio) -> None:
    parent = studio.element("Orders")
    answer = studio.clara.architecture.create_element(type="Capability", name="Ordering", parent_id=parent["id"])
    assert errors(answer) == {"parent_id": "INVALID_PARENT"}
    assert answer.data["suggestions"]["valid_relationships"][-1] == "Association"
    assert "Capability" in answer.data["suggestions"]["valid_parent_types"]
    found = studio.clara.architecture.list_elements().data["elements"]
    assert [element["name"] for element in found] == ["Orders"]


@pytest.mark.requirement("ARCH-22")
def test_a_name_that_is_taken_is_refused_for_agents_with_names_that_are_free(studio: Studio) -> None:
    taken = studio.element("OrderService")
    studio.element("orderservice2")
    answer = studio.robot.architecture.create_element(type="ApplicationComponent", name="ORDERSERVICE")
    assert errors(answer) == {"name": "DUPLICATE_NAME"}
    suggestions = answer.data["suggestions"]
    assert suggestions["existing_element"]["id"] == taken["id"]
    assert suggestions["alternatives"] == ["ORDERSERVICEV2", "NewORDERSERVICE", "ORDERSERVICE3"]
    for name in suggestions["alternatives"]:
        done(studio.robot.architecture.create_element(type="ApplicationComponent", name=name))


@pytest.mark.requirement("ARCH-22")
@pytest.mark.parametrize(
    "name", ["Fresh\u200b", "Fr\u00adesh", "\ufeffFRESH", "Fresh\u2800", "Fresh \u200b", "fre\u034fsh\U000e0041"]
)
def test_a_name_is_taken_whatever_nobody_sees_is_slipped_into_it(shared_studio: Studio, name: str) -> None:
    fresh = {"type": "Node", "name": "Fresh"}
    studio, model = shared_studio, done(shared_studio.clara.architecture.create_model(name=ascii(name))).data["model"]
    done(studio.robot.architecture.create_element(**fresh, model_id=model["id"]))
    answer = studio.robot.architecture.create_element(type="Node", name=name, model_id=model["id"])
    assert errors(answer) == {"name": "DUPLICATE_NAME"}
    found = done(studio.robot.architecture.get_element(ref=name, model_id=model["id"])).data["element"]
    assert found["name"] == "Fresh"


def test_a_name_keeps_what_nobody_sees_of_it(studio: Studio) -> None:
    astronaut = "\U0001f469\u200d\U0001f680"
    assert studio.element(astronaut)["name"] == astronaut
    twin = studio.robot.architecture.create_element(type="ApplicationComponent", name=astronaut.replace("\u200d", ""))
    assert errors(twin) == {"name": "DUPLICATE_NAME"}


def test_rows_from_before_are_listed_once_and_mended_by_a_rebuild(tmp_path: Path) -> None:
    offices = Offices(tmp_path / "data", None)
    studio = Studio(offices)
    for name in ("a", "Fresh\u200b", "z"):
        studio.element(name)
    older = apsw.Connection(str(tmp_path / "data" / "office.db"))
    older.execute("UPDATE architecture_elements SET folded = 'fresh' || char(8203) WHERE name <> 'a' AND name <> 'z'")
    older.close()
    listed: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = done(studio.clara.architecture.list_elements(limit=1, **cursor)).data
        listed += [one["name"] for one in page["elements"]]
        if page["next_cursor"] is None:
            break
        assert len(listed) < 3
        cursor = {"cursor": page["next_cursor"]}
    assert listed == ["a", "Fresh\u200b", "z"]
    assert not studio.clara.office.rebuild("main", keep=True).same
    taken = studio.robot.architecture.create_element(type="ApplicationComponent", name="Fresh")
    assert errors(taken) == {"name": "DUPLICATE_NAME"}
    offices.close()


@pytest.mark.requirement("ARCH-22")
def test_a_name_that_is_taken_is_no_hindrance_for_people_or_for_another_type(studio: Studio) -> None:
    studio.element("Orders")
    again = done(studio.clara.architecture.create_element(type="ApplicationComponent", name="Orders"))
    assert "DUPLICATE_NAME" in warned(again)
    other = done(studio.robot.architecture.create_element(type="ApplicationService", name="Orders"))
    assert "DUPLICATE_NAME" not in warned(other)


@pytest.mark.requirement("ARCH-18")
@pytest.mark.parametrize("field", ["id", "layer", "tenant_id", "aggregate_version", "message_id", "occurred_at"])
def test_what_the_server_sets_is_refused_by_name(studio: Studio, field: str) -> None:
    answer = studio.clara.architecture.create_element(type="Node", name="Server", **{field: "x"})
    assert errors(answer) == {field: "FIELD_NOT_ALLOWED"}


@pytest.mark.parametrize(
    "name", ["", "   ", "\u00a0", "\u200b\u2060", "\u3164", "x" * 256, "two\nlines", "tab\there", "bell\x07", "c1\x85"]
)
def test_names_that_are_none_are_refused(studio: Studio, name: str) -> None:
    answer = studio.clara.architecture.create_element(type="Node", name=name)
    assert errors(answer) == {"name": "VALIDATION_ERROR"}
    assert studio.clara.architecture.list_elements().data["elements"] == []


def test_what_nobody_can_see_names_nothing(studio: Studio) -> None:
    unseen, known = "\u200b", studio.element("Orders")
    house = studio.clara.architecture
    refused = {"name": "VALIDATION_ERROR"}
    assert errors(house.update_element(id=known["id"], name=unseen)) == refused
    assert errors(house.create_model(name=unseen)) == refused
    assert errors(house.create_capability_structure(name="Sales", sub_capabilities=["Offers", unseen])) == {
        "sub_capabilities.1": "VALIDATION_ERROR"
    }
    assert validate(studio.clara, "createElement", {"type": "Node", "name": unseen})["errors"][0]["field"] == "name"
    assert studio.element("Orders\u200b")["name"] == "Orders\u200b"


def test_every_error_is_told_at_once(studio: Studio) -> None:
    answer = studio.clara.architecture.create_element(
        type="AppComponent", name="Orders", model_id="model_nowhere", parent_id="el_nowhere"
    )
    assert errors(answer) == {
        "type": "INVALID_ELEMENT_TYPE",
        "model_id": "MODEL_NOT_FOUND",
        "parent_id": "ELEMENT_NOT_FOUND",
    }


PROFILE = {"owner": "", "criticality": "Lo", "lifecycle": "zz", "extra": "x"}
MIXED: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    (
        "createElement",
        {
            "type": "AppComponent",
            "name": "  ",
            "layer": "x",
            "parent_id": "nope",
            "profile": {"a": "b"},
            "bogus": 1,
            "client_request_id": "a",
        },
        {
            "name": "VALIDATION_ERROR",
            "client_request_id": "VALIDATION_ERROR",
            "bogus": "UNKNOWN_FIELD",
            "layer": "FIELD_NOT_ALLOWED",
            "type": "INVALID_ELEMENT_TYPE",
            "parent_id": "ELEMENT_NOT_FOUND",
            "profile.a": "PROFILE_INVALID",
        },
    ),
    (
        "createElement",
        {"type": 7, "name": "Orders", "profile": "x", "properties": {"a": [1]}, "model_id": "model_nowhere"},
        {
            "type": "VALIDATION_ERROR",
            "profile": "VALIDATION_ERROR",
            "properties.a": "VALIDATION_ERROR",
            "model_id": "MODEL_NOT_FOUND",
        },
    ),
    (
        "createCapability",
        {"name": "", "profile": PROFILE},
        {
            "name": "VALIDATION_ERROR",
            "profile.owner": "PROFILE_INVALID",
            "profile.criticality": "PROFILE_INVALID",
            "profile.lifecycle": "PROFILE_INVALID",
            "profile.extra": "PROFILE_INVALID",
        },
    ),
    (
        "createCapability",
        {"name": "Sales", "profile": {**PROFILE, "owner": 5}, "parent_id": "nope"},
        {
            "profile.owner": "VALIDATION_ERROR",
            "parent_id": "ELEMENT_NOT_FOUND",
            "profile.criticality": "PROFILE_INVALID",
            "profile.lifecycle": "PROFILE_INVALID",
            "profile.extra": "PROFILE_INVALID",
        },
    ),
    (
        "updateElement",
        {"id": "nope", "name": None, "type": "Node", "layer": "x"},
        {
            "name": "VALIDATION_ERROR",
            "layer": "FIELD_NOT_ALLOWED",
            "type": "FIELD_NOT_ALLOWED",
            "id": "ELEMENT_NOT_FOUND",
        },
    ),
    (
        "createRelationship",
        {"type": "Flw", "source_ref": "", "target_id": "nope", "name": "a\nb"},
        {
            "source_ref": "VALIDATION_ERROR",
            "name": "VALIDATION_ERROR",
            "type": "INVALID_RELATIONSHIP_TYPE",
            "target_id": "ELEMENT_NOT_FOUND",
        },
    ),
    (
        "createRelationship",
        {"type": "Flow", "bogus": 1},
        {"bogus": "UNKNOWN_FIELD", "source_id": "VALIDATION_ERROR", "target_id": "VALIDATION_ERROR"},
    ),
    (
        "deleteElement",
        {"id": "nope", "cascade": "x"},
        {"cascade": "VALIDATION_ERROR", "id": "ELEMENT_NOT_FOUND"},
    ),
    (
        "deleteRelationship",
        {"id": "nope", "expected_version": 0},
        {"expected_version": "VALIDATION_ERROR", "id": "RELATIONSHIP_NOT_FOUND"},
    ),
    (
        "createCapabilityStructure",
        {"name": "", "sub_capabilities": ["A", "a"], "value_streams": ["B", ""], "model_id": "model_nowhere"},
        {
            "name": "VALIDATION_ERROR",
            "value_streams.1": "VALIDATION_ERROR",
            "sub_capabilities.1": "VALIDATION_ERROR",
            "model_id": "MODEL_NOT_FOUND",
        },
    ),
    (
        "addComponentToCapability",
        {"capability_id": "nope", "services": ["A", "a"]},
        {
            "component_name": "VALIDATION_ERROR",
            "capability_id": "ELEMENT_NOT_FOUND",
            "services.1": "VALIDATION_ERROR",
        },
    ),
]


@pytest.mark.requirement("ARCH-12")
@pytest.mark.parametrize(("operation", "payload", "refused"), MIXED, ids=[one[0] for one in MIXED])
def test_what_is_wrong_with_the_shape_hides_nothing_else(
    shared_studio: Studio, operation: str, payload: dict[str, Any], refused: dict[str, str]
) -> None:
    checked = validate(shared_studio.robot, operation, payload)
    assert {error["field"]: error["code"] for error in checked["errors"]} == refused
    assert len(checked["errors"]) == len(refused)
    written = shared_studio.robot.call(checked["operation"], payload)
    assert errors(written) == refused
    assert all(error["suggestions"] for error in written.data["errors"])


def test_a_change_without_a_valid_field_is_not_called_a_change_of_nothing(studio: Studio) -> None:
    element = studio.element("Orders")
    call = studio.clara.architecture.update_element
    assert errors(call(id=element["id"], name=None)) == {"name": "VALIDATION_ERROR"}
    assert errors(call(id=element["id"], bogus=1)) == {"bogus": "UNKNOWN_FIELD", "None": "NO_CHANGES"}


def test_a_name_cannot_be_taken_away(studio: Studio) -> None:
    element = studio.element("Orders")
    answer = studio.clara.architecture.update_element(id=element["id"], name=None, description="new")
    assert errors(answer) == {"name": "VALIDATION_ERROR"}
    assert studio.clara.architecture.get_element(id=element["id"]).data["element"]["description"] is None


def test_a_description_of_nothing_is_none(studio: Studio) -> None:
    element = studio.element("Orders", description="x")
    emptied = done(studio.clara.architecture.update_element(id=element["id"], description=""))
    assert emptied.data["element"]["description"] is None
    again = studio.clara.architecture.update_element(id=element["id"], description=None)
    assert again.message_key == "NO_EFFECT"


def test_fields_that_may_not_be_set_are_not_listed_among_those_that_may(studio: Studio) -> None:
    answer = studio.clara.architecture.update_element(id=studio.element("Orders")["id"], layer="x", type="Node")
    assert errors(answer) == {"layer": "FIELD_NOT_ALLOWED", "type": "FIELD_NOT_ALLOWED"}
    allowed = answer.data["suggestions"]["allowed_fields"]
    assert {"name", "description"} <= set(allowed)
    assert not {"type", "model_id"} & set(allowed)


def test_a_parent_in_another_model_is_said_to_be_there(studio: Studio) -> None:
    other = done(studio.clara.architecture.create_model(name="Other")).data["model"]["id"]
    parent = studio.element("Server", "Node")
    answer = studio.clara.architecture.create_element(type="Node", name="Blade", parent_id=parent["id"], model_id=other)
    assert errors(answer) == {"parent_id": "ELEMENT_NOT_FOUND"}
    told = answer.data["suggestions"]
    assert "another model" in told["hint"]
    assert "similar_elements" not in told


def test_what_is_wrong_is_also_looked_for_in_a_draft(studio: Studio) -> None:
    drafted = done(studio.scout.architecture.create_element(type="Node", name="Server", commit_mode="draft"))
    proposal = drafted.data["proposal"]["id"]
    call = {"type": "Node", "name": "server", "bogus": 1, "proposal_id": proposal}
    refused = {"bogus": "UNKNOWN_FIELD", "name": "DUPLICATE_NAME"}
    assert errors(studio.scout.call("architecture.create-element", call)) == refused
    outside = {**call, "proposal_id": "prop_nowhere"}
    assert errors(studio.scout.call("architecture.create-element", outside)) == {
        "bogus": "UNKNOWN_FIELD",
        "proposal_id": "PROPOSAL_NOT_FOUND",
    }


def test_whoever_may_not_write_hears_that_and_nothing_of_the_arguments(studio: Studio) -> None:
    viewer = studio.clara.as_("vera", "human", ["viewer"])
    answer = viewer.architecture.create_element(type="Nod", name="")
    assert answer.message_key == "WRITE_DENIED"
    assert "errors" not in answer.data


@pytest.mark.requirement("ARCH-07")
def test_a_change_sets_what_is_named_and_leaves_the_rest(studio: Studio) -> None:
    element = studio.element("Orders", description="x", properties={"team": "A", "tier": "1", "old": "y"})
    answer = done(
        studio.clara.architecture.update_element(
            id=element["id"],
            description=None,
            properties={"team": "B", "tier": None, "old": {"$op": "DELETE"}, "a,b%": "c"},
        )
    )
    changed = answer.data["element"]
    assert (changed["name"], changed["description"]) == ("Orders", None)
    assert changed["properties"] == {"team": "B", "tier": None, "a,b%": "c"}
    assert (answer.data["previous_version"], answer.data["new_version"]) == (1, 2)
    assert answer.data["changed"] is True
    assert studio.clara.architecture.get_element(id=element["id"]).data["element"] == changed


@pytest.mark.requirement("ARCH-07")
def test_a_change_to_what_is_there_already_makes_no_version(studio: Studio) -> None:
    element = studio.element("Orders", properties={"team": "A"})
    answer = studio.clara.architecture.update_element(id=element["id"], name="Orders", properties={"team": "A"})
    assert answer.message_key == "NO_EFFECT"
    assert (answer.data["changed"], answer.data["new_version"], answer.data["facts"]) == (False, 1, [])


def test_the_type_of_an_element_stays(studio: Studio) -> None:
    element = studio.element("Orders")
    answer = studio.clara.architecture.update_element(id=element["id"], type="Node", model_id="other")
    assert errors(answer) == {"type": "FIELD_NOT_ALLOWED", "model_id": "FIELD_NOT_ALLOWED"}
    assert errors(studio.clara.architecture.update_element(id=element["id"])) == {"None": "NO_CHANGES"}


@pytest.mark.requirement("ARCH-30")
def test_an_expected_version_is_strict_and_says_what_changed(studio: Studio) -> None:
    element = studio.element("Orders")
    studio.clara.architecture.update_element(id=element["id"], properties={"team": "A"})
    answer = studio.clara.architecture.update_element(id=element["id"], name="Ordering", expected_version=1)
    assert errors(answer) == {"expected_version": "VERSION_CONFLICT"}
    assert answer.data["suggestions"] == {
        "current_version": 2,
        "changed_fields": ["properties.team"],
        "changed_by": ["clara"],
        "overlapping_fields": [],
    }
    done(studio.clara.architecture.update_element(id=element["id"], name="Ordering", expected_version=2))


def test_a_rename_is_held_to_the_names_that_are_taken(studio: Studio) -> None:
    studio.element("Orders")
    other = studio.element("Billing")
    assert errors(studio.robot.architecture.update_element(id=other["id"], name="orders")) == {"name": "DUPLICATE_NAME"}
    done(studio.robot.architecture.update_element(id=other["id"], name="BILLING"))


@pytest.mark.requirement("ARCH-08")
def test_a_deletion_takes_the_relationships_along_and_lists_them(studio: Studio) -> None:
    orders, service, data = (
        studio.element("Orders"),
        studio.element("Ordering", "ApplicationService"),
        studio.element("Order", "DataObject"),
    )
    realizes = studio.relate("Realization", orders, service)
    reads = studio.relate("Access", orders, data, access_type="Read")
    noted = studio.relate("Association", data, realizes)
    answer = studio.delete(orders)
    assert answer.message_key == "DELETED"
    assert answer.data["deleted_relationships"] == sorted([realizes["id"], reads["id"], noted["id"]])
    assert warned(answer) == ["ISOLATED_ELEMENT", "ISOLATED_ELEMENT"]
    assert studio.clara.architecture.list_relationships().data["relationships"] == []
    names = [element["name"] for element in studio.clara.architecture.list_elements().data["elements"]]
    assert names == ["Ordering", "Order"]
    assert studio.clara.architecture.delete_element(id=orders["id"]).message_key == "ELEMENT_NOT_FOUND"


@pytest.mark.requirement("ARCH-08")
def test_without_cascade_an_element_in_use_stays(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    realizes = studio.relate("Realization", orders, service)
    answer = studio.clara.architecture.delete_element(id=orders["id"], cascade=False)
    assert errors(answer) == {"cascade": "ELEMENT_HAS_RELATIONSHIPS"}
    assert answer.data["suggestions"]["relationship_ids"] == [realizes["id"]]
    done(studio.clara.architecture.get_element(id=orders["id"]))


@pytest.mark.requirement("ARCH-21")
def test_an_element_that_is_not_there_is_answered_with_those_like_it(studio: Studio) -> None:
    orders = studio.element("OrderService")
    studio.element("OrderProcessor")
    studio.element("Warehouse")
    answer = studio.clara.architecture.update_element(id="OrderServce", name="x")
    assert errors(answer) == {"id": "ELEMENT_NOT_FOUND"}
    assert answer.data["suggestions"]["similar_elements"][0] == {
        "id": orders["id"],
        "type": "ApplicationComponent",
        "name": "OrderService",
    }
    mistyped = orders["id"][:-1] + ("0" if orders["id"][-1] != "0" else "1")
    answer = studio.clara.architecture.get_element(id=mistyped)
    assert answer.data["suggestions"]["similar_elements"][0]["id"] == orders["id"]
    assert answer.data["suggestions"]["hint"]


@pytest.mark.requirement("ARCH-21", "REL-05")
def test_another_tenants_elements_are_not_suggested_or_found(studio: Studio) -> None:
    orders = studio.element("OrderService")
    stranger = studio.clara.as_("clara", "human", ["curator"], tenant="elsewhere")
    for answer in (
        stranger.architecture.get_element(id=orders["id"]),
        stranger.architecture.get_element(ref="OrderService"),
        stranger.architecture.delete_element(id=orders["id"]),
    ):
        assert answer.message_key == "ELEMENT_NOT_FOUND"
        assert answer.data["suggestions"]["similar_elements"] == []
    assert stranger.architecture.semantic_search(query="order service").data["results"] == []


@pytest.mark.requirement("ARCH-12", "ARCH-23")
def test_validating_warns_of_similar_elements_and_of_a_missing_description(studio: Studio) -> None:
    studio.element("Order Service")
    checked = validate(studio.scout, "createElement", {"type": "ApplicationComponent", "name": "OrderService"})
    assert checked["valid"] is True
    codes = [warning["code"] for warning in checked["warnings"]]
    assert codes == ["ISOLATED_ELEMENT", "MISSING_DESCRIPTION", "SIMILAR_ELEMENT"]
    assert checked["would"]["mode"] == "proposal"
    assert any("Order Service" in suggestion for suggestion in checked["suggestions"])


@pytest.mark.parametrize(
    ("name", "like"),
    [
        *((name, ["OrderService"]) for name in ("OrderServise", "orderservise", "orderservices", "Ordr Service")),
        *((name, ["Customer Portal"]) for name in ("CustomerPortal", "Customer Portals", "Kustomer Portal")),
        ("Invoicing", []),
        ("Order Service 2", ["OrderService"]),
    ],
)
@pytest.mark.requirement("ARCH-12")
def test_a_write_warns_of_the_same_similar_elements_as_its_validation(
    studio: Studio, name: str, like: list[str]
) -> None:
    for known in ("OrderService", "Customer Portal", "Warehouse"):
        studio.element(known)
    wish = {"type": "ApplicationComponent", "name": name}
    checked = validate(studio.clara, "createElement", wish)["warnings"]
    written = done(studio.clara.architecture.create_element(**wish)).data["warnings"]
    assert [(one["code"], one.get("similar_element")) for one in written] == [
        (one["code"], one.get("similar_element")) for one in checked
    ]
    assert [one["similar_element"]["name"] for one in written if one["code"] == "SIMILAR_ELEMENT"] == like


def test_an_erased_element_is_gone_in_every_version_and_a_rebuild_agrees(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    studio.relate("Realization", orders, service)
    studio.clara.architecture.update_element(id=orders["id"], name="Jane Doe")
    asked = studio.clara.record.erase(aggregate="architecture", subject=orders["id"])
    done(
        studio.clara.record.erase(
            aggregate="architecture", subject=orders["id"], confirm_token=asked.data["confirm_token"]
        )
    )
    assert studio.clara.architecture.get_element(id=orders["id"]).message_key == "ELEMENT_NOT_FOUND"
    assert studio.clara.architecture.list_relationships().data["relationships"] == []
    assert studio.clara.architecture.semantic_search(query="Jane Doe").data["results"] == []
    assert studio.clara.office.rebuild(studio.clara.tenant).same


def test_very_long_words_are_kept_and_found_by_their_beginning(studio: Studio) -> None:
    wide = "\U00020000" * 255
    element = studio.element(wide, description="x" * 15_000)
    assert studio.clara.architecture.get_element(ref=wide).data["element"]["id"] == element["id"]
    found = studio.clara.architecture.semantic_search(query="x" * 70).data["results"]
    assert [one["id"] for one in found] == [element["id"]]


def test_an_erased_context_is_forgotten(studio: Studio) -> None:
    model = done(studio.clara.architecture.create_model(name="Target")).data["model"]["id"]
    done(studio.scout.architecture.set_context(model_id=model))
    call = {"aggregate": "architecture", "subject": "context_principal:scout"}
    asked = studio.clara.record.erase(**call)
    done(studio.clara.record.erase(**call, confirm_token=asked.data["confirm_token"]))
    assert studio.scout.architecture.list_models().data["default_model_id"] == "default"
    done(studio.scout.architecture.set_context(model_id=model))
    assert studio.clara.office.rebuild(studio.clara.tenant).same
