"""Very many facts in one unit: written down on the way, and just as any others afterwards."""

from __future__ import annotations

from importlib import import_module

import pytest

from engross.ledger import Unit, rebuild_state, state_digest
from engross.ledger.facts import COLUMNS, fact_of, facts_digest
from tests.ledger.cards import Desk


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("engross.ledger.bulk"), "BATCH", 3)


def card(title: str) -> dict[str, str]:
    return {"title": title, "colour": "red"}


def pack(unit: Unit) -> None:
    """A fact that is held, many that are not, and one more."""
    unit.append("Written", "first", 0, card("first"), fields=("title", "colour"))
    assert unit.append_all("Written", ((f"card-{n}", card(f"bulk {n}")) for n in range(10))) == 10
    unit.append("Written", "last", 0, card("last"))
    assert unit.stated == 12


def test_they_lie_in_the_ledger_in_the_order_in_which_they_were_stated(desk: Desk) -> None:
    receipt = desk.commit(pack)
    rows = desk.rows(f"SELECT {COLUMNS} FROM facts WHERE tenant = :tenant ORDER BY ordinal")
    facts = [fact_of(row) for row in rows]
    assert [fact.ordinal for fact in facts] == list(range(12))
    assert [fact.subject for fact in facts] == ["first", *(f"card-{n}" for n in range(10)), "last"]
    assert [fact.id.rpartition(".")[2] for fact in facts] == [str(n) for n in range(12)]
    assert (receipt.body["facts"], receipt.body["facts_digest"]) == (12, facts_digest(facts))
    assert len(desk.rows("SELECT id FROM cards WHERE tenant = :tenant")) == 12


def test_a_rebuild_gives_the_same_bytes(desk: Desk) -> None:
    desk.commit(pack)
    before = desk.store.write("acme", lambda transaction: state_digest(transaction, desk.book))
    context = desk.context()
    assert desk.store.write("acme", lambda transaction: rebuild_state(transaction, context, desk.book)) == 12
    assert desk.store.write("acme", lambda transaction: state_digest(transaction, desk.book)) == before


def test_a_unit_that_is_rewound_has_stated_nothing(desk: Desk) -> None:
    def twice(unit: Unit) -> None:
        pack(unit)
        unit.rewind()
        assert unit.stated == 0
        unit.append("Written", "only", 0, card("only"))

    receipt = desk.commit(twice)
    assert receipt.body["facts"] == 1
    assert [row["id"] for row in desk.rows("SELECT id FROM cards WHERE tenant = :tenant")] == ["only"]


def test_only_the_first_of_them_are_kept_to_be_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("engross.ledger.bulk"), "SHOWN", 4)

    def work(unit: Unit) -> None:
        pack(unit)
        assert [draft.subject for draft in unit.bulk.first] == [f"card-{n}" for n in range(4)]

    desk.commit(work)
