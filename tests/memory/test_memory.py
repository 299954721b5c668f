"""The domain as a whole: its examples, its tools, and that its state follows from its facts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from engross.domains.memory.ids import entity_id
from engross.flows import lint
from tests.bed.trying import outcome
from tests.memory.kept import Library, memory_at
from tests.memory.people import confirmed

TOOLS = {
    *("ingest", "submit_payload", "ingest_structured", "reinterpret", "correct", "merge_entities"),
    *("get_entity_snapshot", "list_observations", "get_field_provenance", "retrieve_entities"),
    *("get_entity_by_identifier", "get_related_entities", "get_graph_neighborhood", "list_timeline_events"),
    *("create_relationship", "list_relationships"),
}


@pytest.mark.requirement("MEM-38", "MEM-40")
def test_every_example_ends_as_it_says(library: Library) -> None:
    tried = 0
    for flow in memory_at(Path("nowhere")).flows.values():
        assert flow.examples, flow.ref
        for given in flow.examples:
            tried += 1
            somewhere_new = library.clara.as_("clara", "human", ["curator"], tenant=f"t{tried}")
            answer = outcome(somewhere_new, flow, given)
            assert answer.message_key == given.reply, (flow, given.title, answer)
    assert tried > 40


@pytest.mark.requirement("MEM-38", "MEM-39")
def test_every_flow_is_portable_and_says_how_consistent_and_determinate_it_is() -> None:
    aggregate = memory_at(Path("nowhere"))
    flows = list(aggregate.flows.values())
    assert lint(flows) == []
    assert {exposure.tool for exposure in aggregate.exposures} >= TOOLS
    assert {flow.dialect for flow in flows} == {"memory"}
    for flow in flows:
        assert flow.consistency.tier in ("strong", "eventual")
        assert flow.determinism.deterministic or flow.determinism.reason
    told = {name: aggregate.flows[name].description for name in ("ingest", "submit-payload", "ingest-structured")}
    assert "submit_payload" in told["ingest-structured"]
    assert "ingest" in told["ingest-structured"]
    assert "ingest_structured" in told["submit-payload"]
    assert "ingest_structured" in told["ingest"] or "submit_payload" in told["ingest"]


@pytest.mark.requirement("MEM-31", "REL-08", "MEM-33")
@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_the_facts_tell_it_again(library: Library, seed: int) -> None:
    """Writes, corrections, merges, retractions and erasures by chance; then everything is built anew."""
    chance = random.Random(seed)
    clara, clock = library.clara, library.offices.clock
    admin = clara.as_("clara", "human", ["admin", "curator"])
    names = ["Ann", "Ben", "Dr. Ann", "Cleo"]
    ids = {name: entity_id("person", name) for name in names}
    sources: list[str] = []
    corrections: list[str] = []
    done = 0
    wish: dict[str, Any]
    for step in range(60):
        clock.pass_(seconds=chance.choice([1, 1, 1, -3]))
        one, other = chance.sample(names, 2)
        kind = chance.choice(["tell", "tell", "tell", "correct", "relate", "merge", "unmerge", "retract", "erase"])
        if kind == "tell":
            told = [
                {"entity_type": "person", "name": name, "step": step, chance.choice("abc"): chance.randrange(3)}
                for name in chance.sample(names, chance.randint(1, 3))
            ]
            answer = clara.call("memory.ingest-structured", {"entities": told})
            sources.append(answer.data["source_id"])
        elif kind == "correct":
            value = chance.choice([None, 1, "x"])
            wish = {"entity_id": ids[one], "entity_type": "person", "field": chance.choice("abc"), "value": value}
            answer = clara.call("memory.correct", wish)
            corrections += [answer.data["observation_id"]] if answer.ok else []
        elif kind == "relate":
            wish = {"source_entity_id": ids[one], "target_entity_id": ids[other], "metadata": {"step": step}}
            answer = clara.call("memory.create-relationship", {"relationship_type": "REFERS_TO", **wish})
        else:
            flow, wish = {
                "merge": ("memory.merge-entities", {"from_entity_id": ids[one], "to_entity_id": ids[other]}),
                "unmerge": ("memory.unmerge-entities", {"entity_id": ids[one]}),
                "retract": ("memory.retract-source", {"source_id": chance.choice(sources or ["x"])}),
                "erase": (
                    "record.erase",
                    {"aggregate": "memory", "subject": chance.choice([*sources, *corrections, "x"]), "reason": "asked"},
                ),
            }[kind]
            answer = admin.call(flow, wish)
            if answer.message_key == "CONFIRMATION_REQUIRED":
                answer = confirmed(admin, flow, wish)
        assert answer.reply_type in "SI", answer
        done += answer.ok
    assert done > 20
    assert clara.office.rebuild("main").same
    for identifier in ids.values():
        seen = clara.call("memory.get-entity-snapshot", {"entity_id": identifier})
        if seen.ok:
            then = clara.call("memory.get-entity-snapshot", {"entity_id": identifier, "at": "2100-01-01"})
            known = clara.call("memory.get-entity-snapshot", {"entity_id": identifier, "at_ingested": "2100-01-01"})
            for name in ("entity_id", "snapshot", "provenance", "observation_count", "last_observation_at"):
                assert then.data[name] == seen.data[name] == known.data[name], name
