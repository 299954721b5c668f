"""The fields of a JSON Schema as people read them: each with its kind, its bounds and what it is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

DEEPEST = 2
KINDS = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
    "null": "nothing",
    "any": "anything",
}
BOUNDS = (("minLength", "maxLength", "character"), ("minimum", "maximum", ""), ("minItems", "maxItems", "item"))

Schema = Mapping[str, Any]


class Field(NamedTuple):
    """A field, what is inside others under a name with dots. Kind and description may hold `code`."""

    name: str
    needed: bool
    kind: str
    description: str


def fields_of(schema: Schema, inside: str = "", depth: int = 1) -> Iterator[Field]:
    """The fields of an object, each followed by those of the object that it is, or is a list of."""
    needed = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield Field(f"{inside}{name}", name in needed, kind_of(field), field.get("description", ""))
        within = field.get("items", {}) if field.get("type") == "array" else field
        if depth < DEEPEST:
            yield from fields_of(within, f"{inside}{name}{'[]' if within is not field else ''}.", depth + 1)


def kind_of(field: Schema) -> str:
    """What may be there: text, 1 to 200 characters."""
    told = [_kind(field), *_bounds(field)]
    if "pattern" in field:
        told.append(f"like `{field['pattern']}`")
    if "default" in field:
        told.append(f"by default `{_json(field['default'])}`")
    return ", ".join(told)


def _kind(field: Schema) -> str:
    if "enum" in field:
        return " or ".join(f"`{_json(one)}`" for one in field["enum"])
    kinds = field.get("type", "any")
    if kinds == "array":
        return f"list of {kind_of(field['items'])}" if field.get("items") else "list"
    return " or ".join(KINDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _bounds(field: Schema) -> Iterator[str]:
    for least, most, unit in BOUNDS:
        low, high = field.get(least), field.get(most)
        if low is not None or high is not None:
            yield from _span(low, high, unit)
    if field.get("uniqueItems"):
        yield "none of them twice"


def _span(low: int | float | None, high: int | float | None, unit: str) -> Iterator[str]:
    if unit and not low:
        # There are never fewer than none.
        low = None
    last = low if high is None else high
    words = f" {unit}{'' if last == 1 else 's'}" if unit else ""
    if high is None:
        yield from () if low is None else (f"at least {low}{words}",)
    elif low is None:
        yield f"at most {high}{words}"
    else:
        yield f"{high}{words}" if low == high else f"{low} to {high}{words}"


def _json(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
