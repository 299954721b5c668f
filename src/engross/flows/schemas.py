"""JSON Schemas: closed for what comes in, open for what goes out.

A schema is changed only through `rewritten`, which knows where subschemas sit. A property that happens to be
called `title` or `required` is therefore never mistaken for the keyword of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from .definition import FlowDefinitionError
from .typed import generated, with_notes

Schema: TypeAlias = dict[str, Any]
Shape: TypeAlias = type[Any] | Mapping[str, Any]
"""What a definition may give for arguments or answers: a TypedDict class or a JSON Schema of an object."""

_MAPS_OF_SCHEMAS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = (
    *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedProperties", "unevaluatedItems"),
)
_FIRST_KEYWORDS = ("type", "description", "enum")
_LAST_KEYWORDS = ("properties", "required", "additionalProperties", "default")


def schema_of(shape: Shape, subject: str) -> Schema:
    """The schema of a TypedDict class, or a tidy copy of a schema that was given as one."""
    if isinstance(shape, Mapping):
        schema = rewritten(shape, _tidy)
    else:
        noted = with_notes(shape, rewritten(_inlined(generated(shape, subject), subject), _tidy))
        noted.pop("description", None)
        schema = rewritten(noted, _in_order)
    if schema.get("type") != "object":
        raise FlowDefinitionError(subject, 'The schema must describe an object: give it "type": "object".')
    return _defaults_not_required(schema)


def rewritten(schema: Mapping[str, Any], change: Callable[[Schema], Schema]) -> Schema:
    """A copy of the schema with `change` applied to each of its parts, innermost first."""
    return change({keyword: _rewritten_part(keyword, value, change) for keyword, value in schema.items()})


def _rewritten_part(keyword: str, value: Any, change: Callable[[Schema], Schema]) -> Any:
    def each(part: Any) -> Any:
        return rewritten(part, change) if isinstance(part, Mapping) else part

    if keyword in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
        return {name: each(part) for name, part in value.items()}
    if keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [each(part) for part in value]
    return each(value) if keyword in _SCHEMAS else value


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The schemas directly inside this one, each with the path that leads to it."""
    parts: list[tuple[tuple[str, ...], Any]]
    for keyword, value in schema.items():
        if keyword in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
            parts = [((keyword, str(name)), part) for name, part in value.items()]
        elif keyword in _LISTS_OF_SCHEMAS and isinstance(value, list):
            parts = [((keyword, str(index)), part) for index, part in enumerate(value)]
        else:
            parts = [((keyword,), value)] if keyword in _SCHEMAS else []
        yield from (found for found in parts if isinstance(found[1], Mapping))


def without_null(schema: Schema) -> Schema:
    """The schema as it is published: null is understood where the types allow it, but not advertised.

    Vendors disagree on how to write "or null", and leaving a field out mostly says the same.
    """
    return rewritten(schema, _drop_null)


def opened(schema: Schema) -> Schema:
    """The schema with nothing required or closed: answers may grow, and failures carry none of it."""
    return rewritten(schema, _open)


def _inlined(schema: Schema, subject: str) -> Schema:
    """The schema without references: each is replaced by what it refers to."""
    definitions: dict[str, Schema] = schema.pop("$defs", {})

    def expanded(part: Schema, inside: tuple[str, ...]) -> Schema:
        return rewritten(part, lambda inner: resolved(inner, inside))

    def resolved(part: Schema, inside: tuple[str, ...]) -> Schema:
        if "$ref" not in part:
            return part
        name = part.pop("$ref").removeprefix("#/$defs/")
        if name in inside:
            raise FlowDefinitionError(
                subject,
                f"{name} contains itself, which clients cannot read: use dict[str, Any] at that place.",
            )
        return {**expanded(definitions[name], (*inside, name)), **part}

    return expanded(schema, ())


def _tidy(schema: Schema) -> Schema:
    schema.pop("title", None)
    merged = _without_union(schema)
    # A part without a type, such as a condition, speaks about an object that another part describes and closes.
    if "properties" in merged and "type" in merged:
        merged.setdefault("additionalProperties", False)
    return _in_order(merged)


def _without_union(schema: Schema) -> Schema:
    """`str | None` as a list of types; only where no keyword of one branch would bind another."""
    branches: list[Schema] = schema.get("anyOf", [])
    kinds = [branch.get("type") for branch in branches]
    telling = [branch for branch in branches if len(branch) > 1]
    others = len([kind for kind in kinds if kind != "null"])
    if not branches or not _are_different_names(kinds) or len(telling) > 1 or (telling and others > 1):
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    merged = {**(telling[0] if telling else {}), **rest, "type": kinds}
    if "enum" in merged:
        merged["enum"] = [*merged["enum"], None]
    return merged


def _are_different_names(kinds: list[object]) -> bool:
    return all(isinstance(kind, str) for kind in kinds) and len(set(kinds)) == len(kinds)


def _in_order(schema: Schema) -> Schema:
    middle = [word for word in schema if word not in _FIRST_KEYWORDS and word not in _LAST_KEYWORDS]
    return {word: schema[word] for word in (*_FIRST_KEYWORDS, *middle, *_LAST_KEYWORDS) if word in schema}


def _defaults_not_required(schema: Schema) -> Schema:
    fields = schema.get("properties", {})
    needed = [name for name in schema.get("required", ()) if "default" not in fields.get(name, {})]
    return {**schema, "required": needed} if "required" in schema else schema


def _drop_null(schema: Schema) -> Schema:
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds and len(kinds) > 1:
        named = [kind for kind in kinds if kind != "null"]
        schema["type"] = named[0] if len(named) == 1 else named
        if "enum" in schema:
            schema["enum"] = [value for value in schema["enum"] if value is not None]
    return schema


def _open(schema: Schema) -> Schema:
    schema.pop("required", None)
    if "properties" in schema or schema.get("additionalProperties") is False:
        schema["additionalProperties"] = True
    return schema
