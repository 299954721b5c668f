"""Every code about entities and relationships, as MCP and REST clients get it, and nothing of what they sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.flows import Catalogue, Flow, filled
from engross.replies import REGISTRY
from tests.bed.postgres import PostgresServer
from tests.bed.served import UNLIMITED, Served
from tests.memory.conftest import FLOWS
from tests.memory.kept import memory_at
from tests.memory.people import ACME, ACME_ID, JOHN, JOHN_ID
from tests.surfaces.matrix.ways import McpHttp, Rest

SECRET = "Wilhelmina Zangwill <wilhelmina@example.org>"
PRIVATE = ("Zoe Zangwill, number {}", "z{}@zang.org")
NUMBERS = count(1)
REFERS = {"relationship_type": "REFERS_TO", "source_entity_id": JOHN_ID, "target_entity_id": ACME_ID}
STATUS = {
    "VALIDATION_ERROR": 400,
    "ENTITY_NOT_FOUND": 404,
    "FIELD_NOT_FOUND": 404,
    "RECORD_NOT_FOUND": 404,
    "SOURCE_NOT_FOUND": 404,
    "INVALID_RELATIONSHIP_TYPE": 400,
    "CYCLE_DETECTED": 400,
    "ENTITY_ALREADY_MERGED": 400,
    "MERGE_TARGET_ALREADY_MERGED": 400,
    "ENTITY_NOT_MERGED": 400,
    "OTHER_USER": 403,
}


def server(folder: Path, store: str | None = None, **settings: Any) -> Served:
    """A served office with memory."""
    return Served(folder, store, domains="memory", knobs=UNLIMITED, **settings)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served office that knows Acme, John, and Johnny, who is John."""
    with server(tmp_path_factory.mktemp("served") / "office") as running:
        told = [ACME, JOHN, {"entity_type": "person", "name": "Johnny"}]
        assert running.call("memory.ingest-structured", {"entities": told}).is_success
        wish = {"from_entity_id": JOHNNY_ID, "to_entity_id": JOHN_ID}
        asked = running.call("memory.merge-entities", wish).json()
        token = asked["error"]["details"]["confirm_token"]
        assert running.call("memory.merge-entities", {**wish, "confirm_token": token}).is_success
        yield running


def ways_into(office: Served, folder: Path) -> dict[str, Any]:
    """The owner's agent over MCP and over REST."""
    catalogue = Catalogue([memory_at(folder)])
    token: Any = office.agent or None
    return {"mcp": McpHttp(office, token, catalogue), "rest": Rest(office, token)}


@pytest.fixture(params=["mcp", "rest"])
def way(request: pytest.FixtureRequest, office: Served, tmp_path: Path) -> Iterator[Any]:
    """The owner's agent, by each way in turn."""
    ways = ways_into(office, tmp_path)
    yield ways[request.param]
    for one in ways.values():
        one.close()


def johnny() -> str:
    from engross.domains.memory.ids import entity_id

    return entity_id("person", "Johnny")


JOHNNY_ID = johnny()
NOBODY = "ent_nobody"


def each(flow: str, **cases: tuple[dict[str, Any], str]) -> dict[str, tuple[str, dict[str, Any], str]]:
    return {f"{flow} {name}": (f"memory.{flow}", *case) for name, case in cases.items()}


