"""An embedder that the operator names takes part in searches; one that is away is left out, and the answer says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engross.office import Settings
from engross.office.embedding import MOST_TEXTS, HttpEmbedder
from engross.replies import Failed, codes
from engross.surfaces.client import Client, connect
from tests.bed.embedder import SENSES, EmbeddingServer, embedding_server

SEARCHES = ("architecture.semantic-search", "memory.search-memory")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


def filled(folder: Path, url: str) -> Client:
    client = connect(folder, domains="architecture,memory", embedder_url=url, embedder_model="senses-1")
    for name in ("Billing", "Shipping"):
        made = client.architecture.create_element(type="ApplicationService", name=f"Order {name}", description="x")
        assert made.ok, made
        entity = {"entity_type": "company", "name": f"Order {name} Ltd"}
        kept = client.memory.ingest_structured(entities=[entity])
        assert kept.ok, kept
    return client


def test_vectors_come_back_in_the_order_of_the_texts_however_many_there_are(server: EmbeddingServer) -> None:
    embedder = HttpEmbedder(server.url, "senses-1", "secret")
    texts = [("money " * number).strip() or "-" for number in range(MOST_TEXTS + 3)]
    others = [0.0] * (len(SENSES) - 1)
    assert embedder(texts) == [[float(number), *others] for number in range(MOST_TEXTS + 3)]
    assert [len(one["input"]) for one in server.asked] == [MOST_TEXTS, 3]
    assert {(one["path"], one["model"], one["authorization"]) for one in server.asked} == {
        ("/v1/embeddings", "senses-1", "Bearer secret")
    }


@pytest.mark.parametrize("body", [b"no json", b"{}", b'{"data": []}', b'{"data": [{"index": 0, "embedding": ["x"]}]}'])
def test_an_answer_without_vectors_is_none(server: EmbeddingServer, body: bytes) -> None:
    server.say(body)
    assert HttpEmbedder(server.url, "senses-1")(["money"]) is None


def test_meaning_takes_part_in_searches_and_the_answer_says_so(server: EmbeddingServer, tmp_path: Path) -> None:
    with filled(tmp_path, server.url) as client:
        for flow in SEARCHES:
            answer = client.call(flow, {"query": "order parcel"})
            assert answer.ok, answer
            assert answer.data["search_mode"] == "words+names+embeddings:senses-1"
            assert "Shipping" in json.dumps(answer.data["results"][0])


def test_a_search_goes_on_without_an_embedder_that_is_away(server: EmbeddingServer, tmp_path: Path) -> None:
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
