"""Merging and unmerging: who speaks for whom, and that nothing is lost by it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memory.kept import Library, done
from tests.memory.people import (
    ACME_ID,
    approve,
    confirmed,
    correct,
    fields,
    listed,
    merge,
    person,
    relate,
    snapshot,
    tell,
    unmerge,
)


@pytest.mark.requirement("MEM-22")
def test_the_survivor_speaks_for_both_and_the_next_read_shows_it(library: Library):
    clock = library.offices.clock
    doctor = person(library.clara, "Dr. Jane Doe", title="Dr.", city="Bern")
    clock.pass_(minutes=1)
    jane = person(library.clara, "Jane Doe", city="Basel")
    merged = merge(library.clara, doctor, jane, merge_reason="the same person")
    assert (merged["from_entity_id"], merged["to_entity_id"]) == (doctor, jane)
    assert (merged["observations_moved"], merged["merge_reason"]) == (1, "the same person")
    for asked in (doctor, jane):
        seen = snapshot(library.clara, asked)
        assert seen["entity_id"] == jane
        assert seen["snapshot"] == {"name": "Jane Doe", "title": "Dr.", "city": "Basel"}
        assert seen["observation_count"] == 2
    observations = done(library.clara.call("memory.list-observations", {"entity_id": doctor}))["observations"]
    assert {one["entity_id"] for one in observations} == {jane}
    assert [one.get("original_entity_id") for one in observations] == [None, doctor]
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-22")
def test_what_comes_in_under_the_old_name_goes_to_the_survivor(library: Library):
    doctor, jane = person(library.clara, "Dr. Jane Doe"), person(library.clara, "Jane Doe")
    merge(library.clara, doctor, jane)
    person(library.clara, "Dr. Jane Doe", phone="+1 555")
    assert fields(library.clara, jane)["phone"] == "+1 555"
    correct(library.clara, doctor, "phone", "+1 777")
    assert fields(library.clara, jane)["phone"] == "+1 777"
    found = done(library.clara.call("memory.get-entity-by-identifier", {"identifier": "Dr. Jane Doe"}))
    assert [(one["id"], one["matched_by"]) for one in found["entities"]] == [(jane, "alias")]
    everyone = done(library.clara.call("memory.retrieve-entities", {}))
    assert ([one["id"] for one in everyone["entities"]], everyone["total"]) == ([jane], 1)
    assert everyone["entities"][0]["aliases"] == ["dr. jane doe"]
    merged_too = done(library.clara.call("memory.retrieve-entities", {"include_merged": True}))
    assert (merged_too["total"], merged_too["excluded_merged"]) == (2, False)
    assert {one.get("merged_to_entity_id") for one in merged_too["entities"]} == {None, jane}


@pytest.mark.requirement("MEM-22")
def test_unmerging_gives_everything_back(library: Library):
    clock = library.offices.clock
    doctor = person(library.clara, "Dr. Jane Doe", city="Bern")
    jane = person(library.clara, "Jane Doe", city="Basel")
    friend = person(library.clara, "Friend")
    done(relate(library.clara, "REFERS_TO", doctor, friend))
    before = [snapshot(library.clara, one) for one in (doctor, jane)]
    clock.pass_(minutes=1)
    merge(library.clara, doctor, jane)
    assert len(listed(library.clara, jane)) == 1
    clock.pass_(minutes=1)
    back = unmerge(library.clara, doctor)
    assert (back["was_merged_to_entity_id"], back["observations_returned"]) == (jane, 1)
    assert [snapshot(library.clara, one) for one in (doctor, jane)] == before
    assert (len(listed(library.clara, doctor)), len(listed(library.clara, jane))) == (1, 0)
    clock.pass_(minutes=1)
    merge(library.clara, doctor, jane)
    assert snapshot(library.clara, doctor)["entity_id"] == jane
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-22")
def test_chains_lead_to_their_end_in_one_step_and_come_apart_again(library: Library):
    a, b, c = (person(library.clara, name, letter=name) for name in "ABC")
    merge(library.clara, a, b)
    moved = merge(library.clara, b, c)
    assert moved["observations_moved"] == 2
    assert {snapshot(library.clara, one)["entity_id"] for one in (a, b, c)} == {c}
    assert snapshot(library.clara, a)["observation_count"] == 3
    unmerge(library.clara, b)
    assert snapshot(library.clara, a)["entity_id"] == b
    assert snapshot(library.clara, b)["observation_count"] == 2
    assert snapshot(library.clara, c)["observation_count"] == 1
    merge(library.clara, c, b)
    unmerge(library.clara, a)
    assert snapshot(library.clara, a)["entity_id"] == a
    assert snapshot(library.clara, c)["entity_id"] == b
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-22")
def test_merges_that_cannot_be(small: Library):
    a, b, c = (person(small.clara, name) for name in "ABC")
    tell(small.clara, {"entity_type": "company", "name": "Acme Corp"})
    merge(small.clara, a, b)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"from_entity_id": a, "to_entity_id": c}, "ENTITY_ALREADY_MERGED"),
        ({"from_entity_id": c, "to_entity_id": a}, "MERGE_TARGET_ALREADY_MERGED"),
        ({"from_entity_id": c, "to_entity_id": c}, "VALIDATION_ERROR"),
        ({"from_entity_id": c, "to_entity_id": ACME_ID}, "VALIDATION_ERROR"),
        ({"from_entity_id": c, "to_entity_id": "ent_nobody"}, "ENTITY_NOT_FOUND"),
        ({"from_entity_id": "ent_nobody", "to_entity_id": c}, "ENTITY_NOT_FOUND"),
        ({"from_entity_id": "c", "to_entity_id": c}, "VALIDATION_ERROR"),
        ({"from_entity_id": c, "to_entity_id": b, "user_id": "vera"}, "OTHER_USER"),
    ]
    for arguments, code in cases:
        answer = small.clara.call("memory.merge-entities", arguments)
        assert answer.message_key == code, arguments
    told = small.clara.call("memory.merge-entities", cases[0][0])
    assert told.data["suggestions"]["merged_to_entity_id"] == b
    assert small.clara.call("memory.unmerge-entities", {"entity_id": c}).message_key == "ENTITY_NOT_MERGED"
    assert small.clara.call("memory.unmerge-entities", {"entity_id": "ent_x"}).message_key == "ENTITY_NOT_FOUND"
    assert small.vera.call("memory.merge-entities", cases[2][0]).message_key == "ENTITY_NOT_FOUND"


@pytest.mark.requirement("MEM-22")
def test_an_agent_proposes_a_merge_and_a_dry_run_previews_it(library: Library):
    doctor, jane = person(library.clara, "Dr. Jane Doe"), person(library.clara, "Jane Doe")
    wish = {"from_entity_id": doctor, "to_entity_id": jane}
    rehearsed = library.agent.call("memory.merge-entities", wish, dry_run=True)
    assert rehearsed.data["valid"] is True
    assert rehearsed.data["would"]["mode"] == "proposal"
    assert rehearsed.data["answer"]["observations_moved"] == 1
    assert snapshot(library.clara, doctor)["entity_id"] == doctor
    proposed = library.agent.call("memory.merge-entities", wish)
    assert proposed.message_key == "PROPOSAL_RECORDED"
    inside = {"entity_id": doctor, "proposal_id": proposed.data["proposal"]["id"]}
    assert done(library.agent.call("memory.get-entity-snapshot", inside))["entity_id"] == jane
    assert snapshot(library.clara, doctor)["entity_id"] == doctor
    # What comes in meanwhile does not outdate the proposal.
    person(library.clara, "Dr. Jane Doe", city="Bern")
    approve(library.clara, proposed.data["proposal"]["id"])
    assert snapshot(library.clara, doctor)["entity_id"] == jane
    assert fields(library.clara, jane)["city"] == "Bern"


@pytest.mark.requirement("MEM-22")
def test_a_dry_run_of_a_merge_shows_what_becomes_of_the_survivor(library: Library):
    jane = person(library.clara, "Jane Doe", city="Bern", age=40)
    library.offices.clock.pass_(minutes=1)
    doctor = person(library.clara, "Dr. Jane Doe", city="Basel", role="surgeon")
    wish = {"from_entity_id": doctor, "to_entity_id": jane}
    for client in (library.clara, library.agent):
        told = client.call("memory.merge-entities", wish, dry_run=True).data["answer"]["difference"]
        assert {name: one["value"] for name, one in told["added"].items()} == {"role": "surgeon"}
        assert {name: (one["before"], one["after"]) for name, one in told["changed"].items()} == {
            "city": ("Bern", "Basel"),
            "name": ("Jane Doe", "Dr. Jane Doe"),
        }
        assert told["removed"] == {}
    # What is kept of a merge does not hold what sources said.
    proposed = library.agent.call("memory.merge-entities", wish).data["proposal"]["id"]
    assert "surgeon" not in str(done(library.clara.call("proposals.get-proposal", {"proposal_id": proposed})))
    assert "difference" not in merge(library.clara, doctor, jane)


@pytest.mark.requirement("MEM-22")
def test_whoever_decides_about_a_merge_sees_into_what_and_why(small: Library):
    doctor, jane = person(small.clara, "Dr. Jane Doe"), person(small.clara, "Jane Doe")
    wish = {"from_entity_id": doctor, "to_entity_id": jane, "merge_reason": "the same person"}
    shown = {
        "from_id": {"from": None, "to": doctor},
        "to_id": {"from": None, "to": jane},
        "reason": {"from": None, "to": "the same person"},
    }
    proposed = small.agent.call("memory.merge-entities", wish).data["proposal"]["id"]
    told = done(small.clara.call("proposals.get-proposal", {"proposal_id": proposed}))
    asked = small.clara.call("memory.merge-entities", wish).data
    for seen in (told["diff"], asked["diff"]):
        assert (seen[0]["subject"], seen[0]["fields"]) == (f"clara/{doctor}", shown)
    assert jane in asked["diff_text"]
    merge(small.clara, doctor, jane)
    undoing = small.clara.call("memory.unmerge-entities", {"entity_id": doctor}).data["diff"]
    assert undoing[0]["fields"] == {"to_id": {"from": jane, "to": None}}
    unmerge(small.clara, doctor)
    assert small.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-22")
def test_what_is_stated_about_the_survivor_stays_with_it(small: Library):
    doctor, jane = person(small.clara, "Dr. Jane Doe", city="Bern"), person(small.clara, "Jane Doe", city="Basel")
    friend = person(small.clara, "Friend")
    merge(small.clara, doctor, jane)
    assert correct(small.clara, doctor, "city", "Thun")["entity_id"] == jane
    assert done(relate(small.clara, "REFERS_TO", doctor, friend))["source_entity_id"] == jane
    unmerge(small.clara, doctor)
    assert (fields(small.clara, doctor)["city"], fields(small.clara, jane)["city"]) == ("Bern", "Thun")
    assert (len(listed(small.clara, doctor)), len(listed(small.clara, jane))) == (0, 1)


def test_a_merge_is_confirmed_only_once(small: Library):
    doctor, jane = person(small.clara, "Dr. Jane Doe"), person(small.clara, "Jane Doe")
    answer = confirmed(small.clara, "memory.merge-entities", {"from_entity_id": doctor, "to_entity_id": jane})
    assert answer.message_key == "UPDATED"
    again = small.clara.call("memory.merge-entities", {"from_entity_id": doctor, "to_entity_id": jane})
    assert again.message_key == "ENTITY_ALREADY_MERGED"
