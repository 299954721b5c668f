"""Where values come from, why they are what they are, and putting them right."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memory.kept import Library, done
from tests.memory.people import ACME, ACME_ID, JOHN, JOHN_ID, correct, fields, person, retract, snapshot, tell
from tests.memory.samples import INVOICE


@pytest.mark.requirement("MEM-28")
def test_a_correction_wins_over_everything_that_comes_later(library: Library):
    tell(library.clara, JOHN)
    library.offices.clock.pass_(minutes=1)
    made = correct(library.agent, JOHN_ID, "email", "right@example.com")
    assert made["message"] == "Correction applied with priority 1000"
    assert fields(library.clara, JOHN_ID)["email"] == "right@example.com"
    library.offices.clock.pass_(minutes=1)
    tell(library.clara, {**JOHN, "email": "wrong@example.com"}, source_priority=999)
    seen = snapshot(library.clara, JOHN_ID)
    assert seen["snapshot"]["email"] == "right@example.com"
    assert seen["provenance"]["email"] == made["observation_id"]
    library.offices.clock.pass_(minutes=1)
    correct(library.clara, JOHN_ID, "email", "better@example.com")
    assert fields(library.clara, JOHN_ID)["email"] == "better@example.com"
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-28")
def test_the_same_correction_again_is_the_same_observation(small: Library):
    tell(small.clara, JOHN)
    wish = {"entity_id": JOHN_ID, "entity_type": "person", "field": "age", "value": 40}
    first = small.clara.call("memory.correct", wish)
    again = small.clara.call("memory.correct", {**wish, "value": 40.0})
    assert again.message_key == "NO_EFFECT"
    assert again.data["observation_id"] == first.data["observation_id"]
    small.offices.clock.pass_(minutes=1)
    correct(small.clara, JOHN_ID, "age", 41)
    small.offices.clock.pass_(minutes=1)
    back = correct(small.clara, JOHN_ID, "age", 40)
    assert back["observation_id"] != first.data["observation_id"]
    assert fields(small.clara, JOHN_ID)["age"] == 40


@pytest.mark.requirement("MEM-28")
def test_null_clears_a_field_and_any_json_is_a_value(small: Library):
    tell(small.clara, JOHN)
    correct(small.clara, JOHN_ID, "phone", None)
    assert "phone" not in fields(small.clara, JOHN_ID)
    gone = small.clara.call("memory.get-field-provenance", {"entity_id": JOHN_ID, "field": "phone"})
    assert gone.message_key == "FIELD_NOT_FOUND"
    told = done(small.clara.call("memory.explain-field", {"entity_id": JOHN_ID, "field": "phone"}))
    assert (told["value"], told["cleared"]) == (None, True)
    values: list[Any] = [[1, {"a": [None]}], {}, "", 0, False, "x" * 1000]
    for value in values:
        small.offices.clock.pass_(minutes=1)
        correct(small.clara, JOHN_ID, "anything", value)
        assert fields(small.clara, JOHN_ID)["anything"] == value


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"entity_id": "ent_nobody"}, "ENTITY_NOT_FOUND"),
        ({"entity_id": "john"}, "VALIDATION_ERROR"),
        ({"entity_type": "company"}, "VALIDATION_ERROR"),
        ({"field": ""}, "VALIDATION_ERROR"),
        ({"field": "a\nb"}, "VALIDATION_ERROR"),
        ({"field": "entity_type"}, "VALIDATION_ERROR"),
        ({"user_id": "vera"}, "OTHER_USER"),
    ],
)
@pytest.mark.requirement("MEM-28")
def test_corrections_that_cannot_be(small: Library, change: dict[str, Any], code: str):
    tell(small.clara, JOHN)
    wish = {"entity_id": JOHN_ID, "entity_type": "person", "field": "email", "value": "secret@example.com", **change}
    answer = small.clara.call("memory.correct", wish)
    assert answer.message_key == code
    assert "secret@example.com" not in str(answer.data)


@pytest.mark.requirement("MEM-24", "NEW-05")
def test_a_field_is_traced_to_the_file_and_the_place_in_it(library: Library):
    kept = done(library.ingest(INVOICE, "text/plain", "invoice.txt"))
    found = done(library.clara.call("memory.retrieve-entities", {"entity_type": "invoice"}))["entities"][0]
    asked = {"entity_id": found["id"], "field": "invoice_number"}
    told = done(library.clara.call("memory.get-field-provenance", asked))
    assert told["value"] == found["snapshot"]["invoice_number"]
    assert told["source_observation"]["source_record_id"] == kept["source_id"]
    assert told["source_record"]["id"] == kept["source_id"]
    assert told["source_record"]["type"] == "text/plain"
    assert len(told["source_record"]["file_urls"]) == 1
    span = told["span"]
    assert told["value"] in INVOICE.decode()[span["start"] : span["end"]]
    assert told["fact"]["flow"] == "memory.ingest"
    assert told["fact"]["principal"] == "clara"
    by_other_name = {"entity_id": found["id"], "field_name": "invoice_number"}
    assert done(library.clara.call("memory.get-field-provenance", by_other_name))["value"] == told["value"]


@pytest.mark.requirement("MEM-24", "NEW-05")
def test_a_field_of_structured_data_is_traced_to_its_place_in_it(library: Library):
    source = tell(library.clara, ACME, {**JOHN, "phone/home": "1"})["source_id"]
    for reread in (False, True):
        if reread:
            library.offices.clock.pass_(minutes=1)
            wish = {"source_id": source, "interpretation_config": {}}
            assert done(library.clara.call("memory.reinterpret", wish))["observations_created"] == 2
        for field, path in (("email", "/entities/1/email"), ("phone/home", "/entities/1/phone~1home")):
            asked = {"entity_id": JOHN_ID, "field": field}
            assert done(library.clara.call("memory.get-field-provenance", asked))["span"] == {"path": path}
            assert done(library.clara.call("memory.explain-field", asked))["winner"]["span"] == {"path": path}
    (reason,) = done(library.clara.call("memory.why-entity", {"ref": JOHN_ID, "field": "email"}))["reasons"]
    assert reason["spans"] == {"email": {"path": "/entities/1/email"}}
    assert library.rows("SELECT id FROM memory_observations WHERE tenant = :tenant AND spans IS NOT NULL") == []


@pytest.mark.requirement("MEM-24")
def test_a_correction_is_its_own_source(small: Library):
    tell(small.clara, JOHN)
    made = correct(small.agent, JOHN_ID, "email", "right@example.com")
    told = done(small.clara.call("memory.get-field-provenance", {"entity_id": JOHN_ID, "field": "email"}))
    assert told["source_record"]["type"] == "correction"
    assert told["source_record"]["id"] == made["observation_id"]
    assert told["source_record"]["file_urls"] == []
    assert told["source_observation"]["source_record_id"] is None
    assert told["source_observation"]["source_priority"] == 1000
    assert told["fact"]["principal"] == "agent:clara"


@pytest.mark.requirement("MEM-24")
def test_what_cannot_be_traced(small: Library):
    tell(small.clara, JOHN)
    for flow in ("get-field-provenance", "explain-field"):
        unknown = small.clara.call(f"memory.{flow}", {"entity_id": JOHN_ID, "field": "emial"})
        assert unknown.message_key == "FIELD_NOT_FOUND"
        assert unknown.data["suggestions"]["did_you_mean"] == ["email"]
        assert "john@example.com" not in str(unknown.data)
        for identifier, code in (("ent_nobody", "ENTITY_NOT_FOUND"), ("x", "VALIDATION_ERROR")):
            asked = {"entity_id": identifier, "field": "email"}
            assert small.clara.call(f"memory.{flow}", asked).message_key == code


@pytest.mark.requirement("MEM-23", "MEM-40")
def test_observations_are_listed_newest_first_in_pages(library: Library):
    for number in range(5):
        library.offices.clock.pass_(minutes=1)
        tell(library.clara, {**ACME, "revision": number})
    asked = {"entity_id": ACME_ID, "limit": 2, "offset": 1}
    page = done(library.clara.call("memory.list-observations", asked))
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)
    assert [one["fields"]["revision"] for one in page["observations"]] == [3, 2]
    one = page["observations"][0]
    assert set(one) >= {
        *("id", "entity_id", "entity_type", "schema_version", "source_record_id", "observed_at"),
        *("specificity_score", "source_priority", "fields", "created_at"),
    }
    assert (one["source_priority"], one["specificity_score"]) == (100, 1.0)
    assert done(library.clara.call("memory.list-observations", asked)) == page
    assert library.clara.call("memory.list-observations", {"entity_id": "ent_x"}).message_key == "ENTITY_NOT_FOUND"
    for bad in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"entity_id": "acme"}):
        assert library.clara.call("memory.list-observations", {**asked, **bad}).message_key == "VALIDATION_ERROR"


def test_why_a_field_has_its_value(library: Library):
    clock = library.offices.clock
    first = tell(library.clara, {**JOHN, "email": "old@example.com"})["source_id"]
    clock.pass_(minutes=1)
    person(library.clara, "John Doe", email="new@example.com")
    told = done(library.clara.call("memory.explain-field", {"entity_id": JOHN_ID, "field": "email"}))
    assert told["winner"]["value"] == "new@example.com"
    assert told["rule"]["strategy"] == "last_write"
    assert told["rule"]["decided_by"] == "observed_at"
    assert [one["value"] for one in told["losers"]] == ["old@example.com"]
    assert [(one["before"], one["after"], one["by"]) for one in told["changes"]] == [
        ("old@example.com", "new@example.com", "observed"),
        (None, "old@example.com", "observed"),
    ]
    clock.pass_(minutes=1)
    correct(library.clara, JOHN_ID, "email", "right@example.com")
    told = done(library.clara.call("memory.explain-field", {"entity_id": JOHN_ID, "field": "email"}))
    assert told["rule"]["decided_by"] == "correction"
    assert told["winner"]["source_record"]["type"] == "correction"
    assert told["winner"]["fact"]["flow"] == "memory.correct"
    assert {one["lost_by"] for one in told["losers"]} == {"correction"}
    clock.pass_(minutes=1)
    retract(library.clara, first)
    told = done(library.clara.call("memory.explain-field", {"entity_id": JOHN_ID, "field": "email"}))
    assert told["losers_in_all"] == 1
    alone = done(library.clara.call("memory.explain-field", {"entity_id": JOHN_ID, "field": "name"}))
    assert alone["rule"]["decided_by"] == "only_claim"


def test_a_withdrawal_that_changed_a_value_is_told(small: Library):
    clock = small.offices.clock
    person(small.clara, "John Doe", city="Bern")
    clock.pass_(minutes=1)
    source = tell(small.clara, {"entity_type": "person", "name": "John Doe", "city": "Basel"})["source_id"]
    clock.pass_(minutes=1)
    retract(small.clara, source)
    told = done(small.clara.call("memory.explain-field", {"entity_id": JOHN_ID, "field": "city"}))
    assert told["value"] == "Bern"
    assert [(one["by"], one["after"]) for one in told["changes"]] == [
        ("retraction", "Bern"),
        ("observed", "Basel"),
        ("observed", "Bern"),
    ]
    assert told["changes"][0]["source_id"] == source


@pytest.mark.parametrize("flow", ["get-entity-snapshot", "list-observations"])
@pytest.mark.parametrize(
    ("identifier", "code"),
    [("ent_nobody", "ENTITY_NOT_FOUND"), ("nobody", "VALIDATION_ERROR"), ("", "VALIDATION_ERROR")],
)
def test_ids_that_lead_nowhere(small: Library, flow: str, identifier: str, code: str):
    assert small.clara.call(f"memory.{flow}", {"entity_id": identifier}).message_key == code
