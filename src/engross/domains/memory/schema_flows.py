"""The registry of schemas: what is known about the types of entities."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

import orjson
from typing_extensions import TypedDict

from engross.flows import Aggregate, Described, Example
from engross.flows.pointer import pointer
from engross.ledger import Reader, Unit, last_version
from engross.replies import Invalid, Issue, codes

from .arguments import Answered, EntityType
from .erasing import SCHEMA
from .refusals import called, malformed, raise_all
from .registry import own_schema
from .schema import FIELD_TYPES, STRATEGIES, TIE_BREAKERS, EntitySchema
from .shipped_schemas import shipped_schema, shipped_schemas
from .structured_flows import ENTITY_TYPE, PRINTABLE
from .ways import Ways

VERSION = re.compile(r"[1-9]\d{0,5}\.\d{1,6}")
MOST_DECIDED_ANEW = 20_000
NOTE: Mapping[str, object] = {
    "entity_type": "note",
    "schema_version": "1.0",
    "fields": {"name": {"type": "string", "required": True}, "tags": {"type": "array"}},
    "merge_policies": {"tags": {"strategy": "merge_array"}, "name": {"strategy": "highest_priority"}},
}
LISTED = ("schema_definition", "reducer_config", "active", "shipped")
"""How a schema is told of where it is listed, beside its type and version."""
Version = Annotated[str, Described("As 1.0, 1.1 or 2.0.", minLength=3, maxLength=13)]


class RegisterSchema(TypedDict):
    """A new version of what is known about a type."""

    entity_type: EntityType
    schema_version: Version
    fields: Annotated[dict[str, Any], Described("By name: type, required, description.")]
    merge_policies: NotRequired[Annotated[dict[str, Any], Described("By field: strategy and tie_breaker.", default={})]]


class ActivateSchema(TypedDict):
    """Which version is to hold."""

    entity_type: EntityType
    schema_version: Version


class ListSchemas(TypedDict):
    """Of which type."""

    entity_type: NotRequired[EntityType]


def add_schema_flows(memory: Aggregate, ways: Ways) -> None:
    """Give an aggregate the flows of the registry."""

    @memory.record(
        effect="create",
        tier=2,
        exposed=False,
        normaliser=_as_listed,
        answers=None,
        examples=[
            Example("A schema for notes", NOTE, reply="CREATED"),
            Example(
                "A strategy that is none",
                {**NOTE, "merge_policies": {"tags": {"strategy": "vote"}}},
                reply="VALIDATION_ERROR",
            ),
        ],
    )
    def register_schema(unit: Unit, arguments: RegisterSchema) -> Answered:
        """Register a version of a type's schema: its fields, and how each is decided. It holds once it is activated."""
        return _registered(unit, arguments)

    @memory.record(
        effect="update",
        tier=3,
        exposed=False,
        answers=None,
        refuses=[codes.SCHEMA_NOT_FOUND],
        examples=[
            Example(
                "It must be confirmed",
                {"entity_type": "note", "schema_version": "1.0"},
                given=(("memory.register-schema", NOTE),),
                reply="CONFIRMATION_REQUIRED",
            ),
            Example("No such version", {"entity_type": "note", "schema_version": "9.0"}, reply="SCHEMA_NOT_FOUND"),
        ],
    )
    def activate_schema(unit: Unit, arguments: ActivateSchema) -> Answered:
        """Let a version of a type's schema hold. Every entity of the type is decided anew by it."""
        return _activated(unit, arguments)

    @memory.read(exposed=False, answers=None, examples=[Example("All of them", {})])
    def list_schemas(reader: Reader, arguments: ListSchemas) -> Answered:
        """List schemas by type and version, those that come with the domain included."""
        wanted = arguments.get("entity_type")
        own = [_shown(row) for row in _rows(reader) if wanted in (None, row["entity_type"])]
        taken = {one["entity_type"] for one in own if one["active"]}
        shipped = [
            {**schema.as_data(), "active": name not in taken, "shipped": True}
            for name, schema in shipped_schemas().items()
            if wanted in (None, name)
        ]
        found = sorted([*own, *shipped], key=lambda one: (one["entity_type"], one["shipped"], one["schema_version"]))
        return {"schemas": found, "total": len(found)}


