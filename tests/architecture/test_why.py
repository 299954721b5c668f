"""Why an element is what it is: of many facts the newest, of a field what set it last, and of nothing else at all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.architecture.files import EXCHANGE
from tests.architecture.studio import Studio, done, errors

pytestmark = pytest.mark.requirement("NEW-05")


def why(studio: Studio, **arguments: Any) -> dict[str, Any]:
    return dict(done(studio.clara.architecture.why_element(**arguments)).data)


def versions(told: dict[str, Any]) -> list[int]:
    return [one["version"] for one in told["reasons"]]


def setters(told: dict[str, Any]) -> dict[str, int]:
    """The version that each field comes from, of those that are told."""
    known = {one["fact_id"]: one["version"] for one in told["reasons"]}
    return {name: known[fact] for name, fact in told["fields"].items()}


def long_history(studio: Studio) -> str:
    element = studio.element("v1", "Node", properties={"owner": "ann", "a,b": "1"})["id"]
    for number in range(2, 9):
        done(studio.clara.architecture.update_element(id=element, description=f"Edition {number}"))
    done(studio.clara.architecture.update_element(id=element, name="final", properties={"state": "live"}))
    return str(element)


def test_of_many_facts_the_newest_are_told_and_how_it_came_to_be(studio: Studio) -> None:
    element = long_history(studio)
    told = why(studio, id=element, limit=4)
    assert (versions(told), told["reasons_in_all"]) == ([1, 7, 8, 9], 9)
    assert setters(told) == {
        "model_id": 1,
        "type": 1,
        "properties": 1,
        "description": 8,
        "name": 9,
        "properties.state": 9,
    }
    assert versions(why(studio, id=element, limit=1)) == [9]
    assert why(studio, id=element)["reasons_in_all"] == len(why(studio, id=element)["reasons"]) == 9


@pytest.mark.parametrize(
    ("field", "told", "set_by"),
    [
        ("name", [1, 9], {"name": 9}),
        ("description", [7, 8], {"description": 8}),
        ("properties", [1, 9], {"properties": 1, "properties.state": 9}),
        ("properties.state", [9], {"properties.state": 9}),
        ("properties.owner", [1], {"properties.owner": 1}),
        ("properties.a,b", [1], {"properties.a,b": 1}),
    ],
)
def test_a_field_is_told_by_what_set_it_however_long_ago(
    shared_studio: Studio, field: str, told: list[int], set_by: dict[str, int]
) -> None:
    answer = why(shared_studio, id=long_history(shared_studio), field=field, limit=2)
    assert (versions(answer), setters(answer)) == (told, set_by)
    assert answer["reasons_in_all"] == (7 if field == "description" else len(told))


def test_a_property_that_was_taken_away_is_told_by_what_took_it(studio: Studio) -> None:
    element = studio.element("Orders", properties={"a,b": "1"})["id"]
    done(studio.clara.architecture.update_element(id=element, properties={"a,b": "2"}))
    done(studio.clara.architecture.update_element(id=element, properties={"a,b": {"$op": "DELETE"}}))
    told = why(studio, id=element, field="properties.a,b")
    assert (versions(told), setters(told)) == ([1, 2, 3], {"properties.a,b": 3})
    assert setters(why(studio, id=element))["properties.a%2Cb"] == 3


def test_a_field_that_an_element_never_had_is_refused_with_those_it_has(studio: Studio) -> None:
    studio.element("Orders", properties={"owner": "ann"})
    for client in (studio.clara, studio.scout):
        refused = client.architecture.why_element(ref="Orders", field="nme")
        assert errors(refused) == {"field": "FIELD_NOT_FOUND"}
        assert refused.data["suggestions"]["did_you_mean"] == ["name"]
    close = studio.clara.architecture.why_element(ref="Orders", field="properties.ownr").data["suggestions"]
    assert close["did_you_mean"][0] == "properties.owner"
    through = studio.clara.record.why(of="Orders", field="nope")
    assert (through.message_key, through.data["field"]) == ("FIELD_NOT_FOUND", "field")
    assert {"name", "properties.owner"} <= set(through.data["suggestions"]["allowed_values"])


def test_a_field_that_could_be_set_and_never_was_is_told_as_that(studio: Studio) -> None:
    studio.element("Orders")
    hints = {
        field: studio.clara.architecture.why_element(ref="Orders", field=field).data["suggestions"]["hint"]
        for field in ("description", "properties", "nope", "name.first", "profile.nope")
    }
    assert hints["nope"] == hints["name.first"] == hints["profile.nope"]
    assert len({hints[field] for field in ("description", "properties", "nope")}) == 3


def test_only_what_is_or_was_an_element_is_told_of(studio: Studio) -> None:
    clara = studio.clara
    orders, billing = studio.element("Orders"), studio.element("Billing")
    flow = studio.relate("Flow", orders, billing)
    model = done(clara.architecture.import_model(content=EXCHANGE, mode="commit")).data["model"]["id"]
    (view,) = done(clara.architecture.list_views(model_id=model)).data["views"]
    done(clara.architecture.set_context(model_id="default"))
    context = next(
        fact["subject"]
        for fact in done(clara.record.read_facts()).data["facts"]
        if fact["type"].split(".")[-2] == "ContextSet"
    )
    for subject in (flow["id"], model, view["id"], context):
        assert errors(clara.architecture.why_element(id=subject)) == {"id": "ELEMENT_NOT_FOUND"}
        assert errors(clara.architecture.why_element(ref=subject)) == {"ref": "ELEMENT_NOT_FOUND"}
        assert clara.record.why(of=subject).message_key == "RECORD_NOT_FOUND"
    studio.delete(orders)
    gone = why(studio, ref=orders["id"], field="name")
    assert (gone["is_deleted"], versions(gone)) == (True, [1])


def test_an_aggregate_that_there_is_not_is_refused_with_those_that_there_are(studio: Studio) -> None:
    studio.element("Orders")
    refused = studio.clara.record.why(of="Orders", aggregate="architectur")
    assert (refused.message_key, refused.data["field"]) == ("RECORD_NOT_FOUND", "aggregate")
    assert refused.data["suggestions"]["did_you_mean"] == ["architecture"]
    assert "architecture" in refused.data["suggestions"]["allowed_values"]
    assert studio.clara.record.why(of="Orders", aggregate="record").data["field"] == "of"
