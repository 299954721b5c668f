"""What made another value of a field: sources, corrections, retractions, merges, and schemas."""

from __future__ import annotations

from typing import Any

import pytest

from engross.surfaces.client import Client
from tests.memory.kept import Library, done
from tests.memory.people import approve, confirmed, correct, fields, merge, person, retract, tell, unmerge

ROLE: dict[str, Any] = {
    "entity_type": "person",
    "schema_version": "1.0",
    "fields": {"name": {"type": "string"}, "role": {"type": "string"}, "tags": {"type": "array"}},
    "merge_policies": {"role": {"strategy": "highest_priority"}, "tags": {"strategy": "merge_array"}},
}


def explained(client: Client, entity_id: str, field: str = "role") -> dict[str, Any]:
    return done(client.call("memory.explain-field", {"entity_id": entity_id, "field": field}))


def changes(client: Client, entity_id: str, field: str = "role") -> list[tuple[str, Any, Any]]:
    """The changes of a field, the first one first: by what, from what, to what."""
    told = explained(client, entity_id, field)["changes"]
    return [(one["by"], one["before"], one["after"]) for one in reversed(told)]


def activated(library: Library, version: str, **parts: Any) -> None:
    done(library.clara.call("memory.register-schema", {**ROLE, "schema_version": version, **parts}))
    wish = {"entity_type": "person", "schema_version": version}
    done(confirmed(library.clara, "memory.activate-schema", wish))


@pytest.mark.requirement("MEM-22", "MEM-24")
def test_a_merge_that_brought_a_value_is_named_with_its_time_and_reason(library: Library):
    clock = library.offices.clock
    jane = person(library.clara, "Jane Doe")
    doctor = person(library.clara, "Dr. Jane Doe", role="surgeon")
    clock.pass_(hours=1)
    merged = merge(library.clara, doctor, jane, merge_reason="the same person")
    told = explained(library.clara, jane)
    (change,) = told["changes"]
    assert (change["by"], change["before"], change["after"]) == ("merge", None, "surgeon")
    assert (change["from_entity_id"], change["to_entity_id"]) == (doctor, jane)
    assert change["reason"] == "the same person"
    assert change["time"] == merged["merged_at"]
    assert change["observation_id"] == told["winner"]["observation_id"]


@pytest.mark.requirement("MEM-22")
def test_both_sides_of_a_merge_that_was_undone_tell_it(library: Library):
    clock = library.offices.clock
    doctor = person(library.clara, "Dr. Jane Doe", role="surgeon")
    clock.pass_(minutes=1)
    jane = person(library.clara, "Jane Doe", role="patient")
    clock.pass_(minutes=1)
    merge(library.clara, jane, doctor)
    clock.pass_(minutes=1)
    person(library.clara, "Jane Doe", role="visitor")
    clock.pass_(minutes=1)
    unmerge(library.clara, jane)
    assert changes(library.clara, doctor) == [
        ("observed", None, "surgeon"),
        ("merge", "surgeon", "patient"),
        ("observed", "patient", "visitor"),
        ("unmerge", "visitor", "surgeon"),
    ]
    # While somebody else spoke for her, what was true of them was true of her.
    assert changes(library.clara, jane) == [("observed", None, "patient"), ("observed", "patient", "visitor")]
    assert explained(library.clara, doctor)["losers"] == []
    undone = explained(library.clara, doctor)["changes"][0]
    assert (undone["from_entity_id"], "reason" in undone) == (jane, False)


@pytest.mark.requirement("MEM-31")
def test_a_schema_that_decides_otherwise_is_named_with_its_version(library: Library):
    clock = library.offices.clock
    tell(library.clara, {"entity_type": "person", "name": "John Doe", "role": "hi", "tags": ["a"]}, source_priority=500)
    clock.pass_(minutes=1)
    john = person(library.clara, "John Doe", role="lo", tags=["b"])
    clock.pass_(minutes=1)
    activated(library, "1.0")
    assert fields(library.clara, john)["role"] == "hi"
    told = explained(library.clara, john)["changes"]
    assert told[0]["schema_version"] == "1.0"
    assert told[0]["time"] == "2026-11-16T09:02:00.000000Z"
    clock.pass_(minutes=1)
    activated(library, "2.0", merge_policies={})
    assert changes(library.clara, john) == [
        ("observed", None, "hi"),
        ("observed", "hi", "lo"),
        ("schema", "lo", "hi"),
        ("schema", "hi", "lo"),
    ]
    assert changes(library.clara, john, "tags") == [
        ("observed", None, ["a"]),
        ("observed", ["a"], ["b"]),
        ("schema", ["b"], ["b", "a"]),
        ("schema", ["b", "a"], ["b"]),
    ]
    # A schema that leaves the value as it is changed nothing.
    assert [one[0] for one in changes(library.clara, john, "name")] == ["observed"]


