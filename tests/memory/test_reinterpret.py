"""Interpreting once more adds observations, changes none, and never beats a correction."""

from __future__ import annotations

import pytest

from tests.memory.kept import Library, done
from tests.memory.samples import INVOICE


def reinterpret(library: Library, source: str, **config):
    """Interpret a source of Clara's once more."""
    return library.clara.call("memory.reinterpret", {"source_id": source, "interpretation_config": config})


@pytest.mark.requirement("MEM-29")
def test_a_new_run_adds_observations_and_leaves_the_old_ones(library):
    source = done(library.ingest(INVOICE))
    before = library.rows("SELECT id, fields FROM memory_observations WHERE tenant = :tenant ORDER BY id")
    answer = done(reinterpret(library, source["source_id"]))
    assert answer["source_id"] == source["source_id"]
    assert answer["run_id"] != source["interpretation"]["run_id"]
    assert (answer["entities_created"], answer["observations_created"]) == (0, 3)
    after = library.rows("SELECT id, fields FROM memory_observations WHERE tenant = :tenant ORDER BY id")
    assert len(after) == 6
    assert all(row in after for row in before)
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-29", "MEM-28")
def test_a_correction_survives_it(library):
    source = done(library.ingest(INVOICE))
    invoice = source["interpretation"]["entity_ids"][0]
    correction = {"entity_id": invoice, "entity_type": "invoice", "field": "amount_due", "value": 1400}
    done(library.clara.call("memory.correct", correction))
    library.offices.clock.pass_(days=1)
    done(reinterpret(library, source["source_id"]))
    snapshot = done(library.clara.call("memory.get-entity-snapshot", {"entity_id": invoice}))["snapshot"]
    assert snapshot["amount_due"] == 1400


@pytest.mark.requirement("MEM-29", "MEM-33")
def test_the_same_rules_say_the_same(library):
    source = done(library.ingest(INVOICE))
    done(reinterpret(library, source["source_id"]))
    rows = library.rows(
        "SELECT entity_id, fields, spans FROM memory_observations WHERE tenant = :tenant ORDER BY entity_id, id"
    )
    assert [rows[n]["fields"] for n in (0, 2, 4)] == [rows[n]["fields"] for n in (1, 3, 5)]
    assert [rows[n]["spans"] for n in (0, 2, 4)] == [rows[n]["spans"] for n in (1, 3, 5)]


def test_what_was_asked_for_and_what_was_done_are_both_on_the_record(library):
    source = done(library.ingest(INVOICE))
    done(reinterpret(library, source["source_id"], code_version="v0.2.0", model_id="neotoma_v1"))
    (row,) = library.rows("SELECT config FROM memory_runs WHERE tenant = :tenant AND number = 2")
    assert '"requested":{"code_version":"v0.2.0","model_id":"neotoma_v1"}' in row["config"]
    assert '"provider":"rule_based"' in row["config"]


def test_structured_sources_are_read_from_their_own_json(library):
    entity = {"entity_type": "person", "name": "Jane Doe", "email": "jane@example.org"}
    source = done(library.clara.call("memory.ingest-structured", {"entities": [entity]}))
    answer = done(reinterpret(library, source["source_id"]))
    assert answer["observations_created"] >= 1
    person = done(library.clara.call("memory.get-entity-by-identifier", {"identifier": "jane@example.org"}))
    assert person["total"] == 1


@pytest.mark.requirement("NEW-11")
def test_a_withdrawn_source_cannot_be_interpreted_until_it_is_ingested_again(library):
    source = done(library.ingest(INVOICE))
    asked = library.clara.call("memory.retract-source", {"source_id": source["source_id"]})
    token = asked.data["confirm_token"]
    done(library.clara.call("memory.retract-source", {"source_id": source["source_id"], "confirm_token": token}))
    assert reinterpret(library, source["source_id"]).message_key == "SOURCE_NOT_FOUND"
    again = done(library.ingest(INVOICE))
    assert again["source_id"] == source["source_id"]
    assert again["deduplicated"] is False
    assert again["interpretation"]["observations_created"] == 3
    assert reinterpret(library, source["source_id"]).ok
    assert library.clara.office.rebuild("main").same


@pytest.mark.parametrize("source", ["nowhere", "00000000-0000-0000-0000-000000000000", "ent_x", "'; DROP TABLE x"])
def test_what_is_no_source_is_not_found(library, source):
    assert reinterpret(library, source).message_key == "SOURCE_NOT_FOUND"


def test_a_payload_is_no_source(library):
    body = {"capability_id": "neotoma:store_note:v1", "body": {"title": "x"}}
    provenance = {"source_refs": [], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "x"}
    payload = done(library.clara.call("memory.submit-payload", {**body, "provenance": provenance}))
    assert reinterpret(library, payload["payload_id"]).message_key == "SOURCE_NOT_FOUND"
