"""What went through a proposal, or came back after it was erased, is on the record like everything else."""

from __future__ import annotations

from typing import Any

import pytest

from engross.calls import instant
from engross.domains.memory.ids import entity_id
from engross.surfaces.client import Client
from tests.memory.kept import Library, done
from tests.memory.people import approve, confirmed, fields, merge, person, retract, snapshot, tell

ANN, BOB, CID = ({"entity_type": "person", "name": name} for name in ("Ann", "Bob", "Cid"))
ANN_ID, BOB_ID = entity_id("person", "Ann"), entity_id("person", "Bob")
INVOICE = b"Invoice\nInvoice Number: INV-7\nAmount Due: $3.00\n"


def payload(amount: int, extracted_at: str) -> dict[str, Any]:
    """An invoice, always the same one, as it was seen at a time."""
    said = {"source_refs": [], "extracted_at": extracted_at, "extractor_version": "v1"}
    body = {"invoice_number": "INV-1", "amount": amount}
    return {"capability_id": "neotoma:store_invoice:v1", "body": body, "provenance": said}


def erase(client: Client, source: str) -> None:
    admin = client.as_("clara", "human", ["admin", "curator"])
    done(confirmed(admin, "record.erase", {"aggregate": "memory", "subject": source, "reason": "asked for"}))


def propose(library: Library, *plans: tuple[str, dict[str, Any]]) -> str:
    """Have the agent propose several calls as one; the proposal's id."""
    into: dict[str, str] = {"commit_mode": "proposal"}
    for flow, arguments in plans:
        into = {"proposal_id": done(library.agent.call(flow, {**arguments, **into}))["proposal"]["id"]}
    return into["proposal_id"]


