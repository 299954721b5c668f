"""Models, and which of them a call is about when it does not say."""

from typing import Any

import pytest

from engross.replies import Reply
from tests.architecture.files import EXCHANGE
from tests.architecture.studio import Studio, done, errors


@pytest.mark.requirement("ARCH-16")
def test_a_fresh_store_has_one_model_for_everyone(studio: Studio) -> None:
    answer = studio.scout.architecture.list_models()
    assert answer.data["models"] == [{"id": "default", "name": "Default", "version": 0}]
    assert answer.data["default_model_id"] == "default"


@pytest.mark.requirement("ARCH-16")
def test_a_pinned_model_is_kept_per_principal(studio: Studio) -> None:
    model = done(studio.clara.architecture.create_model(name="Target 2030", description="Where we go")).data["model"]
    done(studio.clara.architecture.set_context(model_id=model["id"]))
    assert studio.element("Orders")["model_id"] == model["id"]
    other = studio.clara.as_("otto", "human", ["curator"])
    assert done(other.architecture.create_element(type="Node", name="N")).data["element"]["model_id"] == "default"
    again = studio.clara.architecture.set_context(model_id=model["id"])
    assert again.message_key == "NO_EFFECT"
    done(studio.clara.architecture.set_context(model_id=None))
    assert studio.element("Billing")["model_id"] == "default"


@pytest.mark.requirement("ARCH-16")
def test_a_pin_of_the_call_wins_and_a_named_model_wins_over_it(studio: Studio) -> None:
    first, second = (done(studio.clara.architecture.create_model(name=name)).data["model"]["id"] for name in "AB")
    arguments = {"type": "Node", "name": "N"}
    pinned = studio.clara.call("architecture.create-element", arguments, pins={"model_id": first})
    assert pinned.data["element"]["model_id"] == first
    named = studio.clara.call(
        "architecture.create-element", {**arguments, "model_id": second}, pins={"model_id": first}
    )
    assert named.data["element"]["model_id"] == second


@pytest.mark.requirement("ARCH-16")
def test_where_no_model_is_the_default_one_has_to_be_named(studio: Studio) -> None:
    admin = studio.clara.as_("anna", "human", ["admin"])
    asked = admin.architecture.set_context(model_id=None, scope="everyone")
    assert asked.message_key == "CONFIRMATION_REQUIRED"
    done(admin.architecture.set_context(model_id=None, scope="everyone", confirm_token=asked.data["confirm_token"]))
    answer = studio.clara.architecture.create_element(type="Node", name="N")
    assert errors(answer) == {"model_id": "NO_DEFAULT_MODEL"}
    assert answer.data["suggestions"]["available_models"] == [{"id": "default", "name": "Default"}]
    done(studio.clara.architecture.create_element(type="Node", name="N", model_id="default"))


def test_an_agent_sets_its_own_context_at_once_and_proposes_everybodys(studio: Studio) -> None:
    model = done(studio.clara.architecture.create_model(name="Target")).data["model"]["id"]
    assert done(studio.scout.architecture.set_context(model_id=model)).data["status"] == "committed"
    assert done(studio.scout.architecture.set_context(model_id=model, scope="everyone")).data["status"] == "proposed"


def test_a_model_has_a_name_of_its_own(studio: Studio) -> None:
    done(studio.clara.architecture.create_model(name="Target"))
    for name in ("TARGET", "default"):
        assert errors(studio.clara.architecture.create_model(name=name)) == {"name": "DUPLICATE_NAME"}


def test_the_same_name_is_free_in_another_model(studio: Studio) -> None:
    model = done(studio.clara.architecture.create_model(name="Target")).data["model"]["id"]
    studio.element("Orders")
    done(studio.robot.architecture.create_element(type="ApplicationComponent", name="Orders", model_id=model))


def confirmed(studio: Studio, flow: str, call: dict[str, Any]) -> Reply:
    """Make a call, and confirm it where that is asked for."""
    asked = studio.clara.call(flow, call)
    if asked.message_key != "CONFIRMATION_REQUIRED":
        return asked
    return studio.clara.call(flow, {**call, "confirm_token": asked.data["confirm_token"]})


