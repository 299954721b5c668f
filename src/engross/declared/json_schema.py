"""The JSON Schema of the format, for editors: made from the shapes that documents are taken apart by."""

from __future__ import annotations

from typing import Any

from .grammar import DOCUMENT, PARTS, SECTIONS
from .shapes import Shape

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """What a document looks like. An editor that knows it completes names and marks what does not belong."""

    def inner(shape: Shape) -> Any:
        return shape.schema(inner)

    whole = DOCUMENT.schema(inner)
    return {
        "$schema": DIALECT,
        "title": "Capability document",
        "description": "Flows declared once and exposed everywhere.",
        **whole,
        "oneOf": [_capability(), *({"required": [name], "not": {"required": ["capability"]}} for name in SECTIONS)],
        "$defs": {name: inner(shape) for name, shape in PARTS.items()},
    }


def _capability() -> dict[str, Any]:
    """With a capability only binds stand beside it."""
    others = [{"required": [name]} for name in SECTIONS if name != "binds"]
    return {
        "required": ["capability"],
        "properties": {"capability": {"anyOf": others}},
        "not": {"anyOf": others},
    }
