"""Models, and which of them a call is about when it does not say."""

import pytest

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
