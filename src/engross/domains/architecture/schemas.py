"""What the flows take, as JSON Schema: what clients are shown, and what is really held to.

The two differ where a normaliser or the domain itself has more to say than a schema: a type is published as an enum and
accepted as any word, so that the refusal can say which type was probably meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from .metamodel import metamodel
from .names import LONGEST_NAME

Schema = dict[str, Any]

NO_CONTROL_CHARACTERS = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$"
LONGEST_TEXT = 20_000
MOST_PROPERTIES = 200


def shape(required: tuple[str, ...] = (), /, **fields: Schema) -> Schema:
    """An object with these fields, and no others."""
    schema: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def text(description: str, most: int = 200, **more: Any) -> Schema:
    """A text that says something."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": most, **more}


def choice(description: str, options: tuple[str, ...] | list[str], **more: Any) -> Schema:
    """One of a few words."""
    return {"type": "string", "description": description, "enum": list(options), **more}


def number(description: str, least: int, most: int, default: int) -> Schema:
    """A whole number with bounds."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most, "default": default}


def flag(description: str, default: bool) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": description, "default": default}


def names(description: str) -> Schema:
    """A list of names."""
    return {
        "type": "array",
        "description": description,
        "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
        "maxItems": 50,
    }


class Taken(TypedDict):
    """The two facets of a flow that say what it takes."""

    arguments: Schema
    enforced: Schema


def taking(schema: Schema, **more: Schema) -> Taken:
    """Publish a schema without its bounds, and hold calls to all of it.

    Bounds cost a model's context in every conversation, and are told when they are hit; getWriteSchema shows them.
    """
    return {"arguments": lean(schema), "enforced": enforced(schema, **more)}


def lean(schema: Mapping[str, Any]) -> Schema:
    """The schema without bounds on sizes and values."""
    return {
        word: {name: lean(one) for name, one in value.items()}
        if word == "properties"
        else lean(value)
        if word == "items"
        else value
        for word, value in schema.items()
        if word not in BOUNDS
    }


def enforced(published: Mapping[str, Any], **more: Schema) -> Schema:
    """What is really accepted: types in any spelling, names without control characters, values that can be null."""
    fields = {name: _enforced(name, one) for name, one in published["properties"].items()}
    return {**published, "properties": {**fields, **more}}


def _enforced(name: str, field: Schema) -> Schema:
    if name == "properties":
        return {**field, "additionalProperties": PROPERTY_VALUE, "maxProperties": MOST_PROPERTIES}
    if name == "profile":
        return {"type": "object", "additionalProperties": {"type": ["string", "null"], "maxLength": LONGEST_NAME}}
    if name == "description":
        return {**field, "type": ["string", "null"]}
    if name in TYPE_FIELDS:
        return {"type": "string", "description": field["description"], "maxLength": LONGEST_NAME}
    if name in NAME_FIELDS:
        return {**field, "pattern": NO_CONTROL_CHARACTERS}
    if field.get("type") == "array" and field.get("items", {}).get("type") == "string":
        return {**field, "items": {**field["items"], "pattern": NO_CONTROL_CHARACTERS}}
    return field


BOUNDS = frozenset({"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "maxProperties"})
TYPE_FIELDS = ("type", "element_type", "source_type", "target_type", "relationship_type")
NAME_FIELDS = ("name", "component_name")

PROPERTY_VALUE: Schema = {
    "type": ["string", "number", "boolean", "null", "object"],
    "maxLength": LONGEST_TEXT,
    "properties": {"$op": {"enum": ["DELETE"]}},
    "required": ["$op"],
    "additionalProperties": False,
}
"""A value, null for explicitly none, or the word that takes a property away."""

IDENTIFIER = text("Its id.", 128)
NAME = text("Its name.", LONGEST_NAME)
DESCRIPTION: Schema = {"type": "string", "description": "What it is, in a sentence.", "maxLength": LONGEST_TEXT}
PROPERTIES: Schema = {"type": "object", "description": "Custom properties by name."}
MODEL_ID = text("Which model; yours by default.", 128)
EXPECTED_VERSION: Schema = {
    "type": "integer",
    "description": "Only if it still has this version.",
    "minimum": 1,
}
ELEMENT_TYPE = choice("Element type.", metamodel().creatable_types)
ANY_ELEMENT_TYPE = text("An element type.", 64)
RELATIONSHIP_TYPE = choice("Relationship type.", metamodel().relationship_types)
LAYER = choice("Only this layer.", metamodel().layers)
LIMIT = number("At most so many.", 1, 500, 50)
CURSOR = text("From the page before.", 2000)
OPEN_PROFILE: Schema = {"type": "object", "description": "Of a Capability: owner, criticality, lifecycle."}
PROFILE = {
    **shape(
        (),
        **{
            name: {"description": name.capitalize() + ".", **{k: v for k, v in field.items() if k != "description"}}
            for name, field in metamodel().profiles["Capability"]["fields"].items()
        },
    ),
    "description": "Who owns it, how critical it is, where in its life.",
}
