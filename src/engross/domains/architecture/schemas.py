"""What the flows take, as JSON Schema: what clients are shown, and what is really held to.

The two differ where a normaliser or the domain itself has more to say than a schema: a type is published as an enum and
accepted as any word, so that the refusal can say which type was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .metamodel import metamodel
from .names import LONGEST_NAME

Schema = dict[str, Any]

LEGIBLE: Schema = {
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$",
    "description": "Something that can be read, on one line: no control characters, and not only invisible ones.",
}
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


def enforced(published: Mapping[str, Any], **more: Schema) -> Schema:
    """What is really accepted: types in any spelling, names without control characters, values that can be null."""
    fields = {name: _enforced(name, one) for name, one in published["properties"].items()}
    return {**published, "properties": {**fields, **more}}


def bounded(published: Mapping[str, Any], fields: Iterable[str]) -> Schema:
    """What is published, with all that these fields are held to besides: for whoever asks about one write alone.

    What is published of a tool has to be short, and such as every vendor's client can read.
    """
    known = published["properties"]
    return {**published, "properties": {**known, **{name: _bounded(name, known[name]) for name in fields}}}


def _bounded(name: str, field: Schema) -> Schema:
    if "enum" in field or "properties" in field:
        return field
    return {**field, **_enforced(name, field), "description": field["description"]}


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
        return {**field, **LEGIBLE}
    if name == "layer":
        return LAYER
    if field.get("type") == "array" and field.get("items", {}).get("type") == "string":
        return {**field, "items": {**field["items"], **LEGIBLE}}
    return field


TYPE_FIELDS = ("type", "element_type", "source_type", "target_type", "relationship_type")
NAME_FIELDS = ("name", "component_name", "model_name")

PROPERTY_VALUE: Schema = {
    "type": ["string", "number", "boolean", "null", "object"],
    "maxLength": LONGEST_TEXT,
    "properties": {"$op": {"enum": ["DELETE"]}},
    "required": ["$op"],
    "additionalProperties": False,
}
"""A value, null for explicitly none, or the word that takes a property away."""

IDENTIFIER = text("Its id.", 128)
REF = text("Or Name, or Type/Name.", 400)
NAME = text("Its name.", LONGEST_NAME)
DESCRIPTION: Schema = {"type": "string", "description": "What it is.", "maxLength": LONGEST_TEXT}
PROPERTIES: Schema = {"type": "object", "description": "Custom properties."}
MODEL_ID = text("Or its name; else yours.", 255)
EXPECTED_VERSION: Schema = {"type": "integer", "description": "Only if it has this version.", "minimum": 1}
ELEMENT_TYPE = choice("Element type.", metamodel().creatable_types)
ANY_ELEMENT_TYPE = text("Element type.", 64)
RELATIONSHIP_TYPE = choice("Relationship type.", metamodel().relationship_types)
LAYER = choice("Only this layer.", metamodel().layers)
ANY_LAYER = text("As in getElementTypes.", 40)
ANY_RELATIONSHIP_TYPE = text("Relationship type.", 64)
LIMIT = number("At most.", 1, 500, 50)
CURSOR = text("Of the page before.", 2000)
OPEN_PROFILE: Schema = {"type": "object", "description": "Of a Capability: owner, criticality, lifecycle."}


def _profile(element_type: str) -> Schema:
    """The whole profile that a type asks for."""
    rules = metamodel().profiles[element_type]
    fields = {
        name: {
            "description": name.capitalize() + ".",
            **{word: one for word, one in field.items() if word != "description"},
        }
        for name, field in rules["fields"].items()
    }
    return {**shape(tuple(rules["required"]), **fields), "description": "Owner, criticality, lifecycle."}


WHOLE_PROFILE = _profile("Capability")
