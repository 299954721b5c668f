"""A model as interpreter: held to a schema and to the text, recorded, and made up for when it fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engross.domains.memory import ModelAccess
from engross.domains.memory.interpretation.model import PROMPT_HASH
from tests.bed.offices import Offices
from tests.memory.kept import Library, done, warned
from tests.memory.model_server import ModelServer
from tests.memory.samples import INVOICE, PNG, SAMPLES

SAID: dict[str, Any] = {
    "record_type": "Bill",
    "entities": [
        {
            "entity_type": "invoice",
            "name": "INV-001",
            "fields": {"invoice_number": "INV-001", "amount_due": 1500, "mood": "hopeful", "empty": None},
            "quotes": {"amount_due": "$1,500.00", "mood": "not in the text"},
        },
        {"entity_type": "Company Name", "name": "Acme Corp", "fields": {"name": "Acme Corp"}},
    ],
    "relationships": [{"type": "REFERS_TO", "source": 0, "target": 1}],
}
BY_MODEL = {"provider": "model"}


def library_with(offices: Offices, server: ModelServer, timeout: float = 10.0) -> Library:
    """An office whose operator named a model."""
    return Library(offices, {"model": ModelAccess(server.url, "reader-1", "a-secret-key", timeout)})


def reinterpret(library: Library, source: str, **config: Any):
    """Ask the model about a source of Clara's."""
    return library.clara.call(
        "memory.reinterpret", {"source_id": source, "interpretation_config": {**BY_MODEL, **config}}
    )


@pytest.mark.requirement("MEM-01", "MEM-29", "MEM-33")
def test_what_a_model_says_is_recorded_with_its_places_and_replays_identically(offices):
    with ModelServer(SAID) as server:
        library = library_with(offices, server)
        answer = library.ingest(INVOICE, interpretation_config={**BY_MODEL, "temperature": 0.5})
        done(answer)
    assert answer.data["record_type"] == "invoice"
    assert answer.data["interpretation"]["provider"] == "model"
    assert warned(answer) == ["UNQUOTED_FIELDS"]
    rows = library.rows("SELECT fields, spans FROM memory_observations WHERE tenant = :tenant")
    told = {row["fields"]: json.loads(row["spans"]) for row in rows}
    spans = told['{"amount_due":1500,"invoice_number":"INV-001","mood":"hopeful"}']
    assert INVOICE.decode()[spans["amount_due"]["start"] : spans["amount_due"]["end"]] == "$1,500.00"
    assert "mood" not in spans
    # The server is gone: a rebuild reads the record, and nobody is asked again.
    assert library.clara.office.rebuild("main").same


def test_the_name_of_an_entity_is_one_of_its_fields_unless_another_says_it(tmp_path):
    said = {
        "record_type": "note",
        "entities": [
            {"entity_type": "note", "name": "Log", "fields": {"title": "Log"}},
            {"entity_type": "ship", "name": "Beagle", "fields": {"guns": 10}},
        ],
    }
    offices = Offices(tmp_path / "office", None)
    with ModelServer(said) as server:
        library = library_with(offices, server)
        done(library.ingest(b"Log\nThe Beagle has ten guns.", interpretation_config=BY_MODEL))
    found = done(library.clara.call("memory.get-entity-by-identifier", {"identifier": "Beagle"}))["entities"]
    ship = done(library.clara.call("memory.get-entity-snapshot", {"entity_id": found[0]["id"]}))
    assert ship["snapshot"] == {"guns": 10, "name": "Beagle"}
    rows = library.rows("SELECT fields, spans FROM memory_observations WHERE tenant = :tenant")
    told = {row["fields"]: json.loads(row["spans"]) for row in rows}
    assert told['{"guns":10,"name":"Beagle"}'] == {"name": {"start": 8, "end": 14}}
    assert '{"title":"Log"}' in told
    offices.close()


def test_the_request_carries_model_temperature_key_and_text(offices):
    with ModelServer(SAID) as server:
        library = library_with(offices, server)
        done(library.ingest(INVOICE, interpretation_config={**BY_MODEL, "model_id": "reader-2", "temperature": 1}))
    (asked,) = server.asked
    assert asked["path"] == "/v1/chat/completions"
    assert (asked["model"], asked["temperature"]) == ("reader-2", 1)
    assert asked["messages"][1]["content"] == INVOICE.decode()
    assert server.headers[0]["Authorization"] == "Bearer a-secret-key"


def test_how_it_was_asked_is_on_the_record_without_the_key(offices):
    with ModelServer(SAID) as server:
        library = library_with(offices, server)
        done(library.ingest(INVOICE, interpretation_config=BY_MODEL))
    (row,) = library.rows("SELECT config, provider FROM memory_runs WHERE tenant = :tenant")
    config = json.loads(row["config"])
    assert (row["provider"], config["model_id"], config["prompt_hash"]) == ("model", "reader-1", PROMPT_HASH)
    assert len(config["answer_hash"]) == 64
    assert "a-secret-key" not in row["config"]


