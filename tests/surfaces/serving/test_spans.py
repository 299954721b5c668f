"""OpenTelemetry, sent to a receiver that speaks OTLP over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bed.receiver import Receiver
from tests.bed.served import NotServed
from tests.surfaces.conftest import Serving

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SECRET = "hunter2-is-a-secret"


@pytest.mark.parametrize("by", ["setting", "variable"])
def test_every_call_is_a_span_with_the_ids_of_its_reply(serving: Serving, receiver: Receiver, by: str) -> None:
    told = {"otlp": receiver.url} if by == "setting" else {"environment": {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}}
    served = serving(**told)
    own = served.call("shelf.add-book", {"title": SECRET}).json()["reply"]
    with served.client(served.owner) as client:
        header = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        theirs = client.post("/v1/rig/crash", json={"words": SECRET}, headers=header).json()["reply"]
        unsampled = {"traceparent": f"00-{TRACE}-{PARENT}-00"}
        assert client.get("/v1/shelf/list-books", headers=unsampled).status_code == 200
    assert served.stop() == 0
    first, second = receiver.spans()
    assert (first["trace_id"], first["span_id"], first["parent"]) == (own["trace_id"], own["span_id"], "")
    assert (second["trace_id"], second["span_id"], second["parent"]) == (TRACE, theirs["span_id"], PARENT)
    assert [span["name"] for span in (first, second)] == ["shelf.add-book", "rig.crash"]
    assert [span["engross.reply.code"] for span in (first, second)] == [own["code"], theirs["code"]]
    assert [span["failed"] for span in (first, second)] == [False, True]
    assert first["nanoseconds"] > 0
    assert SECRET.encode() not in receiver.bytes
    assert receiver.service()["service.name"] == "engross"
    assert receiver.paths == {"/v1/traces"}
    lines = {line["span_id"]: line["trace_id"] for line in served.lines() if "span_id" in line}
    assert lines.items() >= {(span["span_id"], span["trace_id"]) for span in (first, second)}


def test_a_receiver_that_is_not_there_hinders_nobody(serving: Serving) -> None:
    served = serving(otlp="http://127.0.0.1:9", environment={"OTEL_EXPORTER_OTLP_TIMEOUT": "1"})
    assert served.call("shelf.add-book", {"title": "Unseen"}).status_code == 201
    assert served.stop() == 0


def test_without_the_libraries_the_server_does_not_start_and_says_why(serving: Serving, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "opentelemetry" / "sdk"
    missing.mkdir(parents=True)
    (missing / "__init__.py").write_text("raise ImportError('not here')")
    # The API comes with MCP; only what the extra brings is gone.
    (missing.parent / "__init__.py").write_text("__path__ = __import__('pkgutil').extend_path(__path__, __name__)")
    from tests.bed.served import PATHS

    with pytest.raises(NotServed, match="MCP-CFG-E-001"):
        serving(otlp="http://127.0.0.1:9", environment={"PYTHONPATH": f"{missing.parents[1]}:{PATHS}"})
