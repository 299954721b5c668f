"""Reading a model: lists, neighbourhoods, views, search, earlier positions."""

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from engross.domains.architecture import Ways
from tests.architecture.studio import Studio, done, errors
from tests.bed.offices import Offices


def names(found: list[Any]) -> list[str]:
    return [one["name"] for one in found]


def test_lists_come_in_pages_in_a_stable_order(studio: Studio) -> None:
    for number in range(7):
        studio.element(f"Component {number}")
    studio.element("Service", "ApplicationService")
    studio.element("Server", "Node")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = done(studio.scout.architecture.list_elements(limit=4, **cursor)).data
        seen += names(page["elements"])
        assert [one["version"] for one in page["citations"]] == [1] * len(page["elements"])
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == [*(f"Component {number}" for number in range(7)), "Service", "Server"]


def test_lists_are_filtered_by_type_layer_and_name(studio: Studio) -> None:
    for kind, name in (
        ("ApplicationComponent", "Orders"),
        ("ApplicationService", "Ordering"),
        ("DataObject", "Bill"),
        ("Node", "Order server"),
    ):
        studio.element(name, kind)
    listed = studio.scout.architecture.list_elements
    assert names(listed(layer="application").data["elements"]) == ["Orders", "Ordering", "Bill"]
    assert names(listed(type="node").data["elements"]) == ["Order server"]
    assert names(listed(name_starts_with="ORDER").data["elements"]) == ["Orders", "Ordering", "Order server"]
    assert listed(type="Node", layer="application").data["elements"] == []
    two = listed(layer="application", limit=1).data
    rest = listed(layer="application", limit=5, cursor=two["next_cursor"]).data
    assert names([*two["elements"], *rest["elements"]]) == ["Orders", "Ordering", "Bill"]
    assert errors(listed(cursor="not a cursor")) == {"cursor": "VALIDATION_ERROR"}
    assert errors(listed(type="Nod")) == {"type": "INVALID_ELEMENT_TYPE"}


def test_relationships_are_listed_by_type_and_ends(studio: Studio) -> None:
    orders, service, data = (
        studio.element("Orders"),
        studio.element("Ordering", "ApplicationService"),
        studio.element("Order", "DataObject"),
    )
    realizes, reads = studio.relate("Realization", orders, service), studio.relate("Access", service, data)
    listed = studio.scout.architecture.list_relationships
    assert [one["id"] for one in listed().data["relationships"]] == [reads["id"], realizes["id"]]
    assert listed(type="Realization").data["relationships"] == [realizes]
    assert listed(source_id=service["id"]).data["relationships"] == [reads]
    assert len(listed(element_id=service["id"]).data["relationships"]) == 2
    first = listed(limit=1).data
    assert listed(limit=1, cursor=first["next_cursor"]).data["relationships"] == [realizes]


def test_a_neighbourhood_reaches_as_far_as_asked(studio: Studio) -> None:
    chain = [studio.element(f"C{number}") for number in range(5)]
    for first, second in pairwise(chain):
        studio.relate("Flow", first, second)
    studio.relate("Serving", chain[0], chain[4])
    around = studio.scout.architecture.get_neighborhood
    one = done(around(id=chain[2]["id"])).data
    assert names(one["elements"]) == ["C2", "C1", "C3"]
    assert {edge["type"] for edge in one["relationships"]} == {"Flow"}
    two = around(id=chain[2]["id"], hops=2).data
    assert sorted(names(two["elements"])) == ["C0", "C1", "C2", "C3", "C4"]
    assert len(two["relationships"]) == 4
    only = around(id=chain[0]["id"], hops=2, relationship_types=["serving"]).data
    assert sorted(names(only["elements"])) == ["C0", "C4"]
    little = around(id=chain[2]["id"], hops=2, limit=2).data
    assert (len(little["elements"]), little["truncated"]) == (2, True)
    assert errors(around(id=chain[2]["id"], relationship_types=["Flows"])) == {
        "relationship_types.0": "INVALID_RELATIONSHIP_TYPE"
    }
    assert errors(around(id="el_nowhere")) == {"id": "ELEMENT_NOT_FOUND"}


@pytest.mark.requirement("ECO-06")
def test_a_view_is_drawn_as_mermaid_and_as_svg_whatever_the_names_say(studio: Studio) -> None:
    evil = studio.element('"]; click n0 "javascript:alert(1)" <script>')
    service = studio.element("A & B <i>", "ApplicationService")
    studio.relate("Realization", evil, service, name="</text><script>alert(1)</script>")
    graph = done(studio.scout.architecture.get_view(element_id=evil["id"])).data
    assert len(graph["elements"]) == 2
    drawn = done(studio.scout.architecture.get_view(element_id=evil["id"], format="mermaid")).data["view"]["text"]
    lines = drawn.splitlines()
    assert lines[0] == "flowchart LR"
    assert "<script" not in drawn
    assert sum(line.count('"') for line in lines[1:4]) == 6
    assert re.search(r"n0 -\.->\|.*\| n1", drawn)
    picture = done(
        studio.scout.architecture.get_view(types=["ApplicationComponent", "ApplicationService"], format="svg")
    )
    root = ElementTree.fromstring(picture.data["view"]["text"])
    assert not [part for part in root.iter() if part.tag.endswith("script")]
    assert len([part for part in root.iter() if part.tag.endswith("rect")]) == 2
    assert len([part for part in root.iter() if part.tag.endswith("line")]) == 1


