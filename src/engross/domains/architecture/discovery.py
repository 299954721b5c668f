"""What can be modelled, and how to write it: answers made from the metamodel and from the flows themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Flow
from engross.flows.example import is_reference, succeeds
from engross.replies import Issue

from .metamodel import metamodel
from .refusals import no_such_element_type, raise_all
from .schemas import bounded

EXAMPLES_SHOWN = 5
SAMPLE_ID = "018f0000-0000-7000-8000-000000000000"
# A write that has to be confirmed is a good one: validateWrite finds nothing wrong with it.
CONFIRMED = "CONFIRMATION_REQUIRED"
PREFIXES = {"model": "model_", "relationship": "rel_"}
"""What the ids of things begin with, where they are no elements."""


def element_types(layer: str | None, with_aspect: bool) -> dict[str, Any]:
    """The element types by layer, and the connectors apart."""
    shown = (layer,) if layer else metamodel().layers
    connectors = [{"type": name, "description": told} for name, told in metamodel().connectors.items()]
    return {
        "layers": {name: [_type(one, with_aspect) for one in metamodel().types_in(name)] for name in shown},
        "connectors": connectors if layer in (None, "other") else [],
        "profiles": dict(metamodel().profiles),
        "metamodel": metamodel().stamp,
    }


def relationship_types(source: str | None, target: str | None) -> dict[str, Any]:
    """The relationship types: counts and examples of all, the other ends of one type, or those for a pair."""
    issues: list[Issue] = []
    first, second = _known(source, "source_type", issues), _known(target, "target_type", issues)
    raise_all(issues)
    answer: dict[str, Any] = {"metamodel": metamodel().stamp}
    if first and second:
        return answer | {
            "relationships": [_pair(name, first, second) for name in metamodel().allowed(first, second)],
            "reverse": [_pair(name, second, first) for name in metamodel().allowed(second, first)],
        }
    if first or second:
        told = [_one_end(name, first, second) for name in metamodel().relationship_types]
        return answer | {"relationships": [one for one in told if one["count"]]}
    return answer | {"relationships": [_summary(name) for name in metamodel().relationship_types], "truncated": True}


def write_schema(flow: Flow, operation: str) -> dict[str, Any]:
    """How a write is called: its schema, examples that fit it, and which fields it needs."""
    schema = bounded(flow.published, flow.own_fields)
    required = list(schema.get("required", ()))
    return {
        "operation": operation,
        "schema": schema,
        "examples": [
            {"description": example.title, "input": _plain(example.arguments)}
            for example in flow.examples
            if succeeds(example) or example.reply == CONFIRMED
        ],
        "required_fields": required,
        "optional_fields": [name for name in schema["properties"] if name not in required],
        "schema_version": flow.version,
        "metamodel": metamodel().stamp,
    }


def _type(name: str, with_aspect: bool) -> dict[str, str]:
    told = metamodel().describe(name)
    shown = {"type": name, "description": told["description"]}
    return {**shown, "aspect": told["aspect"]} if with_aspect else shown


def _known(word: str | None, field: str, issues: list[Issue]) -> str | None:
    if word is None:
        return None
    meant = metamodel().element_type(word)
    if meant is None:
        issues.append(no_such_element_type(word, field))
    return meant.type if meant else None


def _told(name: str) -> dict[str, Any]:
    told = metamodel().relationship(name)
    return {
        "type": name,
        "description": told["description"],
        "direction": f"source {told['verb']} target",
    }


def _pair(name: str, source: str, target: str) -> dict[str, Any]:
    return {**_told(name), "valid_pairs": [{"source": source, "target": target}]}


def _one_end(name: str, source: str | None, target: str | None) -> dict[str, Any]:
    if source:
        others = metamodel().targets_for(name, source)
        return {**_told(name), "count": len(others), "targets": _by_layer(others)}
    others = metamodel().sources_for(name, target or "")
    return {**_told(name), "count": len(others), "sources": _by_layer(others)}


def _by_layer(types: list[str]) -> dict[str, list[str]]:
    grouped = {layer: [one for one in types if metamodel().layer(one) == layer] for layer in metamodel().layers}
    return {layer: members for layer, members in grouped.items() if members}


def _summary(name: str) -> dict[str, Any]:
    pairs = []
    for source in metamodel().element_types:
        targets = [one for one in metamodel().targets_for(name, source) if one != source]
        if targets:
            pairs.append({"source": source, "target": targets[0]})
        if len(pairs) == EXAMPLES_SHOWN:
            break
    return {**_told(name), "count": metamodel().counts[name], "valid_pairs": pairs}


def _plain(arguments: Any) -> Any:
    """An example without references to earlier answers."""
    if isinstance(arguments, Mapping):
        return {name: _plain(value) for name, value in arguments.items()}
    if isinstance(arguments, list | tuple):
        return [_plain(value) for value in arguments]
    return _sample_id(arguments) if is_reference(arguments) else arguments


def _sample_id(reference: str) -> str:
    """An id of the kind that a reference such as `$0.model.id` stands for."""
    return PREFIXES.get(reference.split(".")[-2], "el_") + SAMPLE_ID
