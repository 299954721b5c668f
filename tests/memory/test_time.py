"""What held at an instant and what was known at one, by checkpoints as by all observations."""

from __future__ import annotations

import random

import pytest

from engross.calls import instant
from engross.domains.memory import memory
from engross.domains.memory.observing import Claim, Weight, observe_alone
from engross.flows import Aggregate
from engross.ledger import Unit
from tests.bed.offices import Offices
from tests.memory.kept import Library, done
from tests.memory.people import (
    ACME,
    ACME_ID,
    JOHN_ID,
    confirmed,
    correct,
    fields,
    merge,
    person,
    retract,
    snapshot,
    tell,
)

RAW = {
    "type": "object",
    "properties": {"observations": {"type": "array", "description": "What was observed.", "items": {"type": "object"}}},
    "additionalProperties": False,
}


def with_raw_observations() -> Aggregate:
    """The domain, and a flow that observes whatever a test says, at whatever instant."""
    aggregate = memory()

    @aggregate.record(effect="create", posture="direct", arguments=RAW, answers=None)
    def observe_raw(unit: Unit, arguments):
        """Observe."""
        for one in arguments["observations"]:
            claim = Claim(ACME_ID, "company", "acme", one["fields"])
            observe_alone(unit, claim, Weight(one.get("priority", 0), 0.5, one["at"]), one["id"])
        return {}

    return aggregate


def at(number: int) -> str:
    return f"2025-01-01T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000000Z"


def observation(number: int, chance: random.Random) -> dict:
    names = chance.sample("abcdefg", 2)
    return {"id": f"u{number}", "at": at(number), "fields": {name: f"{name}{number}" for name in names}}


