"""The authoritative memory of client request ids."""

from __future__ import annotations

from typing import Any

import pytest

from engross.calls import instant_after
from engross.ledger import (
    KEPT_DAYS,
    StoredKey,
    erase_subject,
    find_key,
    key_row,
    keys,
    purge_keys,
    release_key,
)
from engross.ledger.keys import are_keys_past, clear_key, read_key
from tests.ledger.cards import START, Desk

FLOW = "cards.write-card"


def remember(
    desk: Desk,
    key: str,
    tenant: str = "acme",
    at: str = START,
    answer: str = '{"code":"X"}',
    print_: str = "mark",
    **options: Any,
) -> int:
    """Commit a card under a key; the position."""
    context = desk.context(tenant, client_request_id=key, occurred_at=at, **options)

    def work(unit) -> None:
        unit.append("Written", f"{key}-{context.message_id}", 0, {"title": "t", "colour": None})
        row = key_row(context, print_, state="done", position=unit.transaction.position, answer=answer)
        unit.transaction.execute(keys.INSERT, row)

    return desk.commit(work, tenant, context=context).position


def lease(desk: Desk, key: str, seconds: float = 60) -> None:
    """Commit a lease on a key."""
    context = desk.context(client_request_id=key, occurred_at=START)
    row = key_row(context, "mark", state="leased", position=None, answer=None, lasts_seconds=seconds)
    desk.store.write("acme", lambda transaction: transaction.execute(keys.INSERT, row))


def found(desk: Desk, key: str, tenant: str = "acme", flow: str = FLOW) -> StoredKey | None:
    return desk.store.write(tenant, lambda transaction: find_key(transaction, flow, key))


def purge(desk: Desk, at: str, most: int = 1000, tenant: str = "acme") -> int:
    return desk.store.write(tenant, lambda transaction: purge_keys(transaction, at, most=most))


def all_keys(desk: Desk, tenant: str = "acme") -> list[str]:
    return [row["key"] for row in desk.rows("SELECT key FROM keys WHERE tenant = :tenant ORDER BY key", tenant)]


@pytest.mark.requirement("ARCH-33")
def test_a_key_is_remembered_with_its_answer_for_seven_days(desk: Desk) -> None:
    position = remember(desk, "k-1")
    stored = found(desk, "k-1")
    assert stored is not None
    assert (stored.position, stored.answer, stored.fingerprint) == (position, '{"code":"X"}', "mark")
    assert (stored.state, stored.principal, stored.created_at) == ("done", "ada", START)
    assert stored.expires_at == instant_after(START, days=KEPT_DAYS)
    assert KEPT_DAYS == 7


@pytest.mark.requirement("ARCH-34")
def test_a_key_survives_a_restart(location, desk: Desk) -> None:
    remember(desk, "k-1")
    desk.close()
    again = Desk(location)
    assert found(again, "k-1") is not None
    again.close()


@pytest.mark.requirement("ARCH-33")
def test_a_key_and_the_change_it_stands_for_are_there_both_or_neither(desk: Desk) -> None:
    class Refusal(Exception):
        pass

    context = desk.context(client_request_id="k-1")

    def work(unit) -> None:
        unit.append("Written", "card", 0, {"title": "t", "colour": None})
        row = key_row(context, "mark", state="done", position=1, answer="{}")
        unit.transaction.execute(keys.INSERT, row)
        raise Refusal

    with pytest.raises(Refusal):
        desk.commit(work, context=context)
    assert found(desk, "k-1") is None
    assert desk.rows("SELECT id FROM cards WHERE tenant = :tenant") == []


@pytest.mark.requirement("ARCH-34")
def test_a_key_past_its_time_is_as_good_as_none(desk: Desk) -> None:
    remember(desk, "k-1")
    stored = found(desk, "k-1")
    assert stored is not None
    assert not stored.is_past(instant_after(START, days=7, seconds=-0.000001))
    assert stored.is_past(instant_after(START, days=7))


def clear(desk: Desk, key: str, at: str) -> None:
    desk.store.write("acme", lambda transaction: clear_key(transaction, FLOW, key, at))


def test_a_key_that_is_in_use_cannot_be_used_twice(desk: Desk) -> None:
    remember(desk, "k-1", print_="first")
    clear(desk, "k-1", instant_after(START, days=6))
    with pytest.raises(Exception):  # noqa: B017, PT011 - the engines' own refusals of a duplicate
        remember(desk, "k-1", print_="second")
    stored = found(desk, "k-1")
    assert stored is not None
    assert stored.fingerprint == "first"


def test_a_key_past_its_time_can_be_used_again(desk: Desk) -> None:
    remember(desk, "k-1", print_="first")
    later = instant_after(START, days=8)
    clear(desk, "k-1", later)
    position = remember(desk, "k-1", at=later, print_="second", answer='{"code":"Y"}')
    stored = found(desk, "k-1")
    assert stored is not None
    assert (stored.fingerprint, stored.position, stored.answer) == ("second", position, '{"code":"Y"}')
    assert all_keys(desk) == ["k-1"]


