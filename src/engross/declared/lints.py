"""L1 to L9: what works, but should be otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any, TypeAlias

from engross.flows import Semantics as Promised

from .fault import Faults
from .model import (
    Document,
    Flow,
    Hints,
    McpExposes,
    McpTool,
    Place,
    Ref,
    RestExposes,
    RestOperation,
    Semantics,
    Target,
)
from .references import offers, targets
from .scope import uses

MOST_STEPS = 5
_DANGEROUS = ("<script", "eval(")
Said: TypeAlias = Semantics | Promised
_CHANGING = ("PUT", "PATCH", "DELETE")


def lint(document: Document, others: Mapping[str, Promised], faults: Faults) -> None:
    """Everything that an author should look at again. `others` are the flows of the office and what they promise."""
    for flow in document.flows():
        _unsafe_calls(flow, document, others, faults)
        _size(flow, faults)
        _texts(flow.description, flow.place, faults)
    for aggregate in document.aggregates.values():
        for flow in aggregate.flows.values():
            if flow.semantics is None:
                faults.warning("L9", flow.place, f"{flow.ref} does not say its semantics: is it safe, idempotent?")
    _consumed(document, faults)
    _exposed(document, others, faults)
    _unused(document, faults)
    _repeated_logic(document, faults)
    _repeated_hints(document, faults)


def _semantics(ref: Ref | Target | None, document: Document, others: Mapping[str, Promised]) -> Said | None:
    """What the flow says that is meant, be it one of the document or of the office."""
    if ref is None:
        return None
    flow = document.flow(ref.ref)
    return flow.semantics if flow else others.get(ref.ref)


def _exposed(document: Document, others: Mapping[str, Promised], faults: Faults) -> None:
    for exposes in document.exposes.values():
        if isinstance(exposes, McpExposes):
            _texts(exposes.description, exposes.place, faults)
            for tool in exposes.tools.values():
                _texts(tool.offer.description, tool.place, faults)
                _consistent_hints(tool, _semantics(tool.offer.ref, document, others), faults)
        elif isinstance(exposes, RestExposes):
            for resource in exposes.resources.values():
                _path(resource.path, resource.place, faults)
                if len(resource.path) > 1 and resource.path.endswith("/"):
                    faults.warning("L2", resource.place, "A path does not end with a slash.")
                for operation in resource.operations.values():
                    _texts(operation.offer.description, operation.place, faults)
                    _consistent_method(operation, _semantics(operation.offer.ref, document, others), faults)


def _consistent_hints(tool: McpTool, said: Said | None, faults: Faults) -> None:
    """L1: hints that contradict what the flow says about itself."""
    if said is None:
        return
    hints = tool.hints
    if said.safe and (hints.read_only is False or hints.destructive):
        faults.warning(
            "L1", tool.place, f"The flow of {tool.name} is safe, and its hints say that it changes something."
        )
    if said.safe is False and hints.read_only:
        faults.warning("L1", tool.place, f"The flow of {tool.name} is not safe, and its hints say that it only reads.")
    if said.idempotent is not None and hints.idempotent is not None and said.idempotent != hints.idempotent:
        faults.warning("L1", tool.place, f"The flow of {tool.name} and its hints disagree on idempotent.")


def _consistent_method(operation: RestOperation, said: Said | None, faults: Faults) -> None:
    """L1: methods that contradict what the flow says about itself."""
    if said is None:
        return
    if said.safe and operation.method != "GET":
        faults.warning("L1", operation.place, f"The flow of {operation.name} is safe: its method should be GET.")
    if said.safe is False and operation.method == "GET":
        faults.warning("L1", operation.place, f"The flow of {operation.name} is not safe: GET is for what only reads.")
    if said.idempotent and not said.safe and operation.method == "POST":
        faults.warning("L1", operation.place, f"The flow of {operation.name} is idempotent: POST says that it is not.")


def _unsafe_calls(flow: Flow, document: Document, others: Mapping[str, Promised], faults: Faults) -> None:
    """L1: a flow that calls itself safe and calls what is not."""
    if flow.semantics is None or not flow.semantics.safe:
        return
    for target in targets(flow):
        operation = document.operation(target) if target.kind == "operation" else None
        if operation is not None and operation.method in _CHANGING:
            told = f"{flow.ref} says that it is safe, and calls {target.ref}, which is {operation.method}."
            faults.warning("L1", target.place, told)
        elif target.kind == "flow" and _is_unsafe(target, document, others):
            told = f"{flow.ref} says that it is safe, and calls {target.ref}, which does not say so."
            faults.warning("L1", target.place, told)


def _is_unsafe(target: Target, document: Document, others: Mapping[str, Promised]) -> bool:
    """Is there such a flow, and does it not say that it is safe?"""
    said = _semantics(target, document, others)
    return (said is not None or document.flow(target.ref) is not None) and not (said and said.safe)


def _consumed(document: Document, faults: Faults) -> None:
    for client in document.consumes.values():
        if not client.description:
            faults.warning("L2", client.place, f"{client.namespace} has no description.")
        if client.base_uri.endswith("/"):
            faults.warning("L2", client.base_uri_place, "baseUri should not end with a slash.")
        if _is_example(client.base_uri):
            faults.warning("L2", client.base_uri_place, "example.com answers nobody: name the real address.")
        _texts(client.description, client.place, faults)
        for resource in client.resources.values():
            if not resource.description:
                faults.warning("L2", resource.place, f"The resource {resource.name} has no description.")
            _texts(resource.description, resource.place, faults)
        for operation in client.operations.values():
            _path(operation.path, operation.path_place, faults)
            _texts(operation.description, operation.place, faults)


def _is_example(uri: str) -> bool:
    host = uri.partition("://")[2].partition("/")[0].partition(":")[0].lower()
    return host == "example.com" or host.endswith(".example.com")


def _path(path: str, place: Place, faults: Faults) -> None:
    if "?" in path:
        faults.warning("L2", place, "A path has no query: declare inputParameters that are in: query.")


def _texts(text: str | None, place: Place, faults: Faults) -> None:
    for word in _DANGEROUS:
        if text and word in text.lower():
            faults.error("L2", place, f"A description must not hold {word}: clients may show it as it is.")


def _size(flow: Flow, faults: Faults) -> None:
    if len(flow.steps) > MOST_STEPS:
        told = f"{flow.ref} has {len(flow.steps)} steps: move some of them into flows that it calls."
        faults.warning("L8", flow.place, told)


def _unused(document: Document, faults: Faults) -> None:
    """L3: flows that nobody refers to, inputs that nothing uses, alternatives that look like fields."""
    named = {offer.ref.ref for offer in offers(document) if offer.ref}
    named |= {target.ref for flow in document.flows() for target in targets(flow)}
    for aggregate in document.aggregates.values():
        for flow in aggregate.flows.values():
            if document.exposes and flow.ref not in named:
                faults.warning("L3", flow.place, f"Nothing refers to {flow.ref}.")
    for flow in document.flows():
        used = uses(flow, document)
        for one in flow.inputs.values() if used is not None else ():
            if used is not None and one.name not in used:
                faults.warning("L3", one.place, f"Nothing uses the input {one.name}.")
        if flow.mode == "call" and len(flow.outputs) > 1:
            told = "These are alternatives, of which the first that is there counts: for several fields use an object."
            faults.warning("L3", flow.outputs[1].place, told)


def _inline(document: Document) -> Iterator[tuple[str, str, Flow, Place]]:
    """Flows that are written inside exposures: the kind of exposure, the name there, the flow and its place."""
    for exposes in document.exposes.values():
        if isinstance(exposes, McpExposes):
            for tool in exposes.tools.values():
                if tool.offer.flow is not None:
                    yield "mcp", tool.name, tool.offer.flow, tool.place
        elif isinstance(exposes, RestExposes):
            operations = chain.from_iterable(one.operations.values() for one in exposes.resources.values())
            for operation in operations:
                if operation.offer.flow is not None:
                    yield "rest", operation.name, operation.offer.flow, operation.place


def _repeated_logic(document: Document, faults: Faults) -> None:
    """L5 and L6: the same steps, or the same call, written twice instead of once in an aggregate."""
    steps: dict[Hashable, Place] = {}
    everything = [(flow.place, flow) for one in document.aggregates.values() for flow in one.flows.values()]
    inline = list(_inline(document))
    for place, flow in [*everything, *((place, flow) for _, _, flow, place in inline)]:
        if flow.steps:
            first = steps.setdefault(_likeness(flow.steps), place)
            if first is not place:
                told = f"These are the steps of line {first.line} again: put them into one flow and refer to it."
                faults.warning("L5", place, told)
    doing: dict[Hashable, tuple[str, Place]] = {}
    for kind, name, flow, place in inline:
        first_kind, first_place = doing.setdefault(_likeness((flow.target, flow.given, flow.steps)), (kind, place))
        if first_kind != kind:
            told = f"{name} does what line {first_place.line} does for {first_kind}: let both refer to one flow."
            faults.warning("L6", place, told)


def _repeated_hints(document: Document, faults: Faults) -> None:
    """L7: hints that several tools repeat, where the flow's semantics would say it once."""
    seen: dict[Hints, list[McpTool]] = defaultdict(list)
    for exposes in document.exposes.values():
        for tool in exposes.tools.values() if isinstance(exposes, McpExposes) else ():
            if (tool.hints.read_only, tool.hints.destructive, tool.hints.idempotent) != (None, None, None):
                seen[tool.hints].append(tool)
    for tools in seen.values():
        for tool in tools[1:]:
            told = f"{tool.name} repeats the hints of line {tools[0].place.line}: say semantics on the flows instead."
            faults.warning("L7", tool.place, told)


def _likeness(part: Any) -> Hashable:
    """The same for what says the same at different places."""
    if is_dataclass(part):
        inside = (getattr(part, one.name) for one in fields(part) if one.name != "place")
        return (type(part).__name__, *(_likeness(one) for one in inside))
    if isinstance(part, Mapping):
        return tuple((key, _likeness(value)) for key, value in part.items())
    if isinstance(part, list | tuple) and not isinstance(part, Place):
        return tuple(_likeness(one) for one in part)
    return repr(part)
