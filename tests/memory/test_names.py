"""Names, identifiers and ids: the same everywhere, for ever."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engross.domains.memory.events import event_type, events_in
from engross.domains.memory.ids import entity_id, event_id, observation_id, record_id, relationship_id
from engross.domains.memory.moments import kept_instant
from engross.domains.memory.names import alike_key, identifier_terms, naming_value, normalise, words


@pytest.mark.requirement("MEM-33")
def test_entity_ids_are_those_of_the_reference():
    assert entity_id("company", "Acme Corp") == "ent_af939bedafbd1838b259772a"
    for same in ("acme corp", "  ACME   Corp. ", "Acme", "Acme Inc", "Acme\tCo"):
        assert entity_id("company", same) == "ent_af939bedafbd1838b259772a", same
    others = {entity_id(kind, "Acme") for kind in ("company", "organization", "person")}
    assert len(others) == 3


def test_one_legal_form_goes_with_each_normalisation():
    assert normalise("company", "Acme Holdings Co Ltd") == "acme holdings co"
    assert entity_id("company", "Acme Holdings Co Ltd") == entity_id("company", "Acme Holdings")
    assert normalise("company", "Acme, Inc.") == "acme,"
    assert normalise("company", "Inc Acme") == "inc acme"
    assert normalise("person", "Acme Corp") == "acme corp"
    assert normalise("person", "\ufeffJane\u00a0\u2003 Doe ") == "jane doe"


@given(st.text(st.one_of(st.characters(), st.sampled_from("ΣςİßﬀǅK \u00a0\ufeff\x1c")), max_size=12))
def test_what_is_normalised_stays_as_it_is_but_for_companies(raw: str):
    once = normalise("person", raw)
    assert normalise("person", once) == once


@pytest.mark.parametrize(
    "raw", ["+15551234567", "15551234567", "+1 (555) 123-4567", " +1-555.1234567", "+", "", "٣٤", "++1"]
)
def test_a_telephone_number_is_its_digits(raw: str):
    digits = "".join(one for one in raw if one.isdecimal())
    expected = f"+{digits}" if digits and raw.lstrip().startswith("+") else digits
    assert list(identifier_terms("phone", raw)) == ([f"phone={expected}"] if expected else [])


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"title": "T", "name": "N"}, "N"),
        ({"name": "  ", "full_name": "F"}, "F"),
        ({"email": "e@x.org", "external_id": 7}, "e@x.org"),
        ({"external_id": 7, "city": "Bern"}, "id:external_id:7"),
        ({"status": "open", "currency": "EUR", "zone": "North", "city": "2024-01-01"}, "North"),
        ({"status": "open", "amount": 5, "kind": "pending", "note": "12.50"}, None),
        ({"id": True}, None),
        ({}, None),
    ],
)
def test_what_names_an_entity(fields, name):
    assert naming_value(fields) == name


@pytest.mark.parametrize(
    ("field", "value", "terms"),
    [
        ("email", " John@Example.COM ", ["email=john@example.com"]),
        ("email", "j.o+hn@example.com", ["email=j.o+hn@example.com"]),
        ("tax_id", "12-345 67a", ["tax_id=1234567A"]),
        ("phone", "+1 (555) 01-23", ["phone=+15550123"]),
        ("phone_number", "555 0123", ["phone=5550123"]),
        ("website", "https://www.Acme.com/about?x=1", ["domain=acme.com"]),
        ("emails", ["a@x", "B@x"], ["email=a@x", "email=b@x"]),
        ("id", 7, ["id=7"]),
        ("id", True, []),
        ("colour", "red", []),
    ],
)
def test_identifiers_have_one_form(field, value, terms):
    assert list(identifier_terms(field, value)) == terms


def test_names_that_probably_mean_the_same_have_a_key_in_common():
    assert alike_key("person", "dr. jane doe") == alike_key("person", "jane doe") == "jane doe"
    assert alike_key("company", "acme, ltd.") == alike_key("company", "acme gmbh") == "acme"
    assert alike_key("person", "jane@example.com") == "jane@example.com"


def test_words_are_found_in_any_spelling():
    assert words("OrderService, Zürich 42") == ["order", "service", "zürich", "42"]


def test_ids_depend_on_what_they_stand_for_and_nothing_else():
    assert record_id("clara", "ab") == record_id("clara", "ab") != record_id("vera", "ab")
    assert relationship_id("clara", "PART_OF", "a", "b") != relationship_id("clara", "PART_OF", "b", "a")
    assert observation_id("u", "e", {"a": 1, "b": 2}, 0) == observation_id("u", "e", {"b": 2, "a": 1}, 0)
    hashed = sha256(b"r:date_due:2025-01-15T00:00:00.000Z").hexdigest()
    assert event_id("r", "date_due", "2025-01-15T00:00:00.000Z") == f"evt_{hashed[:24]}"


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2025-01-15", "2025-01-15T00:00:00.000000Z"),
        ("2025-01-15T10:30:00Z", "2025-01-15T10:30:00.000000Z"),
        ("2025-01-15t10:30:00+02:00", "2025-01-15T08:30:00.000000Z"),
        ("2025-01-15 10:30", "2025-01-15T10:30:00.000000Z"),
        ("2025-01-15T10:30:00.123456789Z", "2025-01-15T10:30:00.123456Z"),
        ("2025-02-30", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("20250115", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_instants_are_read_as_iso_says(text, instant):
    assert kept_instant(text) == instant


@pytest.mark.requirement("MEM-27")
def test_dates_are_events_and_numbers_are_none():
    invoice = {
        "date_issued": "2025-01-15",
        "date_due": "15.02.2025",
        "posted_date": "March 3, 2025",
        "created_at": "2025-01-01",
        "batch_at": "8036",
        "version_at": "1.0",
        "paid_at": 1_736_899_200,
        "seen_at": 12,
        "note": "2025-01-01",
    }
    found = {event.field: (event.type, event.at) for event in events_in("invoice", invoice)}
    assert found == {
        "date_due": ("InvoiceDue", "2025-02-15T00:00:00.000Z"),
        "date_issued": ("InvoiceIssued", "2025-01-15T00:00:00.000Z"),
        "paid_at": ("PaidAtEvent", "2025-01-15T00:00:00.000Z"),
        "posted_date": ("PostedDateEvent", "2025-03-03T00:00:00.000Z"),
    }
    assert event_type("posted_date") == "PostedDateEvent"
