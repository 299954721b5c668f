"""What is said about a model as a whole: what is in it, whether it is sound, what differs."""

from typing import Any

import pytest

from tests.architecture.files import EXCHANGE
from tests.architecture.studio import Studio, done, errors


def imported(studio: Studio, content: str = EXCHANGE, **more: Any) -> str:
    answer = done(studio.clara.architecture.import_model(content=content, mode="commit", **more))
    model: str = answer.data["model"]["id"]
    return model


def test_a_model_is_described_by_layer_and_type(studio: Studio) -> None:
    told = done(studio.scout.architecture.describe_model(model_id=imported(studio))).data
    assert told["counts"] == {"elements": 8, "relationships": 7, "views": 1}
    assert told["elements"]["application"] == {"ApplicationComponent": 1, "ApplicationService": 1, "DataObject": 1}
    assert told["relationships"]["Triggering"] == 2
    assert [view["name"] for view in told["views"]] == ["Main"]
    before = done(studio.scout.architecture.describe_model(as_of=0)).data
    assert before["counts"] == {"elements": 0, "relationships": 0, "views": 0}


@pytest.mark.requirement("ARCH-16")
def test_a_model_is_also_known_by_its_name(studio: Studio) -> None:
    model = imported(studio)
    assert done(studio.scout.architecture.describe_model(model_id="corner SHOP")).data["model"]["id"] == model
    made = done(studio.clara.architecture.create_element(type="Node", name="Till", model_id="Corner shop"))
    assert made.data["element"]["model_id"] == model
    assert done(studio.clara.architecture.set_context(model_id="Corner shop")).data["context"]["model_id"] == model
    related = studio.clara.architecture.create_relationship(
        type="Serving", source_ref="Till", target_ref="Orders", model_id="Corner shop"
    )
    assert done(related).data["relationship"]["model_id"] == model
    assert errors(studio.clara.architecture.describe_model(model_id="Corner shops")) == {"model_id": "MODEL_NOT_FOUND"}


def test_a_checked_model_tells_what_could_be_better_and_what_is_wrong(studio: Studio) -> None:
    orders = studio.element("Orders")
    studio.element("Orders")
    studio.relate("Flow", orders, studio.element("Billing", description="bills"))
    told = done(studio.scout.architecture.check_model()).data
    assert told["sound"] is True
    assert {code: kind["count"] for code, kind in told["remarks"].items()} == {
        "DUPLICATE_NAME": 1,
        "MISSING_DESCRIPTION": 2,
        "ISOLATED_ELEMENT": 1,
    }
    few = done(studio.scout.architecture.check_model(limit=1)).data["remarks"]["MISSING_DESCRIPTION"]
    assert (few["count"], len(few["some"])) == (2, 1)


def test_a_model_is_compared_with_itself_before(studio: Studio) -> None:
    orders = studio.element("Orders")
    first = done(studio.clara.architecture.list_models()).data
    assert first["models"]
    position = studio.clara.record.read_facts().data["next"]
    billing = studio.element("Billing")
    studio.clara.architecture.update_element(id=orders["id"], name="Ordering", properties={"team": "A"})
    studio.relate("Flow", orders, billing)
    told = done(studio.scout.architecture.diff_models(as_of=position, other_as_of=position + 3)).data
    assert told["same"] is False
    assert told["counts"]["elements"] == {"added": 1, "removed": 0, "changed": 1}
    assert told["elements"]["changed"][0]["fields"] == {
        "name": {"from": "Orders", "to": "Ordering"},
        "properties": {"from": None, "to": {"team": "A"}},
    }
    (flow,) = told["relationships"]["added"]
    assert (flow["type"], flow["source"], flow["target"]) == (
        "Flow",
        "ApplicationComponent/Ordering",
        "ApplicationComponent/Billing",
    )
    back = done(studio.scout.architecture.diff_models(other_as_of=position)).data
    assert back["counts"]["elements"] == {"added": 0, "removed": 1, "changed": 1}


def test_a_model_that_went_out_and_came_back_changed_shows_the_change(studio: Studio) -> None:
    model = imported(studio)
    text = done(studio.clara.architecture.export_model(model_id=model)).data["text"]
    same = done(studio.scout.architecture.diff_models(model_id=model, content=text)).data
    assert same["same"] is True
    changed = text.replace(">Ordering<", ">Order taking<").replace('modifier="++"', 'modifier="-"')
    told = done(studio.scout.architecture.diff_models(model_id=model, content=changed)).data
    assert told["elements"]["changed"][0]["fields"] == {"name": {"from": "Ordering", "to": "Order taking"}}
    assert told["relationships"]["changed"][0]["fields"] == {"modifier": {"from": "++", "to": "-"}}
    copy = imported(studio)
    assert done(studio.scout.architecture.diff_models(model_id=model, other_model_id=copy)).data["same"] is True


def test_a_comparison_needs_one_other_side(studio: Studio) -> None:
    both = studio.scout.architecture.diff_models(content=EXCHANGE, other_as_of=0)
    assert errors(both) == {"other_model_id": "VALIDATION_ERROR"}
    assert errors(studio.scout.architecture.diff_models()) == {"other_model_id": "VALIDATION_ERROR"}
    strange = studio.scout.architecture.diff_models(other_model_id="model_nowhere")
    assert errors(strange) == {"other_model_id": "MODEL_NOT_FOUND"}
