"""The fields of a JSON Schema as people read them: each with its kind, its bounds and what it is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import orjson

from .pages import code

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

Schema = Mapping[str, Any] | bool
NOTHING: Mapping[str, Any] = {"not": {}}


class Field(NamedTuple):
    """A field, what is inside others under a name with dots. Its kind is HTML, its description may hold `code`."""

    name: str
    needed: bool
    kind: str
    description: str


def fields_of(schema: Schema, inside: str = "", depth: int = 1) -> Iterator[Field]:
    """The fields of an object, each followed by those of the object that it is, or is a list of."""
    spelled = _spelled(schema)
    needed = spelled.get("required", ())
    for name, field in ((name, _spelled(one)) for name, one in spelled.get("properties", {}).items()):
        yield Field(f"{inside}{name}", name in needed, kind_of(field), field.get("description", ""))
        within = field.get("items", {}) if field.get("type") == "array" else field
        if depth < DEEPEST:
            yield from fields_of(within, f"{inside}{name}{'[]' if within is not field else ''}.", depth + 1)


def kind_of(schema: Schema) -> str:
    """What may be there, as HTML: text, 1 to 200 characters."""
    field = _spelled(schema)
    told = [_kind(field), *_bounds(field)]
    if "pattern" in field:
        told.append(f"like {code(field['pattern'])}")
    if "default" in field:
        told.append(f"by default {code(_json(field['default']))}")
    return ", ".join(told)


def _spelled(schema: Schema) -> Mapping[str, Any]:
    """What JSON Schema says in short as true or false."""
    if isinstance(schema, bool):
        return {} if schema else NOTHING
    return schema


def _kind(field: Mapping[str, Any]) -> str:
    if field == NOTHING:
        return "nothing"
    if "enum" in field:
        return " or ".join(code(_json(one)) for one in field["enum"])
    kinds = field.get("type", "any")
    if kinds == "array":
        items = _spelled(field.get("items", True))
        return f"list of {kind_of(items)}" if items else "list"
    return " or ".join(escape(KINDS.get(kind, kind)) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _bounds(field: Mapping[str, Any]) -> Iterator[str]:
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
