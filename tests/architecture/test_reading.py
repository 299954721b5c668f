"""Reading a model: lists, neighbourhoods, views, search, earlier positions."""

import re
from datetime import timedelta
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


def test_relationships_of_what_is_not_there_are_refused(studio: Studio) -> None:
    listed = studio.scout.architecture.list_relationships
    orders, gone = studio.element("Orders"), studio.element("Gone")
    realizes = studio.relate("Realization", orders, studio.element("Ordering", "ApplicationService"))
    studio.delete(gone)
    other = done(studio.clara.architecture.create_model(name="Other")).data["model"]["id"]
    elsewhere = studio.element("Elsewhere", model_id=other)
    for nothing in ("nope", gone["id"], elsewhere["id"]):
        for end in ("source_id", "target_id", "element_id"):
            assert errors(listed(**{end: nothing})) == {end: "ELEMENT_NOT_FOUND"}
    both = listed(source_id="nope", target_id=gone["id"])
    assert errors(both) == {"source_id": "ELEMENT_NOT_FOUND", "target_id": "ELEMENT_NOT_FOUND"}
    assert done(listed(element_id=elsewhere["id"], model_id=other)).data["relationships"] == []
    assert done(listed(element_id=realizes["id"])).data["relationships"] == []


def test_a_neighbourhood_holds_what_is_tied_to_relationships(studio: Studio) -> None:
    goal = studio.element("Uptime", "Goal")
    one, two, far = (studio.element(name, "Node") for name in ("One", "Two", "Far"))
    cable = studio.relate("Association", one, two)
    tie = studio.relate("Association", goal, cable)
    studio.relate("Association", two, far)
    around = studio.scout.architecture.get_neighborhood

    def seen(identifier: str, hops: int, **more: Any) -> tuple[set[str], int]:
        found = done(around(id=identifier, hops=hops, **more)).data
        return set(names(found["elements"])), len(found["relationships"])

    assert seen(goal["id"], 1) == ({"Uptime", "One", "Two"}, 2)
    assert seen(goal["id"], 2) == ({"Uptime", "One", "Two", "Far"}, 3)
    assert seen(one["id"], 1) == ({"One", "Two"}, 1)
    assert seen(one["id"], 2) == ({"One", "Two", "Uptime", "Far"}, 3)
    assert seen(cable["id"], 1) == ({"One", "Two", "Uptime", "Far"}, 3)
    assert seen(tie["id"], 1, limit=1) == ({"Uptime"}, 0)
    whole = done(studio.scout.architecture.get_view(types=["Goal", "Node"])).data
    assert {one["id"] for one in whole["relationships"]} >= {cable["id"], tie["id"]}
    assert done(studio.scout.architecture.get_view(types=["Goal"])).data["relationships"] == []


def test_the_next_step_after_tying_something_to_a_relationship_can_be_taken(studio: Studio) -> None:
    cable = studio.relate("Association", studio.element("One", "Node"), studio.element("Two", "Node"))
    goal = studio.element("Uptime", "Goal")
    for ends in ((goal, cable), (cable, studio.element("Downtime", "Goal"))):
        made = studio.clara.architecture.create_relationship(
            type="Association", source_id=ends[0]["id"], target_id=ends[1]["id"]
        )
        (named,) = re.findall(r"getNeighborhood of (\S+)\.", done(made).data["suggestions"][0])
        found = done(studio.scout.architecture.get_neighborhood(id=named)).data
        assert made.data["relationship"]["id"] in {one["id"] for one in found["relationships"]}


def test_a_line_that_leads_to_a_line_is_drawn(studio: Studio) -> None:
    goal, one, two = studio.element("Uptime", "Goal"), studio.element("One", "Node"), studio.element("Two", "Node")
    cable = studio.relate("Flow", one, two)
    studio.relate("Association", goal, cable)
    view = studio.scout.architecture.get_view
    lines = done(view(element_id=goal["id"], format="mermaid")).data["view"]["text"].splitlines()
    assert [line.strip() for line in lines if "r0" in line and "n0" not in line] == [
        'n1 -.-|"Flow"| r0(( ))',
        "r0 -.-> n2",
    ]
    assert '  n0 ---|"Association"| r0' in lines
    picture = ElementTree.fromstring(done(view(element_id=goal["id"], format="svg")).data["view"]["text"])
    assert len([part for part in picture.iter() if part.tag.endswith("line")]) == 2


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


