"""Both searches find by meaning what no word leads to, in one's own and in nothing else, on each engine in turn."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engross.calls import Principal
from engross.domains.memory.ids import entity_id
from engross.searching import meaning
from engross.surfaces.client import Client, connect
from tests.bed.embedder import EmbeddingServer, embedding_server
from tests.bed.offices import Offices

ARCHITECTURE, MEMORY = "architecture.semantic-search", "memory.search-memory"
COMPLETE = "words+names+embeddings:senses-1"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture
def clara(offices: Offices, server: EmbeddingServer) -> Iterator[Client]:
    with opened(offices, server) as client:
        yield client


def opened(offices: Offices, server: EmbeddingServer, model: str = "senses-1", **settings: Any) -> Client:
    return connect(
        offices.folder,
        store=offices.store,
        domains="architecture,memory",
        principal=Principal("clara", "human", frozenset({"curator"})),
        embedder_url=server.url,
        embedder_model=model,
        **settings,
    )


def element(client: Client, name: str, **more: Any) -> str:
    made = client.architecture.create_element(**{"type": "Node", "name": name, "description": "x", **more})
    assert made.ok, made
    return str(made.data["element"]["id"])


def entity(client: Client, name: str, **more: Any) -> str:
    kept = client.memory.ingest_structured(entities=[{"entity_type": "thing", "name": name, **more}])
    assert kept.ok, kept
    return entity_id("thing", name)


def searched(client: Client, flow: str, query: str, **more: Any) -> dict[str, Any]:
    answer = client.call(flow, {"query": query, **more})
    assert answer.ok, answer
    return dict(answer.data)


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["results"]]


def test_what_no_word_leads_to_is_found_by_meaning(clara: Client) -> None:
    for make, flow in ((element, ARCHITECTURE), (entity, MEMORY)):
        meant = make(clara, "Automobile")
        make(clara, "Delivery desk")
        answer = searched(clara, flow, "vehicle")
        assert ids(answer) == [meant]
        assert answer["search_mode"] == COMPLETE
        assert "unembedded" not in answer
        assert ids(searched(clara, flow, "nothing of the kind")) == []


def test_texts_are_embedded_once_and_again_when_they_change(
    clara: Client, offices: Offices, server: EmbeddingServer
) -> None:
    for make, flow in ((element, ARCHITECTURE), (entity, MEMORY)):
        known = make(clara, "Automobile")
        searched(clara, flow, "vehicle")
        assert len(server.texts()) == 2
        assert ids(searched(clara, flow, "vehicle")) == [known]
        assert server.texts() == ["vehicle"]
    assert clara.architecture.update_element(id=ids(searched(clara, ARCHITECTURE, "vehicle"))[0], name="Boat").ok
    told = searched(clara, MEMORY, "vehicle")["results"][0]
    assert clara.memory.correct(entity_id=told["id"], field="remark", value="rather a boat", entity_type="thing").ok
    server.texts()
    assert ids(searched(clara, ARCHITECTURE, "vehicle")) == []
    assert len(server.texts()) == 2
    assert ids(searched(clara, MEMORY, "boat")) == [told["id"]]
    assert len(server.texts()) == 2
    with opened(offices, server, "senses-2") as other:
        assert searched(other, MEMORY, "vehicle")["search_mode"].endswith("embeddings:senses-2")
        assert len(server.texts()) == 2


def test_what_is_said_once_more_is_not_embedded_anew(clara: Client, server: EmbeddingServer) -> None:
    entity(clara, "Automobile")
    searched(clara, MEMORY, "vehicle")
    server.texts()
    entity(clara, "Automobile", color=7)
    assert searched(clara, MEMORY, "vehicle")["total"] == 1
    assert server.texts() == ["vehicle"]


def test_a_search_makes_some_vectors_and_says_how_many_are_missing(
    clara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "MOST_MADE", 2)
    for make, flow in ((element, ARCHITECTURE), (entity, MEMORY)):
        made = [make(clara, f"Automobile {number}") for number in ("one", "two", "three", "four", "five")]
        first = searched(clara, flow, "vehicle")
        assert sorted(ids(first)) == sorted(made[3:]), "the newest come first"
        assert first["unembedded"] == 3
        assert searched(clara, flow, "vehicle")["unembedded"] == 1
        last = searched(clara, flow, "vehicle")
        assert (sorted(ids(last)), last.get("unembedded")) == (sorted(made), None)


def test_of_very_many_the_newest_are_found_by_meaning(clara: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "MOST_LISTED", 2)
    monkeypatch.setattr(meaning, "COMPARED", 1)
    for make, flow in ((element, ARCHITECTURE), (entity, MEMORY)):
        made = [make(clara, name) for name in ("Automobile one", "Automobile two", "Delivery")]
        answer = searched(clara, flow, "vehicle")
        assert ids(answer) == [made[1]]
        assert answer["embedded_newest"] == 2


def test_only_the_wanted_types_are_found(clara: Client) -> None:
    element(clara, "Automobile")
    device = element(clara, "Automobile", type="Device")
    assert ids(searched(clara, ARCHITECTURE, "vehicle", type="Device")) == [device]
    entity(clara, "Automobile")
    assert ids(searched(clara, MEMORY, "vehicle", entity_type="person")) == []


def test_meaning_is_private_to_owner_model_and_tenant(clara: Client) -> None:
    element(clara, "Automobile")
    entity(clara, "Automobile")
    searched(clara, ARCHITECTURE, "vehicle")
    searched(clara, MEMORY, "vehicle")
    vera = clara.as_("vera", "human", ["curator"])
    assert ids(searched(vera, MEMORY, "vehicle")) == []
    assert len(ids(searched(vera, ARCHITECTURE, "vehicle"))) == 1
    other = clara.architecture.create_model(name="Other").data["model"]["id"]
    assert ids(searched(clara, ARCHITECTURE, "vehicle", model_id=other)) == []
    stranger = clara.as_("clara", "human", ["curator"], tenant="elsewhere")
    assert ids(searched(stranger, ARCHITECTURE, "vehicle")) == []
    assert ids(searched(stranger, MEMORY, "vehicle")) == []


def vectors(client: Client, domain: str) -> int:
    def count(table: str) -> int:
        return len(client.office.store.read("main", lambda reading: reading.rows(f"SELECT id FROM {table}", {})))

    assert count(f"{domain}_vectors") == count(f"{domain}_meanings")
    return count(f"{domain}_vectors")


def confirmed(client: Client, flow: str, arguments: dict[str, Any]) -> dict[str, Any]:
    asked = client.call(flow, arguments)
    if asked.message_key == "CONFIRMATION_REQUIRED":
        asked = client.call(flow, {**arguments, "confirm_token": asked.data["confirm_token"]})
    assert asked.ok, asked
    return dict(asked.data)


def test_what_was_withdrawn_deleted_or_erased_is_not_found_and_keeps_no_vector(clara: Client) -> None:
    kept = clara.memory.ingest_structured(entities=[{"entity_type": "thing", "name": "Automobile"}]).data
    searched(clara, MEMORY, "vehicle")
    assert vectors(clara, "memory") == 1
    confirmed(clara, "memory.retract-source", {"source_id": kept["source_id"]})
    assert ids(searched(clara, MEMORY, "vehicle")) == []
    assert vectors(clara, "memory") == 0
    gone, erased = element(clara, "Automobile"), element(clara, "Automobile", type="Device")
    assert len(ids(searched(clara, ARCHITECTURE, "vehicle"))) == 2
    confirmed(clara, "architecture.delete-element", {"id": gone})
    assert ids(searched(clara, ARCHITECTURE, "vehicle")) == [erased]
    confirmed(clara, "record.erase", {"aggregate": "architecture", "subject": erased})
    assert ids(searched(clara, ARCHITECTURE, "vehicle")) == []
    assert vectors(clara, "architecture") == 1
    assert clara.office.rebuild("main", keep=True).same
    assert ids(searched(clara, ARCHITECTURE, "vehicle")) == []
    assert ids(searched(clara, MEMORY, "vehicle")) == []


def test_who_speaks_for_a_merged_entity_is_found_by_what_it_means(clara: Client) -> None:
    automobile, other = entity(clara, "Automobile"), entity(clara, "Delivery")
    searched(clara, MEMORY, "vehicle")
    confirmed(clara, "memory.merge-entities", {"from_entity_id": automobile, "to_entity_id": other})
    assert ids(searched(clara, MEMORY, "vehicle")) == [other]


def test_an_earlier_position_and_a_draft_show_only_what_is_there(clara: Client, server: EmbeddingServer) -> None:
    first = clara.architecture.create_element(type="Node", name="Automobile", description="x")
    searched(clara, ARCHITECTURE, "vehicle")
    later = element(clara, "Automobile", type="Device")
    searched(clara, ARCHITECTURE, "vehicle")
    server.texts()
    then = searched(clara, ARCHITECTURE, "vehicle", as_of=first.data["position"])
    assert ids(then) == [first.data["element"]["id"]]
    assert server.texts() == ["vehicle"]
    proposal = draft(clara, "Automobile two")
    clara.architecture.delete_element(id=later, proposal_id=proposal)
    answer = searched(clara, ARCHITECTURE, "vehicle", proposal_id=proposal)
    assert ids(answer) == [first.data["element"]["id"]]
    assert answer["unembedded"] == 1


def draft(client: Client, name: str) -> str:
    drafted = client.architecture.create_element(type="Node", name=name, description="x", commit_mode="draft")
    return str(drafted.data["proposal"]["id"])


def test_no_write_waits_for_an_embedder_not_even_for_a_search_in_a_draft(
    clara: Client, server: EmbeddingServer
) -> None:
    known = element(clara, "Automobile")
    proposal = draft(clara, "Boat")
    server.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(searched, clara, ARCHITECTURE, "vehicle", proposal_id=proposal)
        try:
            element(clara, "Desk")
            assert not search.done()
        finally:
            server.gate.set()
        assert ids(search.result(60)) == [known]


def test_an_embedder_that_gives_up_halfway_leaves_what_was_made(
    clara: Client, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "MAKING_SECONDS", -1.0)
    monkeypatch.setattr(meaning, "MADE_AT_ONCE", 1)
    entity(clara, "Automobile")
    entity(clara, "Vehicle")
    assert searched(clara, MEMORY, "vehicle")["unembedded"] == 1
    server.say(b"no json")
    answer = searched(clara, MEMORY, "vehicle")
    assert answer["search_mode"] == "words+names, without senses-1, which is away"
    assert len(answer["results"]) == 1


def test_nothing_is_said_of_embeddings_while_there_are_no_vectors(
    clara: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "MOST_MADE", 0)
    entity(clara, "Automobile")
    answer = searched(clara, MEMORY, "automobile")
    assert (answer["search_mode"], answer["unembedded"]) == ("words+names", 1)