BAD = {
    **each(
        "ingest-structured",
        without_type=({"entities": [{"name": SECRET}]}, "VALIDATION_ERROR"),
        no_list=({"entities": SECRET}, "VALIDATION_ERROR"),
        nameless=({"entities": [{"entity_type": "x", "value": 1}]}, "VALIDATION_ERROR"),
        another_user=({"entities": [JOHN], "user_id": SECRET}, "OTHER_USER"),
    ),
    **each(
        "get-entity-snapshot",
        nobody=({"entity_id": NOBODY}, "ENTITY_NOT_FOUND"),
        no_id=({"entity_id": SECRET}, "VALIDATION_ERROR"),
        garbage_date=({"entity_id": JOHN_ID, "at": SECRET}, "VALIDATION_ERROR"),
    ),
    **each(
        "list-observations",
        nobody=({"entity_id": NOBODY}, "ENTITY_NOT_FOUND"),
        no_id=({"entity_id": SECRET}, "VALIDATION_ERROR"),
    ),
    **each(
        "get-field-provenance",
        nobody=({"entity_id": NOBODY, "field": "x"}, "ENTITY_NOT_FOUND"),
        no_field=({"entity_id": JOHN_ID, "field": "x"}, "FIELD_NOT_FOUND"),
        no_word=({"entity_id": JOHN_ID, "field": SECRET}, "FIELD_NOT_FOUND"),
        no_id=({"entity_id": SECRET, "field": "x"}, "VALIDATION_ERROR"),
    ),
    **each(
        "explain-field",
        no_field=({"entity_id": JOHN_ID, "field": "x"}, "FIELD_NOT_FOUND"),
        no_word=({"entity_id": JOHN_ID, "field": SECRET}, "FIELD_NOT_FOUND"),
    ),
    **each(
        "why-entity",
        nobody=({"ref": SECRET}, "ENTITY_NOT_FOUND"),
        no_word=({"ref": JOHN_ID, "field": SECRET}, "FIELD_NOT_FOUND"),
    ),
    **each(
        "retrieve-entities", bad_limit=({"limit": 0}, "VALIDATION_ERROR"), other=({"user_id": SECRET}, "OTHER_USER")
    ),
    **each("get-entity-by-identifier", empty=({"identifier": "  "}, "VALIDATION_ERROR")),
    **each("search-memory", empty=({"query": " "}, "VALIDATION_ERROR")),
    **each(
        "get-related-entities",
        nobody=({"entity_id": NOBODY}, "ENTITY_NOT_FOUND"),
        too_far=({"entity_id": JOHN_ID, "max_hops": 99}, "VALIDATION_ERROR"),
    ),
    **each(
        "get-graph-neighborhood",
        nobody=({"node_id": NOBODY}, "ENTITY_NOT_FOUND"),
        nothing=({"node_id": "nothing", "node_type": "record"}, "RECORD_NOT_FOUND"),
        no_kind=({"node_id": JOHN_ID, "node_type": SECRET}, "VALIDATION_ERROR"),
    ),
    **each("list-timeline-events", garbage=({"after_date": SECRET}, "VALIDATION_ERROR")),
    **each(
        "correct",
        nobody=({"entity_id": NOBODY, "entity_type": "person", "field": "x", "value": SECRET}, "ENTITY_NOT_FOUND"),
        type_=({"entity_id": JOHN_ID, "entity_type": "cat", "field": "x", "value": SECRET}, "VALIDATION_ERROR"),
        other=(
            {"entity_id": JOHN_ID, "entity_type": "person", "field": "x", "value": 1, "user_id": SECRET},
            "OTHER_USER",
        ),
    ),
    **each(
        "merge-entities",
        nobody=({"from_entity_id": NOBODY, "to_entity_id": JOHN_ID}, "ENTITY_NOT_FOUND"),
        already=({"from_entity_id": JOHNNY_ID, "to_entity_id": JOHN_ID}, "ENTITY_ALREADY_MERGED"),
        into_merged=({"from_entity_id": JOHN_ID, "to_entity_id": JOHNNY_ID}, "MERGE_TARGET_ALREADY_MERGED"),
        itself=({"from_entity_id": JOHN_ID, "to_entity_id": JOHN_ID}, "VALIDATION_ERROR"),
    ),
    **each("unmerge-entities", not_merged=({"entity_id": JOHN_ID}, "ENTITY_NOT_MERGED")),
    **each("retract-source", nowhere=({"source_id": "nowhere"}, "SOURCE_NOT_FOUND")),
    **each(
        "create-relationship",
        nobody=({**REFERS, "target_entity_id": NOBODY}, "ENTITY_NOT_FOUND"),
        no_type=({**REFERS, "relationship_type": "KNOWS"}, "INVALID_RELATIONSHIP_TYPE"),
        no_word=({**REFERS, "relationship_type": SECRET}, "INVALID_RELATIONSHIP_TYPE"),
        circle=({**REFERS, "target_entity_id": JOHNNY_ID}, "CYCLE_DETECTED"),
        no_id=({**REFERS, "source_entity_id": SECRET}, "VALIDATION_ERROR"),
    ),
    **each(
        "list-relationships",
        nobody=({"entity_id": NOBODY}, "ENTITY_NOT_FOUND"),
        direction=({"entity_id": JOHN_ID, "direction": SECRET}, "VALIDATION_ERROR"),
    ),
}