def ingested(*entities: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "memory.ingest-structured", {"entities": list(entities), **more}


WAYS = {
    "structured": lambda library: tell(library.clara, ANN, BOB)["source_id"],
    "file": lambda library: done(library.ingest(INVOICE))["source_id"],
    "kept only": lambda library: done(library.ingest(INVOICE, interpret=False))["source_id"],
    "payload": lambda library: done(library.clara.call("memory.submit-payload", payload(1, "2026-01-01T00:00:00Z")))[
        "payload_id"
    ],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_was_erased_can_be_taken_in_again(library: Library, way):
    take_in = WAYS[way]
    source = take_in(library)
    before = library.rows("SELECT id, type, name FROM memory_entities WHERE tenant = :tenant ORDER BY id")
    erase(library.clara, source)
    assert library.rows("SELECT id FROM memory_entities WHERE tenant = :tenant") == []
    assert take_in(library) == source
    retract(library.clara, source)
    erase(library.clara, source)
    assert take_in(library) == source
    after = library.rows("SELECT id, type, name FROM memory_entities WHERE tenant = :tenant ORDER BY id")
    assert after == before
    assert library.clara.office.rebuild("main").same


def test_what_was_erased_can_be_proposed_again(small: Library):
    source = tell(small.clara, ANN)["source_id"]
    erase(small.clara, source)
    assert small.clara.call(*ingested(ANN), dry_run=True).ok
    approve(small.clara, propose(small, ingested(ANN)))
    assert fields(small.clara, ANN_ID) == {"name": "Ann"}
    assert small.clara.office.rebuild("main").same


def test_of_several_facts_in_one_commit_the_first_one_stays_the_first(library: Library):
    source = tell(library.clara, ANN)["source_id"]
    twice = ingested({**ANN, "x": 2}, CID, source_priority=7)
    approve(library.clara, propose(library, ingested(BOB, {**ANN, "x": 1}), ingested({**ANN, "x": 2}, CID), twice))
    assert library.clara.office.rebuild("main").same
    erase(library.clara, source)
    (ann,) = library.rows("SELECT born FROM memory_entities WHERE tenant = :tenant AND id = :id", id=ANN_ID)
    first = library.rows("SELECT position FROM memory_observations WHERE tenant = :tenant ORDER BY position LIMIT 1")
    assert ann["born"] == first[0]["position"] << 20 | 1
    assert library.clara.office.rebuild("main").same


def test_what_one_commit_states_out_of_order_is_late(library: Library):
    source = tell(library.clara, {"entity_type": "invoice", "name": "INV-1", "invoice_number": "INV-1"})["source_id"]
    plans = [("memory.submit-payload", payload(n, f"2026-01-0{3 - n}T00:00:00Z")) for n in (1, 2)]
    approve(library.clara, propose(library, *plans))
    erase(library.clara, source)
    (invoice,) = library.rows("SELECT id, late FROM memory_entities WHERE tenant = :tenant AND type = 'invoice'")
    assert invoice["late"] == 1
    assert snapshot(library.clara, invoice["id"])["observation_count"] == 2
    assert library.clara.office.rebuild("main").same


def test_what_was_proposed_is_known_from_its_approval_on(library: Library):
    """Observed, merged, unmerged and withdrawn by proposals, which wait a while: what was seen then is seen again."""
    clock = library.offices.clock
    person(library.clara, "Bob", city="Bern")
    source = tell(library.clara, {**ANN, "city": "Basel"})["source_id"]
    seen: dict[str, dict[str, dict[str, Any]]] = {}

    def look() -> None:
        clock.pass_(minutes=1)
        known = {one: library.clara.call("memory.get-entity-snapshot", {"entity_id": one}) for one in (ANN_ID, BOB_ID)}
        seen[instant(clock())] = {one: dict(reply.data["snapshot"]) for one, reply in known.items() if reply.ok}
        clock.pass_(minutes=1)

    def approved_later(flow: str, arguments: dict[str, Any]) -> None:
        look()
        proposal = propose(library, (flow, arguments))
        look()
        approve(library.clara, proposal)
        look()

    approved_later(*ingested({**BOB, "phone": "1"}))
    waiting = propose(library, ingested({**BOB, "phone": "2", "street": "Long"}))
    look()
    tell(library.clara, {**BOB, "phone": "3"})
    look()
    approve(library.clara, waiting)
    approved_later("memory.merge-entities", {"from_entity_id": ANN_ID, "to_entity_id": BOB_ID})
    approved_later("memory.unmerge-entities", {"entity_id": ANN_ID})
    approved_later("memory.retract-source", {"source_id": source})
    for moment, known in seen.items():
        for one in (ANN_ID, BOB_ID):
            assert fields(library.clara, one, at_ingested=moment) == known.get(one, {}), (moment, one)
    assert any(ANN_ID not in known for known in seen.values())
    assert library.clara.office.rebuild("main").same


def test_an_approval_does_not_depend_on_who_told_of_an_entity_first(library: Library):
    proposal = propose(library, ingested(ANN, BOB))
    direct = tell(library.clara, {**ANN, "city": "Bern"})
    assert direct["interpretation"]["entities_created"] == 1
    assert done(library.clara.call("proposals.get-proposal", {"proposal_id": proposal}))["proposal"]["stale"] is False
    (result,) = approve(library.clara, proposal)["results"]
    assert result["answer"]["interpretation"]["entities_created"] == 1
    again = tell(library.clara, ANN, BOB)
    assert (again["deduplicated"], again["interpretation"]["entities_created"]) == (True, 1)
    erase(library.clara, direct["source_id"])
    assert tell(library.clara, ANN, BOB)["interpretation"]["entities_created"] == 2
    assert library.clara.office.rebuild("main").same


def test_whoever_is_the_first_now_counts_as_such_when_the_first_is_erased(small: Library):
    first = tell(small.clara, ANN, BOB)["source_id"]
    merge(small.clara, ANN_ID, BOB_ID)
    tell(small.clara, {**ANN, "x": 1})
    tell(small.clara, {**ANN, "x": 2}, {**BOB, "x": 2})
    erase(small.clara, first)
    rows = small.rows("SELECT entities_created FROM memory_runs WHERE tenant = :tenant ORDER BY position")
    assert [row["entities_created"] for row in rows] == [1, 1]
    assert small.clara.office.rebuild("main").same


def test_a_value_changes_when_it_is_approved_and_not_when_it_is_drafted(small: Library):
    clock = small.offices.clock
    person(small.clara, "Ann", city="Bern")
    clock.pass_(minutes=1)
    lost, won = (
        propose(small, ingested({**ANN, "city": city}, source_priority=n)) for n, city in ((1, "Thun"), (2, "Chur"))
    )
    clock.pass_(minutes=1)
    told = tell(small.clara, {**ANN, "city": "Basel"})
    direct = instant(clock())
    clock.pass_(minutes=1)
    approve(small.clara, lost)
    approve(small.clara, won)
    retract(small.clara, told["source_id"])
    retracted = instant(clock())
    changes = done(small.clara.call("memory.explain-field", {"entity_id": ANN_ID, "field": "city"}))["changes"]
    assert [(one["before"], one["by"], one["time"]) for one in changes[:2]] == [
        ("Basel", "retraction", retracted),
        ("Bern", "observed", direct),
    ]
    assert len(changes) == 3
