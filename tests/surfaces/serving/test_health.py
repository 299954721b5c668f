"""Alive and ready: for whoever starts, stops and routes to servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.bed.postgres import PostgresServer
from tests.bed.served import Served, wait_for
from tests.surfaces.conftest import Serving
from tests.surfaces.serving.wires import Wire, authorized, head


@pytest.fixture
def own_server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A PostgreSQL server that may be killed: nobody else uses it."""
    server = PostgresServer()
    yield server
    server.stop()


def test_an_office_that_works_is_live_and_ready(served: Served) -> None:
    with served.client() as client:
        live, ready = client.get("/health/live"), client.get("/health/ready")
    assert (live.status_code, live.json()["live"]) == (200, True)
    engine = "postgres" if served.store else "sqlite"
    found = {name: ready.json()[name] for name in ("ready", "closing", "engine", "store")}
    assert found == {"ready": True, "closing": False, "engine": engine, "store": "reachable"}


def test_the_address_above_is_not_there_and_asks_nobody_for_a_credential(served: Served) -> None:
    with served.client() as client:
        assert [client.get(path).status_code for path in ("/health", "/health/", "/health/dead")] == [404] * 3


def test_health_tells_no_secrets(served: Served) -> None:
    with served.client() as client:
        told = client.get("/health/live").text + client.get("/health/ready").text
    for secret in (str(served.folder), served.store, served.owner, served.agent):
        assert secret is None or secret not in told


def test_an_office_that_loses_its_store_is_live_but_not_ready_until_the_store_is_back(
    own_server: PostgresServer, serving: Serving, tmp_path: Path
) -> None:
    served = serving(store=own_server.create_database(), unit_seconds=1.0)
    assert served.call("shelf.add-book", {"title": "Before"}).status_code == 201
    with served.client() as client:
        assert client.get("/health/ready").status_code == 200
        own_server.kill()
        wait_for(lambda: client.get("/health/ready").status_code == 503)
        lost = client.get("/health/ready").json()
        assert (lost["ready"], lost["store"]) == (False, "unreachable")
        assert lost["reply"]["message_key"] in ("STORE_UNAVAILABLE", "TIMEOUT")
        assert client.get("/health/live").status_code == 200
        assert client.get("/metrics").status_code == 200
        refused = served.call("shelf.add-book", {"title": "Meanwhile"})
        assert refused.json()["reply"]["message_key"] in ("STORE_UNAVAILABLE", "TIMEOUT")
        own_server.start()
        wait_for(lambda: client.get("/health/ready").status_code == 200)
    wait_for(lambda: served.call("shelf.add-book", {"title": "After"}).status_code in (201, 409))
    titles = {book["title"] for book in served.call("shelf.list-books").json()["books"]}
    assert titles == {"Before", "After"}


def test_an_office_that_closes_is_no_longer_ready(serving: Serving, tmp_path: Path) -> None:
    """Nobody new gets in; who waits behind a call that still runs learns of it."""
    served = serving()
    begun, until = tmp_path / "begun", tmp_path / "until"
    body = orjson.dumps({"begun": str(begun), "until": str(until)})
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}", authorized(served)]
    with Wire(served) as wire:
        wire.say(head(served, "POST /v1/rig/hold", *lines), body, head(served, "GET /health/ready"))
        wait_for(begun.exists)
        served.ask_to_end()
        wait_for(lambda: "closing" in served.last_words())
        until.touch()
        assert wire.hear("POST").told["held"]
        heard = wire.hear()
        assert (heard.status, heard.key, heard.told["closing"]) == (503, "OFFICE_BUSY", True)
        assert wire.is_over()
    assert served.stop() == 0
