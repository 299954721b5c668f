"""Rows and what they stand for: maps are kept as JSON text, and what is absent is not shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from .metamodel import metamodel

MODEL_TEXTS = ("properties", "extra")
ELEMENT_TEXTS = ("properties", "profile", "extra")
RELATIONSHIP_TEXTS = ("properties", "extra")

ELEMENT_COLUMNS = "id, version, model_id, type, name, description, properties, profile"
RELATIONSHIP_COLUMNS = (
    "id, version, model_id, type, source_id, target_id, name, description, properties, access_type, modifier,"
    " is_directed"
)


def flat(thing: Mapping[str, Any], texts: Iterable[str]) -> dict[str, str | None]:
    """The maps of a thing as JSON text; an empty one is none."""
    return {name: as_text(dict(thing[name])) if thing.get(name) else None for name in texts}


def as_text(value: object) -> str:
    """JSON text with sorted keys: a fact read from the ledger must give the same bytes as when it was stated."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A thing as its facts say it, from its row or from them."""
    thing = {name: value for name, value in row.items() if value is not None}
    for name in ("properties", "profile", "extra"):
        if isinstance(thing.get(name), str):
            thing[name] = orjson.loads(thing[name])
    if "is_directed" in thing:
        thing["is_directed"] = bool(thing["is_directed"])
    return thing


def element_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """An element as callers see it."""
    thing = of_row(row)
    shown = {
        "id": thing["id"],
        "type": thing["type"],
        "name": thing["name"],
        "layer": metamodel().layer(thing["type"]),
        "model_id": thing["model_id"],
        "version": thing["version"],
        "description": thing.get("description"),
        "properties": thing.get("properties", {}),
    }
    if thing.get("profile"):
        shown["profile"] = thing["profile"]
    return shown


def relationship_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A relationship as callers see it."""
    thing = of_row(row)
    own = ("id", "type", "source_id", "target_id", "model_id", "version")
    more = ("name", "description", "access_type", "modifier", "is_directed", "properties")
    return {name: thing[name] for name in own} | {name: thing[name] for name in more if name in thing}


def brief(element: Mapping[str, Any]) -> dict[str, Any]:
    """An element in a few words."""
    return {name: element[name] for name in ("id", "type", "name")}


def citation(thing: Mapping[str, Any], kind: str = "element") -> dict[str, Any]:
    """What to quote when something is said about this; what is no part of a model is of a kind of its own."""
    named = "relationship" if "source_id" in thing else kind
    return {f"{named}_id": thing["id"], "version": thing["version"]}