@pytest.mark.requirement("MEM-03", "MEM-17", "MEM-22", "MEM-25", "MEM-28", "MEM-40")
@pytest.mark.parametrize(("flow", "arguments", "code"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_its_code_in_the_envelope_without_what_was_sent(way, office, flow, arguments, code):
    answer = way.call(flow, arguments)
    told = answer["error"]
    assert told["code"] == code
    assert set(told) >= {"code", "message", "details", "trace_id"}
    assert told["details"]["reply_code"] == answer["reply"]["code"]
    assert answer["reply"]["reply_type"] == ("D" if code == "OTHER_USER" else "I")
    assert "Wilhelmina" not in orjson.dumps(answer).decode()
    if isinstance(way, Rest):
        assert office.call(flow, arguments, token=office.agent).status_code == STATUS[code]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each text inside arguments."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, Mapping | list | tuple):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, part in parts:
            yield from leaves(part, (*path, step))


def replaced(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """Arguments with another text at a place."""
    if not path:
        return text
    parts = dict(value) if isinstance(value, Mapping) else list(value)
    parts[path[0]] = replaced(parts[path[0]], path[1:], text)
    return parts


def wishes(office: Served, flow: Flow) -> Iterator[tuple[dict[str, Any], str]]:
    """Calls of a flow that would be in order, but for something private and new in the place of one text: that too."""
    usual = min(flow.examples, key=lambda one: REGISTRY.by_key(one.reply).type == "I")
    answers = [office.call(ref, dict(arguments)).json() for ref, arguments in usual.given]
    arguments: Any = filled(usual.arguments, answers)
    texts = {
        name: "" for name, field in flow.published["properties"].items() if field.get("type", "string") == "string"
    }
    own = {name: "" for name in texts if name in flow.own_fields and name not in arguments}
    for path in leaves({**own, **arguments}):
        here = {path[0]: own[path[0]]} if path[0] in own else {}
        for private in (one.format(next(NUMBERS)) for one in PRIVATE):
            yield replaced({**here, **arguments}, path, private), private


@pytest.mark.shows_text
@pytest.mark.requirement("MEM-40")
@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS.keys())
def test_no_refusal_repeats_what_was_sent(way, office, flow: Flow):
    asked = 0
    for arguments, private in wishes(office, flow):
        answer = way.call(flow.ref, arguments)
        refused = answer["reply"]["reply_type"] != "S"
        asked += 1
        assert not refused or private not in orjson.dumps(answer).decode(), arguments
    assert asked
    assert "zang" not in office.log.read_text().casefold()


@pytest.mark.shows_text
@pytest.mark.requirement("MEM-25")
def test_a_refusal_is_a_sentence_whether_it_may_repeat_the_name_or_not(way):
    said = [way.call("memory.create-relationship", {**REFERS, "relationship_type": one}) for one in ("KNOWS", SECRET)]
    assert [one["error"]["message"] for one in said] == [
        "KNOWS is not a relationship type.",
        "This is not a relationship type.",
    ]
    asked = [way.call("memory.explain-field", {"entity_id": JOHN_ID, "field": one}) for one in ("emial", SECRET)]
    assert [one["error"]["message"] for one in asked] == [
        f"{JOHN_ID} has no field emial.",
        f"{JOHN_ID} has no field of that name.",
    ]


@pytest.mark.requirement("MEM-17", "MEM-23", "MEM-24", "MEM-40")
def test_answers_have_the_fields_that_are_promised(way):
    seen = way.call("memory.get-entity-snapshot", {"entity_id": JOHNNY_ID})
    assert set(seen) >= {
        *("entity_id", "entity_type", "schema_version", "snapshot", "provenance", "computed_at"),
        *("observation_count", "last_observation_at", "reply"),
    }
    assert seen["entity_id"] == JOHN_ID
    traced = way.call("memory.get-field-provenance", {"entity_id": JOHN_ID, "field": "email"})
    assert set(traced) >= {"field", "value", "source_observation", "source_record", "observed_at"}
    made = way.call("memory.create-relationship", REFERS)
    assert set(made) >= {"id", "relationship_type", "source_entity_id", "target_entity_id", "metadata", "created_at"}
    proposed = way.call("memory.retract-source", {"source_id": traced["source_record"]["id"]})
    assert proposed["status"] == "proposed"


@pytest.mark.requirement("NEW-11", "MEM-24")
def test_what_rests_on_a_source_is_shown_and_goes_with_it(way):
    source = way.call("memory.ingest-structured", {"entities": [{"entity_type": "person", "name": "Zoe"}]})["source_id"]
    provenance = {"source_refs": [source], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "test:1"}
    note = {"capability_id": "neotoma:store_note:v1", "body": {"title": "About Zoe"}, "provenance": provenance}
    first, again = (way.call("memory.submit-payload", note) for _ in range(2))
    assert again["entity_ids"] == first["entity_ids"]
    traced = way.call("memory.get-field-provenance", {"entity_id": first["entity_ids"][0], "field": "title"})
    assert traced["source_record"]["source_refs"] == [source]
    node = way.call("memory.get-graph-neighborhood", {"node_id": first["payload_id"], "node_type": "record"})
    assert node["record"]["extractor_version"] == "test:1"
    proposed = way.call("memory.retract-source", {"source_id": source})
    assert proposed["payload_ids"] == [first["payload_id"]]
    assert proposed["diff"][0]["fields"]["entities_gone"]["from"] == proposed["entities_gone"]
    assert proposed["diff"][1]["subject"] == first["payload_id"]


@pytest.mark.requirement("MEM-40")
def test_the_log_says_nothing_of_what_is_remembered(office):
    told = {"entity_type": "person", "name": SECRET, "email": "wilhelmina@example.org"}
    assert office.call("memory.ingest-structured", {"entities": [told]}).is_success
    assert office.call("memory.search-memory", {"query": SECRET}).json()["total"] >= 1
    assert office.call("memory.get-entity-by-identifier", {"identifier": SECRET}).json()["total"] == 1
    log = office.log.read_text()
    assert "memory.search-memory" in log
    assert "ilhelmina" not in log


@pytest.mark.requirement("MEM-28", "MEM-31")
def test_a_correction_is_held_to_the_schema_of_the_type(way, office):
    kind = {"entity_type": "gauge", "schema_version": "1.0"}
    fields = {"n": {"type": "number"}, "on": {"type": "boolean"}, "seen": {"type": "array"}}
    merged = {"seen": {"strategy": "merge_array"}}
    registered = office.call("memory.register-schema", {**kind, "fields": fields, "merge_policies": merged})
    assert registered.is_success, registered.json()
    asked = office.call("memory.activate-schema", kind).json()
    if "error" in asked:
        told = asked["error"]["details"]
        assert told["diff"][0]["fields"]["active"] == {"from": None, "to": "1.0"}
        assert office.call("memory.activate-schema", {**kind, "confirm_token": told["confirm_token"]}).is_success
    way.call("memory.ingest-structured", {"entities": [{"entity_type": "gauge", "name": "G", "n": 1}]})
    found = way.call("memory.get-entity-by-identifier", {"identifier": "G"})["entities"][0]
    wish = {"entity_id": found["id"], "entity_type": "gauge"}
    for field, value, expected in (("n", SECRET, "number"), ("n", True, "number"), ("on", 1, "boolean")):
        refused = way.call("memory.correct", {**wish, "field": field, "value": value})
        assert refused["error"]["code"] == "VALIDATION_ERROR"
        details = refused["error"]["details"]
        assert (details["field"], details["expected"]) == ("value", expected)
        assert SECRET not in orjson.dumps(refused).decode()
    # A field that the schema does not name takes anything; so does a list that is merged take a single value.
    welcome: list[tuple[str, Any]] = [("n", 2), ("n", None), ("on", False), ("other", SECRET), ("seen", "once")]
    for field, value in welcome:
        assert "error" not in way.call("memory.correct", {**wish, "field": field, "value": value})


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    """A database server that a test may take away."""
    made = PostgresServer()
    yield made
    made.stop()


@pytest.mark.requirement("MEM-03", "MEM-18", "MEM-22")
def test_a_store_that_fails_is_called_by_what_was_tried(tmp_path: Path, database: PostgresServer):
    # Without tokens: whoever shows one is looked up in the store first.
    with server(tmp_path / "office", database.create_database(), auth=False, unit_seconds=0.5) as office:
        ways = ways_into(office, tmp_path)
        assert "error" not in ways["rest"].call("memory.ingest-structured", {"entities": [JOHN]})
        database.kill()
        for flow, arguments, code in (
            ("memory.get-entity-snapshot", {"entity_id": JOHN_ID}, "DB_QUERY_FAILED"),
            ("memory.ingest-structured", {"entities": [ACME]}, "DB_INSERT_FAILED"),
            ("memory.merge-entities", {"from_entity_id": JOHN_ID, "to_entity_id": ACME_ID}, "DB_UPDATE_FAILED"),
            ("memory.retract-source", {"source_id": "x"}, "DB_DELETE_FAILED"),
        ):
            for way in ways.values():
                answer = way.call(flow, arguments)
                assert (answer["error"]["code"], answer["reply"]["reply_type"]) == (code, "E")
                assert answer["reply"]["retryable"] is True
        for way in ways.values():
            way.close()
