"""Payloads that were made from something: they say from what, and go when it goes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from engross.domains.memory.tables import MIGRATIONS
from engross.ledger import LEDGER_ROOM
from engross.store import STORE_ROOM, Reading, open_store, room
from engross.surfaces.client import Client
from tests.memory.kept import Library, done
from tests.memory.people import JOHN, approve, confirmed, person, relate, retract, tell
from tests.memory.samples import INVOICE

NOWHERE = "00000000-0000-8000-8000-000000000000"


def note(client: Client, title: str, *sources: str, **more: str) -> dict[str, Any]:
    """Submit a note that was made from sources."""
    provenance = {"source_refs": list(sources), "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "test:1"}
    wish = {"capability_id": "neotoma:store_note:v1", "body": {"title": title}, "provenance": {**provenance, **more}}
    return done(client.call("memory.submit-payload", wish))


def notes(client: Client) -> set[str]:
    """The titles of the notes that are known."""
    found = done(client.call("memory.retrieve-entities", {"entity_type": "note"}))["entities"]
    return {one["snapshot"]["title"] for one in found}


def traced(client: Client, made: dict[str, Any]) -> dict[str, Any]:
    """Where the title of a note is from."""
    asked = {"entity_id": made["entity_ids"][0], "field": "title"}
    found: dict[str, Any] = done(client.call("memory.get-field-provenance", asked))["source_record"]
    return found


@pytest.mark.requirement("NEW-11")
def test_what_was_made_from_a_source_goes_with_it_as_one_change(library: Library):
    clara, source = library.clara, done(library.ingest(INVOICE))["source_id"]
    first = note(clara, "First", source)
    second = note(clara, "Second", first["payload_id"])
    note(clara, "Third")
    wish = {"source_id": source}
    rehearsed = done(clara.call("memory.retract-source", wish, dry_run=True))["answer"]
    asked = clara.call("memory.retract-source", wish)
    (own, *others) = asked.data["diff"]
    told = retract(clara, source)
    payloads = [first["payload_id"], second["payload_id"]]
    assert own["fields"]["payload_ids"] == {"from": payloads, "to": None}
    assert [(one["subject"], one["fields"]["rests_on"]["from"]) for one in others] == [
        (one, source) for one in payloads
    ]
    for answer in (rehearsed, told):
        assert (answer["payloads_withdrawn"], answer["payload_ids"]) == (2, payloads)
        assert answer["observations_withdrawn"] == len(answer["observation_ids"]) == 5
        assert set(answer["entities_gone"]) >= {*first["entity_ids"], *second["entity_ids"]}
    assert len(told["facts"]) == 3
    assert notes(clara) == {"Third"}
    assert clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_a_payload_takes_those_that_were_made_from_it_and_leaves_its_source(library: Library):
    clara, source = library.clara, done(library.ingest(INVOICE))["source_id"]
    first = note(clara, "First", source)
    by_content = note(clara, "Second", first["payload_content_id"])
    told = retract(clara, first["payload_id"])
    assert told["payload_ids"] == [by_content["payload_id"]]
    assert notes(clara) == set()
    assert done(clara.call("memory.get-graph-neighborhood", {"node_id": source, "node_type": "record"}))


@pytest.mark.requirement("NEW-11")
def test_what_rests_on_several_sources_goes_with_any_of_them_and_once(quick: Library):
    clara = quick.clara
    one, other = tell(clara, JOHN)["source_id"], done(quick.ingest(INVOICE))["source_id"]
    both = note(clara, "Both", one, other, one)
    left, right = note(clara, "Left", both["payload_id"]), note(clara, "Right", both["payload_id"])
    last = note(clara, "Last", left["payload_id"], right["payload_id"])
    told = retract(clara, other)
    nearest, *between, farthest = told["payload_ids"]
    assert (nearest, farthest) == (both["payload_id"], last["payload_id"])
    assert set(between) == {left["payload_id"], right["payload_id"]}
    assert told["payloads_withdrawn"] == 4
    assert notes(clara) == set()
    assert retract(clara, one)["payloads_withdrawn"] == 0


@pytest.mark.requirement("NEW-11")
def test_a_source_that_comes_back_brings_no_payload_along(library: Library):
    clara, source = library.clara, done(library.ingest(INVOICE))["source_id"]
    first = note(clara, "First", source)
    retract(clara, source)
    assert done(library.ingest(INVOICE))["source_id"] == source
    assert notes(clara) == set()
    again = note(clara, "First", source)
    assert (again["payload_id"], again["created"]) == (first["payload_id"], True)
    assert retract(clara, source)["payload_ids"] == [first["payload_id"]]
    assert clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_what_was_made_from_a_source_after_it_was_withdrawn_goes_when_that_is_said_again(quick: Library):
    clara, source = quick.clara, tell(quick.clara, JOHN)["source_id"]
    withdrawn = retract(clara, source)["retracted_at"]
    late = note(clara, "Late", source)
    again = retract(clara, source)
    assert (again["payload_ids"], again["entities_gone"]) == ([late["payload_id"]], late["entity_ids"])
    assert again["retracted_at"] == withdrawn
    assert clara.call("memory.retract-source", {"source_id": source}).message_key == "NO_EFFECT"


def test_what_names_nothing_known_is_kept_as_it_was_said(library: Library):
    named = [NOWHERE, "the letter of 3 May", "ümlaut"]
    made = note(library.clara, "First", *named)
    assert traced(library.clara, made)["source_refs"] == named
    assert notes(library.clara) == {"First"}
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_nobody_withdraws_what_somebody_else_made_from_a_source(quick: Library):
    source = done(quick.ingest(INVOICE))
    for named in (source["source_id"], source["content_hash"]):
        note(quick.vera, f"Hers, from {named}", named)
    assert retract(quick.clara, source["source_id"])["payloads_withdrawn"] == 0
    assert len(notes(quick.vera)) == 2


@pytest.mark.requirement("NEW-11")
def test_what_is_made_from_a_source_meanwhile_makes_the_confirmation_stale(quick: Library):
    clara, source = quick.clara, tell(quick.clara, JOHN)["source_id"]
    asked = clara.call("memory.retract-source", {"source_id": source})
    note(clara, "Late", source)
    again = clara.call("memory.retract-source", {"source_id": source, "confirm_token": asked.data["confirm_token"]})
    assert not again.ok
    assert notes(clara) == {"Late"}


@pytest.mark.requirement("NEW-11")
def test_an_agent_proposes_it_with_all_that_goes(small: Library):
    source = tell(small.agent, JOHN)["source_id"]
    made = note(small.agent, "First", source)
    proposed = small.agent.call("memory.retract-source", {"source_id": source})
    assert proposed.data["payload_ids"] == [made["payload_id"]]
    assert notes(small.clara) == {"First"}
    approve(small.clara.as_("cora", "human", ["curator"]), proposed.data["proposal"]["id"])
    assert notes(small.clara) == set()
    assert small.clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_a_relationship_goes_when_all_that_state_it_go(library: Library):
    clara, source = library.clara, tell(library.clara, JOHN)["source_id"]
    provenance = {"source_refs": [source], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "1"}
    stated = {"capability_id": "neotoma:store_invoice:v1", "body": {"invoice_number": "I-1", "vendor_name": "Acme"}}
    for version in ("1", "2"):
        done(
            clara.call("memory.submit-payload", {**stated, "provenance": {**provenance, "extractor_version": version}})
        )
    told = retract(clara, source)
    assert (told["payloads_withdrawn"], told["relationships_withdrawn"]) == (2, 1)
    assert library.rows("SELECT id FROM memory_relationships WHERE tenant = :tenant") == []


@pytest.mark.requirement("NEW-05", "MEM-24")
def test_a_payload_shows_what_it_was_made_from_and_by_whom(library: Library):
    source = done(library.ingest(INVOICE))["source_id"]
    made = note(library.clara, "First", source, agent_id="agent-7")
    asked = {"node_id": made["payload_id"], "node_type": "record"}
    node = done(library.clara.call("memory.get-graph-neighborhood", asked))["record"]
    for shown in (node, traced(library.clara, made)):
        assert shown["source_refs"] == [source]
        assert (shown["extractor_version"], shown["agent_id"]) == ("test:1", "agent-7")
    asked = {"node_id": source, "node_type": "record"}
    assert "source_refs" not in done(library.clara.call("memory.get-graph-neighborhood", asked))["record"]


def test_an_erased_payload_leaves_nothing_of_what_it_named(library: Library):
    admin = library.clara.as_("clara", "human", ["admin", "curator"])
    source = tell(library.clara, JOHN)["source_id"]
    made = note(library.clara, "First", source)
    wish = {"aggregate": "memory", "subject": made["payload_id"], "reason": "asked for"}
    assert confirmed(admin, "record.erase", wish).ok
    assert library.rows("SELECT * FROM memory_derivations WHERE tenant = :tenant") == []
    assert retract(library.clara, source)["payloads_withdrawn"] == 0
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_relationships_that_are_no_longer_shown_are_told_apart_from_those_withdrawn(library: Library):
    clara = library.clara
    eve, bob = person(clara, "Eve"), person(clara, "Bob")
    source = tell(clara, JOHN)["source_id"]
    john = done(clara.call("memory.get-entity-by-identifier", {"identifier": "John Doe"}))["entities"][0]["id"]
    hidden = {done(relate(clara, "REFERS_TO", john, eve))["id"], done(relate(clara, "PART_OF", bob, john))["id"]}
    done(relate(clara, "REFERS_TO", eve, bob))
    shown = clara.call("memory.retract-source", {"source_id": source}).data["diff"][0]["fields"]
    told = retract(clara, source)
    assert (told["relationships_withdrawn"], told["relationship_ids"]) == (0, [])
    assert (told["relationships_hidden"], told["hidden_relationship_ids"]) == (2, sorted(hidden))
    assert shown["hidden_relationship_ids"]["from"] == sorted(hidden)
    assert (told["entities_gone_in_all"], told["entities_gone"]) == (1, [john])
    assert shown["entities_gone"]["from"] == [john]
    assert shown["observation_ids"]["from"] == told["observation_ids"] != []
    assert not {"relationships_withdrawn", "events_withdrawn", "payload_ids"} & set(shown)


@pytest.mark.requirement("NEW-11")
def test_of_very_many_that_go_the_first_are_listed_and_all_are_counted(small: Library):
    people = [{"entity_type": "person", "name": f"Person {number}"} for number in range(150)]
    told = retract(small.clara, tell(small.clara, *people)["source_id"])
    for count, listed in (
        ("observations_withdrawn", "observation_ids"),
        ("entities_affected", "entity_ids"),
        ("entities_gone_in_all", "entities_gone"),
    ):
        assert (told[count], len(told[listed])) == (150, 100)


def derivations(reading: Reading) -> list[dict[str, Any]]:
    """What is known of what was made from what."""
    asked = "SELECT owner, source, record_id FROM memory_derivations WHERE tenant = :tenant ORDER BY source, record_id"
    return reading.rows(asked, {})


def test_payloads_of_a_store_from_before_are_found_by_what_they_name(small, store_kind, tmp_path, request):
    source = tell(small.clara, JOHN)["source_id"]
    first = note(small.clara, "First", source, "the letter")
    note(small.clara, "Second", first["payload_id"], source, source, "ümlaut")
    records = small.rows("SELECT * FROM memory_records WHERE tenant = :tenant")
    kept = small.clara.office.store.read("main", derivations)
    assert len(kept) == 3
    where = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" else tmp_path / "old.db"
    house = [*STORE_ROOM, *LEDGER_ROOM]
    old = open_store(where, [*house, *room("memory", MIGRATIONS[:2])])
    insert = partial(str.format, "INSERT INTO memory_records (tenant, {0}) VALUES (:tenant, {1})")

    def fill(transaction: Any) -> None:
        for row in records:
            held = {name: value for name, value in row.items() if name != "tenant"}
            transaction.execute(insert(", ".join(held), ", ".join(f":{name}" for name in held)), held)

    for tenant in ("acme", "umbrella"):
        old.write(tenant, fill)
    old.close()
    new = open_store(where, [*house, *room("memory", MIGRATIONS)])
    for tenant in ("acme", "umbrella"):
        assert new.read(tenant, derivations) == kept
    assert new.read("stranger", derivations) == []
    new.close()
