"""Taking in structured entities: which they are, what is refused, and that nothing comes in twice."""

from __future__ import annotations

import pytest

from engross.domains.memory.ids import entity_id
from tests.bed.offices import Offices
from tests.memory.kept import Library, done
from tests.memory.people import ACME, ACME_ID, JOHN, JOHN_ID, fields, person, snapshot, tell


@pytest.mark.requirement("MEM-03", "MEM-17", "MEM-40")
def test_what_a_write_returned_is_what_the_next_read_sees(library: Library):
    answer = tell(library.agent, ACME, JOHN)
    assert answer["interpretation"]["entities_created"] == 2
    assert answer["interpretation"]["observations_created"] == 2
    assert answer["status"] == "committed"
    seen = snapshot(library.clara, ACME_ID)
    assert seen["entity_type"] == "company"
    assert seen["schema_version"] == "1.0"
    assert seen["snapshot"] == {"name": "Acme Corp", "domain": "acme.com", "tax_id": "12-3456789"}
    assert set(seen["provenance"]) == set(seen["snapshot"])
    assert seen["observation_count"] == 1
    assert seen["last_observation_at"] == seen["computed_at"]
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-03", "MEM-32", "MEM-40")
def test_the_same_array_again_changes_nothing(library: Library):
    first = tell(library.clara, ACME, JOHN)
    again = library.clara.call("memory.ingest-structured", {"entities": [dict(reversed(ACME.items())), JOHN]})
    assert again.message_key == "NO_EFFECT"
    assert again.data["source_id"] == first["source_id"]
    assert again.data["interpretation"] == first["interpretation"]
    assert again.data["deduplicated"] is True
    assert snapshot(library.clara, ACME_ID)["observation_count"] == 1
    weighty = tell(library.clara, ACME, JOHN, source_priority=500)
    assert weighty["source_id"] == first["source_id"]
    assert weighty["interpretation"]["run_id"] != first["interpretation"]["run_id"]
    assert weighty["interpretation"]["entities_created"] == 0
    assert snapshot(library.clara, ACME_ID)["observation_count"] == 2


@pytest.mark.requirement("MEM-33")
def test_the_same_input_has_the_same_ids_in_every_store(small: Library, tmp_path):

    elsewhere = Offices(tmp_path / "elsewhere", None)
    other = Library(elsewhere)
    try:
        assert tell(small.clara, ACME, JOHN)["source_id"] == tell(other.clara, ACME, JOHN)["source_id"]
        assert snapshot(small.clara, JOHN_ID) == snapshot(other.clara, JOHN_ID)
    finally:
        elsewhere.close()


@pytest.mark.requirement("MEM-03")
def test_everything_that_is_wrong_is_said_by_index_and_nothing_is_written(small: Library):
    answer = small.clara.call(
        "memory.ingest-structured",
        {"entities": [JOHN, {"name": "Nobody"}, {"entity_type": "", "name": "x"}, {"entity_type": "a:b", "name": "x"}]},
    )
    assert answer.message_key == "VALIDATION_ERROR"
    assert [error["pointer"] for error in answer.data["errors"]] == [
        "/entities/1/entity_type",
        "/entities/2/entity_type",
        "/entities/3/entity_type",
    ]
    unnamed = small.clara.call("memory.ingest-structured", {"entities": [JOHN, {"entity_type": "thing", "size": 3}]})
    assert unnamed.data["errors"][0]["pointer"] == "/entities/1"
    assert small.rows("SELECT id FROM memory_entities WHERE tenant = :tenant") == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"entities": []},
        {"entities": [[]]},
        {"entities": ["x"]},
        {"entities": {}},
        {},
        {"entities": [JOHN], "source_priority": 1000},
        {"entities": [JOHN], "source_priority": -1},
        {"entities": [JOHN], "source_priority": "high"},
        {"entities": [JOHN], "colour": "red"},
    ],
)
def test_what_is_no_list_of_entities_is_refused(small: Library, arguments):
    assert small.clara.call("memory.ingest-structured", arguments).reply_type == "I"


@pytest.mark.requirement("MEM-03")
def test_a_hundred_thousand_and_one_entities_hit_a_clear_limit(small: Library):
    entities = [{"entity_type": "t", "name": str(number)} for number in range(100_001)]
    answer = small.clara.call("memory.ingest-structured", {"entities": entities})
    assert answer.message_key == "LIMIT_EXCEEDED"
    assert answer.data["errors"][0]["details"] == {"limit": 10_000, "actual": 100_001}


