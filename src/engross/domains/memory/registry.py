"""Which schema holds for a type: the active one of the tenant's own, else the one that comes with the domain."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from engross.ledger import Reader

from .reducer import Policies
from .schema import EntitySchema
from .shipped_schemas import shipped_schema

ACTIVE = "SELECT definition FROM memory_schemas WHERE tenant = :tenant AND entity_type = :entity_type AND active = 1"

VERSIONS = "SELECT schema_version, definition FROM memory_schemas WHERE tenant = :tenant AND entity_type = :entity_type"


def own_schema(reader: Reader, entity_type: str) -> EntitySchema | None:
    """The active schema that the tenant registered for a type, if it did."""
    row = reader.row(ACTIVE, entity_type=entity_type)
    return None if row is None else EntitySchema.from_data(orjson.loads(row["definition"]))


def versions_of(reader: Reader, entity_type: str) -> dict[str, EntitySchema]:
    """The schemas that the tenant registered for a type, active or not, by their versions."""
    rows = reader.rows(VERSIONS, entity_type=entity_type)
    return {row["schema_version"]: EntitySchema.from_data(orjson.loads(row["definition"])) for row in rows}


def own_schemas(reader: Reader, entity_types: Iterable[str]) -> dict[str, EntitySchema]:
    """The active schemas that the tenant registered for some types."""
    found = {kind: own_schema(reader, kind) for kind in sorted(set(entity_types))}
    return {kind: schema for kind, schema in found.items() if schema is not None}


def schema_for(reader: Reader, entity_type: str) -> EntitySchema:
    """The schema that holds for a type; an empty one where nobody said anything about it."""
    return own_schema(reader, entity_type) or shipped_schema(entity_type)


def schemas_for(reader: Reader, entity_types: Iterable[str]) -> dict[str, EntitySchema]:
    """The schemas that hold for several types."""
    return {entity_type: schema_for(reader, entity_type) for entity_type in set(entity_types)}


def policies_for(reader: Reader, entity_type: str) -> Policies:
    """How the fields of a type are decided."""
    return schema_for(reader, entity_type).policies
