"""The flows of an office, read from its OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outline import Outline

ABOUT = "x-engross"
JSON = "application/json"


def outlines_in(document: Mapping[str, Any]) -> dict[str, Outline]:
    """Every flow that the document describes, by ref."""
    posted = (path.get("post", {}) for path in document["paths"].values())
    found = [_outline(operation) for operation in posted if ABOUT in operation]
    return {outline.ref: outline for outline in sorted(found, key=lambda outline: outline.ref)}


def _outline(operation: Mapping[str, Any]) -> Outline:
    about = operation[ABOUT]
    body = operation["requestBody"]["content"][JSON]
    return Outline(
        ref=about["ref"],
        title=operation["summary"],
        description=operation["description"],
        kind=about["kind"],
        version=about["version"],
        dialect=about["dialect"],
        hints=about["hints"],
        tool=next(iter(about["tools"]), None),
        toolset=next(iter(about["toolsets"]), None),
        people_only=about["people_only"],
        deprecated_since=about.get("deprecated_since"),
        examples=tuple(_example(example) for example in body.get("examples", {}).values()),
        schema=lambda: body["schema"],
    )


def _example(example: Mapping[str, Any]) -> dict[str, Any]:
    about = example[ABOUT]
    given = about.get("given", [])
    return {"title": example["summary"], "arguments": example["value"], "given": given, "reply": about["reply"]}
