"""State is what the facts say: built again from them it has the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engross.flows import Aggregate
from engross.ledger import (
    ERASED,
    Fact,
    FactBook,
    Unit,
    erase_subject,
    last_version,
    rebuild_state,
    state_digest,
)
from tests.ledger.cards import Desk, busy, cards


def digest_of(desk: Desk, tenant: str = "acme") -> str:
    return desk.store.write(tenant, lambda transaction: state_digest(transaction, desk.book))


def rebuild(desk: Desk, tenant: str = "acme") -> int:
    context = desk.context(tenant)
    return desk.store.write(tenant, lambda transaction: rebuild_state(transaction, context, desk.book))


@pytest.mark.requirement("NEW-08")
def test_a_rebuild_gives_the_same_bytes(desk: Desk) -> None:
    busy(desk)
    before = {tenant: digest_of(desk, tenant) for tenant in ("acme", "blue")}
    facts = desk.rows("SELECT count(*) AS n FROM facts WHERE tenant = :tenant")[0]["n"]
    assert rebuild(desk) == facts
    assert {tenant: digest_of(desk, tenant) for tenant in ("acme", "blue")} == before


@pytest.mark.requirement("NEW-08")
def test_a_rebuild_mends_state_that_somebody_changed(desk: Desk) -> None:
    busy(desk)
    before = digest_of(desk)
    desk.store.write(
        "acme",
        lambda transaction: transaction.execute("UPDATE cards SET title = 'other' WHERE tenant = :tenant", {}),
    )
    assert digest_of(desk) != before
    rebuild(desk)
    assert digest_of(desk) == before


def test_a_rebuild_of_one_tenant_leaves_the_others_alone(desk: Desk) -> None:
    busy(desk)
    desk.store.write("blue", lambda transaction: transaction.execute("DELETE FROM cards WHERE tenant = :tenant", {}))
    empty = digest_of(desk, "blue")
    rebuild(desk, "acme")
    assert digest_of(desk, "blue") == empty


def test_a_rebuild_takes_more_facts_than_a_page(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engross.ledger.rebuild.PAGE", 3)
    busy(desk)
    before = digest_of(desk)
    assert rebuild(desk) == 13
    assert digest_of(desk) == before


@pytest.mark.parametrize("change", ["title = 'x'", "version = version + 1", "colour = NULL", "cover = NULL"])
def test_the_digest_of_the_state_sees_every_column(desk: Desk, change: str) -> None:
    desk.write_card("one", 0, "t")
    before = digest_of(desk)
    desk.store.write(
        "acme",
        lambda transaction: transaction.execute(f"UPDATE cards SET {change} WHERE tenant = :tenant", {}),
    )
    assert digest_of(desk) != before


def old_cards() -> Aggregate:
    """The aggregate as it was when facts had no colour."""
    aggregate = Aggregate("cards", "Cards", tables=("cards",))

    @aggregate.applies("Written", version=1)
    def write(state, fact: Fact) -> None:
        assert fact.payload is not None
        state.execute(
            "INSERT INTO cards (tenant, id, version, title, cover) VALUES (:tenant, :id, :version, :title, :cover)",
            id=fact.subject,
            version=fact.version,
            title=fact.payload["title"],
            cover=b"",
        )

    return aggregate


@pytest.mark.requirement("GOV-03")
def test_old_facts_are_read_as_the_present_program_would_have_written_them(desk: Desk) -> None:
    desk.book = FactBook([old_cards()])
    desk.commit(lambda unit: unit.append("Written", "old", 0, {"title": "from before"}))
    desk.book = FactBook([cards()])
    desk.write_card("new", 0, "from now")
    versions = desk.rows("SELECT subject, schema_version FROM facts WHERE tenant = :tenant ORDER BY position")
    assert [row["schema_version"] for row in versions] == [1, 2]
    rebuild(desk)
    assert desk.rows("SELECT id, title, colour FROM cards WHERE tenant = :tenant ORDER BY id") == [
        {"id": "new", "title": "from now", "colour": "red"},
        {"id": "old", "title": "from before", "colour": "white"},
    ]


def test_upcasters_follow_each_other() -> None:
    aggregate = Aggregate("cards", "Cards")

    @aggregate.applies("Written", version=3)
    def write(state, fact: Fact) -> None: ...

    @aggregate.upcasts("Written", from_version=1)
    def second(payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**payload, "steps": [2]}

    @aggregate.upcasts("Written", from_version=2)
    def third(payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**payload, "steps": [*payload["steps"], 3]}

    book = FactBook([aggregate])
    fact = Fact("acme", 1, 0, "id", "cards", "Written", 1, "one", 1, "", {"title": "t"})
    upcast = book.upcast(fact)
    assert (upcast.schema_version, upcast.payload) == (3, {"title": "t", "steps": [2, 3]})
    erased = Fact("acme", 1, 0, "id", "cards", "Written", 1, "one", 1, "", None)
    assert book.upcast(erased) is erased


@pytest.mark.requirement("GOV-03")
def test_an_erased_subject_leaves_no_payload_no_salt_and_no_state(desk: Desk) -> None:
    desk.write_card("one", 0, "personal")
    desk.write_card("one", 1, "still personal")
    desk.write_card("two", 0, "other")
    gone = []
    desk.commit(lambda unit: gone.append(erase_subject(unit, "cards", "one", last_version(unit, "cards", "one"))))
    assert gone == [2]
    facts = desk.rows("SELECT type, subject, salt, payload FROM facts WHERE tenant = :tenant ORDER BY position")
    about = [(row["type"], row["salt"] is None, row["payload"]) for row in facts if row["subject"] == "one"]
    assert about == [("Written", True, None), ("Written", True, None), (ERASED, False, '{"payloads":2}')]
    assert [row["id"] for row in desk.rows("SELECT id FROM cards WHERE tenant = :tenant")] == ["two"]


@pytest.mark.requirement("GOV-03", "NEW-08")
def test_a_rebuild_after_an_erasure_brings_nothing_back(desk: Desk) -> None:
    desk.write_card("one", 0, "personal")
    desk.write_card("two", 0, "other")
    desk.commit(lambda unit: erase_subject(unit, "cards", "one", 1))
    before = digest_of(desk)
    rebuild(desk)
    assert digest_of(desk) == before


def test_a_subject_can_be_erased_again_when_there_is_more_to_erase(desk: Desk) -> None:
    desk.write_card("one", 0, "personal")
    gone = []

    def erase(unit: Unit) -> None:
        gone.append(erase_subject(unit, "cards", "one", last_version(unit, "cards", "one")))

    desk.commit(erase)
    desk.write_card("one", 2, "personal once more")
    desk.commit(erase)
    desk.commit(erase)
    assert gone == [1, 1, 0]


def test_what_is_not_there_has_no_version(desk: Desk) -> None:
    versions = []
    desk.commit(lambda unit: versions.append(last_version(unit, "cards", "nobody")))
    assert versions == [0]
