"""What can be modelled, and how to write it."""

from typing import Any

import orjson
import pytest

from engross.domains.architecture import architecture, metamodel
from engross.flows import Checker
from tests.architecture.studio import Studio, done, errors, validate


@pytest.mark.requirement("ARCH-01")
def test_element_types_come_by_layer_with_descriptions(studio: Studio) -> None:
    answer = done(studio.scout.architecture.get_element_types())
    layers = answer.data["layers"]
    assert {layer: len(types) for layer, types in layers.items()} == {
        "strategy": 4,
        "business": 13,
        "application": 9,
        "technology": 17,
        "motivation": 10,
        "implementation_migration": 5,
        "other": 2,
    }
    assert all(one["description"] for types in layers.values() for one in types)
    assert [one["type"] for one in answer.data["connectors"]] == ["AndJunction", "OrJunction"]
    assert answer.data["metamodel"] == metamodel().stamp


@pytest.mark.requirement("ARCH-01")
def test_one_layer_alone_and_aspects_on_demand(studio: Studio) -> None:
    answer = done(studio.scout.architecture.get_element_types(layer="strategy", include_aspect=True))
    assert list(answer.data["layers"]) == ["strategy"]
    assert {"type", "description", "aspect"} == set(answer.data["layers"]["strategy"][0])
    assert answer.data["connectors"] == []
    assert errors(studio.scout.architecture.get_element_types(layer="bussiness")) == {"layer": "VALIDATION_ERROR"}


@pytest.mark.requirement("ARCH-02")
def test_without_a_filter_counts_and_examples(studio: Studio) -> None:
    answer = done(studio.scout.architecture.get_relationship_types())
    told = {one["type"]: one for one in answer.data["relationships"]}
    assert len(told) == 11
    assert sum(one["count"] for one in told.values()) == 10_484
    assert answer.data["truncated"] is True
    for kind, one in told.items():
        assert one["direction"]
        assert one["description"]
        assert 0 < len(one["valid_pairs"]) <= 5
        assert all(metamodel().allows(kind, pair["source"], pair["target"]) for pair in one["valid_pairs"])


@pytest.mark.requirement("ARCH-02")
def test_with_one_end_the_other_ends_by_layer(studio: Studio) -> None:
    answer = done(studio.scout.architecture.get_relationship_types(source_type="capability"))
    told = {one["type"]: one for one in answer.data["relationships"]}
    assert "ValueStream" in told["Serving"]["targets"]["strategy"]
    assert sum(map(len, told["Association"]["targets"].values())) == 60 == told["Association"]["count"]
    assert [warning["code"] for warning in answer.data["warnings"]] == ["ALIAS_USED"]
    into = done(studio.scout.architecture.get_relationship_types(target_type="Capability"))
    realizers = next(one for one in into.data["relationships"] if one["type"] == "Realization")["sources"]
    assert "ApplicationComponent" in realizers["application"]


@pytest.mark.requirement("ARCH-02")
def test_with_both_ends_what_may_join_them_in_both_directions(studio: Studio) -> None:
    answer = done(
        studio.scout.architecture.get_relationship_types(source_type="Capability", target_type="ApplicationComponent")
    )
    assert [one["type"] for one in answer.data["relationships"]] == ["Association"]
    assert [one["type"] for one in answer.data["reverse"]] == ["Realization", "Association"]
    assert answer.data["reverse"][0]["valid_pairs"] == [{"source": "ApplicationComponent", "target": "Capability"}]


def test_an_unknown_type_is_refused_and_not_answered_with_nothing(studio: Studio) -> None:
    answer = studio.scout.architecture.get_relationship_types(source_type="AppComponent", target_type="Nod")
    assert errors(answer) == {"source_type": "INVALID_ELEMENT_TYPE", "target_type": "INVALID_ELEMENT_TYPE"}


@pytest.mark.requirement("ARCH-03")
def test_every_write_shows_a_schema_that_its_examples_fit(studio: Studio) -> None:
    writes = [flow for flow in architecture().flows.values() if flow.writes]
    asked = 0
    for exposure in architecture().exposures:
        if not any(flow.ref == exposure.ref for flow in writes):
            continue
        asked += 1
        answer = done(studio.scout.architecture.get_write_schema(operation=exposure.tool)).data
        checker = Checker(orjson.loads(orjson.dumps(answer["schema"])))
        assert answer["examples"], exposure.tool
        for example in answer["examples"]:
            assert checker.accepts(orjson.loads(orjson.dumps(example["input"]))), (exposure.tool, example)
        fields = [*answer["required_fields"], *answer["optional_fields"]]
        assert sorted(fields) == sorted(answer["schema"]["properties"])
        assert answer["metamodel"] == metamodel().stamp
        assert answer["schema_version"]
    assert asked == len(writes) >= 11


@pytest.mark.requirement("ARCH-03")
def test_the_schema_of_creating_an_element_says_what_is_needed(studio: Studio) -> None:
    answer = done(studio.scout.architecture.get_write_schema(operation="createElement")).data
    assert answer["required_fields"] == ["type", "name"]
    assert {"description", "properties", "parent_id", "model_id"} <= set(answer["optional_fields"])
    assert len(answer["schema"]["properties"]["type"]["enum"]) == 62
    assert answer["schema"]["properties"]["name"]["maxLength"] == 255


@pytest.mark.requirement("ARCH-03")
def test_the_schema_of_a_write_has_the_bounds_that_are_held_to(studio: Studio) -> None:
    def schema(operation: str) -> dict[str, Any]:
        answer = done(studio.scout.architecture.get_write_schema(operation=operation)).data
        return dict(orjson.loads(orjson.dumps(answer["schema"])))

    update = Checker(schema("updateElement"))
    known = {"id": studio.element("Orders", description="x", properties={"team": "A"})["id"]}
    for change, fits in (
        ({"description": None}, True),
        ({"properties": {"team": {"$op": "DELETE"}}}, True),
        ({"properties": {"team": {"$op": "X"}}}, False),
        ({"name": None}, False),
        ({"name": "a\u0007b"}, False),
        ({"name": "x" * 256}, False),
        ({"type": "Node"}, False),
    ):
        assert update.accepts({**known, **change}) is fits, change
        assert validate(studio.clara, "updateElement", {**known, **change})["valid"] is fits, change
    assert schema("applyChanges")["properties"]["operations"]["maxItems"] == 100
    assert schema("createElement")["properties"]["name"]["pattern"]


@pytest.mark.requirement("ARCH-03")
def test_the_examples_of_a_write_show_ids_of_the_right_kind_and_every_way_to_change(studio: Studio) -> None:
    def inputs(operation: str) -> list[dict[str, Any]]:
        examples = done(studio.scout.architecture.get_write_schema(operation=operation)).data["examples"]
        return [dict(one["input"]) for one in examples]

    assert inputs("setContext")[0]["model_id"].startswith("model_")
    assert inputs("deleteElement")[0]["id"].startswith("el_")
    assert inputs("deleteRelationship")[0]["id"].startswith("rel_")
    changes = inputs("updateElement")
    assert any(one.get("description") == "" for one in changes)
    assert any({"$op": "DELETE"} in one.get("properties", {}).values() for one in changes)
