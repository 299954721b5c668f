"""Every code of these flows, as MCP and REST clients get it: the same envelope, and nothing of what they sent."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engross.flows import Catalogue
from tests.bed.served import UNLIMITED, Served
from tests.memory.kept import memory_at
from tests.memory.model_server import ModelServer
from tests.memory.samples import INVOICE, PNG
from tests.surfaces.matrix.ways import McpHttp, Rest

SECRET = "Wilhelmina Zangwill <wilhelmina@example.org>"
NOTE = {
    "capability_id": "neotoma:store_note:v1",
    "body": {"title": SECRET},
    "provenance": {"source_refs": [], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "x"},
}


def file(content: bytes, mime_type: str = "text/plain", **more: Any) -> dict[str, Any]:
    """The arguments of ingest."""
    return {"file_content": b64encode(content).decode(), "mime_type": mime_type, **more}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model that never says anything that can be used."""
    with ModelServer("no") as server:
        yield server


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Served]:
    """A served office with memory, and a quota that is soon used up."""
    folder = tmp_path_factory.mktemp("served") / "office"
    settings: dict[str, Any] = {
        "interpreter_url": model.url,
        "interpreter_model": "reader-1",
        "interpretation_quota": 6,
        "domains": "memory",
    }
    with Served(folder, knobs=UNLIMITED, **settings) as running:
        yield running


@pytest.fixture(params=["mcp", "rest"])
def way(request: pytest.FixtureRequest, office: Served, tmp_path: Path) -> Iterator[Any]:
    """The owner's agent, by each way in turn."""
    made: Any = Rest(office, office.agent)
    if request.param == "mcp":
        made = McpHttp(office, office.agent, Catalogue([memory_at(tmp_path)]))
    yield made
    made.close()


def error(answer: dict[str, Any]) -> dict[str, Any]:
    """The envelope of a failure."""
    told: dict[str, Any] = answer["error"]
    assert set(told) >= {"code", "message", "details", "trace_id"}
    assert answer["reply"]["reply_type"] != "S"
    assert told["details"]["reply_code"] == answer["reply"]["code"]
    return told


BAD = {
    "no base64": ("memory.ingest", {"file_content": SECRET, "mime_type": "text/plain"}, "VALIDATION_ERROR"),
    "no media type": ("memory.ingest", file(b"x", SECRET), "VALIDATION_ERROR"),
    "no upload": ("memory.ingest", {"content_hash": "ab" * 32}, "RECORD_NOT_FOUND"),
    "no provider": (
        "memory.ingest",
        file(b"x", interpretation_config={"provider": SECRET}),
        "VALIDATION_ERROR",
    ),
    "an unknown field": ("memory.ingest", file(b"x", colour=SECRET), "UNKNOWN_FIELD"),
    "an unknown capability": ("memory.submit-payload", {**NOTE, "capability_id": SECRET}, "UNKNOWN_CAPABILITY"),
    "no provenance": ("memory.submit-payload", {**NOTE, "provenance": SECRET}, "VALIDATION_ERROR"),
    "a garbage date": (
        "memory.submit-payload",
        {**NOTE, "provenance": {**NOTE["provenance"], "extracted_at": SECRET}},  # type: ignore[dict-item]
        "VALIDATION_ERROR",
    ),
    "no source": (
        "memory.reinterpret",
        {"source_id": SECRET, "interpretation_config": {}},
        "SOURCE_NOT_FOUND",
    ),
    "no config": ("memory.reinterpret", {"source_id": "nowhere"}, "VALIDATION_ERROR"),
    "a garbage cursor": ("memory.export-memory", {"cursor": SECRET}, "VALIDATION_ERROR"),
    "another user": ("memory.ingest", file(b"x", user_id="somebody"), "OTHER_USER"),
}