@pytest.fixture
def fulfilment(studio: Studio) -> dict[str, dict[str, Any]]:
    """A capability with parts and their parts, what supports them, and what is beside it."""
    kinds = {
        "Business": "Capability",
        "Beside": "Capability",
        "Fulfilment": "Capability",
        "Picking": "Capability",
        "Packing": "Capability",
        "Wrapping": "Capability",
        "Order to cash": "ValueStream",
        "Warehouse": "ApplicationComponent",
        "Stock keeping": "ApplicationService",
        "Packers": "Resource",
        "Rack": "Node",
        "Server room": "Facility",
    }
    made = {name: studio.element(name, kind) for name, kind in kinds.items()}
    for kind, source, target in (
        ("Composition", "Business", "Fulfilment"),
        ("Composition", "Business", "Beside"),
        ("Composition", "Fulfilment", "Picking"),
        ("Aggregation", "Fulfilment", "Packing"),
        ("Composition", "Packing", "Wrapping"),
        ("Serving", "Fulfilment", "Order to cash"),
        ("Realization", "Warehouse", "Picking"),
        ("Realization", "Warehouse", "Stock keeping"),
        ("Assignment", "Packers", "Wrapping"),
        ("Serving", "Rack", "Warehouse"),
        ("Composition", "Server room", "Rack"),
    ):
        studio.relate(kind, made[source], made[target])
    return made


TREE = {"Fulfilment", "Picking", "Packing", "Wrapping"}
RELATED = {"Business", "Order to cash", "Warehouse", "Packers"}


def test_a_view_of_a_capability_shows_its_parts_and_what_is_related_to_them(
    studio: Studio, fulfilment: dict[str, dict[str, Any]]
) -> None:
    def seen(called: str, **more: Any) -> set[str]:
        return set(names(done(studio.scout.architecture.get_view(capability_id=called, **more)).data["elements"]))

    capability = fulfilment["Fulfilment"]["id"]
    assert seen(capability, hops=1) == TREE | RELATED
    assert seen(capability) == TREE | RELATED | {"Stock keeping", "Rack"}
    assert seen("fulfilment") == seen("Capability/Fulfilment") == seen(capability)
    assert seen("Packing", hops=1) == {"Packing", "Wrapping", "Fulfilment", "Packers"}
    answer = done(studio.scout.architecture.get_view(capability_id=capability, limit=4)).data
    assert (set(names(answer["elements"])), answer["truncated"]) == (TREE, True)
    assert {one["element_id"] for one in answer["citations"] if "element_id" in one} == {
        fulfilment[name]["id"] for name in TREE
    }
    drawn = done(studio.scout.architecture.get_view(capability_id=capability, format="mermaid")).data["view"]
    assert drawn["name"] == "Fulfilment"
    assert "Warehouse" in drawn["text"]


def test_a_view_of_a_capability_that_is_part_of_itself_comes_to_an_end(studio: Studio) -> None:
    one, two = studio.element("One", "Capability"), studio.element("Two", "Capability")
    studio.relate("Composition", one, two)
    studio.relate("Aggregation", two, one)
    assert len(done(studio.scout.architecture.get_view(capability_id="One")).data["relationships"]) == 2


def test_a_view_of_a_capability_is_of_a_capability(studio: Studio) -> None:
    orders = studio.element("Orders")
    view = studio.scout.architecture.get_view
    for called in (orders["id"], "Orders", "el_nowhere"):
        assert errors(view(capability_id=called)) == {"capability_id": "ELEMENT_NOT_FOUND"}
    assert "ApplicationComponent" in view(capability_id=orders["id"]).data["suggestions"]["hint"]
    assert errors(view(capability_id="x", types=["Node"])) == {"types": "VALIDATION_ERROR"}
    for _ in range(2):
        studio.element("Selling", "Capability")
    assert view(capability_id="Selling").message_key == "NEEDS_DISAMBIGUATION"