@pytest.mark.requirement("MEM-28")
def test_corrections_and_retractions_are_told_apart_from_what_sources_say(library: Library):
    clock = library.offices.clock
    source = tell(library.clara, {"entity_type": "person", "name": "John Doe", "role": "clerk"})["source_id"]
    clock.pass_(minutes=1)
    john = person(library.clara, "John Doe", role="smith")
    clock.pass_(minutes=1)
    correct(library.clara, john, "role", "baker")
    clock.pass_(minutes=1)
    person(library.clara, "John Doe", role="miller")
    clock.pass_(minutes=1)
    retract(library.clara, source)
    correct(library.clara, john, "role", None)
    assert changes(library.clara, john) == [
        ("observed", None, "clerk"),
        ("observed", "clerk", "smith"),
        ("correction", "smith", "baker"),
        ("correction", "baker", None),
    ]


def test_what_was_approved_later_counts_from_then_on(small: Library):
    clock = small.offices.clock
    jane, doctor = person(small.clara, "Jane Doe"), person(small.clara, "Dr. Jane Doe", role="surgeon")
    proposed = small.agent.call("memory.merge-entities", {"from_entity_id": doctor, "to_entity_id": jane})
    proposal = proposed.data["proposal"]["id"]
    inside = small.agent.call("memory.explain-field", {"entity_id": jane, "field": "role", "proposal_id": proposal})
    assert [(one["by"], one["after"]) for one in done(inside)["changes"]] == [("merge", "surgeon")]
    clock.pass_(hours=1)
    approve(small.clara, proposal)
    (change,) = explained(small.clara, jane)["changes"]
    assert (change["by"], change["time"]) == ("merge", "2026-11-16T10:00:00.000000Z")


def test_chains_of_merges_are_gone_through_in_their_order(small: Library):
    clock = small.offices.clock
    a, b, c = (person(small.clara, name, role=name) for name in ("A", "B", "C"))
    correct(small.clara, c, "role", "chief")
    for source, target in ((c, b), (b, a)):
        clock.pass_(minutes=1)
        merge(small.clara, source, target)
    (merged, first) = explained(small.clara, a)["changes"]
    assert (first["by"], first["after"]) == ("observed", "A")
    # It was said about the one, and came with the other, into which that one had been merged.
    assert (merged["by"], merged["from_entity_id"], merged["after"]) == ("merge", b, "chief")


def test_a_list_that_several_gave_something_is_decided_by_merging(small: Library):
    clock = small.offices.clock
    tell(small.clara, {"entity_type": "contract", "name": "C", "files": ["a.pdf"]})
    contract = done(small.clara.call("memory.retrieve-entities", {}))["entities"][0]["id"]
    assert explained(small.clara, contract, "files")["rule"]["decided_by"] == "only_claim"
    clock.pass_(minutes=1)
    tell(small.clara, {"entity_type": "contract", "name": "C", "files": ["b.pdf"]})
    told = explained(small.clara, contract, "files")
    assert (told["rule"]["decided_by"], len(told["contributors"])) == ("merged", 2)
    clock.pass_(minutes=1)
    tell(small.clara, {"entity_type": "contract", "name": "C", "files": ["a.pdf", "b.pdf"]})
    told = explained(small.clara, contract, "files")
    assert told["rule"]["decided_by"] == "contained"
    assert {one["lost_by"] for one in told["losers"]} == {"contained"}
    assert changes(small.clara, contract, "files") == [
        ("observed", None, ["a.pdf"]),
        ("observed", ["a.pdf"], ["b.pdf", "a.pdf"]),
        ("observed", ["b.pdf", "a.pdf"], ["a.pdf", "b.pdf"]),
    ]


def test_of_very_many_claims_the_one_that_decides_is_told_however_old_it_is(
    small: Library, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engross.domains.memory.explaining.MOST_CLAIMS", 3)
    john = person(small.clara, "John Doe", role="clerk")
    correct(small.clara, john, "role", "baker")
    for role in ("smith", "miller", "cooper"):
        small.offices.clock.pass_(minutes=1)
        person(small.clara, "John Doe", role=role)
    told = explained(small.clara, john)
    assert (told["winner"]["value"], told["rule"]["decided_by"]) == ("baker", "correction")
