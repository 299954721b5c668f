"""The published schemas of declared flows: what they take and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .model import MISSING, Flow, Input, Output

Schema = dict[str, Any]
RESULT = "result"
"""The field of an answer that is no object."""
SAID_OF_CALLS = frozenset({"reply"})
SAID_OF_WRITES = SAID_OF_CALLS | {"status", "warnings", "facts", "position", "idempotent_replay"}
"""The fields in which an answer says something about the call itself."""


def input_schema(inputs: Mapping[str, Input]) -> Schema:
    """What a flow with these inputs takes."""
    needed = [one.name for one in inputs.values() if one.required and one.default is MISSING]
    schema: Schema = {
        "type": "object",
        "properties": {name: _taken(one) for name, one in inputs.items()},
        "additionalProperties": False,
    }
    return {**schema, "required": needed} if needed else schema


def _taken(one: Input) -> Schema:
    schema: Schema = {"type": one.type}
    if one.description:
        schema["description"] = one.description
    if one.enum:
        schema["enum"] = list(one.enum)
    if one.pattern is not None:
        schema["pattern"] = one.pattern
    if one.type == "array":
        # Several clients refuse a list that says nothing about its items.
        schema["items"] = _taken(one.items) if one.items is not None else {}
    if one.type == "object":
        if one.properties:
            schema |= {key: value for key, value in input_schema(one.properties).items() if key != "type"}
        else:
            schema["additionalProperties"] = True
    if one.default is not MISSING:
        schema["default"] = one.default
    return schema


def output_schema(flow: Flow, outputs: Sequence[Output] = ()) -> Schema | None:
    """What a flow answers; None where it does not say. `outputs` are those of an exposure that says it differently."""
    told = tuple(outputs) or flow.outputs
    if not told:
        return None
    if flow.mode != "call":
        return _object({one.name: one for one in told})
    if all(one.type == "object" for one in told):
        fields = {name: part for one in told for name, part in one.properties.items()}
        return _object(fields) if fields else None
    if len(told) > 1:
        return None
    return {"type": "object", "properties": {RESULT: _answered(told[0])}}


def _object(fields: Mapping[str, Output]) -> Schema:
    return {"type": "object", "properties": {name: _answered(one) for name, one in fields.items()}}


def _answered(one: Output) -> Schema:
    # Whatever is missing in a response is null in the answer.
    schema: Schema = {"type": [one.type, "null"]}
    if one.description:
        schema["description"] = one.description
    if one.type == "object":
        schema |= {"additionalProperties": True}
        if one.properties:
            schema["properties"] = {name: _answered(part) for name, part in one.properties.items()}
    if one.type == "array":
        schema["items"] = _answered(one.items) if one.items is not None else {}
    return schema
