"""What is held to be true about an entity, where it comes from, and putting it right."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

import orjson
from typing_extensions import TypedDict

from engross.calls import Answer
from engross.flows import Aggregate, Described, Example, Semantics
from engross.ledger import Reader, Unit
from engross.replies import codes

from .arguments import (
    ACME_ID,
    GIVEN_ACME,
    Answered,
    EntityId,
    EntityType,
    FieldName,
    Instant,
    Limit,
    Offset,
    UserId,
)
from .entities import require_entity, require_id
from .explaining import explanation, field_source
from .history import Held, difference, held, held_now
from .moments import asked_instant
from .observations import observations_of
from .observing import Claim, Weight, observe_alone
from .reducer import CORRECTION, correction_of, element_key
from .refusals import malformed, raise_all, unfit
from .rows import observation_of
from .schema import unfit_fields
from .structured_flows import PRINTABLE
from .ways import Ways

OF_ACME: Mapping[str, object] = {"entity_id": ACME_ID}
NOBODY: Mapping[str, object] = {"entity_id": "ent_nobody"}


class GetEntitySnapshot(TypedDict):
    """An entity, today or at an instant."""

    entity_id: EntityId
    at: NotRequired[Annotated[str, Described("As observed up to here, ISO 8601.", minLength=1, maxLength=64)]]
    at_ingested: NotRequired[Annotated[str, Described("As known then, ISO 8601.", minLength=1, maxLength=64)]]


class ListObservations(TypedDict):
    """The observations of an entity, a page of them."""

    entity_id: EntityId
    limit: NotRequired[Limit]
    offset: NotRequired[Offset]


class OneField(TypedDict):
    """A field of an entity."""

    entity_id: EntityId
    field: FieldName


class DiffEntity(TypedDict):
    """An entity at two instants."""

    entity_id: EntityId
    before: Instant
    after: NotRequired[Annotated[str, Described("ISO 8601; now by default.", minLength=1, maxLength=64)]]
    by: NotRequired[
        Annotated[
            str,
            Described(
                "When it was observed, or when we learned it.", enum=["observed", "ingested"], default="observed"
            ),
        ]
    ]


class Correct(TypedDict):
    """A field, and what it should say."""

    user_id: NotRequired[UserId]
    entity_id: EntityId
    entity_type: EntityType
    field: FieldName
    value: Annotated[Any, Described("The right value; null clears the field.")]


def add_truth_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows about what is true."""
    _add_snapshot(memory)
    _add_sources(memory)
    _add_correction(memory)


def _add_snapshot(memory: Aggregate) -> None:
    @memory.read(
        inline=True,
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND],
        examples=[
            Example("Today", OF_ACME, given=GIVEN_ACME),
            Example("Before anything was known", {**OF_ACME, "at": "2000-01-01"}, given=GIVEN_ACME),
            Example("Nobody", NOBODY, reply="ENTITY_NOT_FOUND"),
            Example("No date", {**OF_ACME, "at": "soon"}, given=GIVEN_ACME, reply="VALIDATION_ERROR"),
        ],
    )
    def get_entity_snapshot(reader: Reader, arguments: GetEntitySnapshot) -> Answered:
        """Show what is true about an entity, now or then, with the observation behind each field."""
        identifier = require_id(arguments["entity_id"])
        at, known = arguments.get("at"), arguments.get("at_ingested")
        if at is None and known is None:
            entity = require_entity(reader, identifier)
            return _snapshot(held_now(entity), entity.type, entity.updated_at)
        then = asked_instant(at, "at") if at is not None else None
        found = held(reader, identifier, then, asked_instant(known, "at_ingested") if known is not None else None)
        return _snapshot(found, found.schema.entity_type, found.last_observed_at or then or reader.now)

    memory.resource(
        "memory://entities/{entity_id}",
        get_entity_snapshot,
        name="entity",
        title="Entity",
        description="What is true about an entity.",
        changes="memory/*",
    )

    @memory.read(
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND],
        examples=[Example("Since the year 2000", {**OF_ACME, "before": "2000-01-01"}, given=GIVEN_ACME)],
    )
    def diff_entity(reader: Reader, arguments: DiffEntity) -> Answered:
        """Compare an entity at two instants: fields that came, went and changed."""
        identifier = require_id(arguments["entity_id"])
        first = asked_instant(arguments["before"], "before")
        last = asked_instant(arguments["after"], "after") if "after" in arguments else reader.now
        by = arguments["by"]
        earlier, later = (
            held(reader, identifier, moment, None) if by == "observed" else held(reader, identifier, None, moment)
            for moment in (first, last)
        )
        return {"entity_id": later.entity_id, "before": first, "after": last, "by": by, **difference(earlier, later)}


