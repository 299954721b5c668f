"""A small aggregate with everything a ledger has to do with, and a way to commit facts about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engross.calls import Context, Decision, Principal, derived_id, instant, instant_after, new_message_id
from engross.flows import Aggregate
from engross.ledger import (
    LEDGER_ROOM,
    Fact,
    FactBook,
    OfficeKey,
    Receipt,
    Seal,
    State,
    Unit,
    digest,
    receipt_for,
    seal_receipts,
    write_commit,
)
from engross.replies import Trace
from engross.store import STORE_ROOM, Params, Store, Transaction, open_store, room

CARDS = """
CREATE TABLE cards (
    tenant  $text NOT NULL,
    id      $text NOT NULL,
    version $integer NOT NULL,
    title   $text NOT NULL,
    colour  $text,
    cover   $bytes,
    PRIMARY KEY (tenant, id)
)$clustered;
"""
START = instant(datetime(2026, 11, 1, tzinfo=UTC))
CURATOR = Principal("ada", "human", frozenset({"curator"}))
ALLOWED = Decision("commit", 2, "policy-1")


def cards() -> Aggregate:
    """The aggregate; its facts are in their second version and know a colour."""
    aggregate = Aggregate("cards", "Cards", tables=("cards",), migrations=(("cards", CARDS),))

    @aggregate.applies("Written", version=2)
    def write(state: State, fact: Fact) -> None:
        assert fact.payload is not None
        state.execute(
            "INSERT INTO cards (tenant, id, version, title, colour, cover)"
            " VALUES (:tenant, :id, :version, :title, :colour, :cover)"
            " ON CONFLICT (tenant, id) DO UPDATE SET version = excluded.version, title = excluded.title,"
            " colour = excluded.colour, cover = excluded.cover",
            id=fact.subject,
            version=fact.version,
            title=fact.payload["title"],
            colour=fact.payload["colour"],
            cover=fact.payload["title"].encode(),
        )

    @aggregate.applies("Removed")
    def remove(state: State, fact: Fact) -> None:
        state.execute("DELETE FROM cards WHERE tenant = :tenant AND id = :id", id=fact.subject)

    @aggregate.upcasts("Written", from_version=1)
    def give_colour(payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**payload, "colour": "white"}

    @aggregate.erases
    def forget(state: State, fact: Fact) -> None:
        state.execute("DELETE FROM cards WHERE tenant = :tenant AND id = :id", id=fact.subject)

    return aggregate


ROOMS = (*STORE_ROOM, *LEDGER_ROOM, *room("cards", cards().migrations))


class Desk:
    """Commits facts about cards to a store, as an office would, on a clock of its own."""

    def __init__(self, location: str | Path, key: OfficeKey | None = None, **options: Any) -> None:
        self.store = open_store(location, ROOMS, **options)
        self.book = FactBook([cards()])
        self.key = key or OfficeKey(bytes(32))
        self._entered: set[str] = set()
        self._ticks = 0

    def context(self, tenant: str = "acme", **options: Any) -> Context:
        """The next call's context."""
        self._ticks += 1
        given: dict[str, Any] = {
            "tenant": tenant,
            "principal": CURATOR,
            "flow": "cards.write-card",
            "message_id": new_message_id(),
            "occurred_at": instant_after(START, seconds=self._ticks),
            "trace": Trace.new(),
            "correlation_id": derived_id(new_message_id(), 0),
        }
        return Context(**{**given, **options})

    def commit(
        self,
        work: Callable[[Unit], object],
        tenant: str = "acme",
        *,
        context: Context | None = None,
        key: Params | None = None,
    ) -> Receipt:
        """Do the work in one unit, with its receipt."""
        context = context or self.context(tenant)

        def unit_of_work(transaction: Transaction) -> Receipt:
            unit = Unit(transaction, context, self.book)
            work(unit)
            receipt = receipt_for(
                context,
                position=transaction.position,
                flow_version="1.0.0",
                arguments_digest=digest({}),
                facts=(unit.stated, unit.facts_digest()),
                decision=ALLOWED,
            )
            write_commit(unit, receipt, key, self._entered)
            return receipt

        return self.store.write(tenant, unit_of_work)

    def write_card(
        self, card: str, follows: int, title: str, tenant: str = "acme", colour: str | None = "red"
    ) -> Receipt:
        """One fact about one card."""
        payload = {"title": title, "colour": colour}
        return self.commit(
            lambda unit: unit.append("Written", card, follows, payload, fields=("title", "colour")), tenant
        )

    def seal(self, tenant: str = "acme") -> Seal | None:
        """Seal what is settled."""
        now = self.context(tenant).occurred_at
        return self.store.write(tenant, lambda transaction: seal_receipts(transaction, self.key, now))

    def rows(self, sql: str, tenant: str = "acme", **params: Any) -> list[dict[str, Any]]:
        """What a query finds."""
        return self.store.read(tenant, lambda reading: reading.rows(sql, params))

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def busy(desk: Desk, tenants: tuple[str, ...] = ("acme", "blue")) -> None:
    """A little history: several cards, several facts to a commit, one erased subject, a few seals."""
    from engross.ledger import erase_subject

    for tenant in tenants:
        for number in range(4):
            desk.write_card(f"card-{number}", 0, f"first {number}", tenant)
        desk.seal(tenant)
        desk.commit(
            lambda unit: [
                unit.append("Written", f"card-{number}", 1, {"title": "again", "colour": None}) for number in range(3)
            ],
            tenant,
        )
        desk.commit(lambda unit: unit.append("Removed", "card-1", 2, {}, ends=True), tenant)
        desk.commit(lambda unit: None, tenant)
        desk.seal(tenant)
        desk.commit(lambda unit: erase_subject(unit, "cards", "card-0", 2), tenant)
        for number in range(5, 9):
            desk.write_card(f"card-{number}", 0, f"später {number}", tenant)
        desk.seal(tenant)


def store_of(desk: Desk) -> Store:
    """The desk's store, as the port knows it."""
    return desk.store