def test_the_model_sees_the_text_of_a_pdf(offices):
    with ModelServer(SAID) as server:
        library = library_with(offices, server)
        sample = SAMPLES["PDF"]
        done(library.ingest(sample.content, sample.media_type, sample.name, interpretation_config=BY_MODEL))
    assert "Invoice Number: INV-001" in server.asked[0]["messages"][1]["content"]


@pytest.mark.parametrize("said", [f"```json\n{json.dumps(SAID)}\n```", json.dumps(SAID)], ids=["fenced", "bare"])
def test_an_answer_in_a_code_fence_is_understood(tmp_path, said):
    offices = Offices(tmp_path / "office", None)
    with ModelServer(said) as server:
        assert done(library_with(offices, server).ingest(INVOICE, interpretation_config=BY_MODEL))
    offices.close()


UNUSABLE: dict[str, dict[str, Any]] = {
    "no JSON": {"said": "I am sorry, I cannot do that."},
    "no entities": {"said": {"record_type": "invoice", "entities": []}},
    "no record type": {"said": {"entities": SAID["entities"]}},
    "a nameless entity": {"said": {**SAID, "entities": [{"entity_type": "invoice", "name": " ", "fields": {}}]}},
    "nested fields": {"said": {**SAID, "entities": [{"entity_type": "x", "name": "y", "fields": {"a": {"b": 1}}}]}},
    "a relationship to nobody": {"said": {**SAID, "relationships": [{"type": "REFERS_TO", "source": 0, "target": 9}]}},
    "an unknown relationship": {"said": {**SAID, "relationships": [{"type": "LIKES", "source": 0, "target": 1}]}},
    "too many entities": {"said": {**SAID, "entities": SAID["entities"] * 101}},
    "no choices": {"body": b"{}"},
    "no body": {"body": b""},
    "content that is no text": {"body": b'{"choices": [{"message": {"content": null}}]}'},
    "too much": {"body": b" " * 3_000_000},
    "unauthorised": {"status": 401},
    "busy": {"status": 503},
    "redirected": {"status": 307},
}


@pytest.mark.parametrize("how", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_without_a_usable_answer_the_rules_take_over_and_reinterpreting_fails(tmp_path, how):
    offices = Offices(tmp_path / "office", None)
    with ModelServer(how.get("said"), status=how.get("status", 200), body=how.get("body")) as server:
        library = library_with(offices, server)
        answer = library.ingest(INVOICE, interpretation_config=BY_MODEL)
        assert answer.data["interpretation"]["provider"] == "rule_based"
        assert warned(answer)[0] == "MODEL_UNAVAILABLE"
        failed = reinterpret(library, answer.data["source_id"])
    assert (failed.reply_type, failed.message_key) == ("E", "ANALYSIS_FAILED")
    assert len(library.rows("SELECT id FROM memory_runs WHERE tenant = :tenant")) == 1
    offices.close()


def test_a_model_that_is_not_there_or_too_slow_fails_in_time(tmp_path):
    offices = Offices(tmp_path / "office", None)
    with ModelServer(SAID) as server:
        library = library_with(offices, server, timeout=0.2)
        server.hold.clear()
        slow = library.ingest(INVOICE, interpretation_config=BY_MODEL)
        assert warned(slow)[0] == "MODEL_UNAVAILABLE"
    gone = reinterpret(library, slow.data["source_id"])
    assert gone.message_key == "ANALYSIS_FAILED"
    assert gone.data["problem"] == "unreachable"
    offices.close()


def test_where_there_is_no_text_nobody_is_asked(tmp_path):
    offices = Offices(tmp_path / "office", None)
    with ModelServer(SAID) as server:
        library = library_with(offices, server)
        answer = library.ingest(PNG, "image/png", "x.png", interpretation_config=BY_MODEL)
        assert "OCR_UNAVAILABLE" in warned(answer)
        assert done(reinterpret(library, answer.data["source_id"]))["provider"] == "rule_based"
    assert server.asked == []
    offices.close()


def test_words_of_a_document_to_the_model_stay_words(tmp_path):
    hostile = {
        **SAID,
        "entities": [
            {
                "entity_type": "../../Etc Passwd\x00",
                "name": "x\x00y",
                "fields": {"DROP TABLE": "\ud83d\ude00", "a" * 100: 1, "list": ["a", 1, True]},
            }
        ],
        "relationships": [],
    }
    offices = Offices(tmp_path / "office", None)
    with ModelServer(hostile) as server:
        library = library_with(offices, server)
        answer = done(library.ingest(INVOICE, interpretation_config=BY_MODEL))
    (row,) = library.rows("SELECT type, name FROM memory_entities WHERE tenant = :tenant")
    assert (row["type"], row["name"]) == ("etc_passwd", "xy")
    assert answer["interpretation"]["observations_created"] == 1
    offices.close()