def test_a_key_belongs_to_its_tenant_and_operation(desk: Desk) -> None:
    remember(desk, "k-1")
    assert found(desk, "k-1", tenant="blue") is None
    assert found(desk, "k-1", flow="cards.other") is None
    remember(desk, "k-1", tenant="blue", print_="theirs")
    remember(desk, "k-1", flow="cards.other", print_="other")
    stored = [found(desk, "k-1"), found(desk, "k-1", tenant="blue"), found(desk, "k-1", flow="cards.other")]
    assert [one.fingerprint for one in stored if one] == ["mark", "theirs", "other"]


@pytest.mark.requirement("ARCH-34")
def test_keys_past_their_time_are_purged_in_batches(desk: Desk) -> None:
    for number in range(5):
        remember(desk, f"old-{number}")
    remember(desk, "new", at=instant_after(START, days=5))
    remember(desk, "theirs", tenant="blue")
    now = instant_after(START, days=8)
    assert [purge(desk, now, most=2) for _ in range(4)] == [2, 2, 1, 0]
    assert all_keys(desk) == ["new"]
    assert all_keys(desk, "blue") == ["theirs"]


def test_purging_tells_two_operations_with_the_same_key_apart(desk: Desk) -> None:
    remember(desk, "k-1")
    remember(desk, "k-1", flow="cards.other", at=instant_after(START, days=5))
    assert purge(desk, instant_after(START, days=8)) == 1
    assert found(desk, "k-1", flow="cards.other") is not None
    assert found(desk, "k-1") is None


def test_whether_there_is_anything_to_purge_can_be_asked(desk: Desk) -> None:
    def asked(at: str) -> bool:
        return desk.store.read("acme", lambda reading: are_keys_past(reading, at))

    remember(desk, "k-1")
    assert [asked(START), asked(instant_after(START, days=8))] == [False, True]


def test_a_lease_that_has_run_out_is_a_question_for_as_long_as_keys_are_kept(desk: Desk) -> None:
    lease(desk, "k-1", seconds=60)
    stored = found(desk, "k-1")
    assert stored is not None
    assert (stored.state, stored.answer, stored.position) == ("leased", None, None)
    assert stored.expires_at == instant_after(START, seconds=60)
    assert not stored.is_past(instant_after(START, days=6))
    assert stored.is_past(instant_after(START, days=7))
    assert purge(desk, instant_after(START, days=6)) == 0
    assert purge(desk, instant_after(START, days=8)) == 1


def test_only_a_lease_can_be_given_back(desk: Desk) -> None:
    lease(desk, "leased")
    remember(desk, "done")
    release(desk, "leased")
    release(desk, "done")
    assert all_keys(desk) == ["done"]


def release(desk: Desk, key: str, **options: str) -> None:
    desk.store.write("acme", lambda transaction: release_key(transaction, FLOW, key, **options))


def test_a_lease_of_another_moment_is_not_given_back(desk: Desk) -> None:
    lease(desk, "k-1")
    release(desk, "k-1", taken_at=instant_after(START, seconds=1))
    assert all_keys(desk) == ["k-1"]
    release(desk, "k-1", taken_at=START)
    assert all_keys(desk) == []


@pytest.mark.requirement("GOV-03")
def test_erasing_a_subject_erases_the_remembered_answers_about_it(desk: Desk) -> None:
    remember(desk, "other")
    remember(desk, "k-1", answer='{"title":"personal"}')
    subject = desk.rows("SELECT subject FROM facts WHERE tenant = :tenant ORDER BY position")[-1]["subject"]
    desk.commit(lambda unit: erase_subject(unit, "cards", subject, 1))
    stored = found(desk, "k-1")
    assert stored is not None
    assert (stored.state, stored.answer) == ("erased", None)
    untouched = found(desk, "other")
    assert untouched is not None
    assert untouched.state == "done"
    names = ("k-1", "other", "never")
    read = desk.store.read("acme", lambda reading: [read_key(reading, FLOW, name) for name in names])
    assert read == [stored, untouched, None]


@pytest.mark.requirement("GOV-03")
def test_erasing_a_subject_erases_answers_that_only_showed_it(desk: Desk) -> None:
    desk.write_card("100%_one", 0, "personal")
    remember(desk, "showed", answer='{"card":{"id":"100%_one","title":"personal"}}')
    remember(desk, "alike", answer='{"card":{"id":"100xyone"}}')
    desk.commit(lambda unit: erase_subject(unit, "cards", "100%_one", 1))
    states = [one.state for key in ("showed", "alike") if (one := found(desk, key))]
    assert states == ["erased", "done"]
