"""Relating entities, and looking around."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

import orjson
from typing_extensions import TypedDict

from engross.calls import Answer
from engross.flows import Aggregate, Described, Example, Semantics, nearest
from engross.ledger import Reader, Unit
from engross.replies import Invalid, codes

from .arguments import ACME_ID, GIVEN_BOTH, Answered, EntityId, Limit, Offset
from .circles import Search
from .entities import Entity, find_entities, require_entity
from .graph import MOST_ENTITIES, around_entity, around_record, related
from .ids import RECORD_ID, entity_id, relationship_id
from .owners import owner_of
from .refusals import called, malformed, raise_all
from .relating import ACYCLIC, RELATIONSHIP_TYPES, Edge, between, edges_at
from .rows import relationship_of
from .ways import Ways

JOHN_ID = entity_id("person", "John Doe")
MOST_METADATA = 20_000
REFERS: Mapping[str, object] = {
    "relationship_type": "REFERS_TO",
    "source_entity_id": JOHN_ID,
    "target_entity_id": ACME_ID,
}
RELATED = (*GIVEN_BOTH, ("memory.create-relationship", REFERS))
Direction = Annotated[str, Described("Seen from the entity.", enum=["inbound", "outbound", "both"], default="both")]


class CreateRelationship(TypedDict):
    """A relationship between two entities."""

    relationship_type: Annotated[str, Described("Kind of relationship.", enum=list(RELATIONSHIP_TYPES))]
    source_entity_id: EntityId
    target_entity_id: EntityId
    metadata: NotRequired[Annotated[dict[str, Any], Described("Anything else about it.", default={})]]


_END = {"type": "string", "minLength": 1, "maxLength": 128}
ANY_TYPE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "relationship_type": {"type": "string", "maxLength": 64},
        "source_entity_id": _END,
        "target_entity_id": _END,
        "metadata": {"type": "object", "default": {}},
    },
    "required": ["relationship_type", "source_entity_id", "target_entity_id"],
    "additionalProperties": False,
}
"""A type is published as one of seven words and accepted as any, so that the domain can say which there are."""


class ListRelationships(TypedDict):
    """Relationships of an entity, a page of them."""

    entity_id: EntityId
    direction: NotRequired[Direction]
    relationship_type: NotRequired[Annotated[str, Described("Only of this type.", maxLength=64)]]
    limit: NotRequired[Limit]
    offset: NotRequired[Offset]


class GetRelatedEntities(TypedDict):
    """How far to look, along what."""

    entity_id: EntityId
    relationship_types: NotRequired[
        Annotated[list[Annotated[str, Described("A type.", maxLength=64)]], Described("Only along these.", maxItems=7)]
    ]
    direction: NotRequired[Direction]
    max_hops: NotRequired[Annotated[int, Described("How many steps.", minimum=1, maximum=10, default=1)]]
    include_entities: NotRequired[Annotated[bool, Described("With the entities themselves.", default=True)]]


class GetGraphNeighborhood(TypedDict):
    """A node, and what to show around it."""

    node_id: Annotated[str, Described("Entity or record id.", minLength=1, maxLength=128)]
    node_type: NotRequired[Annotated[Literal["entity", "record"], Described("What it is.", default="entity")]]
    include_relationships: NotRequired[Annotated[bool, Described("Relationships.", default=True)]]
    include_records: NotRequired[Annotated[bool, Described("Records.", default=True)]]
    include_events: NotRequired[Annotated[bool, Described("Timeline events.", default=True)]]
    include_observations: NotRequired[Annotated[bool, Described("Observations.", default=False)]]


def add_graph_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows about relationships."""
    _add_relating(memory)
    _add_looking(memory)


def _add_relating(memory: Aggregate) -> None:
    @memory.record(
        effect="create",
        tier=1,
        posture="direct",
        semantics=Semantics(idempotent=True, destructive=False),
        enforced=ANY_TYPE,
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.INVALID_RELATIONSHIP_TYPE, codes.CYCLE_DETECTED],
        examples=[
            Example("A person refers to a company", REFERS, given=GIVEN_BOTH, reply="CREATED"),
            Example(
                "An end that is not there",
                {**REFERS, "target_entity_id": "ent_nobody"},
                given=GIVEN_BOTH,
                reply="ENTITY_NOT_FOUND",
            ),
            Example("To itself", {**REFERS, "target_entity_id": JOHN_ID}, given=GIVEN_BOTH, reply="CYCLE_DETECTED"),
        ],
    )
    def create_relationship(unit: Unit, arguments: CreateRelationship) -> Answer:
        """Relate two entities. PART_OF, DEPENDS_ON, SUPERSEDES, CORRECTS and DUPLICATE_OF never form circles."""
        return _related(unit, arguments)

    @memory.read(
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.INVALID_RELATIONSHIP_TYPE],
        examples=[Example("Of a person", {"entity_id": JOHN_ID}, given=RELATED)],
    )
    def list_relationships(reader: Reader, arguments: ListRelationships) -> Answered:
        """List an entity's relationships, newest first."""
        entity = require_entity(reader, arguments["entity_id"])
        kind = arguments.get("relationship_type")
        types = _known_types([kind] if kind is not None else [], "relationship_type")
        edges = edges_at(reader, [entity], arguments["direction"], types)
        ordered = sorted(edges, key=lambda edge: edge.row["id"])
        ordered.sort(key=lambda edge: edge.row["created_at"], reverse=True)
        limit, offset = arguments["limit"], arguments["offset"]
        return {
            "relationships": [_seen_from(entity, edge) for edge in ordered[offset : offset + limit]],
            "total": len(ordered),
            "limit": limit,
            "offset": offset,
        }


