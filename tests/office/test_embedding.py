"""An embedder that the operator names takes part in searches; one that is away is left out, and the answer says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engross.office import Settings
from engross.office.embedding import MOST_TEXTS, HttpEmbedder
from engross.replies import Failed, codes
from engross.surfaces.client import Client, connect

SEARCHES = ("architecture.semantic-search", "memory.search-memory")
SENSES = (("money", "invoice", "billing"), ("parcel", "shipping", "delivery"))


class Embeddings(BaseHTTPRequestHandler):
    """A vector says how often words of each sense occur."""

    asked: list[dict[str, Any]]
    answer: bytes | None = None

    def do_POST(self) -> None:
        wish = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({**wish, "path": self.path, "authorization": self.headers["Authorization"]})
        rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(wish["input"])]
        body = self.answer or json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def vector(text: str) -> list[float]:
    return [float(sum(text.lower().count(word) for word in sense)) for sense in SENSES]


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    handler = type("Handler", (Embeddings,), {"asked": [], "answer": None})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    running.handler = handler  # type: ignore[attr-defined]
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1/"


def filled(folder: Path, url: str) -> Client:
    client = connect(folder, domains="architecture,memory", embedder_url=url, embedder_model="senses-1")
    for name in ("Billing", "Shipping"):
        made = client.architecture.create_element(type="ApplicationService", name=f"Order {name}", description="x")
        assert made.ok, made
        entity = {"entity_type": "company", "name": f"Order {name} Ltd"}
        kept = client.memory.ingest_structured(entities=[entity])
        assert kept.ok, kept
    return client


def test_vectors_come_back_in_the_order_of_the_texts_however_many_there_are(server: ThreadingHTTPServer) -> None:
    embedder = HttpEmbedder(address(server), "senses-1", "secret")
    texts = [("money " * number).strip() or "-" for number in range(MOST_TEXTS + 3)]
    assert embedder(texts) == [[float(number), 0.0] for number in range(MOST_TEXTS + 3)]
    asked = server.handler.asked  # type: ignore[attr-defined]
    assert [len(one["input"]) for one in asked] == [MOST_TEXTS, 3]
    assert {(one["path"], one["model"], one["authorization"]) for one in asked} == {
        ("/v1/embeddings", "senses-1", "Bearer secret")
    }


@pytest.mark.parametrize("body", [b"no json", b"{}", b'{"data": []}', b'{"data": [{"index": 0, "embedding": ["x"]}]}'])
def test_an_answer_without_vectors_is_none(server: ThreadingHTTPServer, body: bytes) -> None:
    server.handler.answer = body  # type: ignore[attr-defined]
    assert HttpEmbedder(address(server), "senses-1")(["money"]) is None


def test_meaning_takes_part_in_searches_and_the_answer_says_so(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    with filled(tmp_path, address(server)) as client:
        for flow in SEARCHES:
            answer = client.call(flow, {"query": "order parcel"})
            assert answer.ok, answer
            assert answer.data["search_mode"] == "words+names+embeddings:senses-1"
            assert "Shipping" in json.dumps(answer.data["results"][0])


def test_a_search_goes_on_without_an_embedder_that_is_away(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    with filled(tmp_path, "http://127.0.0.1:9/v1") as client:
        for flow in SEARCHES:
            answer = client.call(flow, {"query": "order shipping"})
            assert answer.ok, answer
            assert answer.data["search_mode"] == "words+names, without senses-1, which is away"
            assert "Shipping" in json.dumps(answer.data["results"][0])


def test_an_embedder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        HttpEmbedder.of(Settings(data=tmp_path, embedder_url="http://localhost/v1"))
    assert refused.value.code == codes.CONFIG_INVALID
