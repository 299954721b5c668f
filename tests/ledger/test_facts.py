"""Facts and the receipts that come with them."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import orjson
import pytest

from engross.ledger import (
    Unit,
    drafts_digest,
    facts_after,
    fields_touched,
    history,
    receipt_at,
    receipts_between,
)
from engross.ledger.facts import facts_digest
from tests.ledger.cards import Desk

RED = {"title": "t", "colour": "red"}


def feed(desk: Desk, after: int = 0, most: int = 100, tenant: str = "acme"):
    return desk.store.read(tenant, lambda reading: facts_after(reading, after, most=most))


def test_a_fact_changes_the_state_it_is_about(desk: Desk) -> None:
    desk.write_card("one", 0, "first")
    desk.write_card("one", 1, "second", colour=None)
    assert desk.rows("SELECT id, version, title, colour FROM cards WHERE tenant = :tenant") == [
        {"id": "one", "version": 2, "title": "second", "colour": None}
    ]


def test_versions_of_a_subject_have_no_gap_and_no_twin(desk: Desk) -> None:
    desk.write_card("one", 0, "first")
    with pytest.raises(Exception):  # noqa: B017, PT011 - the engines' own refusals of a duplicate
        desk.write_card("one", 0, "twin")
    desk.write_card("one", 1, "second")
    facts = desk.store.read("acme", lambda reading: history(reading, "cards", "one"))
    assert [(fact.version, fact.payload and fact.payload["title"]) for fact in facts] == [
        (1, "first"),
        (2, "second"),
    ]


@pytest.mark.requirement("NEW-04")
def test_a_receipt_says_who_did_what_and_covers_the_facts(desk: Desk) -> None:
    context = desk.context(client_request_id="key-12345", reason="because")

    def work(unit: Unit) -> None:
        unit.append("Written", "one", 0, RED, fields=("title",))
        unit.append("Removed", "one", 1, {}, ends=True)

    position = desk.commit(work, context=context).position
    receipt = desk.store.read("acme", lambda reading: receipt_at(reading, position))
    assert receipt is not None
    facts = desk.store.read("acme", lambda reading: history(reading, "cards", "one"))
    said = {name: receipt.body[name] for name in ("tenant", "position", "flow", "facts", "client_request_id", "reason")}
    assert said == {
        "tenant": "acme",
        "position": position,
        "flow": "cards.write-card",
        "facts": 2,
        "client_request_id": "key-12345",
        "reason": "because",
    }
    assert receipt.body["principal"] == {"id": "ada", "type": "human", "roles": ["curator"]}
    assert receipt.body["facts_digest"] == facts_digest(facts)
    assert receipt.body["traceparent"] == context.trace.traceparent


@pytest.mark.requirement("NEW-04")
def test_a_receipt_is_there_exactly_if_its_facts_are(desk: Desk) -> None:
    class Refusal(Exception):
        pass

    def work(unit: Unit) -> None:
        unit.append("Written", "one", 0, RED)
        raise Refusal

    with pytest.raises(Refusal):
        desk.commit(work)
    for table in ("facts", "receipts", "cards"):
        assert desk.rows(f"SELECT * FROM {table} WHERE tenant = :tenant") == []


def test_receipts_of_a_stretch_come_in_order(desk: Desk) -> None:
    positions = [desk.write_card(str(number), 0, "t").position for number in range(5)]
    between = desk.store.read("acme", lambda reading: receipts_between(reading, positions[0], positions[3], most=2))
    assert [receipt.position for receipt in between] == positions[1:3]


def test_the_same_context_gives_the_same_ids(desk: Desk) -> None:
    context = desk.context()
    ids = []

    def work(unit: Unit) -> None:
        ids.append((unit.new_id("card-"), unit.new_id()))
        unit.rewind()
        ids.append((unit.new_id("card-"), unit.new_id()))

    desk.commit(work, context=context)
    assert ids[0] == ids[1]
    assert ids[0][0].startswith("card-")
    assert len(set(ids[0])) == 2


def test_rewinding_a_unit_takes_its_facts_and_their_effects_back(desk: Desk) -> None:
    def work(unit: Unit) -> None:
        unit.append("Written", "one", 0, RED)
        unit.rewind()
        unit.append("Written", "two", 0, RED)

    receipt = desk.commit(work)
    assert receipt.body["facts"] == 1
    assert [row["id"] for row in desk.rows("SELECT id FROM cards WHERE tenant = :tenant")] == ["two"]


def write_three(commit: int, unit: Unit) -> None:
    for number in range(3):
        unit.append("Written", f"{commit}/{number}", 0, RED)


def rewrite(follows: int, fields: tuple[str, ...], unit: Unit) -> None:
    unit.append("Written", "one", follows, RED, fields=fields)


def test_a_feed_gives_every_fact_once_in_order_and_never_cuts_a_commit(desk: Desk) -> None:
    for commit in range(4):
        desk.commit(partial(write_three, commit))
    seen, after = [], 0
    while page := feed(desk, after, most=2):
        assert len(page) % 3 == 0
        seen += [(fact.position, fact.ordinal) for fact, _ in page]
        after = page[-1][0].position
    assert len(seen) == 12
    assert all(earlier < later for earlier, later in pairwise(seen))


def test_a_feed_gets_past_commits_without_facts(desk: Desk) -> None:
    desk.write_card("one", 0, "first")
    for _ in range(4):
        desk.commit(lambda unit: None)
    last = desk.write_card("two", 0, "last").position
    first = feed(desk, most=1)[0][0].position
    assert [fact.position for fact, _ in feed(desk, first, most=2)] == [last]


def test_a_feed_is_of_one_tenant(desk: Desk) -> None:
    desk.write_card("ours", 0, "t")
    desk.write_card("theirs", 0, "t", "blue")
    assert [fact.subject for fact, _ in feed(desk)] == ["ours"]


def test_a_fact_is_a_cloud_event_of_its_receipt(desk: Desk) -> None:
    context = desk.context()
    desk.commit(lambda unit: unit.append("Written", "one", 0, RED), context=context)
    ((fact, receipt),) = feed(desk)
    event = fact.cloudevent(receipt)
    assert event["specversion"] == "1.0"
    assert event["id"] == f"{context.message_id}.0"
    assert event["type"] == "io.engross.cards.fact.Written.v2"
    assert (event["subject"], event["tenantid"], event["time"]) == ("one", "acme", context.occurred_at)
    assert event["data"] == {"version": 1, "payload": RED, "erased": False}
    assert event["causationid"] == context.message_id
    assert orjson.loads(orjson.dumps(event)) == event


def test_fields_that_were_set_meanwhile_are_known(desk: Desk) -> None:
    for number, fields in enumerate([("title",), ("colour",), (), ("title", "colour")]):
        desk.commit(partial(rewrite, number, fields))

    def touched(since: int) -> set[str]:
        return desk.store.read("acme", lambda reading: fields_touched(reading, "cards", "one", since=since))

    assert [touched(since) for since in range(5)] == [
        {"title", "colour"},
        {"title", "colour"},
        {"title", "colour"},
        {"title", "colour"},
        set(),
    ]


def test_what_a_reviewer_is_shown_has_a_digest_that_does_not_depend_on_the_place(desk: Desk) -> None:
    seen: list[tuple[str, str]] = []

    def work(unit: Unit) -> None:
        unit.append("Written", "one", 0, RED)
        one = drafts_digest(tuple(written.draft for written in unit.written))
        unit.rewind()
        unit.append("Written", "two", 0, RED)
        two = drafts_digest(tuple(written.draft for written in unit.written))
        unit.rewind()
        seen.append((one, two))

    desk.commit(work)
    desk.commit(work)
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[0][1]


@pytest.mark.requirement("REL-04")
def test_a_clock_that_jumps_back_changes_nothing_but_the_times_that_are_told(desk: Desk) -> None:
    times = ["2026-11-01T10:00:00.000000Z", "2026-11-01T09:00:00.000000Z", "1999-01-01T00:00:00.000000Z"]
    positions = [
        desk.commit(partial(rewrite, number, ()), context=desk.context(occurred_at=time)).position
        for number, time in enumerate(times)
    ]
    assert positions == sorted(positions)
    assert [fact.time for fact, _ in feed(desk)] == times
    seal = desk.seal()
    assert seal is not None
    assert seal.body["receipts"] == 3


def test_a_fact_that_nobody_applies_is_a_mistake_in_the_program(desk: Desk) -> None:
    with pytest.raises(LookupError):
        desk.commit(lambda unit: unit.append("Unheard", "one", 0, {}))
