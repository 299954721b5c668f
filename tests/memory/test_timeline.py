"""The timeline: events of every path of ingestion, with ids that follow from them."""

from __future__ import annotations

from hashlib import sha256

import pytest

from engross.domains.memory.ids import entity_id
from tests.memory.kept import Library, done
from tests.memory.people import JOHN, tell
from tests.memory.samples import INVOICE

INVOICES = [
    {"entity_type": "invoice", "name": "INV-1", "date_issued": "2025-01-15", "date_due": "2025-02-15"},
    {"entity_type": "invoice", "name": "INV-2", "date_issued": "2025-01-15", "date_paid": "2025-01-31T12:00:00+01:00"},
]


def events(library: Library, **wanted: object) -> dict:
    return done(library.clara.call("memory.list-timeline-events", wanted))


@pytest.mark.requirement("MEM-27", "MEM-33", "MEM-40")
def test_dates_of_structured_entities_are_events_latest_first(library: Library):
    source = tell(library.clara, *INVOICES)["source_id"]
    told = events(library)
    assert told["total"] == 4
    assert [(one["event_type"], one["event_timestamp"]) for one in told["events"]][:2] == [
        ("InvoiceDue", "2025-02-15T00:00:00.000Z"),
        ("InvoicePaid", "2025-01-31T11:00:00.000Z"),
    ]
    assert [one["event_type"] for one in told["events"]][2:] == ["InvoiceIssued"] * 2
    due = told["events"][0]
    hashed = sha256(f"{source}:date_due:2025-02-15T00:00:00.000Z".encode()).hexdigest()
    assert due["id"] == f"evt_{hashed[:24]}"
    assert due["source_record_id"] == source
    assert due["entity_ids"] == [entity_id("invoice", "INV-1")]
    assert due["properties"]["source_field"] == "date_due"
    assert due["properties"]["value"] == "2025-02-15"
    assert events(library) == told


@pytest.mark.requirement("MEM-27")
def test_events_are_filtered_by_type_date_and_record(library: Library):
    source = tell(library.clara, *INVOICES)["source_id"]
    other = tell(library.clara, {**JOHN, "birth_date": "1980-02-29"})["source_id"]
    assert events(library, event_type="InvoiceIssued")["total"] == 2
    assert events(library, source_record_id=other)["events"][0]["event_type"] == "BirthDateEvent"
    assert events(library, source_record_id=source)["total"] == 4
    assert events(library, after_date="2025-01-15", before_date="2025-01-15")["total"] == 2
    assert events(library, after_date="2025-01-31T12:00:00+01:00", before_date="2025-01-31T11:00:00Z")["total"] == 1
    assert events(library, before_date="2000-01-01")["total"] == 1
    page = events(library, limit=1, offset=4)
    assert (page["total"], [one["event_type"] for one in page["events"]]) == (5, ["BirthDateEvent"])
    for bad in ({"after_date": "garbage"}, {"before_date": "2025-02-30"}, {"limit": 0}, {"event_type": ""}):
        assert library.clara.call("memory.list-timeline-events", bad).message_key == "VALIDATION_ERROR"


@pytest.mark.requirement("MEM-27")
def test_files_and_payloads_have_events_too_and_ingesting_again_adds_none(library: Library):
    done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    payload = {
        "capability_id": "neotoma:store_invoice:v1",
        "body": {"invoice_number": "INV-001", "vendor_name": "Acme Corp", "date": "2025-01-15"},
        "provenance": {"source_refs": [], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "x"},
    }
    kept = done(library.clara.call("memory.submit-payload", payload))
    told = events(library, source_record_id=kept["payload_id"])
    assert [(one["event_type"], len(one["entity_ids"])) for one in told["events"]] == [("InvoiceIssued", 2)]
    total = events(library)["total"]
    assert total > 1
    done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    done(library.clara.call("memory.submit-payload", payload))
    assert events(library)["total"] == total
    assert events(library, event_type="InvoiceIssued")["total"] >= 2
