"""A table of notes, and short ways to write and read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engross.store import STORE_ROOM, Reading, Store, Transaction, room

NOTES = """
CREATE TABLE notes (
    tenant $text NOT NULL,
    id     $text NOT NULL,
    body   $text,
    number $integer,
    bytes  $bytes,
    PRIMARY KEY (tenant, id)
)$clustered;
"""
ROOMS = (*STORE_ROOM, *room("notes", [("notes", NOTES)]))
INSERT = "INSERT INTO notes (tenant, id, body, number) VALUES (:tenant, :id, :body, :number)"
# Without a condition on the tenant: on PostgreSQL, row-level security has to stand in for it.
ALL = "SELECT tenant, id FROM notes ORDER BY tenant, id"
ENDLESS = (
    "WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted) SELECT count(*) AS n FROM counted"
)


def note(identifier: str, body: str = "", number: int = 0) -> Callable[[Transaction], int]:
    """The work that writes one note, and answers with its position in the ledger."""

    def work(transaction: Transaction) -> int:
        write_note(transaction, identifier, body, number)
        return transaction.position

    return work


def write_note(transaction: Transaction, identifier: str, body: str = "", number: int = 0) -> None:
    """Write one note."""
    transaction.execute(INSERT, {"id": identifier, "body": body, "number": number})


def notes(store: Store, tenant: str = "acme") -> list[str]:
    """The ids of a tenant's notes."""
    return [row["id"] for row in rows(store, "SELECT id FROM notes WHERE tenant = :tenant ORDER BY id", tenant)]


def rows(store: Store, sql: str, tenant: str = "acme", **params: Any) -> list[dict[str, Any]]:
    """What a query finds."""

    def look(reading: Reading) -> list[dict[str, Any]]:
        return reading.rows(sql, params)

    return store.read(tenant, look)


def watermark(store: Store, tenant: str = "acme") -> int:
    """How far the ledger is settled."""
    return store.read(tenant, lambda reading: reading.watermark())
