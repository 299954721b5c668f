"""Whatever is done to a memory, in whatever order: it follows from the facts, and what still stands can be read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import pytest

from engross.domains.memory.ids import entity_id, relationship_id
from engross.ledger.verify import verify
from engross.replies import Reply
from tests.memory.kept import Library

TENANTS = count()
NAMES = ("Alba", "Brig", "Chur", "Davos")
IDS = {name: entity_id("company", name) for name in NAMES}
ARGUMENTS: dict[str, Callable[[Random], Any]] = {
    "one": lambda chance: chance.choice(NAMES),
    "some": lambda chance: chance.sample(NAMES, chance.randint(1, 3)),
    "city": lambda chance: chance.choice(["Bern", "Thun"]),
    "kind": lambda chance: chance.choice(["PART_OF", "REFERS_TO"]),
    "strategy": lambda chance: chance.choice(["highest_priority", "merge_array"]),
    "number": lambda chance: chance.randrange(8),
    "priority": lambda chance: chance.choice([100, 900]),
    "minutes": lambda chance: chance.choice([1, 60]),
}
STEPS: list[tuple[int, str, list[str]]] = [
    (6, "merge", ["one", "one"]),
    (3, "unmerge", ["one"]),
    (3, "tell", ["some", "city", "priority"]),
    (3, "tell_again", ["number"]),
    (2, "sign", ["some"]),
    (2, "correct", ["one", "city"]),
    (2, "relate", ["kind", "one", "one"]),
    (1, "decide", ["strategy"]),
    (1, "wait", ["minutes"]),
    (3, "retract", ["number"]),
    (5, "erase_source", ["number"]),
    (2, "erase_correction", ["number"]),
    (2, "erase_merges", ["one"]),
    (1, "erase_relationship", ["kind", "one", "one"]),
    (1, "erase_schema", []),
]
"""What is done how often, and with what."""
BEGINNING: list[Any] = [("tell", [name], "Bern", 100) for name in NAMES]


class Walk:
    """Clara at work in a tenant of her own, and who is told of by what still stands."""

    def __init__(self, library: Library) -> None:
        self.library = library.at(f"walk{next(TENANTS)}")
        self.clara = self.library.clara.as_("clara", "human", ["curator", "admin"])
        self.sources: dict[str, tuple[str, dict[str, Any], list[str]]] = {}
        self.corrections: dict[str, str] = {}
        self.standing: dict[str, list[str]] = {}
        self.schemas = 0

    def do(self, name: str, *arguments: Any) -> None:
        self.library.offices.clock.pass_(seconds=1)
        answer = getattr(self, name)(*arguments)
        assert answer is None or answer.reply_type in "SI", (name, arguments, answer)

    def wait(self, minutes: int) -> None:
        self.library.offices.clock.pass_(minutes=minutes)

    def tell(self, names: list[str], city: str, priority: int) -> Reply:
        entities = [
            {"entity_type": "company", "name": name, "city": city, "founded_date": "2020-01-01"} for name in names
        ]
        wish = {"entities": entities, "source_priority": priority}
        return self._told("memory.ingest-structured", wish, names, "source_id")

    def sign(self, names: list[str]) -> Reply:
        """A contract tells of its parties, and that it is about them."""
        body = {"contract_number": "C-1", "parties": names, "start_date": "2025-01-01"}
        said = {"source_refs": [], "extracted_at": "2025-01-15T10:30:00Z", "extractor_version": "test:1"}
        wish = {"capability_id": "neotoma:store_contract:v1", "body": body, "provenance": said}
        return self._told("memory.submit-payload", wish, names, "payload_id")

    def _told(self, flow: str, wish: dict[str, Any], names: list[str], identifier: str) -> Reply:
        answer = self.clara.call(flow, wish)
        if answer.ok:
            source = answer.data[identifier]
            self.sources[source] = (flow, wish, names)
            self.standing[source] = names
        return answer

    def tell_again(self, number: int) -> Reply:
        flow, wish, names = self.sources[self._one(self.sources, number)]
        return self._told(flow, wish, names, "source_id" if flow == "memory.ingest-structured" else "payload_id")

    def correct(self, name: str, city: str) -> Reply:
        wish = {"entity_id": IDS[name], "entity_type": "company", "field": "city", "value": city}
        answer = self.clara.call("memory.correct", wish)
        if answer.ok:
            said = answer.data["observation_id"]
            corrected = next(one for one in NAMES if IDS[one] == answer.data["entity_id"])
            self.corrections[said] = corrected
            self.standing[said] = [corrected]
        return answer

    def relate(self, kind: str, source: str, target: str) -> Reply:
        ends = {"source_entity_id": IDS[source], "target_entity_id": IDS[target]}
        return self.clara.call("memory.create-relationship", {"relationship_type": kind, **ends})

    def decide(self, strategy: str) -> Reply:
        self.schemas += 1
        version = {"entity_type": "company", "schema_version": f"{self.schemas}.0"}
        wish = {**version, "fields": {"city": {"type": "array"}}, "merge_policies": {"city": {"strategy": strategy}}}
        if strategy == "highest_priority":
            wish["fields"] = {"city": {"type": "string"}}
        self.clara.call("memory.register-schema", wish)
        return self._confirmed("memory.activate-schema", version)

    def merge(self, source: str, target: str) -> Reply:
        ends = {"from_entity_id": IDS[source], "to_entity_id": IDS[target]}
        return self._confirmed("memory.merge-entities", ends)

    def unmerge(self, name: str) -> Reply:
        return self._confirmed("memory.unmerge-entities", {"entity_id": IDS[name]})

    def retract(self, number: int) -> Reply:
        source = self._one(self.sources, number)
        answer = self._confirmed("memory.retract-source", {"source_id": source})
        if answer.ok:
            self.standing.pop(source, None)
        return answer

    def erase_source(self, number: int) -> Reply:
        return self._erase(self._one(self.sources, number))

    def erase_correction(self, number: int) -> Reply | None:
        return self._erase(self._one(self.corrections, number)) if self.corrections else None

    def erase_merges(self, name: str) -> Reply:
        return self._erase(f"clara/{IDS[name]}")

    def erase_relationship(self, kind: str, source: str, target: str) -> Reply:
        return self._erase(relationship_id("clara", kind, IDS[source], IDS[target]))

    def erase_schema(self) -> Reply:
        return self._erase("schema/company")

    def _erase(self, subject: str) -> Reply:
        answer = self._confirmed("record.erase", {"aggregate": "memory", "subject": subject})
        if answer.ok:
            self.standing.pop(subject, None)
        return answer

    def _confirmed(self, flow: str, arguments: dict[str, Any]) -> Reply:
        asked = self.clara.call(flow, arguments)
        if asked.message_key != "CONFIRMATION_REQUIRED":
            return asked
        return self.clara.call(flow, {**arguments, "confirm_token": asked.data["confirm_token"]})

    def _one(self, known: dict[str, Any], number: int) -> str:
        return list(known)[number % len(known)]

    def read(self, flow: str, **arguments: Any) -> dict[str, Any] | None:
        """What a read says, if there is anything; it never fails."""
        answer = self.clara.call(f"memory.{flow}", arguments)
        assert answer.reply_type in "SI", (flow, arguments, answer)
        return dict(answer.data) if answer.ok else None


def check_what_stands(walk: Walk) -> None:
    """Everybody who is told of can be read and is listed, and nobody else is; today is as known today."""
    told = {IDS[name] for names in walk.standing.values() for name in names}
    now = walk.library.offices.clock().isoformat()
    speakers = set()
    for identifier in IDS.values():
        held = walk.read("get-entity-snapshot", entity_id=identifier)
        assert held is not None or identifier not in told
        if held is not None:
            speakers.add(held["entity_id"])
            known = walk.read("get-entity-snapshot", entity_id=identifier, at_ingested=now)
            same = ("entity_id", "snapshot", "observation_count")
            assert known is not None
            assert {name: known[name] for name in same} == {name: held[name] for name in same}
    listed = walk.read("retrieve-entities", entity_type="company", limit=50)
    assert listed is not None
    assert {one["entity_id"] for one in listed["entities"]} == speakers
    assert listed["total"] == len(speakers)
    everyone = walk.read("retrieve-entities", entity_type="company", limit=50, include_merged=True)
    assert everyone is not None
    assert everyone["total"] == len({one["entity_id"] for one in everyone["entities"]})
    assert told <= {one["entity_id"] for one in everyone["entities"]}


def check_reads(walk: Walk) -> None:
    """No read fails, whatever is gone."""
    for name, identifier in IDS.items():
        for flow in ("list-observations", "list-relationships", "get-related-entities", "list-duplicate-candidates"):
            walk.read(flow, entity_id=identifier)
        for flow in ("explain-field", "get-field-provenance"):
            walk.read(flow, entity_id=identifier, field="city")
        walk.read("why-entity", ref=identifier)
        walk.read("get-graph-neighborhood", node_id=identifier, include_observations=True)
        walk.read("diff-entity", entity_id=identifier, before="2026-11-16T09:00:30Z", by="ingested")
        found = walk.read("get-entity-by-identifier", identifier=name)
        assert found is not None
        walk.read("search-memory", query=name)
    walk.read("list-timeline-events")
    walk.read("export-memory")


def steps(seed: int, length: int = 36) -> list[Any]:
    """What is done on one walk."""
    chance = Random(seed)
    chosen = chance.choices(STEPS, [often for often, _, _ in STEPS], k=length)
    return [*BEGINNING, *((name, *(ARGUMENTS[one](chance) for one in wanted)) for _, name, wanted in chosen)]


@pytest.mark.requirement("MEM-22", "GOV-03")
@pytest.mark.parametrize("seed", range(40))
def test_whatever_was_done_to_a_memory_it_follows_from_the_facts_and_can_be_read(
    shared_library: Library, seed: int
) -> None:
    walk = Walk(shared_library)
    for place, step in enumerate(steps(seed), start=1):
        walk.do(*step)
        if place % 8 == 0:
            check_what_stands(walk)
            assert shared_library.clara.office.rebuild(walk.library.tenant).same
    check_reads(walk)
    assert verify(shared_library.offices.folder, tenant=walk.library.tenant).ok
