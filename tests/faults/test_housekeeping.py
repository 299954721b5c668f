"""Housekeeping goes on, whatever happened to the store meanwhile."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import orjson
import psycopg
import pytest

from engross.flows import Aggregate, NoArguments
from engross.ledger import Seal, Unit, seal_receipts
from engross.office.housekeeping import Housekeeping
from engross.store import Transaction
from engross.store.failures import unavailable
from engross.store.sqlite import SqliteStore
from engross.surfaces.client import Client
from tests.bed.offices import Offices, shelf
from tests.bed.patience import eventually
from tests.faults.audit import audit, read_books
from tests.faults.crash import copy_as_it_lies
from tests.faults.writer import open_office

pytestmark = pytest.mark.faults


def is_sealed(client: Client) -> bool:
    """Whether the chain of seals reaches the last receipt."""
    books = read_books(client)
    upto = [orjson.loads(seal["body"])["upto"] for seal in books.seals]
    return upto[-1:] == [receipt["position"] for receipt in books.receipts[-1:]]


@pytest.mark.requirement("REL-04")
def test_what_an_earlier_process_left_unsealed_is_sealed_though_the_store_is_away_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_office(tmp_path / "office", None, tmp_path / "pages", seal_seconds=3600.0) as client:
        assert client.call("shelf.add-book", {"title": "Dune"}).ok
        copy_as_it_lies(tmp_path / "office", tmp_path / "after")
    failures = iter(range(5))
    tenants = SqliteStore.tenants

    def away_at_first(store: SqliteStore, *asked: str) -> list[str]:
        if next(failures, None) is not None:
            raise unavailable()
        return tenants(store, *asked)

    monkeypatch.setattr(SqliteStore, "tenants", away_at_first)
    with open_office(tmp_path / "after", None, tmp_path / "pages", seal_seconds=0.01) as client:
        eventually(lambda: is_sealed(client))
        audit(client)


def test_a_receipt_that_a_slow_transaction_kept_back_is_sealed_after_it(
    postgres_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Semaphore(0)

    def look(*args: Any) -> Seal | None:
        seal = seal_receipts(*args)
        looks.release()
        return seal

    monkeypatch.setattr("engross.office.housekeeping.seal_receipts", look)
    with (
        open_office(tmp_path / "office", postgres_dsn, tmp_path / "pages", seal_seconds=0.01) as client,
        psycopg.connect(postgres_dsn) as slow,
    ):
        slow.execute("SELECT pg_current_xact_id()")
        assert client.call("shelf.add-book", {"title": "Dune"}).ok
        for _ in range(3):
            looks.acquire()
        assert not is_sealed(client)
        slow.commit()
        eventually(lambda: is_sealed(client))
        audit(client)


def test_a_tenant_whose_first_call_changed_nothing_is_sealed_all_the_same(offices: Offices) -> None:
    quiet = Aggregate("quiet", "Something quiet")

    @quiet.record(effect="update", arguments=NoArguments)
    def change_nothing(unit: Unit, arguments: NoArguments) -> dict[str, Any]:
        """Change nothing."""
        return {}

    newcomer = offices.open(shelf(), quiet).as_("nina", roles=["curator"], tenant="newcomer")
    assert newcomer.call("quiet.change-nothing").message_key == "NO_EFFECT"
    assert newcomer.call("shelf.add-book", {"title": "Dune"}).ok
    assert newcomer.office.store.tenants() == ["newcomer"]
    newcomer.office.seal()
    assert is_sealed(newcomer)


def test_an_office_that_closes_does_not_look_after_all_tenants_first(
    offices: Offices, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = offices.open()
    for number in range(5):
        assert client.as_("nina", roles=["curator"], tenant=f"tenant-{number}").shelf.add_book(title="Dune").ok
    offices.close()
    begun, looked_after = Event(), list[str]()

    def look(transaction: Transaction, *rest: Any) -> Seal | None:
        looked_after.append(transaction.tenant)
        begun.set()
        # The first one takes until the office is asked to close.
        eventually(stopping.is_set)
        return seal_receipts(transaction, *rest)

    monkeypatch.setattr("engross.office.housekeeping.seal_receipts", look)
    stopping = Event()
    stop = Housekeeping.stop

    def stop_and_tell(housekeeping: Housekeeping) -> None:
        housekeeping._stop.set()
        stopping.set()
        stop(housekeeping)

    monkeypatch.setattr(Housekeeping, "stop", stop_and_tell)
    offices.open()
    assert begun.wait(20)
    offices.close()
    assert set(looked_after) == {"tenant-0"}