def _as_listed(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """A schema may come as `list_schemas` shows it, too: what is listed can be sent back, here or elsewhere."""
    definition, config = arguments.get("schema_definition"), arguments.get("reducer_config", {})
    if "fields" in arguments or not isinstance(definition, Mapping) or not isinstance(config, Mapping):
        return arguments, []
    told = {name: value for name, value in arguments.items() if name not in LISTED}
    parts = {"fields": definition.get("fields", {}), "merge_policies": config.get("merge_policies", {})}
    return {**parts, **told}, []


def _registered(unit: Unit, arguments: RegisterSchema) -> Answered:
    raise_all(list(_problems(arguments)))
    kind, version = arguments["entity_type"], arguments["schema_version"]
    schema = {
        "entity_type": kind,
        "schema_version": version,
        "schema_definition": {"fields": arguments["fields"]},
        "reducer_config": {"merge_policies": arguments["merge_policies"]},
    }
    known = _row(unit, kind, version)
    if known is not None:
        if orjson.loads(known["definition"]) != schema:
            hint = "A version never changes: register another one."
            raise_all([malformed("/schema_version", "this version is registered with other content", hint)])
        return _shown(known)
    subject = f"{SCHEMA}/{kind}"
    unit.append("SchemaRegistered", subject, last_version(unit, "memory", subject), schema, fields=[version])
    return {**schema, "active": False, "shipped": False}


def _problems(arguments: RegisterSchema) -> Iterator[Issue]:
    if not ENTITY_TYPE.fullmatch(arguments["entity_type"]):
        yield malformed("/entity_type", "this is no name of a type")
    if not VERSION.fullmatch(arguments["schema_version"]):
        yield _no_version()
    for name, field in arguments["fields"].items():
        if not PRINTABLE.fullmatch(name) or not isinstance(field, Mapping) or field.get("type") not in FIELD_TYPES:
            yield malformed(
                pointer(("fields", name)), "a field has a name and a type", allowed_values=list(FIELD_TYPES)
            )
    for name, policy in arguments["merge_policies"].items():
        if name not in arguments["fields"]:
            yield malformed(pointer(("merge_policies", name)), "there is no such field in the schema")
        elif not isinstance(policy, Mapping) or policy.get("strategy") not in STRATEGIES:
            yield malformed(pointer(("merge_policies", name)), "this is no strategy", allowed_values=list(STRATEGIES))
        elif policy.get("tie_breaker", "observed_at") not in TIE_BREAKERS:
            yield malformed(
                pointer(("merge_policies", name)), "this is no tie breaker", allowed_values=list(TIE_BREAKERS)
            )


def _no_version() -> Issue:
    return malformed("/schema_version", "a version is two numbers with a point between them", "As 1.0.")


def _activated(unit: Unit, arguments: ActivateSchema) -> Answered:
    kind, version = arguments["entity_type"], arguments["schema_version"]
    if not VERSION.fullmatch(version):
        raise_all([_no_version()])
    row = _row(unit, kind, version)
    if row is None:
        raise Invalid(
            codes.SCHEMA_NOT_FOUND,
            {"entity_type": called(kind), "schema_version": version},
            field="schema_version",
            suggestions={"hint": "Register it first."},
        )
    if row["active"]:
        return {**_shown(row), "entities_decided_anew": 0}
    wanted, own = EntitySchema.from_data(orjson.loads(row["definition"])), own_schema(unit, kind)
    held = own or shipped_schema(kind)
    otherwise = held.policies != wanted.policies
    concerned = _concerned(unit, kind) if otherwise else 0
    subject = f"{SCHEMA}/{kind}"
    said = {"entity_type": kind, "schema_version": version, "decides_otherwise": otherwise, **_in_force(wanted)}
    unit.append(
        "SchemaActivated",
        subject,
        last_version(unit, "memory", subject),
        said,
        # Of the one that comes with the domain, the version says nothing: it counts by itself.
        before=_in_force(held) if own is not None else {**_in_force(held), "active": None},
        fields=["active", "merge_policies"],
    )
    return {**_shown(row), "active": True, "entities_decided_anew": concerned}


def _in_force(schema: EntitySchema) -> dict[str, Any]:
    """What whoever decides about a schema sees of it: the version, and how fields are decided."""
    return {"active": schema.version, **schema.as_data()["reducer_config"]}


def _concerned(unit: Unit, kind: str) -> int:
    count = int(unit.value("SELECT count(*) FROM memory_entities WHERE tenant = :tenant AND type = :type", type=kind))
    if count > MOST_DECIDED_ANEW:
        problem = f"{count} entities would be decided anew, which is more than the {MOST_DECIDED_ANEW} of one call"
        hint = "Register a schema with the policies that hold now, or another type."
        raise_all([malformed("/entity_type", problem, hint)])
    return count


def _rows(reader: Reader) -> list[dict[str, Any]]:
    return reader.rows(
        "SELECT entity_type, schema_version, active, definition FROM memory_schemas WHERE tenant = :tenant"
        " ORDER BY entity_type, schema_version"
    )


def _row(reader: Reader, kind: str, version: str) -> dict[str, Any] | None:
    return reader.row(
        "SELECT entity_type, schema_version, active, definition FROM memory_schemas WHERE tenant = :tenant"
        " AND entity_type = :kind AND schema_version = :version",
        kind=kind,
        version=version,
    )


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**orjson.loads(row["definition"]), "active": bool(row["active"]), "shipped": False}
