"""Withdrawing a source: everything that rests on it goes as one change, and nothing else does."""

from __future__ import annotations

import pytest

from tests.memory.kept import Library, done
from tests.memory.people import (
    ACME,
    ACME_ID,
    JOHN,
    JOHN_ID,
    confirmed,
    correct,
    fields,
    listed,
    relate,
    retract,
    snapshot,
    tell,
)
from tests.memory.samples import INVOICE


@pytest.mark.requirement("NEW-11")
def test_what_only_the_source_said_is_gone_and_the_rest_stays(library: Library):
    clock = library.offices.clock
    tell(library.clara, {**ACME, "city": "Bern"})
    clock.pass_(minutes=1)
    source = tell(library.clara, {**ACME, "city": "Basel", "founded_date": "1999-01-01"}, JOHN)["source_id"]
    clock.pass_(minutes=1)
    correct(library.clara, ACME_ID, "tax_id", "99", "company")
    told = retract(library.clara, source)
    assert (told["observations_withdrawn"], told["entities_affected"]) == (2, 2)
    assert told["entity_ids"] == sorted([ACME_ID, JOHN_ID])
    assert told["entities_gone"] == [JOHN_ID]
    assert told["events_withdrawn"] == 1
    assert fields(library.clara, ACME_ID) == {"name": "Acme Corp", "domain": "acme.com", "city": "Bern", "tax_id": "99"}
    assert snapshot(library.clara, ACME_ID)["observation_count"] == 2
    for flow in ("get-entity-snapshot", "list-observations", "list-relationships", "get-related-entities"):
        assert library.clara.call(f"memory.{flow}", {"entity_id": JOHN_ID}).message_key == "ENTITY_NOT_FOUND"
    assert done(library.clara.call("memory.retrieve-entities", {}))["total"] == 1
    assert done(library.clara.call("memory.search-memory", {"query": "john doe"}))["results"] == []
    assert done(library.clara.call("memory.get-entity-by-identifier", {"identifier": "john@example.com"}))["total"] == 0
    assert done(library.clara.call("memory.list-timeline-events", {}))["total"] == 0
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_a_document_takes_its_relationships_and_events_along(library: Library):
    kept = done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    invoice = done(library.clara.call("memory.retrieve-entities", {"entity_type": "invoice"}))["entities"][0]
    vendor = listed(library.clara, invoice["id"])[0]["target_entity_id"]
    tell(library.clara, JOHN)
    done(relate(library.clara, "REFERS_TO", vendor, JOHN_ID))
    told = retract(library.clara, kept["source_id"])
    assert told["relationships_withdrawn"] > 0
    assert told["events_withdrawn"] > 0
    assert done(library.clara.call("memory.list-timeline-events", {}))["total"] == 0
    assert library.clara.call("memory.get-entity-snapshot", {"entity_id": vendor}).message_key == "ENTITY_NOT_FOUND"
    assert listed(library.clara, JOHN_ID) == []
    again = done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    assert again["source_id"] == kept["source_id"]
    assert len(listed(library.clara, JOHN_ID)) == 1
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_what_was_withdrawn_can_be_told_again(library: Library):
    source = tell(library.clara, JOHN)["source_id"]
    retract(library.clara, source)
    again = tell(library.clara, JOHN)
    assert again["source_id"] == source
    assert again["interpretation"]["entities_created"] == 1
    assert fields(library.clara, JOHN_ID)["name"] == "John Doe"
    assert snapshot(library.clara, JOHN_ID)["observation_count"] == 1
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("NEW-11")
def test_an_agent_proposes_and_a_curator_confirms(small: Library):
    source = tell(small.agent, JOHN)["source_id"]
    proposed = small.agent.call("memory.retract-source", {"source_id": source})
    assert proposed.message_key == "PROPOSAL_RECORDED"
    assert proposed.data["entity_ids"] == [JOHN_ID]
    assert fields(small.clara, JOHN_ID)["name"] == "John Doe"
    asked = small.clara.call("memory.retract-source", {"source_id": source})
    assert (asked.reply_type, asked.message_key) == ("D", "CONFIRMATION_REQUIRED")
    for shown in (proposed.data["diff"][0]["fields"], asked.data["diff"][0]["fields"]):
        assert shown["observations_withdrawn"] == {"from": 1, "to": None}
        assert shown["entity_ids"] == {"from": [JOHN_ID], "to": None}
        assert "event_ids" not in shown
    assert confirmed(small.clara, "memory.retract-source", {"source_id": source}).message_key == "DELETED"
    twice = small.clara.call("memory.retract-source", {"source_id": source})
    assert twice.message_key == "NO_EFFECT"
    assert twice.data["observations_withdrawn"] == 0


def test_sources_that_are_not_there(small: Library):
    source = tell(small.clara, JOHN)["source_id"]
    assert small.clara.call("memory.retract-source", {"source_id": "nowhere"}).message_key == "SOURCE_NOT_FOUND"
    assert small.vera.call("memory.retract-source", {"source_id": source}).message_key == "SOURCE_NOT_FOUND"
    assert small.clara.call("memory.retract-source", {"source_id": "a b"}).message_key == "VALIDATION_ERROR"


def test_erasing_a_source_leaves_nothing_of_it_and_a_rebuild_agrees(library: Library):
    clock = library.offices.clock
    admin = library.clara.as_("clara", "human", ["admin", "curator"])
    first = tell(library.clara, JOHN, {**ACME, "city": "Bern"})["source_id"]
    clock.pass_(minutes=1)
    tell(library.clara, {**ACME, "city": "Basel"})
    clock.pass_(minutes=1)
    made = correct(library.clara, ACME_ID, "city", "Thun", "company")
    for subject in (first, made["observation_id"]):
        gone = confirmed(admin, "record.erase", {"aggregate": "memory", "subject": subject, "reason": "asked for"})
        assert gone.ok, gone
    assert fields(library.clara, ACME_ID)["city"] == "Basel"
    assert library.clara.call("memory.get-entity-snapshot", {"entity_id": JOHN_ID}).message_key == "ENTITY_NOT_FOUND"
    for table in ("memory_entities", "memory_observations", "memory_terms", "facts"):
        told = str(library.rows(f"SELECT * FROM {table} WHERE tenant = :tenant"))
        assert "john@example.com" not in told, table
        assert "Thun" not in told, table
    assert library.clara.office.rebuild("main").same
