"""Why an entity is what it is: from a field to the place in a file, and to whoever brought it in and approved it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from engross.replies import Reply
from engross.surfaces.client import Client
from tests.memory.kept import Library, done
from tests.memory.people import ACME, ACME_ID, JOHN, JOHN_ID, confirmed, correct, merge, person, retract, tell
from tests.memory.samples import INVOICE

pytestmark = pytest.mark.requirement("NEW-05")


def asked(client: Client, ref: str, **more: Any) -> Reply:
    return client.call("memory.why-entity", {"ref": ref, **more})


def why(client: Client, ref: str, **more: Any) -> dict[str, Any]:
    return done(asked(client, ref, **more))


def approve(client: Client, proposal: str) -> None:
    token = client.proposals.get_proposal(proposal_id=proposal).data["approval_token"]
    done(client.proposals.review_proposal(proposal_id=proposal, decision="approve", approval_token=token))


def test_a_name_leads_to_every_field_its_file_and_the_place_in_it(library: Library):
    kept = done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    told = why(library.clara, "INV-001")
    assert told["entity"] == {"id": told["subject"], "type": "invoice", "name": "inv-001"}
    (reason,) = told["reasons"]
    assert (reason["fact"], reason["flow"], reason["by"]["id"]) == ("Observed", "memory.ingest", "clara")
    assert (reason["source_record"]["id"], reason["source_record"]["name"]) == (kept["source_id"], "invoice.txt")
    assert reason["payload"] == told["snapshot"]
    assert set(reason["fields"]) == set(told["fields"])
    assert set(told["provenance"].values()) == {reason["observation_id"]}
    span = reason["spans"]["amount_due"]
    assert INVOICE.decode()[span["start"] : span["end"]] == "$1,500.00"
    receipt = library.clara.record.get_receipt(position=reason["receipt"]["position"]).data["receipt"]
    assert receipt["facts_digest"] == reason["receipt"]["facts_digest"]


def test_one_field_is_told_by_what_decides_it(library: Library):
    tell(library.clara, JOHN)
    library.offices.clock.pass_(minutes=1)
    made = correct(library.agent, JOHN_ID, "email", "right@example.com")
    (reason,) = why(library.clara, JOHN_ID, field="email")["reasons"]
    assert (reason["observation_id"], reason["by"]["id"]) == (made["observation_id"], "agent:clara")
    assert reason["payload"] == {"email": "right@example.com"}
    assert reason["source_record"]["type"] == "correction"
    assert [one["flow"] for one in why(library.clara, "right@example.com")["reasons"]] == [
        "memory.ingest-structured",
        "memory.correct",
    ]
    unknown = asked(library.clara, JOHN_ID, field="emial")
    assert (unknown.message_key, unknown.data["suggestions"]["did_you_mean"]) == ("FIELD_NOT_FOUND", ["email"])


def test_a_field_that_was_cleared_is_told_too(small: Library):
    tell(small.clara, JOHN)
    correct(small.clara, JOHN_ID, "phone", None)
    told = why(small.clara, JOHN_ID, field="phone")
    assert (told["cleared"], told["snapshot"]) == (["phone"], {})
    assert told["reasons"][0]["payload"] == {"phone": None}


def test_a_merged_list_names_everybody_who_gave_it_something(small: Library):
    schema = {
        "entity_type": "person",
        "schema_version": "9.0",
        "fields": {"name": {"type": "string"}, "tags": {"type": "array"}},
        "merge_policies": {"tags": {"strategy": "merge_array"}},
    }
    done(small.clara.call("memory.register-schema", schema))
    done(confirmed(small.clara, "memory.activate-schema", {"entity_type": "person", "schema_version": "9.0"}))
    for tag in ("a", "b"):
        small.offices.clock.pass_(minutes=1)
        person(small.clara, "John Doe", tags=[tag])
    told = why(small.clara, JOHN_ID, field="tags")
    assert told["snapshot"] == {"tags": ["b", "a"]}
    assert [one["payload"] for one in told["reasons"]] == [{"tags": ["a"]}, {"tags": ["b"]}]


def test_a_merge_leads_to_the_proposal_and_to_whoever_approved_it(library: Library):
    jon = person(library.clara, "Jon Doe", city="Bern")
    tell(library.clara, JOHN)
    wish = {"from_entity_id": jon, "to_entity_id": JOHN_ID, "reason": "The same man"}
    proposal = done(library.agent.call("memory.merge-entities", wish))["proposal"]["id"]
    (waiting,) = done(library.clara.call("record.why", {"of": "Jon Doe"}))["found"]
    assert [(one["id"], one["reason"]) for one in waiting["proposals"]] == [(proposal, "The same man")]
    approve(library.clara, proposal)
    told = why(library.clara, "Jon Doe")
    assert (told["subject"], told["entity"]["aliases"]) == (JOHN_ID, ["jon doe"])
    merged = told["reasons"][-1]
    assert (merged["fact"], merged["proposal"], merged["approvers"]) == ("EntityMerged", proposal, ["clara"])
    assert (merged["by"]["id"], merged["reason"]) == ("agent:clara", "The same man")
    observed, brought = why(library.clara, JOHN_ID, field="city")["reasons"]
    assert (observed["original_entity_id"], brought["fact"]) == (jon, "EntityMerged")
    assert [one["fact"] for one in why(library.clara, JOHN_ID, field="email")["reasons"]] == ["Observed"]


def test_a_merge_without_a_proposal_names_whoever_made_it(small: Library):
    merge(small.clara, person(small.clara, "Jon Doe"), person(small.clara, "John Doe"))
    merged = why(small.clara, JOHN_ID)["reasons"][-1]
    assert (merged["by"]["id"], merged["approvers"], "proposal" in merged) == ("clara", [], False)


@pytest.mark.parametrize("ref", [JOHN_ID, "John Doe", "john@example.com", "person/John Doe"])
def test_what_another_user_remembers_is_not_told_and_not_even_that_there_is_something(library: Library, ref: str):
    tell(library.clara, JOHN)
    curator = library.clara.as_("vera", "human", ["curator", "admin"])
    for stranger in (library.vera, curator, library.clara.as_("agent:vera", "agent", ["agent"])):
        assert asked(stranger, ref).message_key == "ENTITY_NOT_FOUND"
        refused = stranger.call("record.why", {"of": ref})
        assert (refused.message_key, refused.data["suggestions"]["similar"]) == ("RECORD_NOT_FOUND", [])
    assert why(library.agent, ref)["subject"] == JOHN_ID


def test_each_owner_is_told_of_the_own_memory_where_both_know_the_same_entity(library: Library):
    tell(library.clara, JOHN)
    tell(library.vera, {**JOHN, "email": "vera-knows@example.com"})
    for client, owner in ((library.clara, "clara"), (library.vera, "vera")):
        told = why(client, JOHN_ID)
        assert {one["by"]["id"] for one in told["reasons"]} == {owner}
        assert all(one.startswith(f"{owner}/") for one in told["subjects"] if "/" in one)
    assert "vera-knows" not in str(why(library.clara, JOHN_ID))


def test_of_an_erased_source_nothing_is_told_and_what_others_say_still_is(library: Library):
    admin = library.clara.as_("clara", "human", ["admin", "curator"])
    first = tell(library.clara, JOHN, {**ACME, "city": "Bern"})["source_id"]
    library.offices.clock.pass_(minutes=1)
    tell(library.clara, {**ACME, "domain": "acme.example"})
    assert done(confirmed(admin, "record.erase", {"aggregate": "memory", "subject": first}))
    assert asked(library.clara, JOHN_ID).message_key == "ENTITY_NOT_FOUND"
    assert library.clara.call("record.why", {"of": JOHN_ID}).message_key == "RECORD_NOT_FOUND"
    told = why(library.clara, "Acme Corp")
    assert "city" not in told["fields"]
    assert {one["subject"] for one in told["reasons"]}.isdisjoint({first})


def test_an_entity_that_was_withdrawn_is_told_by_its_id_with_the_retraction(library: Library):
    source = tell(library.clara, JOHN)["source_id"]
    library.offices.clock.pass_(minutes=1)
    retract(library.clara, source)
    told = why(library.clara, JOHN_ID)
    assert told["is_deleted"] is True
    assert [one["fact"] for one in told["reasons"]] == ["Observed", "RecordRetracted"]
    assert told["reasons"][0]["withdrawn_at"]
    assert [one["fact"] for one in why(library.clara, JOHN_ID, field="email")["reasons"]] == [
        "Observed",
        "RecordRetracted",
    ]
    assert asked(library.clara, JOHN_ID, field="colour").message_key == "FIELD_NOT_FOUND"
    assert asked(library.clara, "John Doe").message_key == "ENTITY_NOT_FOUND"
    assert asked(library.vera, JOHN_ID).message_key == "ENTITY_NOT_FOUND"


def test_a_name_that_several_have_asks_back_and_a_type_tells_them_apart(small: Library):
    tell(small.clara, {"entity_type": "person", "name": "Mercury"}, {"entity_type": "planet", "name": "Mercury"})
    refused = asked(small.clara, "Mercury")
    assert refused.message_key == "NEEDS_DISAMBIGUATION"
    candidates = refused.data["suggestions"]["candidates"]
    assert {one["type"] for one in candidates} == {"person", "planet"}
    assert {why(small.clara, one["id"])["entity"]["type"] for one in candidates} == {"person", "planet"}
    assert why(small.clara, "planet/Mercury")["entity"]["type"] == "planet"
    through = small.clara.call("record.why", {"of": "Mercury"})
    assert through.message_key == "NEEDS_DISAMBIGUATION"
    assert [one["aggregate"] for one in through.data["suggestions"]["candidates"]] == ["memory", "memory"]


def test_a_name_that_only_holds_the_word_is_suggested_and_no_error_repeats_a_name(small: Library):
    tell(small.clara, JOHN)
    refused = asked(small.clara, "Doe")
    assert refused.message_key == "ENTITY_NOT_FOUND"
    assert [one["id"] for one in refused.data["suggestions"]["similar_entities"]] == [JOHN_ID]
    assert "doe" not in orjson.dumps(refused.data).decode().lower()
    assert asked(small.clara, "   ").message_key == "VALIDATION_ERROR"


def test_of_very_many_reasons_the_newest_are_told_and_all_are_counted(small: Library):
    for number in range(4):
        small.offices.clock.pass_(minutes=1)
        tell(small.clara, {**ACME, f"field_{number}": number})
    told = why(small.clara, ACME_ID, limit=2)
    assert told["reasons_in_all"] == 4
    assert [one["fields"][0] for one in told["reasons"]] == ["field_2", "domain"]
