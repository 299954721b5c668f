"""What has the right form and still could not be offered: names that are taken, values that do not fit their type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from engross.flows import Address, FlowDefinitionError
from engross.flows import Semantics as Promised
from engross.flows.controls import NEVER_OWN
from engross.replies import REGISTRY

from .bearing_out import Bearing
from .exposing import VARIABLE
from .fault import Faults, near
from .model import MISSING, Document, Flow, Input, McpExposes, Place, RestExposes, RestResource, SkillExposes
from .schemas import RESULT, SAID_OF_CALLS, SAID_OF_WRITES
from .semantics import is_safe

RESERVED = frozenset(("v1", "mcp", "docs", "health", "metrics", "problems", "console", "openapi", "skills"))
"""Where the office itself is reached: nothing can be mounted there."""
CREDENTIALS = frozenset(("authorization", "proxy-authorization", "cookie"))
_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def check_fitness(document: Document, others: Mapping[str, Promised], faults: Faults) -> None:
    """Everything that a document would be refused for only when the office opens."""
    bearing = Bearing(document, others)
    for flow in document.flows():
        _check_flow(flow, faults)
    for exposes in document.exposes.values():
        if not isinstance(exposes, McpExposes) and exposes.namespace in RESERVED:
            told = f"The office itself is at /{exposes.namespace}: choose another namespace."
            faults.error("V5", exposes.place, told)
        if isinstance(exposes, McpExposes):
            _check_addresses(exposes, faults)
            _check_reads(exposes, bearing, faults)
        elif isinstance(exposes, RestExposes):
            _check_paths(exposes, faults)
    _check_once("tool", _tools(document), faults)
    _check_once("prompt", _prompts(document), faults)
    _check_once("skill", _skills(document), faults)
    _check_once("route", _routes(document), faults)


def _check_flow(flow: Flow, faults: Faults) -> None:
    said = flow.semantics
    if said is not None and said.safe and said.destructive:
        faults.error("V3", flow.place, f"{flow.name} cannot be safe and destructive at once.")
    for one in flow.inputs.values():
        if one.name in NEVER_OWN:
            told = f"{one.name} means one thing in every call: give the input another name."
            faults.error("V3", one.place, told)
        _check_input(one, faults)
    for place, name in _answered(flow):
        if name in (SAID_OF_CALLS if is_safe(flow) else SAID_OF_WRITES):
            told = (
                f"{name} says something about the call in every answer: the flow's own is found under {RESULT}.{name}."
            )
            faults.warning("V3", place, told)
    for example in flow.examples:
        for name in example.arguments:
            if name not in flow.inputs:
                told = f"The example gives {name}, which {flow.name} does not take."
                faults.error("V11", example.place, told, near(name, flow.inputs))
        if example.reply is not None and example.reply not in _message_keys():
            told = f"There is no reply {example.reply}."
            faults.error("V3", example.place, told, near(example.reply, _message_keys()))


def _answered(flow: Flow) -> Iterator[tuple[Place, str]]:
    """The fields that the answer of a flow is declared to have."""
    yield from ((one.place, one.target[0]) for one in flow.mappings)
    if flow.mode == "mock":
        yield from ((one.place, one.name) for one in flow.outputs)
    elif flow.mode == "call":
        yield from ((part.place, name) for one in flow.outputs for name, part in one.properties.items())


def _check_input(one: Input, faults: Faults) -> None:
    for value in (*([] if one.default is MISSING else [one.default]), *one.enum):
        if not _fits(value, one.type):
            faults.error("V3", one.place, f"{_shown(value)} is not a value of the type {one.type}.")
    if one.default is not MISSING and one.enum and one.default not in one.enum:
        faults.error("V3", one.place, f"The default {_shown(one.default)} is none of the allowed values.")
    if one.pattern is not None and _is_pattern(one.pattern) and not _is_linear(one.pattern):
        faults.error("V3", one.place, "This pattern cannot be matched in linear time: do without looking around.")
    for part in (*one.properties.values(), *([one.items] if one.items else [])):
        _check_input(part, faults)


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind])


def _is_pattern(text: str) -> bool:
    """One that cannot be read at all was complained about where it was read."""
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _is_linear(pattern: str) -> bool:
    from jsonschema_rs import Draft202012Validator, RegexOptions

    try:
        Draft202012Validator({"pattern": pattern}, pattern_options=RegexOptions())
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1)
def _message_keys() -> frozenset[str]:
    return frozenset(entry.key for entry in REGISTRY)


def _check_addresses(exposes: McpExposes, faults: Faults) -> None:
    for resource in exposes.resources.values():
        try:
            Address(resource.uri)
        except FlowDefinitionError as error:
            faults.error("V3", resource.place, f"{resource.uri}: {' '.join(error.complaints)}")


def _check_reads(exposes: McpExposes, bearing: Bearing, faults: Faults) -> None:
    for resource in exposes.resources.values():
        if resource.flow is not None and bearing.calls_unsafe(resource.flow):
            told = f"{resource.name} is there to be looked up, and calls a flow that does not say that it is safe."
            faults.error("V3", resource.place, told)


def _check_paths(exposes: RestExposes, faults: Faults) -> None:
    spellings: dict[str, RestResource] = {}
    for resource in exposes.resources.values():
        for part in resource.path.split("/"):
            if part in (".", "..") or (VARIABLE.search(part) and not VARIABLE.fullmatch(part)):
                faults.error("V3", resource.place, f"{part} cannot be a part of a path: a variable stands alone in it.")
        first = spellings.setdefault(_shape(resource), resource)
        if first.path.rstrip("/") != resource.path.rstrip("/"):
            told = f"{resource.path} is the same address as {first.path} in line {first.place.line}: name it alike."
            faults.error("V12", resource.place, told)
        for operation in resource.operations.values():
            for one in operation.inputs.values():
                if one.where == "header" and one.name.lower() in CREDENTIALS:
                    told = f"{one.name} carries what callers show to the office: it is not passed on."
                    faults.error("V3", one.place, told)


def _shape(resource: RestResource) -> str:
    return VARIABLE.sub("{}", resource.path).rstrip("/")


Named = Iterator[tuple[str, Place]]


def _check_once(what: str, names: Named, faults: Faults) -> None:
    """V12: in one office a name stands for one thing, whatever exposes it."""
    seen: dict[str, Place] = {}
    for name, place in names:
        first = seen.setdefault(name, place)
        if first is not place:
            faults.error("V12", place, f"The {what} {name} is there twice: in line {first.line} already.")


def _tools(document: Document) -> Named:
    for exposes in document.exposes.values():
        if isinstance(exposes, McpExposes):
            yield from ((name, tool.place) for name, tool in exposes.tools.items())


def _prompts(document: Document) -> Named:
    for exposes in document.exposes.values():
        if isinstance(exposes, McpExposes):
            yield from ((name, prompt.place) for name, prompt in exposes.prompts.items())


def _skills(document: Document) -> Named:
    for exposes in document.exposes.values():
        if isinstance(exposes, SkillExposes):
            yield from ((name, skill.place) for name, skill in exposes.skills.items())


def _routes(document: Document) -> Named:
    for exposes in document.exposes.values():
        if isinstance(exposes, RestExposes):
            for resource in exposes.resources.values():
                for operation in resource.operations.values():
                    yield f"{operation.method} /{exposes.namespace}{_shape(resource)}", operation.place


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
