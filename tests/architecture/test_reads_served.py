"""Reading a model over MCP and over REST: instants, tags, a capability, ends that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.door import Door, Refused, open_door


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with open_door(Path(tmp_path_factory.mktemp("served")) / "office") as found:
        yield found


def asked(door: Door, flow: str, who: str = "owner", **query: Any) -> Any:
    """What a GET over REST is answered with."""
    headers = door.served.headers(door.tokens[who])
    return door.http.get(f"/v1/architecture/{flow}", params=query, headers=headers)


def told(door: Door, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a call over MCP is answered with, which must be a success."""
    result = door.asked("tools/call", "agent", tool, arguments=arguments)
    assert not result.get("isError"), result
    answer: dict[str, Any] = result["structuredContent"]
    return answer


@pytest.mark.requirement("NEW-08")
def test_as_of_is_a_position_or_an_instant_on_every_surface(door: Door) -> None:
    made = door.made("architecture.create-element", type="Node", name="Early")
    element, position = made["element"]["id"], made["position"]
    between = datetime.now(UTC)
    door.made("architecture.update-element", id=element, name="Late")
    for moment in (position, str(position), between.isoformat()):
        over_mcp = told(door, "getElement", id=element, as_of=moment)
        over_rest = asked(door, "get-element", id=element, as_of=moment).json()
        posted = door.rest("architecture.get-element", id=element, as_of=moment)
        for answer in (over_mcp, over_rest, posted):
            assert answer["element"]["name"] == "Early"
            assert answer["read_context"]["as_of"] == position
    for wrong in ("2026-01-01", "yesterday", (between + timedelta(days=1)).isoformat(), 2**61, -1):
        door.refused("getElement", Refused("VALIDATION_ERROR", "as_of", set()), id=element, as_of=wrong)


def test_the_tag_of_an_element_says_which_version_is_to_be_changed(door: Door) -> None:
    element = door.element("Node")
    tag = asked(door, "get-element", id=element).headers["etag"]
    assert tag.startswith('"1-')

    def renamed(name: str) -> Any:
        headers = {**door.served.headers(door.tokens["owner"]), "If-Match": tag}
        return door.http.post("/v1/architecture/update-element", json={"id": element, "name": name}, headers=headers)

    first, second = renamed("Changed by its tag"), renamed("Changed again")
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    assert (second.status_code, second.json()["error"]["code"]) == (412, "VERSION_CONFLICT")
    assert asked(door, "get-element", id=element).headers["etag"].startswith('"2-')


@pytest.mark.parametrize("flow", ["list-elements", "list-relationships", "list-models", "list-views", "get-view"])
def test_what_is_about_many_things_has_a_weak_tag(door: Door, flow: str) -> None:
    door.element("Node")
    tag = asked(door, flow).headers["etag"]
    assert tag.startswith('W/"')


def test_a_view_of_a_capability(door: Door) -> None:
    structure: dict[str, Any] = {
        "name": "Fulfilment",
        "sub_capabilities": ["Picking"],
        "value_streams": ["Order to cash"],
    }
    made = door.made("architecture.create-capability-structure", **structure)
    part = next(one for one in made["created_elements"] if one["name"] == "Picking")
    door.made("architecture.add-component-to-capability", capability_id=part["id"], component_name="Warehouse")
    expected = {"Fulfilment", "Picking", "Order to cash", "Warehouse"}
    for answer in (
        told(door, "getView", capability_id="Fulfilment"),
        asked(door, "get-view", capability_id=made["capability"]["id"]).json(),
    ):
        assert {one["name"] for one in answer["elements"]} == expected
        assert len(answer["citations"]) == len(answer["elements"]) + len(answer["relationships"])
    door.refused("getView", Refused("ELEMENT_NOT_FOUND", "capability_id", {"hint"}), capability_id="Nothing")
    door.refused("getView", Refused("ELEMENT_NOT_FOUND", "capability_id", {"hint"}), capability_id=door.element("Node"))


def test_relationships_of_an_end_that_is_not_there(door: Door) -> None:
    for end in ("source_id", "target_id", "element_id"):
        door.refused("listRelationships", Refused("ELEMENT_NOT_FOUND", end, {"similar_elements"}), **{end: "nope"})


def test_lists_of_models_are_cited(door: Door) -> None:
    for answer in (told(door, "listModels"), asked(door, "list-models").json()):
        assert [one["model_id"] for one in answer["citations"]] == [one["id"] for one in answer["models"]]
        assert answer["read_context"] == {}