@pytest.mark.requirement("MEM-01", "MEM-02", "MEM-29")
@pytest.mark.parametrize(("flow", "arguments", "code"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_its_code_in_the_envelope_without_what_was_sent(way, flow, arguments, code):
    answer = way.call(flow, arguments)
    assert error(answer)["code"] == code
    assert "Wilhelmina" not in orjson.dumps(answer).decode()


@pytest.mark.requirement("MEM-01")
def test_a_file_beyond_the_limit_is_too_large(way, office):
    content = b"x" * 52_428_801
    with office.client(office.owner) as client:
        upload = client.post("/v1/blobs?name=big.txt", content=content, headers={"Content-Type": "text/plain"})
    assert upload.is_success, upload.text
    answer = way.call("memory.ingest", {"content_hash": upload.json()["blob"]["content_hash"]})
    told = error(answer)
    assert told["code"] == "FILE_TOO_LARGE"
    assert told["details"]["file_size_bytes"] == 52_428_801
    assert told["details"]["max_size_bytes"] == 52_428_800


@pytest.mark.requirement("MEM-01")
def test_a_call_that_is_refused_before_it_is_read_is_told_in_the_same_envelope(office):
    with office.client(office.owner) as client:
        large = client.post("/v1/memory/ingest", content=b" " * 5_000_000, headers={"Content-Type": "application/json"})
        nowhere = client.post("/v1/memory/ingets", json={})
    with office.client("egr_nobody") as client:
        stranger = client.post("/v1/memory/ingest", json={})
    assert [answer.status_code for answer in (large, nowhere, stranger)] == [413, 404, 401]
    assert "content_hash" in error(large.json())["details"]["suggestions"]["hint"]
    assert error(nowhere.json())["code"] == "UNKNOWN_OPERATION"
    assert error(stranger.json())["code"] == "AUTH_INVALID"


def test_what_works_works_alike(way):
    first = way.call("memory.submit-payload", NOTE)
    assert set(first) >= {"payload_id", "payload_content_id", "payload_submission_id", "created", "message"}
    assert "error" not in first
    kept = way.call("memory.ingest", file(PNG, "image/png", interpret=False))
    assert set(kept) >= {"source_id", "content_hash", "file_size", "deduplicated", "interpretation"}


def test_a_model_without_an_answer_and_a_spent_quota_have_their_codes(office, tmp_path):
    """In one test, since the quota is spent only once."""
    ways: dict[str, Any] = {
        "rest": Rest(office, office.agent),
        "mcp": McpHttp(office, office.agent, Catalogue([memory_at(tmp_path)])),
    }
    source = ways["rest"].call("memory.ingest", file(INVOICE))["source_id"]
    by_model = {"source_id": source, "interpretation_config": {"provider": "model"}}
    for way in ways.values():
        answer = way.call("memory.reinterpret", by_model)
        assert answer is not None
        assert error(answer)["code"] == "ANALYSIS_FAILED"
        assert answer["reply"]["retryable"] is True
    again = {"source_id": source, "interpretation_config": {}}
    for _ in range(5):
        done = ways["rest"].call("memory.reinterpret", again)
        assert "error" not in done
    for way in ways.values():
        answer = way.call("memory.reinterpret", again)
        assert answer is not None
        assert error(answer)["code"] == "QUOTA_EXCEEDED"
        kept = way.call("memory.ingest", file(b"one more " + str(id(way)).encode()))
        assert kept is not None
        assert kept["interpretation"] is None
        assert [warning["code"] for warning in kept["warnings"]] == ["QUOTA_EXCEEDED"]
    with office.client(office.agent) as client:
        assert client.post("/v1/memory/reinterpret", json=again).status_code == 429
    for way in ways.values():
        way.close()


def test_the_log_says_nothing_of_what_is_remembered(office):
    with office.client(office.agent) as client:
        client.post("/v1/memory/ingest", json=file(SECRET.encode()))
        client.post("/v1/memory/submit-payload", json=NOTE)
    log = office.log.read_text()
    assert "memory.submit-payload" in log
    assert "Wilhelmina" not in log
    assert "wilhelmina" not in log
