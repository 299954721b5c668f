"""A schema as JSON Schema, for whoever checks the data form of a document."""

from __future__ import annotations

import re
from typing import Any, Final

from .constraint import text_of
from .given import ZONE_MARK
from .outline import plain_of
from .pattern import Rule
from .schema import Schema
from .value import Number, Value

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Final = {"STRING": "string", "NUMBER": "number", "BOOLEAN": "boolean", "LIST": "array", "LITERAL": "object"}


def json_schema_of(schema: Schema) -> dict[str, Any]:
    """The JSON Schema of an object with the schema's fields, as in the data form of a block of that name.

    A prefix of an ENUM's member, which OCTAVE accepts, is refused here: JSON Schema has no word for it.
    """
    made: dict[str, Any] = {
        "$schema": DIALECT,
        "title": schema.name,
        "type": "object",
        "properties": {name: _property(rule) for name, rule in schema.fields.items()},
        "required": schema.required,
        "additionalProperties": schema.policy.unknown_fields != "REJECT",
    }
    if schema.purpose:
        made["description"] = schema.purpose
    if schema.version:
        made["$comment"] = f"version {schema.version}"
    return made


def _property(rule: Rule) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for constraint in rule.constraints:
        made |= _keywords(constraint.name, constraint.arguments)
    if rule.required and "type" not in made and "enum" not in made and "const" not in made:
        made["not"] = {"enum": [None, ""]}
    elif rule.required and made.get("type") == "string":
        made["minLength"] = max(1, made.get("minLength", 0))
    if rule.example is not None:
        made["examples"] = [_plain(rule.example)]
    return made


def _keywords(name: str, arguments: tuple[Value, ...]) -> dict[str, Any]:
    if name == "CONST":
        return {"const": _plain(arguments[0])}
    if name == "ENUM":
        return {"enum": [_plain(member) for member in arguments]}
    if name == "TYPE":
        kind = text_of(arguments[0])
        zone = {"properties": {ZONE_MARK: {"const": True}}, "required": [ZONE_MARK, "content"]}
        return {"type": _TYPES[kind], **(zone if kind == "LITERAL" else {})}
    if name == "LANG":
        tag = re.escape(text_of(arguments[0]))
        return {"type": "object", "properties": {"info_tag": {"pattern": f"^(?i:{tag})$"}}}
    if name == "REGEX":
        return {"type": "string", "pattern": f"^(?:{text_of(arguments[0])})"}
    if name == "APPEND_ONLY":
        return {"type": "array"}
    if name == "RANGE":
        return {"type": "number", "minimum": _plain(arguments[0]), "maximum": _plain(arguments[1])}
    if name in ("MAX_LENGTH", "MIN_LENGTH"):
        bound = "max" if name == "MAX_LENGTH" else "min"
        return {f"{bound}Length": arguments[0], f"{bound}Items": arguments[0]}
    if name == "DATE":
        return {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
    if name == "ISO8601":
        return {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}(?:[T ].*)?$"}
    return {}


def _plain(value: Value) -> Any:
    return value.value if isinstance(value, Number) else plain_of(value)
