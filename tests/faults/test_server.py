"""The PostgreSQL server goes away under a running office, and comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread

import psycopg
import pytest

from engross.store import STORE_ROOM, Transaction, intend, open_store, pending_effects
from engross.surfaces.client import Client
from tests.bed.postgres import PostgresServer
from tests.faults.audit import audit
from tests.faults.writer import answer_digest, open_office

pytestmark = pytest.mark.faults
CALLERS = 8


@pytest.fixture
def own_server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server that may be killed: nobody else uses it. Where there is one there can be two."""
    server = PostgresServer()
    yield server
    server.stop()


class Callers:
    """Threads that call until every key has its answer."""

    def __init__(self, client: Client, keys: list[str]) -> None:
        self._client = client
        self._waiting: SimpleQueue[str] = SimpleQueue()
        for key in keys:
            self._waiting.put(key)
        self.answered = Semaphore(0)
        self.digests: dict[str, str] = {}
        self.refusals: Counter[str] = Counter()
        self._threads = [Thread(target=self._call) for _ in range(CALLERS)]

    def start(self) -> None:
        """Begin to call."""
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until all is answered."""
        for thread in self._threads:
            thread.join()

    def _call(self) -> None:
        while True:
            try:
                key = self._waiting.get_nowait()
            except Empty:
                return
            answer = self._client.call("shelf.add-book", {"title": f"Book {key}", "client_request_id": key})
            if answer.ok:
                self.digests[key] = answer_digest(answer)
                self.answered.release()
            else:
                self.refusals[answer.message_key] += 1
                self._waiting.put(key)
                Event().wait(0.01)


def test_a_unit_that_shrugs_off_a_failed_statement_is_not_called_done(postgres_dsn: str) -> None:
    store = open_store(postgres_dsn, STORE_ROOM)

    def shrug(transaction: Transaction) -> None:
        intend(transaction, "errand", "one", {})
        with suppress(psycopg.Error):
            transaction.execute("DELETE FROM nowhere", {})

    with pytest.raises(psycopg.Error):
        store.write("acme", shrug)
    assert pending_effects(store, "acme", "errand") == {}
    store.close()


@pytest.mark.timeout(1800)
@pytest.mark.requirement("REL-01", "REL-04")
def test_an_office_outlives_a_server_that_is_killed(
    own_server: PostgresServer, tmp_path: Path, full_length: bool
) -> None:
    dsn = own_server.create_database()
    kills, between = (20, 200) if full_length else (2, 60)
    keys = [f"key-{number:05}" for number in range((kills + 1) * between)]
    with open_office(tmp_path / "office", dsn, tmp_path / "pages", unit_seconds=2.0) as client:
        callers = Callers(client, keys)
        callers.start()
        for _ in range(kills):
            for _ in range(between):
                callers.answered.acquire()
            own_server.kill()
            own_server.start()
        callers.join()
        assert callers.refusals.keys() <= {"STORE_UNAVAILABLE", "TIMEOUT", "REQUEST_IN_PROGRESS"}
        for key in keys:
            again = client.call("shelf.add-book", {"title": f"Book {key}", "client_request_id": key})
            assert answer_digest(again) == callers.digests[key]
    with open_office(tmp_path / "office", dsn, tmp_path / "pages", unit_seconds=600) as client:
        books = audit(client)
        assert books.keyed == Counter(keys)
        assert len(books.facts) == len(keys)