def _add_looking(memory: Aggregate) -> None:
    @memory.read(
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.INVALID_RELATIONSHIP_TYPE],
        examples=[
            Example("One step", {"entity_id": JOHN_ID}, given=RELATED),
            Example("Nobody", {"entity_id": "ent_nobody"}, reply="ENTITY_NOT_FOUND"),
        ],
    )
    def get_related_entities(reader: Reader, arguments: GetRelatedEntities) -> Answered:
        """Follow relationships from an entity, several steps far."""
        start = require_entity(reader, arguments["entity_id"])
        types = _known_types(arguments.get("relationship_types", []), "relationship_types")
        found = related(
            reader, start, types=types, direction=arguments["direction"], hops=arguments["max_hops"], most=MOST_ENTITIES
        )
        return {
            "entities": [one.shown() for one in found.entities] if arguments["include_entities"] else [],
            "relationships": [relationship_of(edge.shown) for edge in found.edges],
            "total_entities": len(found.entities),
            "total_relationships": len(found.edges),
            "hops_traversed": found.hops,
            "truncated": found.truncated,
        }

    @memory.read(
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND, codes.RECORD_NOT_FOUND],
        examples=[
            Example("Around a person", {"node_id": JOHN_ID}, given=RELATED),
            Example("Around a record", {"node_id": "$0.source_id", "node_type": "record"}, given=GIVEN_BOTH),
            Example("No such record", {"node_id": "nowhere", "node_type": "record"}, reply="RECORD_NOT_FOUND"),
        ],
    )
    def get_graph_neighborhood(reader: Reader, arguments: GetGraphNeighborhood) -> Answered:
        """Show everything around an entity or a record: relationships, entities, records and events."""
        shown = frozenset(
            name
            for name in ("relationships", "records", "events", "observations")
            if arguments[f"include_{name}"]  # type: ignore[literal-required]
        )
        if arguments["node_type"] == "record":
            if not RECORD_ID.fullmatch(arguments["node_id"]):
                raise_all([malformed("/node_id", "this is no record id")])
            return around_record(reader, arguments["node_id"], shown)
        return around_entity(reader, require_entity(reader, arguments["node_id"], "node_id"), shown)


def _related(unit: Unit, arguments: CreateRelationship) -> Answer:
    (kind,) = _known_types([arguments["relationship_type"]], "relationship_type")
    metadata = arguments["metadata"]
    if len(orjson.dumps(metadata)) > MOST_METADATA:
        raise_all([malformed("/metadata", f"metadata takes up to {MOST_METADATA} characters")])
    source = require_entity(unit, arguments["source_entity_id"], "source_entity_id")
    target = require_entity(unit, arguments["target_entity_id"], "target_entity_id")
    known = between(unit, kind, source, target)
    if known is None:
        _refuse_circle(unit, kind, source, target)
        identifier = relationship_id(owner_of(unit.context), kind, source.id, target.id)
        return _stated(unit, identifier, kind, source.id, target.id, metadata, None)
    before = orjson.loads(known["metadata"])
    after = {**before, **metadata}
    if after == before:
        return Answer(relationship_of({**known, "source_id": source.id, "target_id": target.id}))
    return _stated(unit, known["id"], kind, known["source_id"], known["target_id"], after, known)


def _stated(
    unit: Unit,
    identifier: str,
    kind: str,
    source: str,
    target: str,
    metadata: Mapping[str, Any],
    known: Mapping[str, Any] | None,
) -> Answer:
    from engross.ledger import last_version

    owner = owner_of(unit.context)
    said = {"owner": owner, "id": identifier, "type": kind, "source_id": source, "target_id": target}
    follows = last_version(unit, "memory", identifier)
    before = None if known is None else {"metadata": orjson.loads(known["metadata"])}
    unit.append("Related", identifier, follows, {**said, "metadata": metadata}, before=before, fields=["metadata"])
    row = unit.row(
        "SELECT id, type, source_id, target_id, metadata, created_at, updated_at FROM memory_relationships"
        " WHERE tenant = :tenant AND owner = :owner AND id = :id",
        owner=owner,
        id=identifier,
    )
    assert row is not None
    ends = find_entities(unit, [source, target])
    return Answer(relationship_of({**row, "source_id": ends[source].id, "target_id": ends[target].id}))


def _refuse_circle(unit: Unit, kind: str, source: Entity, target: Entity) -> None:
    if source.id != target.id and (kind not in ACYCLIC or not Search(unit, kind).leads(target.id, source.id)):
        return
    hint = "An entity cannot be related to itself." if source.id == target.id else "The target already leads here."
    raise Invalid(
        codes.CYCLE_DETECTED, {"relationship_type": kind}, field="target_entity_id", suggestions={"hint": hint}
    )


def _known_types(types: Sequence[str], field: str) -> list[str]:
    for kind in types:
        if kind not in RELATIONSHIP_TYPES:
            raise Invalid(
                codes.INVALID_RELATIONSHIP_TYPE,
                {"type": called(kind, "This")},
                field=field,
                suggestions={
                    "did_you_mean": nearest(kind.upper(), RELATIONSHIP_TYPES),
                    "valid_types": list(RELATIONSHIP_TYPES),
                },
            )
    return list(types)


def _seen_from(entity: Entity, edge: Edge) -> dict[str, Any]:
    direction = "outbound" if edge.source.id == entity.id else "inbound"
    return {**relationship_of(edge.shown), "direction": direction}