def _add_sources(memory: Aggregate) -> None:
    @memory.read(
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND],
        examples=[
            Example("All of them", OF_ACME, given=GIVEN_ACME),
            Example("Nobody", NOBODY, reply="ENTITY_NOT_FOUND"),
        ],
    )
    def list_observations(reader: Reader, arguments: ListObservations) -> Answered:
        """List what sources said about an entity, newest first."""
        entity = require_entity(reader, arguments["entity_id"])
        limit, offset = arguments["limit"], arguments["offset"]
        rows = observations_of(reader, entity, limit=limit, offset=offset)
        return {
            "observations": [observation_of(row, entity.row) for row in rows],
            "total": entity.observations,
            "limit": limit,
            "offset": offset,
        }

    @memory.read(
        answers=None,
        normaliser=_field_by_either_name,
        refuses=[codes.ENTITY_NOT_FOUND, codes.FIELD_NOT_FOUND],
        examples=[
            Example("Where a value comes from", {**OF_ACME, "field": "domain"}, given=GIVEN_ACME),
            Example("No such field", {**OF_ACME, "field": "dommain"}, given=GIVEN_ACME, reply="FIELD_NOT_FOUND"),
        ],
    )
    def get_field_provenance(reader: Reader, arguments: OneField) -> Answered:
        """Trace a field to its observation, record, file and the place in it."""
        return field_source(reader, require_entity(reader, arguments["entity_id"]), arguments["field"])

    @memory.read(
        answers=None,
        normaliser=_field_by_either_name,
        refuses=[codes.ENTITY_NOT_FOUND, codes.FIELD_NOT_FOUND],
        examples=[Example("Why this value", {**OF_ACME, "field": "domain"}, given=GIVEN_ACME)],
    )
    def explain_field(reader: Reader, arguments: OneField) -> Answered:
        """Tell why a field has its value: winner, losers, deciding rule, and what changed it."""
        return explanation(reader, require_entity(reader, arguments["entity_id"]), arguments["field"])


def _add_correction(memory: Aggregate) -> None:
    correction = {**OF_ACME, "entity_type": "company", "field": "domain", "value": "acme.example"}

    @memory.record(
        effect="create",
        tier=1,
        posture="direct",
        owner_field="user_id",
        semantics=Semantics(idempotent=True, destructive=False),
        answers=None,
        refuses=[codes.ENTITY_NOT_FOUND],
        examples=[
            Example("Put a field right", correction, given=GIVEN_ACME, reply="CREATED"),
            Example(
                "As it was corrected before",
                correction,
                given=(*GIVEN_ACME, ("memory.correct", correction)),
                reply="NO_EFFECT",
            ),
            Example("Nobody", {**correction, "entity_id": "ent_nobody"}, reply="ENTITY_NOT_FOUND"),
        ],
    )
    def correct(unit: Unit, arguments: Correct) -> Answer:
        """Correct a field. A correction wins over every source, also later ones."""
        return _corrected(unit, arguments)


def _field_by_either_name(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    if "field_name" in arguments and "field" not in arguments:
        arguments = {**arguments, "field": arguments["field_name"]}
        del arguments["field_name"]
    return arguments, []


def _snapshot(found: Held, entity_type: str, computed_at: str) -> dict[str, Any]:
    return {
        "entity_id": found.entity_id,
        "entity_type": entity_type,
        "schema_version": found.schema.version,
        "snapshot": found.snapshot,
        "provenance": found.provenance,
        "computed_at": computed_at,
        "observation_count": found.observations,
        "last_observation_at": found.last_observed_at,
    }


def _corrected(unit: Unit, arguments: Correct) -> Answer:
    entity = require_entity(unit, arguments["entity_id"])
    field, value = arguments["field"], arguments["value"]
    if arguments["entity_type"] != entity.type:
        raise_all([malformed("/entity_type", "the entity is of another type", expected=entity.type)])
    if not PRINTABLE.fullmatch(field):
        raise_all([malformed("/field", "a field's name holds control characters")])
    if field == "entity_type":
        hint = "State it anew under the right type, and retract the source that has it wrong."
        raise_all([malformed("/field", "an entity's type is no field of it", hint)])
    raise_all([unfit("/value", kind) for _, kind in unfit_fields(entity.schema, {field: value})])
    standing = correction_of(entity.board.get(field))
    if standing is not None and element_key(standing.value) == element_key(value):
        return Answer(_correction(standing.id, entity.id, field, value))
    claim = Claim(entity.id, entity.type, entity.name, {field: value})
    identifier = observe_alone(unit, claim, Weight(CORRECTION, 1.0), unit.new_id())
    return Answer(_correction(identifier, entity.id, field, value))


def _correction(identifier: str, entity_id: str, field: str, value: Any) -> dict[str, Any]:
    return {
        "observation_id": identifier,
        "entity_id": entity_id,
        "field": field,
        "value": orjson.loads(orjson.dumps(value)),
        "message": "Correction applied with priority 1000",
    }
