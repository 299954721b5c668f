"""validateWrite and the write are one path: valid says that it succeeds, invalid names the same codes."""

from functools import partial
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engross.domains.architecture import metamodel
from tests.architecture.studio import Studio, validate

NUMBERS = count()
KINDS = [
    *("ApplicationComponent", "ApplicationService", "Capability", "ValueStream", "Node", "DataObject", "Goal"),
    *("AndJunction", "application component", "AppComponent", "", "Grouping"),
]
LINKS = [*metamodel().relationship_types, "UsedBy", "Realizes", ""]
NAMES = ["Orders", "orders ", "Ordering", "Sales", "", "  ", "a\nb", "x" * 256, "Server", "Order to cash"]
SOMETHING = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.text("ab é/", max_size=5), st.just(["a"]))
DELETE: dict[str, Any] = {"$op": "DELETE"}


def some(*always: str, **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Payloads with these fields, most of them as they should be, some missing or strange."""
    kept = {name: one for name, one in fields.items() if name in always}
    left = {name: st.one_of(one, one, one, SOMETHING) for name, one in fields.items() if name not in always}
    strange = {"layer": st.just("x"), "nam": st.just("x"), "id ": st.just("x")}
    return st.fixed_dictionaries(kept, optional={**left, **strange}).map(_mostly_without_strangers)


def _mostly_without_strangers(payload: dict[str, Any]) -> dict[str, Any]:
    strangers = {"layer", "nam", "id "}
    if len(strangers & payload.keys()) < 3:
        return {name: value for name, value in payload.items() if name not in strangers}
    return payload


def _item(operation: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"operation": operation, "payload": payload}


def _call(operation: str, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return operation, payload


def payloads(ids: list[str], links: list[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    identifier = st.sampled_from([*ids, "el_nowhere", "Orders"])
    name = st.one_of(st.sampled_from(NAMES), st.just(None).map(lambda _: f"N{next(NUMBERS)}"))
    reference = st.sampled_from(["Orders", "ApplicationComponent/Orders", "Nothing", "Node/Server", "Twin"])
    profile = st.fixed_dictionaries(
        {},
        optional={
            "owner": st.sampled_from(["Ada", ""]),
            "criticality": st.sampled_from(["High", "Huge"]),
            "lifecycle": st.sampled_from(["Active", "Gone"]),
        },
    )
    whole = st.just({"owner": "Ada", "criticality": "High", "lifecycle": "Active"})
    properties = st.dictionaries(
        st.sampled_from(["a", "b,c"]), st.sampled_from(["x", 1, None, DELETE, {"$op": "X"}, ["y"]]), max_size=2
    )
    version = st.sampled_from([1, 2, 0])
    names = st.lists(st.sampled_from(["A", "a", "B", "Order to cash", ""]), max_size=3)
    link = st.sampled_from([*links, "rel_nowhere"])
    simple: dict[str, st.SearchStrategy[dict[str, Any]]] = {
        "createElement": some(
            "type",
            "name",
            type=st.sampled_from(KINDS),
            name=name,
            description=st.just("x"),
            properties=properties,
            profile=st.one_of(whole, profile),
            parent_id=identifier,
            model_id=st.sampled_from(["default", "model_nowhere"]),
        ),
        "createRelationship": some(
            "type",
            type=st.sampled_from(LINKS),
            source_id=identifier,
            source_ref=reference,
            target_id=identifier,
            target_ref=reference,
            access_type=st.sampled_from(["Read", "Look"]),
            modifier=st.just("+"),
        ),
        "updateElement": some(
            "id",
            id=identifier,
            name=name,
            description=st.just("y"),
            properties=properties,
            profile=profile,
            expected_version=version,
            type=st.just("Node"),
        ),
        "deleteElement": some("id", id=identifier, cascade=st.booleans(), expected_version=version),
        "deleteRelationship": some("id", id=link, expected_version=version),
        "createCapability": some("name", name=name, profile=st.one_of(whole, profile), parent_id=identifier),
        "createCapabilityStructure": some("name", name=name, value_streams=names, sub_capabilities=names),
        "addComponentToCapability": some(
            "capability_id", capability_id=identifier, component_name=name, services=names
        ),
        "createModel": some("name", name=name),
        "setContext": some(model_id=st.sampled_from(["default", "model_nowhere"])),
    }
    item = st.one_of(
        [
            one.map(partial(_item, operation))
            for operation, one in simple.items()
            if operation not in ("createModel", "setContext")
        ]
    )
    many = st.fixed_dictionaries({"operations": st.lists(item, max_size=3)})
    return st.one_of(
        [one.map(partial(_call, operation)) for operation, one in simple.items()]
        + [many.map(partial(_call, "applyChanges"))]
    )


@pytest.fixture
def furnished(studio: Studio) -> tuple[Studio, list[str], list[str]]:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    capability, node = studio.element("Sales", "Capability"), studio.element("Server", "Node")
    twins = [studio.element("Twin", kind) for kind in ("Node", "Device")]
    junction = studio.element("both", "AndJunction")
    related = studio.relate("Realization", orders, service)
    into = studio.relate("Flow", orders, junction)
    ids = [one["id"] for one in (orders, service, capability, node, *twins, junction, related)]
    return studio, ids, [related["id"], into["id"]]


@pytest.mark.requirement("ARCH-12", "REL-06")
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_valid_means_that_the_write_succeeds_and_invalid_names_its_codes(
    furnished: tuple[Studio, list[str], list[str]], data: st.DataObject
) -> None:
    studio, ids, links = furnished
    operation, payload = data.draw(payloads(ids, links))
    client = data.draw(st.sampled_from([studio.robot, studio.clara, studio.scout]))
    checked = validate(client, operation, payload)
    flow = checked["operation"]
    confirm = {"confirm_token": checked["confirm_token"]} if "confirm_token" in checked else {}
    written = client.call(flow, {**payload, **confirm})
    assert written.reply_type in "SI", written
    assert checked["valid"] is written.ok, (operation, payload, checked, written)
    if not written.ok:
        told = [(error["code"], error["pointer"]) for error in checked["errors"]]
        assert told == [(error["code"], error["pointer"]) for error in written.data["errors"]]
