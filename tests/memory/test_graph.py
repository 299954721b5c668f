"""Relationships: who may be related to whom, what lies around, and no circles."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engross.domains.memory.ids import relationship_id
from tests.memory.kept import Library, done
from tests.memory.people import ACME, ACME_ID, JOHN, JOHN_ID, listed, merge, person, relate, retract, tell, unmerge
from tests.memory.samples import INVOICE

SEVEN = ["PART_OF", "CORRECTS", "REFERS_TO", "SETTLES", "DUPLICATE_OF", "DEPENDS_ON", "SUPERSEDES"]
ACYCLIC = ["PART_OF", "CORRECTS", "DUPLICATE_OF", "DEPENDS_ON", "SUPERSEDES"]


@pytest.mark.requirement("MEM-25", "MEM-33")
def test_the_same_relationship_has_the_same_id_and_gathers_metadata(library: Library):
    tell(library.clara, ACME, JOHN)
    first = done(relate(library.agent, "REFERS_TO", JOHN_ID, ACME_ID, role="buyer"))
    assert first["id"] == relationship_id("clara", "REFERS_TO", JOHN_ID, ACME_ID)
    assert first["metadata"] == {"role": "buyer"}
    library.offices.clock.pass_(minutes=1)
    more = done(relate(library.clara, "REFERS_TO", JOHN_ID, ACME_ID, since=2020, role="owner"))
    assert more["id"] == first["id"]
    assert more["metadata"] == {"role": "owner", "since": 2020}
    assert more["created_at"] == first["created_at"] < more["updated_at"]
    assert relate(library.clara, "REFERS_TO", JOHN_ID, ACME_ID, since=2020).message_key == "NO_EFFECT"
    assert len(listed(library.clara, JOHN_ID)) == 1
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-25")
@pytest.mark.parametrize("kind", SEVEN)
def test_circles_are_refused_where_they_make_no_sense(small: Library, kind: str):
    ids = [person(small.clara, f"P{number}") for number in range(5)]
    for source, target in pairwise(ids):
        assert relate(small.clara, kind, source, target).ok
    back = relate(small.clara, kind, ids[-1], ids[0])
    assert back.message_key == ("CYCLE_DETECTED" if kind in ACYCLIC else "CREATED")
    assert relate(small.clara, kind, ids[1], ids[1]).message_key == "CYCLE_DETECTED"
    other = "REFERS_TO" if kind != "REFERS_TO" else "SETTLES"
    assert relate(small.clara, other, ids[4], ids[3]).ok
    assert relate(small.clara, kind, ids[0], ids[4]).ok


@pytest.mark.requirement("MEM-25")
def test_a_circle_is_found_through_merged_entities(library: Library):
    a, b, b2, c = (person(library.clara, name) for name in ("A", "B", "B Two", "C"))
    assert relate(library.clara, "PART_OF", a, b).ok
    assert relate(library.clara, "PART_OF", b2, c).ok
    assert relate(library.clara, "PART_OF", c, a).ok
    merge(library.clara, b2, b)
    assert relate(library.clara, "PART_OF", c, b).message_key == "CYCLE_DETECTED"
    assert relate(library.clara, "PART_OF", b2, b).message_key == "CYCLE_DETECTED"
    unmerge(library.clara, b2)
    assert relate(library.clara, "PART_OF", c, b).ok


@pytest.mark.requirement("MEM-25")
def test_a_merged_end_stands_for_its_survivor(library: Library):
    john, johnny, acme = person(library.clara, "John"), person(library.clara, "Johnny"), person(library.clara, "Acme")
    stated = done(relate(library.clara, "REFERS_TO", johnny, acme, role="buyer"))
    assert relate(library.clara, "REFERS_TO", john, acme).ok
    assert relate(library.clara, "SETTLES", johnny, john).ok
    merge(library.clara, johnny, john)
    edges = listed(library.clara, john)
    assert [(one["relationship_type"], one["source_entity_id"]) for one in edges] == [("REFERS_TO", john)]
    assert listed(library.clara, johnny) == edges
    again = done(relate(library.clara, "REFERS_TO", johnny, acme, note="x"))
    assert again["source_entity_id"] == john
    unmerge(library.clara, johnny)
    assert stated["id"] in {one["id"] for one in listed(library.clara, johnny)}
    assert len(listed(library.clara, johnny)) == 2
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-25")
def test_relationships_that_cannot_be(small: Library):
    tell(small.clara, ACME, JOHN)
    assert relate(small.clara, "PART_OF", JOHN_ID, "ent_nobody").message_key == "ENTITY_NOT_FOUND"
    assert relate(small.clara, "PART_OF", "ent_nobody", JOHN_ID).message_key == "ENTITY_NOT_FOUND"
    assert relate(small.clara, "PART_OF", "John Doe", JOHN_ID).message_key == "VALIDATION_ERROR"
    for kind in ("KNOWS", "part_of", ""):
        answer = relate(small.clara, kind, JOHN_ID, ACME_ID)
        assert answer.message_key == "INVALID_RELATIONSHIP_TYPE"
        assert answer.data["suggestions"]["valid_types"] == SEVEN
    assert relate(small.clara, "PART_OF", JOHN_ID, ACME_ID, text="x" * 30_000).message_key == "VALIDATION_ERROR"
    assert relate(small.vera, "PART_OF", JOHN_ID, ACME_ID).message_key == "ENTITY_NOT_FOUND"


@pytest.mark.requirement("MEM-26", "MEM-40")
def test_relationships_are_listed_by_direction_and_type_newest_first(library: Library):
    a, b, c = (person(library.clara, name) for name in "ABC")
    for kind, source, target in (("PART_OF", a, b), ("REFERS_TO", c, a), ("REFERS_TO", a, c)):
        library.offices.clock.pass_(minutes=1)
        done(relate(library.clara, kind, source, target))
    assert [one["direction"] for one in listed(library.clara, a)] == ["outbound", "inbound", "outbound"]
    assert [one["target_entity_id"] for one in listed(library.clara, a, direction="outbound")] == [c, b]
    assert [one["source_entity_id"] for one in listed(library.clara, a, direction="inbound")] == [c]
    assert len(listed(library.clara, a, relationship_type="PART_OF")) == 1
    page = done(library.clara.call("memory.list-relationships", {"entity_id": a, "limit": 1, "offset": 1}))
    assert (page["total"], page["limit"], page["offset"], len(page["relationships"])) == (3, 1, 1, 1)
    for bad, code in (
        ({"entity_id": "ent_x"}, "ENTITY_NOT_FOUND"),
        ({"entity_id": "x"}, "VALIDATION_ERROR"),
        ({"entity_id": a, "direction": "up"}, "VALIDATION_ERROR"),
        ({"entity_id": a, "relationship_type": "KNOWS"}, "INVALID_RELATIONSHIP_TYPE"),
    ):
        assert library.clara.call("memory.list-relationships", bad).message_key == code


@pytest.mark.requirement("MEM-20", "MEM-40")
def test_related_entities_come_by_steps_and_no_edge_twice(library: Library):
    a, b, c, d, alone = (person(library.clara, name) for name in ("A", "B", "C", "D", "Alone"))
    for source, target in ((a, b), (b, c), (c, d), (c, a)):
        assert relate(library.clara, "REFERS_TO", source, target).ok

    def around(**more):
        return done(library.clara.call("memory.get-related-entities", {"entity_id": a, **more}))

    one = around()
    assert [found["id"] for found in one["entities"]] == sorted([b, c])
    assert (one["total_entities"], one["total_relationships"], one["hops_traversed"]) == (2, 2, 1)
    two = around(max_hops=2)
    assert {found["id"] for found in two["entities"]} == {b, c, d}
    assert two["total_relationships"] == 4 == len({edge["id"] for edge in two["relationships"]})
    assert around(max_hops=2) == two
    onward = around(max_hops=3, direction="outbound")
    assert [found["id"] for found in onward["entities"]] == [b, c, d]
    assert onward["hops_traversed"] == 3
    assert around(direction="inbound")["entities"][0]["id"] == c
    assert around(relationship_types=["PART_OF"])["total_entities"] == 0
    assert around(relationship_types=[])["total_entities"] == 2
    bare = around(include_entities=False)
    assert (bare["entities"], bare["total_entities"]) == ([], 2)
    lonely = done(library.clara.call("memory.get-related-entities", {"entity_id": alone, "max_hops": 5}))
    assert (lonely["total_entities"], lonely["hops_traversed"]) == (0, 0)
    for bad, code in (
        ({"entity_id": "ent_x"}, "ENTITY_NOT_FOUND"),
        ({"entity_id": "x"}, "VALIDATION_ERROR"),
        ({"entity_id": a, "max_hops": 0}, "VALIDATION_ERROR"),
        ({"entity_id": a, "max_hops": 11}, "VALIDATION_ERROR"),
        ({"entity_id": a, "relationship_types": ["KNOWS"]}, "INVALID_RELATIONSHIP_TYPE"),
    ):
        assert library.clara.call("memory.get-related-entities", bad).message_key == code


def test_a_crowd_is_cut_off_and_that_is_said(small: Library):
    centre = person(small.clara, "Centre")
    tell(small.clara, *({"entity_type": "person", "name": f"Member {number}"} for number in range(1005)))
    from engross.domains.memory.ids import entity_id

    for number in range(1005):
        assert relate(small.clara, "PART_OF", entity_id("person", f"Member {number}"), centre).ok
    found = done(small.clara.call("memory.get-related-entities", {"entity_id": centre, "include_entities": False}))
    assert (found["total_entities"], found["truncated"]) == (1000, True)


@pytest.mark.requirement("MEM-21")
def test_everything_around_an_entity_and_around_a_record(library: Library):
    kept = done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    invoice = done(library.clara.call("memory.retrieve-entities", {"entity_type": "invoice"}))["entities"][0]
    around = done(library.clara.call("memory.get-graph-neighborhood", {"node_id": invoice["id"]}))
    assert around["node_type"] == "entity"
    assert around["entity"]["id"] == invoice["id"]
    assert around["entity_snapshot"] == invoice["snapshot"]
    assert [one["id"] for one in around["related_records"]] == [kept["source_id"]]
    assert {one["entity_type"] for one in around["related_entities"]} == {"company"}
    assert {one["event_type"] for one in around["timeline_events"]} >= {"InvoiceIssued"}
    assert "observations" not in around
    record = {"node_id": kept["source_id"], "node_type": "record", "include_observations": True}
    said = done(library.clara.call("memory.get-graph-neighborhood", record))
    assert said["record"]["id"] == kept["source_id"]
    assert {one["id"] for one in said["related_entities"]} >= {invoice["id"]}
    assert len(said["observations"]) == kept["interpretation"]["observations_created"]
    assert said["relationships"]
    assert said["timeline_events"] == around["timeline_events"]
    off = {f"include_{name}": False for name in ("relationships", "records", "events")}
    bare = done(library.clara.call("memory.get-graph-neighborhood", {"node_id": invoice["id"], **off}))
    assert not {"relationships", "related_entities", "related_records", "timeline_events"} & set(bare)
    for bad, code in (
        ({"node_id": "ent_x"}, "ENTITY_NOT_FOUND"),
        ({"node_id": "x"}, "VALIDATION_ERROR"),
        ({"node_id": "x", "node_type": "record"}, "RECORD_NOT_FOUND"),
        ({"node_id": "a/../b", "node_type": "record"}, "VALIDATION_ERROR"),
        ({"node_id": invoice["id"], "node_type": "event"}, "VALIDATION_ERROR"),
    ):
        assert library.clara.call("memory.get-graph-neighborhood", bad).message_key == code
    retract(library.clara, kept["source_id"])
    assert library.clara.call("memory.get-graph-neighborhood", record).message_key == "RECORD_NOT_FOUND"