@pytest.mark.requirement("MEM-17", "REL-08", "MEM-33")
def test_order_and_batches_do_not_show_in_any_snapshot_of_any_instant(store_kind, tmp_path, request):
    """Two hundred observations, several of them at one instant, in order and shuffled into other batches."""
    chance = random.Random(5)
    observations = [observation(number // 2 * 2, chance) | {"id": f"u{number}"} for number in range(200)]
    observations[17]["priority"] = 1000
    shuffled = list(observations)
    chance.shuffle(shuffled)
    found = []
    for name, batches in (
        ("ordered", [observations[n : n + 1] for n in range(200)]),
        ("shuffled", [shuffled[n : n + 7] for n in range(0, 200, 7)]),
    ):
        store = request.getfixturevalue("postgres_dsn") if store_kind == "postgres" and name == "shuffled" else None
        offices = Offices(tmp_path / name, store)
        client = offices.open(with_raw_observations())
        for batch in batches:
            done(client.call("memory.observe-raw", {"observations": batch}))
        moments = [{}, *({"at": at(number)} for number in range(0, 201, 13)), {"at": "2024-12-31"}]
        found.append([_timeless(snapshot(client, ACME_ID, **when)) for when in moments])
        assert client.office.rebuild("main").same
        offices.close()
    assert found[0] == found[1]
    assert found[0][-1]["snapshot"] == {}
    assert found[0][0]["observation_count"] == 200


def _timeless(answer):
    return {name: answer[name] for name in ("snapshot", "provenance", "observation_count", "last_observation_at")}


@pytest.mark.requirement("MEM-17")
def test_a_snapshot_at_an_instant_is_the_reduction_of_what_was_observed_up_to_it(small: Library):
    moments = []
    for number in range(100):
        small.offices.clock.pass_(minutes=1)
        tell(small.clara, {**ACME, "revision": number})
        moments.append(instant(small.offices.clock()))
    assert small.rows("SELECT count(*) AS n FROM memory_checkpoints WHERE tenant = :tenant")[0]["n"] > 0
    for number in range(0, 100, 7):
        then = snapshot(small.clara, ACME_ID, at=moments[number])
        assert then["snapshot"]["revision"] == number
        assert then["observation_count"] == number + 1
        assert then["last_observation_at"] == moments[number]
        assert snapshot(small.clara, ACME_ID, at_ingested=moments[number])["snapshot"] == then["snapshot"]
    before = snapshot(small.clara, ACME_ID, at="2020-01-01")
    assert (before["snapshot"], before["provenance"], before["observation_count"]) == ({}, {}, 0)
    assert before["last_observation_at"] is None


@pytest.mark.requirement("MEM-17")
@pytest.mark.parametrize("when", ["at", "at_ingested"])
@pytest.mark.parametrize("text", ["soon", "2025-13-01", "2025-02-30T00:00:00Z", "1736899200", "", "2025-01-01T25:00"])
def test_garbage_dates_are_refused(small: Library, when, text):
    tell(small.clara, ACME)
    answer = small.clara.call("memory.get-entity-snapshot", {"entity_id": ACME_ID, when: text})
    assert answer.message_key == "VALIDATION_ERROR"


def test_what_was_known_then_is_what_was_seen_then(library: Library):
    """Backfilled, merged and withdrawn since: what was seen at each time is seen again."""
    clock = library.offices.clock
    seen = {}
    jane = person(library.clara, "Jane Doe", email="jane@example.com", city="Bern")
    doctor = person(library.clara, "Dr. Jane Doe", phone="+1 555")

    def look() -> None:
        now = instant(clock())
        seen[now] = {one: snapshot(library.clara, one)["snapshot"] for one in (jane, doctor)}
        clock.pass_(hours=1)

    look()
    late = done(
        library.clara.call(
            "memory.submit-payload",
            {
                "capability_id": "neotoma:store_note:v1",
                "body": {"title": "Backfill", "content": "x"},
                "provenance": {"source_refs": [], "extracted_at": "2020-01-01T00:00:00Z", "extractor_version": "x"},
            },
        )
    )
    assert late["created"]
    source = tell(library.clara, {"entity_type": "person", "name": "Jane Doe", "city": "Basel"})["source_id"]
    look()
    merge(library.clara, doctor, jane)
    look()
    correct(library.clara, jane, "city", "Thun")
    look()
    retract(library.clara, source)
    look()
    confirmed(library.clara, "memory.unmerge-entities", {"entity_id": doctor})
    look()
    for moment, known in seen.items():
        for one, then in known.items():
            assert fields(library.clara, one, at_ingested=moment) == then, (moment, one)
    assert library.clara.office.rebuild("main").same


def test_at_keeps_todays_identity_and_both_times_may_be_given(small: Library):
    clock = small.offices.clock
    jane = person(small.clara, "Jane Doe", city="Bern")
    first = instant(clock())
    clock.pass_(days=1)
    doctor = person(small.clara, "Dr. Jane Doe", city="Basel")
    second = instant(clock())
    clock.pass_(days=1)
    merge(small.clara, doctor, jane)
    assert fields(small.clara, jane, at=first)["city"] == "Bern"
    assert fields(small.clara, jane, at=second)["city"] == "Basel"
    assert snapshot(small.clara, doctor, at=first)["entity_id"] == jane
    assert snapshot(small.clara, doctor, at_ingested=second)["entity_id"] == doctor
    assert fields(small.clara, jane, at=first, at_ingested=second) == {"name": "Jane Doe", "city": "Bern"}


def test_the_difference_between_two_instants(small: Library):
    clock = small.offices.clock
    john = person(small.clara, "John Doe", city="Bern", phone="1")
    first = instant(clock())
    clock.pass_(days=1)
    person(small.clara, "John Doe", city="Basel", email="j@example.com")
    correct(small.clara, john, "phone", None)
    told = done(small.clara.call("memory.diff-entity", {"entity_id": john, "before": first}))
    assert {name: one["value"] for name, one in told["added"].items()} == {"email": "j@example.com"}
    assert {name: one["value"] for name, one in told["removed"].items()} == {"phone": "1"}
    assert {name: (one["before"], one["after"]) for name, one in told["changed"].items()} == {"city": ("Bern", "Basel")}
    by = {"entity_id": john, "before": first, "after": first, "by": "ingested"}
    same = done(small.clara.call("memory.diff-entity", by))
    assert (same["added"], same["removed"], same["changed"]) == ({}, {}, {})
    assert small.clara.call("memory.diff-entity", {**by, "before": "then"}).message_key == "VALIDATION_ERROR"
    nobody = {"entity_id": JOHN_ID[:-1] + "x", "before": first}
    assert small.clara.call("memory.diff-entity", nobody).message_key == "ENTITY_NOT_FOUND"