def erase(studio: Studio, subject: str) -> Reply:
    """Erase something."""
    return confirmed(studio, "record.erase", {"aggregate": "architecture", "subject": subject})


@pytest.mark.requirement("ARCH-16")
def test_a_model_is_erased_only_when_nothing_is_in_it(studio: Studio) -> None:
    model = done(studio.clara.architecture.create_model(name="Target")).data["model"]["id"]
    orders, service = (
        studio.element(name, kind, model_id=model)
        for name, kind in (("Orders", "ApplicationComponent"), ("Ordering", "ApplicationService"))
    )
    related = studio.relate("Realization", orders, service)
    refused = erase(studio, model)
    assert (refused.message_key, refused.data["field"]) == ("VALIDATION_ERROR", "subject")
    assert refused.data["suggestions"]["model_has"] == ["elements", "relationships"]
    done(studio.clara.architecture.update_element(id=orders["id"], name="Order desk"))
    assert erase(studio, related["id"]).message_key == "ERASED"
    assert erase(studio, model).data["suggestions"]["model_has"] == ["elements"]
    for element in (orders, service):
        done(studio.delete(element))
    assert erase(studio, model).message_key == "ERASED"
    assert studio.clara.architecture.list_elements(model_id=model).message_key == "MODEL_NOT_FOUND"
    assert studio.clara.architecture.update_element(id=orders["id"], name="X").message_key == "ELEMENT_NOT_FOUND"
    assert studio.clara.office.rebuild("main").same


@pytest.mark.requirement("ARCH-16")
def test_who_had_chosen_a_model_that_is_erased_works_in_everybodys(studio: Studio) -> None:
    admin = studio.clara.as_("anna", "human", ["admin"])
    own, shared = (done(studio.clara.architecture.create_model(name=name)).data["model"]["id"] for name in ("A", "B"))
    done(studio.clara.architecture.set_context(model_id=own))
    asked = admin.architecture.set_context(model_id=shared, scope="everyone")
    wish = {"model_id": shared, "scope": "everyone", "confirm_token": asked.data["confirm_token"]}
    done(admin.architecture.set_context(**wish))
    for gone, left in ((own, shared), (shared, "default")):
        assert erase(studio, gone).message_key == "ERASED"
        assert studio.clara.architecture.list_models().data["default_model_id"] == left
        assert done(studio.clara.architecture.list_elements()).data["elements"] == []
    assert studio.element("Orders")["model_id"] == "default"
    assert studio.clara.architecture.set_context(model_id=own).message_key == "MODEL_NOT_FOUND"
    pinned = studio.clara.call("architecture.list-elements", {}, pins={"model_id": own})
    assert pinned.message_key == "MODEL_NOT_FOUND"
    assert studio.clara.office.rebuild("main").same


def test_the_default_model_stays_with_all_that_is_in_it_when_what_was_said_about_it_is_erased(studio: Studio) -> None:
    call = {"content": EXCHANGE, "mode": "commit", "model_id": "default"}
    imported = done(confirmed(studio, "architecture.import-model", call)).data
    assert imported["model"]["version"] == 1
    assert erase(studio, "default").message_key == "ERASED"
    listed = studio.clara.architecture.list_models().data
    assert listed["models"] == [{"id": "default", "name": "Default", "version": 0}]
    assert len(studio.clara.architecture.list_elements().data["elements"]) == imported["counts"]["elements_created"]
    again = done(confirmed(studio, "architecture.import-model", call)).data
    assert again["model"]["version"] == 3
    assert studio.clara.office.rebuild("main").same


def test_views_keep_a_model_from_being_erased_too(studio: Studio) -> None:
    call = {"content": EXCHANGE, "mode": "commit"}
    model = done(studio.clara.call("architecture.import-model", call)).data["model"]["id"]
    for element in studio.clara.architecture.list_elements(model_id=model).data["elements"]:
        done(erase(studio, element["id"]))
    assert erase(studio, model).data["suggestions"]["model_has"] == ["views"]
    (view,) = studio.clara.architecture.list_views(model_id=model).data["views"]
    done(erase(studio, view["id"]))
    assert erase(studio, model).message_key == "ERASED"
    assert studio.clara.office.rebuild("main").same
