"""Taking in entities that are structured already."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, NamedTuple, NotRequired

import orjson
from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example, Limits, Semantics
from engross.flows.pointer import pointer
from engross.ledger import Reader, Unit, last_version
from engross.replies import Issue

from .arguments import ACME, Answered, UserId
from .ids import record_id
from .observing import Claim, ObservedEntity, Record, Run, Weight, named, observe
from .owners import owner_of
from .places import STRUCTURED
from .records import record_with_content, runs_of
from .reducer import CORRECTION
from .refusals import malformed, raise_all, too_many, unfit
from .registry import own_schemas
from .schema import EntitySchema, missing_fields, unfit_fields, unknown_fields
from .ways import Ways

ENTITY_TYPE = re.compile(r"\w[\w .\-/]{0,63}")
PRINTABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,256}")
MOST_FIELDS = 500
MOST_ISSUES = 100
USUAL_PRIORITY = 100
SPECIFICITY = 1.0


class IngestStructured(TypedDict):
    """Entities, each with its type and its fields."""

    user_id: NotRequired[UserId]
    entities: Annotated[
        list[dict[str, Any]],
        Described("Each with entity_type, a name, and any fields.", minItems=1),
    ]
    source_priority: NotRequired[
        Annotated[
            int,
            Described("Weight against other sources.", minimum=0, maximum=CORRECTION - 1, default=USUAL_PRIORITY),
        ]
    ]


class Prepared(NamedTuple):
    """What a call brings, told apart."""

    claims: Sequence[Claim]
    content_hash: str
    size: int
    priority: int
    unknown: int
    schemas: Mapping[str, EntitySchema]
    """Those that the tenant registered itself."""


def add_structured_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flow that takes in structured entities."""

    @memory.record(
        effect="create",
        tier=1,
        posture="direct",
        owner_field="user_id",
        semantics=Semantics(idempotent=True, destructive=False),
        limits=Limits(values=2_000_000, size=64 * 1024 * 1024),
        answers=None,
        examples=[
            Example("A company", ACME, reply="CREATED"),
            Example("The same once more", ACME, given=(("memory.ingest-structured", ACME),), reply="NO_EFFECT"),
            Example("Nothing tells who it is", {"entities": [{"entity_type": "person"}]}, reply="VALIDATION_ERROR"),
        ],
    )
    def ingest_structured(unit: Unit, arguments: IngestStructured) -> Answered:
        """Store entities you have as structured data of any type: people, companies, your own.

        For a type with a registered capability (invoice, receipt, ...) use submit_payload; for raw files, ingest.
        """
        # A few microseconds for each entity: less than it would cost to have somebody else do it first.
        return _ingested(unit, _prepared(unit, arguments, ways.most_entities))


def _prepared(reader: Reader, arguments: IngestStructured, most: int) -> Prepared:
    entities = arguments["entities"]
    if len(entities) > most:
        hint = f"Send at most {most} in one call, and the others in further calls."
        raise_all([too_many("/entities", "The number of entities", most, len(entities), hint)])
    observed = _observed(entities)
    schemas = own_schemas(reader, [one.type for one in observed])
    raise_all(_unfit(observed, schemas))
    text = orjson.dumps(entities, option=orjson.OPT_SORT_KEYS)
    return Prepared(
        named(observed),
        sha256(text).hexdigest(),
        len(text),
        arguments["source_priority"],
        sum(len(unknown_fields(schemas[one.type], one.fields)) for one in observed if one.type in schemas),
        schemas,
    )


def _observed(entities: Sequence[Mapping[str, Any]]) -> list[ObservedEntity]:
    issues: list[Issue] = []
    found: list[ObservedEntity] = []
    for place, entity in enumerate(entities):
        kind = entity.get("entity_type")
        if not isinstance(kind, str) or not ENTITY_TYPE.fullmatch(kind):
            problem = "entity_type is missing" if kind is None else "entity_type is no name of a type"
            issues.append(malformed(f"/entities/{place}/entity_type", problem, "As person or company."))
        elif len(entity) > MOST_FIELDS:
            issues.append(
                too_many(f"/entities/{place}", "The number of fields", MOST_FIELDS, len(entity), "Use fewer fields.")
            )
        elif not all(map(PRINTABLE.fullmatch, entity)):
            problem = "a field's name is empty, too long or holds control characters"
            issues.append(malformed(f"/entities/{place}", problem, "Name fields by words, as date_issued."))
        else:
            found.append(ObservedEntity(kind, {name: entity[name] for name in entity if name != "entity_type"}))
        if len(issues) >= MOST_ISSUES:
            break
    raise_all(issues)
    return found


def _unfit(observed: Sequence[ObservedEntity], schemas: Mapping[str, EntitySchema]) -> list[Issue]:
    issues: list[Issue] = []
    for place, one in enumerate(observed):
        schema = schemas.get(one.type)
        if schema is None:
            continue
        for name, kind in unfit_fields(schema, one.fields):
            issues.append(unfit(pointer(("entities", place, name)), kind))
        for name in missing_fields(schema, one.fields):
            issues.append(malformed(pointer(("entities", place, name)), "the schema of the type requires it"))
    return issues[:MOST_ISSUES]


def _ingested(unit: Unit, prepared: Prepared) -> Answered:
    known = record_with_content(unit, prepared.content_hash)
    if known is None:
        identifier = record_id(owner_of(unit.context), prepared.content_hash)
        # What was erased leaves no row behind, and its versions go on.
        return _recorded(unit, prepared, identifier, last_version(unit, "memory", identifier), 1)
    config = _config(prepared.priority)
    runs = runs_of(unit, known["id"])
    if known["retracted_at"] is not None:
        return _recorded(unit, prepared, known["id"], known["version"], len(runs) + 1)
    for run in runs:
        if run["provider"] == STRUCTURED and orjson.loads(run["config"]) == config:
            return _answer(known["id"], run["id"], run["entities_created"], run["observations_created"], again=True)
    return _interpreted(unit, prepared, known["id"], known["version"], len(runs) + 1)


def _recorded(unit: Unit, prepared: Prepared, identifier: str, version: int, number: int) -> Answered:
    record = Record(
        identifier,
        "source",
        "dataset",
        prepared.content_hash,
        category="StructuredData",
        mime_type="application/json",
        name="structured_data.json",
        size=prepared.size,
        provenance={"upload_method": "ingest_structured"},
    )
    return _interpreted(unit, prepared, record, version, number)


def _interpreted(unit: Unit, prepared: Prepared, record: str | Record, version: int, number: int) -> Answered:
    run = Run(unit.new_id(), number, STRUCTURED, _config(prepared.priority), prepared.unknown)
    observed = observe(
        unit,
        prepared.claims,
        record=record,
        follows=version,
        run=run,
        weight=Weight(prepared.priority, SPECIFICITY),
        schemas=prepared.schemas,
        together=False,
    )
    identifier = record if isinstance(record, str) else record.id
    return _answer(identifier, run.id, observed.entities_created, observed.observations_created, again=False)


def _config(priority: int) -> dict[str, Any]:
    return {"provider": STRUCTURED, "model_id": "n/a", "source_priority": priority}


def _answer(source: str, run: str, entities: int, observations: int, *, again: bool) -> Answered:
    interpretation = {"run_id": run, "entities_created": entities, "observations_created": observations}
    return {"source_id": source, "interpretation": interpretation, "deduplicated": again}
