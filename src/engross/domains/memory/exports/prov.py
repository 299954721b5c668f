"""Memory as PROV, in JSON-LD: entities derived from observations, observations from records, by runs over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from engross.ledger import Reader

from ..derivations import sources_of
from ..entities import Entity
from ..owners import owner_of
from ..records import runs_of
from ..rows import number_of, origin_of
from .sources import Sources
from .walk import Page, entities_after, paged

URN = "urn:engross:memory"
CONTEXT: dict[str, Any] = {
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "engross": f"{URN}#",
    "wasDerivedFrom": {"@id": "prov:wasDerivedFrom", "@type": "@id"},
    "wasGeneratedBy": {"@id": "prov:wasGeneratedBy", "@type": "@id"},
    "wasAttributedTo": {"@id": "prov:wasAttributedTo", "@type": "@id"},
    "wasAssociatedWith": {"@id": "prov:wasAssociatedWith", "@type": "@id"},
    "alternateOf": {"@id": "prov:alternateOf", "@type": "@id"},
    "used": {"@id": "prov:used", "@type": "@id"},
    "generatedAtTime": {"@id": "prov:generatedAtTime", "@type": "xsd:dateTime"},
    "startedAtTime": {"@id": "prov:startedAtTime", "@type": "xsd:dateTime"},
    "endedAtTime": {"@id": "prov:endedAtTime", "@type": "xsd:dateTime"},
    "observedAt": {"@id": "engross:observedAt", "@type": "xsd:dateTime"},
    "fields": {"@id": "engross:fields", "@type": "@json"},
    "spans": {"@id": "engross:spans", "@type": "@json"},
    "provenance": {"@id": "engross:provenance", "@type": "@json"},
    "config": {"@id": "engross:config", "@type": "@json"},
    "label": "http://www.w3.org/2000/01/rdf-schema#label",
}

ORIGIN = {
    "source_refs": "engross:sourceRefs",
    "extractor_version": "engross:extractorVersion",
    "agent_id": "engross:agentId",
}

Node = dict[str, Any]


def as_prov(reader: Reader, cursor: str | None, entity_type: str | None, limit: int) -> tuple[Node, str | None]:
    """A page of entities as one JSON-LD document, with everything behind them."""
    graph = _Graph(reader)
    page: Page = paged(
        entities_after(reader, cursor, entity_type),
        graph.add,
        lambda entity: (entity.type, entity.id),
        limit,
    )
    return {"@context": CONTEXT, "@graph": [*graph.nodes.values()]}, page.cursor


class _Graph:
    """Nodes by their ids; each once, whoever refers to it."""

    def __init__(self, reader: Reader) -> None:
        self.nodes: dict[str, Node] = {}
        self._reader = reader
        self._sources = Sources(reader)
        self._runs: dict[str, list[str]] = {}
        self._owner = f"{URN}:user:{owner_of(reader.context)}"
        self._put({"@id": self._owner, "@type": "prov:Agent"})

    def add(self, entity: Entity) -> list[Node]:
        """Add an entity with what is behind it; what that added."""
        before = len(self.nodes)
        observations: dict[str, Node] = {}
        for one in self._sources.of(entity):
            identifier = _id("observation", one.observation["id"])
            observations.setdefault(identifier, self._observation(entity, one.observation, one.record))
        node = {
            "@id": _id("entity", entity.id),
            "@type": ["prov:Entity", f"engross:{entity.type}"],
            "label": entity.name,
            "generatedAtTime": entity.updated_at,
            "fields": entity.snapshot,
            "provenance": entity.provenance,
            "wasDerivedFrom": list(observations),
            "wasAttributedTo": self._owner,
        }
        if entity.members:
            node["alternateOf"] = [_id("entity", row["id"]) for row in entity.members]
        for one_node in (*observations.values(), node):
            self._put(one_node)
        return list(self.nodes.values())[before:]

    def _observation(self, entity: Entity, row: dict[str, Any], record: dict[str, Any] | None) -> Node:
        node: Node = {
            "@id": _id("observation", row["id"]),
            "@type": ["prov:Entity", "engross:Observation"],
            "observedAt": row["observed_at"],
            "generatedAtTime": row["created_at"],
            "engross:sourcePriority": row["priority"],
            "engross:specificityScore": number_of(row["specificity"]),
            "fields": orjson.loads(row["fields"]),
        }
        if spans := self._sources.places.of(row):
            node["spans"] = spans
        if record is None:
            return {**node, "wasAttributedTo": self._owner}
        return {**node, "wasDerivedFrom": _id("record", record["id"]), "wasGeneratedBy": self._record(record)}

    def _record(self, record: dict[str, Any]) -> list[str]:
        """Add a record with all that it was made from, and the runs over it; the ids of these."""
        identifier = _id("record", record["id"])
        waiting = [record]
        while waiting:
            one = waiting.pop()
            if _id("record", one["id"]) not in self.nodes:
                sources = sources_of(self._reader, one)
                self._put(self._kept(one, sources))
                waiting += sources
        if identifier not in self._runs:
            self._runs[identifier] = [self._run(identifier, run) for run in runs_of(self._reader, record["id"])]
        return self._runs[identifier]

    def _kept(self, record: dict[str, Any], sources: Sequence[Mapping[str, Any]]) -> Node:
        node: Node = {
            "@id": _id("record", record["id"]),
            "@type": ["prov:Entity", "engross:Record"],
            "label": record["name"] or record["type"],
            "generatedAtTime": record["created_at"],
            "engross:recordType": record["type"],
            "engross:contentHash": record["content_hash"],
            "wasAttributedTo": self._owner,
        }
        origin = origin_of(record)
        node |= {said: origin[name] for name, said in ORIGIN.items() if name in origin}
        if sources:
            node["wasDerivedFrom"] = [_id("record", source["id"]) for source in sources]
        return node

    def _run(self, record: str, run: dict[str, Any]) -> str:
        identifier = _id("run", run["id"])
        interpreter = f"{URN}:interpreter:{run['provider']}"
        self._put({"@id": interpreter, "@type": ["prov:Agent", "prov:SoftwareAgent"]})
        self._put(
            {
                "@id": identifier,
                "@type": "prov:Activity",
                "startedAtTime": run["started_at"],
                "endedAtTime": run["completed_at"],
                "used": record,
                "wasAssociatedWith": interpreter,
                "config": orjson.loads(run["config"]),
            }
        )
        return identifier

    def _put(self, node: Node) -> None:
        self.nodes.setdefault(node["@id"], node)


def _id(kind: str, identifier: str) -> str:
    return f"{URN}:{kind}:{identifier}"
