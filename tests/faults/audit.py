"""What must hold in an office's store after every fault, whatever it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from engross.ledger.verify import verify
from engross.store import Reading
from engross.surfaces.client import Client


@dataclass(frozen=True, slots=True)
class Books:
    """A tenant's whole ledger, read out."""

    facts: list[dict[str, Any]]
    receipts: list[dict[str, Any]]
    seals: list[dict[str, Any]]
    effects: list[dict[str, Any]]
    keys: list[dict[str, Any]]

    @property
    def keyed(self) -> Counter[str]:
        """How many commits each client request id stands for."""
        return Counter(receipt["client_request_id"] for receipt in self.receipts if "client_request_id" in receipt)

    @property
    def stated(self) -> dict[str, list[str]]:
        """The types of the facts that were committed under each client request id."""
        keys = {receipt["position"]: receipt.get("client_request_id", "") for receipt in self.receipts}
        found: dict[str, list[str]] = {key: [] for key in keys.values()}
        for fact in self.facts:
            found[keys[fact["position"]]].append(fact["type"])
        return found


def read_books(client: Client) -> Books:
    """Everything in the ledger of the client's tenant, in one look."""

    def look(reading: Reading) -> Books:
        def table(name: str, order: str) -> list[dict[str, Any]]:
            return reading.rows(f"SELECT * FROM {name} WHERE tenant = :tenant ORDER BY {order}", {})

        receipts = [orjson.loads(row["body"]) for row in table("receipts", "position")]
        return Books(
            table("facts", "position, ordinal"),
            receipts,
            table("seals", "number"),
            table("effects", "id"),
            table("keys", "operation, key"),
        )

    return client.office.store.read(client.tenant, look, timeout=600)


def audit(client: Client, pages: Path | None = None) -> Books:
    """Check everything that does not depend on what was written; the answer is the ledger."""
    books = read_books(client)
    doubled = {key: count for key, count in books.keyed.items() if count != 1}
    assert doubled == {}, f"committed more than once: {doubled}"
    assert [*_alike(books)] == []
    positions = {row["position"] for row in books.keys if row["position"] is not None}
    assert positions <= {receipt["position"] for receipt in books.receipts}
    report = verify(client.office.settings.location, public_key=client.office.public_key)
    assert report.ok, report.findings
    rebuilt = client.office.rebuild(client.tenant)
    assert rebuilt.same
    assert rebuilt.facts == len(books.facts)
    if client.office.store.engine == "sqlite":
        _no_gaps(client, books)
    if pages is not None:
        _pages_as_printed(books, pages)
    return books


def _alike(books: Books) -> Iterator[str]:
    """Receipts and facts that do not belong to each other."""
    counted = Counter(fact["position"] for fact in books.facts)
    for receipt in books.receipts:
        if counted.pop(receipt["position"], 0) != receipt["facts"]:
            yield f"the receipt at {receipt['position']} counts other facts than there are"
    for position in counted:
        yield f"the facts at {position} have no receipt"


def _no_gaps(client: Client, books: Books) -> None:
    """On SQLite every unit that wrote takes the next position: commits, seals, and files marked as published."""
    head = client.office.store.read(client.tenant, lambda reading: reading.watermark())
    if not books.effects:
        assert head == len(books.receipts) + len(books.seals)
    assert head >= max((receipt["position"] for receipt in books.receipts), default=0)


def _pages_as_printed(books: Books, pages: Path) -> None:
    """Every page shows what was printed last, nothing is left to do, and nothing lies about."""
    last = {
        fact["subject"]: orjson.loads(fact["payload"])["digest"]
        for fact in books.facts
        if fact["type"] == "PagePrinted"
    }
    shown = {path.name: sha256(path.read_bytes()).hexdigest() for path in pages.iterdir()} if pages.exists() else {}
    assert shown == last
    assert {row["state"] for row in books.effects} <= {"done"}
