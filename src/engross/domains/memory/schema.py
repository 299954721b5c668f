"""What is known about the types of entities: their fields, and how each field is decided when sources disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

Strategy = Literal["last_write", "highest_priority", "most_specific", "merge_array"]
TieBreaker = Literal["observed_at", "source_priority"]
FieldType = Literal["string", "number", "date", "boolean", "array", "object"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
TIE_BREAKERS: tuple[TieBreaker, ...] = get_args(TieBreaker)
FIELD_TYPES: tuple[FieldType, ...] = get_args(FieldType)
FIRST_VERSION = "1.0"


class Policy(NamedTuple):
    """How one field is decided."""

    strategy: Strategy = "last_write"
    tie_breaker: TieBreaker = "observed_at"


LAST_WRITE = Policy()


class EntitySchema(NamedTuple):
    """One version of what is known about a type. Fields that it does not name are as welcome as those it does."""

    entity_type: str
    version: str = FIRST_VERSION
    fields: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    policies: Mapping[str, Policy] = MappingProxyType({})

    def as_data(self) -> dict[str, Any]:
        """The schema as facts and answers hold it."""
        return {
            "entity_type": self.entity_type,
            "schema_version": self.version,
            "schema_definition": {"fields": {name: dict(field) for name, field in self.fields.items()}},
            "reducer_config": {
                "merge_policies": {
                    name: {"strategy": policy.strategy, "tie_breaker": policy.tie_breaker}
                    for name, policy in self.policies.items()
                }
            },
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> EntitySchema:
        """The schema that `as_data` wrote down."""
        policies = data["reducer_config"]["merge_policies"]
        return cls(
            data["entity_type"],
            data["schema_version"],
            MappingProxyType(dict(data["schema_definition"]["fields"])),
            MappingProxyType({name: policy_of(policy) for name, policy in policies.items()}),
        )


def policy_of(data: Mapping[str, Any]) -> Policy:
    """A policy as a caller or a fact states it."""
    policy = Policy(data["strategy"], data.get("tie_breaker", "observed_at"))
    # The reducer knows the usual one by identity.
    return LAST_WRITE if policy == LAST_WRITE else policy


def unfit_fields(schema: EntitySchema, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields whose values are of another type than the schema says: name and the type that was expected."""
    for name, value in fields.items():
        declared = schema.fields.get(name)
        if declared is None or value is None or is_of(declared["type"], value):
            continue
        if schema.policies.get(name, LAST_WRITE).strategy != "merge_array":
            # Where lists are merged, a single value counts as a list of one.
            yield name, declared["type"]


def missing_fields(schema: EntitySchema, fields: Mapping[str, Any]) -> Iterator[str]:
    """The required fields that are not there."""
    for name, declared in schema.fields.items():
        if declared.get("required") and fields.get(name) is None:
            yield name


def unknown_fields(schema: EntitySchema, fields: Mapping[str, Any]) -> list[str]:
    """The fields that the schema does not name, if it names any."""
    return [name for name in fields if name not in schema.fields] if schema.fields else []


def is_of(kind: str, value: Any) -> bool:
    """Is the value of this type?"""
    if kind == "string":
        return isinstance(value, str)
    if kind == "date":
        return isinstance(value, str | date)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, list | tuple) if kind == "array" else isinstance(value, Mapping)