def test_a_view_is_of_one_thing(studio: Studio) -> None:
    answer = studio.scout.architecture.get_view(element_id="x", types=["Node"])
    assert errors(answer) == {"types": "VALIDATION_ERROR"}
    assert errors(studio.scout.architecture.get_view(types=["Nod"])) == {"types.0": "INVALID_ELEMENT_TYPE"}
    assert studio.scout.architecture.get_view(view_id="view_x").message_key == "RECORD_NOT_FOUND"


def test_a_view_around_nothing_names_the_field_that_was_sent(studio: Studio) -> None:
    assert errors(studio.scout.architecture.get_view(element_id="el_x")) == {"element_id": "ELEMENT_NOT_FOUND"}
    assert errors(studio.scout.architecture.get_neighborhood(id="el_x")) == {"id": "ELEMENT_NOT_FOUND"}


def test_search_finds_by_name_by_description_and_despite_mistakes(studio: Studio) -> None:
    orders = studio.element("OrderService", description="Takes what customers want and keeps track of it")
    studio.element("Order Archive", description="Old orders")
    studio.element("Billing", description="Sends invoices")
    studio.element("Order", "DataObject")
    search = studio.scout.architecture.semantic_search
    assert search(query="order service").data["results"][0]["id"] == orders["id"]
    assert search(query="customers").data["results"][0]["id"] == orders["id"]
    assert names(search(query="biling").data["results"]) == ["Billing"]
    assert names(search(query="invoic").data["results"]) == ["Billing"]
    assert names(search(query="order", type="DataObject").data["results"]) == ["Order"]
    assert set(names(search(query="order", layer="application", limit=2).data["results"])) < {
        "Order",
        "OrderService",
        "Order Archive",
    }
    assert search(query="zebra").data["results"] == []
    answer = search(query="order").data
    assert answer["search_mode"] == "words+names"
    assert answer["results"] == search(query="order").data["results"]
    assert {"element_id", "version"} == set(answer["citations"][0])


def test_search_follows_renames_and_deletions(studio: Studio) -> None:
    element = studio.element("Orders", description="takes orders")
    studio.clara.architecture.update_element(id=element["id"], name="Sales desk")
    search = studio.scout.architecture.semantic_search
    assert names(search(query="sales").data["results"]) == ["Sales desk"]
    assert names(search(query="orders").data["results"]) == ["Sales desk"]
    studio.clara.architecture.update_element(id=element["id"], description="x")
    assert search(query="orders").data["results"] == []
    studio.delete(element)
    assert search(query="sales").data["results"] == []
    assert studio.clara.office.rebuild(studio.clara.tenant).same


def test_search_says_when_an_embedder_took_part(offices: Offices) -> None:
    class Vowels:
        name = "vowels"

        def __call__(self, texts: Any) -> list[list[float]]:
            return [[float(text.lower().count(letter)) for letter in "aeiou"] for text in texts]

    studio = Studio(offices, Ways(embedder=Vowels()))
    studio.element("Orders")
    answer = studio.scout.architecture.semantic_search(query="orders").data
    assert answer["search_mode"] == "words+names+embeddings:vowels"
    assert names(answer["results"]) == ["Orders"]


@pytest.mark.requirement("NEW-08")
def test_every_read_also_answers_as_of_an_earlier_position(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    related = studio.clara.architecture.create_relationship(
        type="Realization", source_id=orders["id"], target_id=service["id"]
    )
    then = related.data["position"]
    studio.clara.architecture.update_element(id=orders["id"], name="Sales", description="New")
    studio.delete(service)
    done(studio.clara.architecture.create_model(name="Later"))
    reads = studio.scout.architecture
    assert reads.get_element(id=orders["id"], as_of=then).data["element"]["name"] == "Orders"
    assert reads.get_element(ref="Orders", as_of=then).data["element"]["version"] == 1
    assert names(reads.list_elements(as_of=then).data["elements"]) == ["Orders", "Ordering"]
    assert len(reads.list_relationships(as_of=then).data["relationships"]) == 1
    assert names(reads.get_neighborhood(id=orders["id"], as_of=then).data["elements"]) == ["Orders", "Ordering"]
    assert "Ordering" in reads.get_view(element_id=orders["id"], format="mermaid", as_of=then).data["view"]["text"]
    assert names(reads.semantic_search(query="ordering", as_of=then).data["results"])[0] == "Ordering"
    assert len(reads.list_models(as_of=then).data["models"]) == 1
    assert reads.get_element(id=orders["id"]).data["element"]["name"] == "Sales"
    assert names(reads.list_elements().data["elements"]) == ["Sales"]
    assert reads.get_element(id=orders["id"], as_of=then).data["read_context"]["as_of"] == then


@pytest.mark.requirement("NEW-08")
def test_state_built_again_from_facts_is_the_same(studio: Studio) -> None:
    orders, service = studio.element("Orders"), studio.element("Ordering", "ApplicationService")
    studio.relate("Realization", orders, service)
    for name in ("Sales", "Orders", "Sales"):
        studio.clara.architecture.update_element(
            id=orders["id"], name=name, properties={name: {"$op": "DELETE"}, "n": name}
        )
    studio.delete(service)
    studio.clara.architecture.create_capability_structure(name="Sell", sub_capabilities=["Buy"])
    assert studio.clara.office.rebuild(studio.clara.tenant).same