def test_hostile_field_names_are_kept_as_they_are_or_refused(small: Library):
    strange = {"__proto__": 1, "$op": "DELETE", "a.b": 2, "a/b~c": 3, "'; DROP TABLE x; --": 4, "名前": "x", " ": 5}
    identifier = person(small.clara, "Mallory", **strange)
    assert fields(small.clara, identifier) == {"name": "Mallory", **strange}
    for field in strange:
        told = done(small.clara.call("memory.explain-field", {"entity_id": identifier, "field": field}))
        assert told["value"] == strange[field]
    for bad in ("", "a\x00b", "a\nb", "x" * 300):
        answer = small.clara.call("memory.ingest-structured", {"entities": [{**JOHN, bad: "secret"}]})
        assert answer.reply_type == "I", bad
        assert "secret" not in str(answer.data)
    many = {f"f{number}": number for number in range(501)}
    assert small.clara.call("memory.ingest-structured", {"entities": [{**JOHN, **many}]}).reply_type == "I"


def test_a_field_may_hold_any_json(small: Library):
    values = {
        "list": [1, [2, {"a": None}]],
        "map": {"x": {"y": 1.5}},
        "yes": True,
        "zero": 0,
        "none": None,
        "empty": "",
    }
    identifier = person(small.clara, "Jason", **values)
    del values["none"]
    assert fields(small.clara, identifier) == {"name": "Jason", **values}


def test_two_observations_of_one_call_may_be_about_one_entity(library: Library):
    answer = tell(library.clara, {**ACME, "role": "vendor"}, {**ACME, "role": "customer"})
    assert answer["interpretation"]["entities_created"] == 1
    assert answer["interpretation"]["observations_created"] == 2
    assert snapshot(library.clara, ACME_ID)["observation_count"] == 2
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("MEM-03")
def test_memory_belongs_to_the_user_whom_the_credential_stands_for(small: Library):
    tell(small.agent, JOHN)
    assert fields(small.clara, JOHN_ID)["name"] == "John Doe"
    assert small.vera.call("memory.get-entity-snapshot", {"entity_id": JOHN_ID}).message_key == "ENTITY_NOT_FOUND"
    tell(small.vera, {**JOHN, "email": "other@example.com"})
    assert fields(small.vera, JOHN_ID)["email"] == "other@example.com"
    assert fields(small.clara, JOHN_ID)["email"] == "john@example.com"
    for own in ("clara", "agent:clara"):
        assert small.agent.call("memory.retrieve-entities", {"user_id": own}).ok
    for flow, arguments in (
        ("ingest-structured", {"entities": [JOHN]}),
        ("retrieve-entities", {}),
        ("correct", {"entity_id": JOHN_ID, "entity_type": "person", "field": "x", "value": 1}),
        ("merge-entities", {"from_entity_id": JOHN_ID, "to_entity_id": ACME_ID}),
        ("unmerge-entities", {"entity_id": JOHN_ID}),
        ("retract-source", {"source_id": "x"}),
    ):
        answer = small.agent.call(f"memory.{flow}", {**arguments, "user_id": "vera"})
        assert (answer.reply_type, answer.message_key) == ("D", "OTHER_USER"), flow


def test_a_company_with_two_legal_forms_is_the_one_with_none(library: Library):
    tell(library.clara, {"entity_type": "company", "name": "Acme Holdings Co Ltd", "a": 1})
    tell(library.clara, {"entity_type": "company", "name": "Acme Holdings", "b": 2})
    found = done(library.clara.call("memory.retrieve-entities", {}))["entities"]
    assert [one["canonical_name"] for one in found] == ["acme holdings co"]
    assert found[0]["id"] == entity_id("company", "Acme Holdings")
    assert library.clara.office.rebuild("main").same


@pytest.mark.requirement("REL-05")
def test_facts_of_a_memory_are_shown_to_its_owner_and_to_those_who_review(library: Library):
    source = tell(library.vera, JOHN)["source_id"]
    about = {"aggregate": "memory", "subject": source}
    others = (library.clara.as_("adam", roles=["contributor"]), library.clara.as_("agent:clara", "agent", ["curator"]))
    for other in others:
        assert [fact for fact in done(other.call("record.read-facts", {}))["facts"] if source in str(fact)] == []
        assert other.call("record.read-history", about).message_key == "RECORD_NOT_FOUND"
    for reader in (library.vera, library.vera.as_("agent:vera", "agent", ["agent"]), library.clara):
        assert done(reader.call("record.read-history", about))["facts"]