def test_elements_of_one_name_are_told_apart_by_what_they_are_part_of(studio: Studio) -> None:
    whole = studio.element("Sales", "Capability")
    part = studio.element("Online", "Capability", parent_id=whole["id"])
    first = studio.element("Ordering", "Capability", parent_id=part["id"])
    second = studio.element("Ordering", "Capability")
    studio.relate("Aggregation", second, whole)
    studio.relate("Composition", whole, second)
    refused = studio.scout.architecture.get_element(ref="Ordering")
    assert refused.message_key == "NEEDS_DISAMBIGUATION"
    assert {one["id"]: one["path"] for one in refused.data["suggestions"]["candidates"]} == {
        first["id"]: "Capability/Ordering > Capability/Sales > Capability/Online > Capability/Ordering",
        second["id"]: "Capability/Sales > Capability/Ordering",
    }


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


MISWRITTEN = {
    "OrderService": ("orderservise", "Ordrservice", "orderservices", "OrderServise"),
    "Customer Onboarding": ("Cutomer", "Kustomer", "customeronboarding", "onbaording", "kustomeronboarding"),
    "Claims Handling Desk": ("claimshandlingdesk",),
    "Überweisung": ("Überweisng",),
}


def test_a_name_is_found_although_a_letter_is_wrong_or_a_blank_missing(studio: Studio) -> None:
    for name in (*MISWRITTEN, "Warehouse"):
        studio.element(name)
    for meant, queries in MISWRITTEN.items():
        for asked in queries:
            assert names(studio.scout.architecture.semantic_search(query=asked).data["results"])[:1] == [meant]
            refused = studio.scout.architecture.get_element(ref=asked)
            assert refused.message_key == "ELEMENT_NOT_FOUND"
            assert refused.data["suggestions"]["similar_elements"][0]["name"] == meant
    for asked in ("zzz", "quarterly", "4712", "ox"):
        assert studio.scout.architecture.semantic_search(query=asked).data["results"] == []


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
    assert done(reads.get_view(element_id=orders["id"], as_of=then)).data["read_context"]["as_of"] == then


@pytest.mark.requirement("NEW-08")
def test_an_instant_is_answered_with_the_position_that_it_stands_for(offices: Offices, studio: Studio) -> None:
    made = done(studio.clara.architecture.create_element(type="Node", name="Server")).data
    then = offices.clock().isoformat()
    offices.clock.pass_(hours=1)
    studio.clara.architecture.update_element(id=made["element"]["id"], name="Host")
    reads, at = studio.scout.architecture, made["position"]
    for answer, found in (
        (reads.get_element(id=made["element"]["id"], as_of=then), "element"),
        (reads.list_elements(as_of=then), "elements"),
        (reads.list_relationships(as_of=then), "relationships"),
        (reads.get_neighborhood(id=made["element"]["id"], as_of=then), "elements"),
        (reads.get_view(types=["Node"], as_of=then), "elements"),
        (reads.semantic_search(query="server", as_of=then), "results"),
        (reads.list_models(as_of=then), "models"),
    ):
        assert done(answer).data["read_context"]["as_of"] == at
        assert "Host" not in str(answer.data[found])
    told = done(reads.diff_models(as_of=then, other_as_of=offices.clock().isoformat())).data
    assert told["elements"]["changed"][0]["fields"] == {"name": {"from": "Server", "to": "Host"}}
    later = (offices.clock() + timedelta(days=1)).isoformat()
    assert errors(reads.diff_models(other_as_of=later)) == {"other_as_of": "VALIDATION_ERROR"}
    assert errors(reads.diff_models(other_as_of="soon")) == {"other_as_of": "VALIDATION_ERROR"}


def test_every_read_says_what_to_quote_and_what_it_was_read_from(studio: Studio) -> None:
    made = done(studio.clara.architecture.create_model(name="Target")).data["model"]
    orders = studio.element("Orders")
    reads = studio.scout.architecture
    assert done(reads.list_models()).data["citations"] == [
        {"model_id": "default", "version": 0},
        {"model_id": made["id"], "version": 1},
    ]
    assert reads.list_models().data["read_context"] == {}
    (model,) = done(reads.describe_model(model_id="Target")).data["citations"]
    assert model == {"model_id": made["id"], "version": 1}
    assert done(reads.check_model()).data["read_context"] == {"model_id": "default"}
    assert done(reads.list_views()).data["citations"] == []
    assert done(reads.list_views()).data["read_context"] == {"model_id": "default"}
    why = done(reads.why_element(id=orders["id"])).data
    assert (why["citations"], why["read_context"]) == (
        [{"element_id": orders["id"], "version": 1}],
        {"model_id": "default"},
    )


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
