"""The lint of published schemas: what every vendor's client can read, and examples that really fit.

It runs over a catalogue in the tests and on demand, never at import: a schema that is hard to read is a
defect, but not one that should keep an office from opening.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from engross.replies import REGISTRY, UnknownCode

from .checker import Checker
from .definition import FlowDefinitionError
from .example import Example, is_reference
from .flow import Flow
from .keywords import COMBINATORS, unknown_keywords
from .pointer import pointer
from .schemas import subschemas

MOST_LEVELS = 2
MOST_TOKENS = 2000
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that hinders a flow from being portable."""

    ref: str
    rule: str
    pointer: str
    message: str


def lint(flows: Iterable[Flow]) -> list[Finding]:
    """Everything that is wrong with the published schemas and the examples of these flows."""
    return list(chain.from_iterable(lint_flow(flow) for flow in flows))


def lint_flow(flow: Flow) -> list[Finding]:
    """What is wrong with one flow's published schema, defaults and examples."""
    found: list[Finding] = []
    try:
        found += lint_schema(flow.published, flow.ref)
        found += [*_defaults(flow), *_examples(flow)]
    except FlowDefinitionError as unusable:
        found.append(Finding(flow.ref, "usable", "", " ".join(unusable.complaints)))
    return found


def lint_schema(schema: Mapping[str, Any], ref: str = "schema") -> list[Finding]:
    """What clients of some vendor would stumble over in this schema."""
    found = [*_top(schema), *_parts(schema, (), 1), *_size(schema)]
    return [Finding(ref, rule, pointer(path), message) for rule, path, message in found]


Remark = tuple[str, tuple[str, ...], str]


def _top(schema: Mapping[str, Any]) -> Iterator[Remark]:
    if schema.get("type") != "object" or "properties" not in schema:
        yield "object-on-top", (), "The schema must be an object with properties."
    if schema.get("additionalProperties") is not False:
        yield "closed", (), "Close the object: additionalProperties must be false."


def _parts(schema: Mapping[str, Any], path: tuple[str, ...], level: int) -> Iterator[Remark]:
    for keyword in COMBINATORS:
        if keyword in schema:
            yield "no-combinators", (*path, keyword), f"{keyword} is not understood everywhere: spell it out."
    for complaint in unknown_keywords(schema):
        yield "known-keywords", path, complaint
    if isinstance(schema.get("type"), list):
        yield "one-type", (*path, "type"), "A list of types is not understood everywhere: choose one."
    if path and "properties" in schema and schema.get("additionalProperties") is not False:
        yield "closed", path, "Close the object: additionalProperties must be false."
    if "properties" in schema and level > MOST_LEVELS:
        yield "two-levels", path, f"More than {MOST_LEVELS} levels: flatten it, or make it an open map."
        return
    for step, part in subschemas(schema):
        is_property = step[0] == "properties"
        if is_property and not part.get("description"):
            yield "described", (*path, *step), "Describe the field: it is all that a model knows about it."
        yield from _parts(part, (*path, *step), level + is_property)


def _size(schema: Mapping[str, Any]) -> Iterator[Remark]:
    estimate = len(orjson.dumps(schema)) // CHARACTERS_PER_TOKEN
    if estimate > MOST_TOKENS:
        yield "size", (), f"About {estimate} tokens, more than {MOST_TOKENS}: shorten descriptions or enums."


def _defaults(flow: Flow) -> Iterator[Finding]:
    for name, schema in flow.enforced.get("properties", {}).items():
        if "default" not in schema:
            continue
        alone = Checker({"type": "object", "properties": {name: schema}}, subject=flow.ref)
        if not alone.accepts({name: schema["default"]}):
            yield Finding(flow.ref, "default", pointer(("properties", name)), "The default does not fit its own field.")


def _examples(flow: Flow) -> Iterator[Finding]:
    checker = Checker(flow.published, subject=flow.ref)
    for index, example in enumerate(flow.examples):
        place = pointer(("examples", index))
        for complaint in chain(_misfits(checker, example), _wrong_references(example), _unknown_reply(example)):
            yield Finding(flow.ref, "example", place, f"{example.title}: {complaint}")


def _misfits(checker: Checker, example: Example) -> Iterator[str]:
    for fault in checker.faults(dict(example.arguments)):
        if not is_reference(_value_at(example.arguments, fault.path)):
            yield f"{pointer(fault.path) or 'the whole'} breaks {fault.keyword}."


def _wrong_references(example: Example) -> Iterator[str]:
    calls = [*(arguments for _, arguments in example.given), example.arguments]
    for position, arguments in enumerate(calls):
        for index in _references(arguments):
            if index >= position:
                yield f"${index} refers to an answer that is not there yet."


def _unknown_reply(example: Example) -> Iterator[str]:
    try:
        REGISTRY.by_key(example.reply)
    except UnknownCode:
        yield f"there is no message key {example.reply}."


def _references(value: object) -> Iterator[int]:
    if isinstance(value, Mapping):
        yield from chain.from_iterable(map(_references, value.values()))
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_references, value))
    elif isinstance(value, str) and is_reference(value):
        yield int(value[1:].partition(".")[0])


def _value_at(value: Any, path: tuple[str | int, ...]) -> object:
    for step in path:
        if isinstance(value, Mapping) and step not in value:
            return None
        value = value[step]
    return value
