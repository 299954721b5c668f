"""V8 to V10: whatever a document refers to is there, in time, and does not lead back to itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from .fault import Faults, near
from .handlers import HANDLERS
from .jsonpath import compiled
from .model import (
    CallStep,
    Document,
    Flow,
    HandlerStep,
    LookupStep,
    McpExposes,
    Offer,
    Place,
    Query,
    Ref,
    RestExposes,
    Step,
    Target,
)
from .values import references


def check_references(document: Document, others: Collection[str], complete: bool, faults: Faults) -> None:
    """Everything that is named. What is not `complete` may be called by whoever imports it."""
    flows = {flow.ref: flow for aggregate in document.aggregates.values() for flow in aggregate.flows.values()}
    known = _Known(flows, others)
    for flow in document.flows():
        for target in targets(flow):
            _check_target(target, document, known, complete, faults)
        _check_steps(flow, faults)
        _check_handlers(flow, faults)
    for offer in offers(document):
        if offer.ref is not None and complete:
            _check_ref(offer.ref, known, faults)
    _check_cycles(flows, faults)


class _Known:
    """What may be named. The office's flows are asked for only where the document's own do not do."""

    def __init__(self, flows: Collection[str], others: Collection[str]) -> None:
        self._flows = flows
        self._others = others

    def __contains__(self, ref: str) -> bool:
        return ref in self._flows or ref in self._others

    def __iter__(self) -> Iterator[str]:
        return chain(self._flows, self._others)


def offers(document: Document) -> Iterator[Offer]:
    """What tools and operations say themselves."""
    for exposes in document.exposes.values():
        if isinstance(exposes, McpExposes):
            yield from (tool.offer for tool in exposes.tools.values())
        elif isinstance(exposes, RestExposes):
            for resource in exposes.resources.values():
                yield from (operation.offer for operation in resource.operations.values())


def targets(flow: Flow) -> Iterator[Target]:
    """Everything that a flow calls."""
    if flow.target is not None:
        yield flow.target
    yield from (step.target for step in flow.steps.values() if isinstance(step, CallStep))


def _check_target(target: Target, document: Document, known: _Known, complete: bool, faults: Faults) -> None:
    if not target.name:
        return
    client = document.consumes.get(target.namespace)
    if target.kind == "operation" and client is not None:
        if target.name not in client.operations:
            told = f"{target.namespace} has no operation {target.name}."
            meant = [f"{target.namespace}.{name}" for name in near(target.name, client.operations)]
            faults.error("V9", target.place, told, meant)
    elif complete and target.ref not in known:
        operations = [f"{one.namespace}.{name}" for one in document.consumes.values() for name in one.operations]
        told = f"There is no operation or flow {target.ref}."
        faults.error("V9", target.place, told, near(target.ref, [*operations, *known]))


def _check_ref(ref: Ref, known: _Known, faults: Faults) -> None:
    if ref.name and ref.ref not in known:
        faults.error("V8", ref.place, f"There is no flow {ref.ref}.", near(ref.ref, [*known]))


def _check_steps(flow: Flow, faults: Faults) -> None:
    earlier: set[str] = set()
    for name, step in flow.steps.items():
        _check_step(step, flow, earlier, faults)
        earlier.add(name)
    for mapped in flow.mappings:
        _check_query(mapped.value, flow.steps, flow, faults)


def _check_handlers(flow: Flow, faults: Faults) -> None:
    """Functions are registered by Python files, which may be others than those that are at hand here."""
    for step in flow.steps.values():
        if isinstance(step, HandlerStep) and step.handler and step.handler not in HANDLERS:
            told = f"No Python function is registered as {step.handler} yet."
            faults.warning("V9", step.place, told, near(step.handler, HANDLERS))


def _check_step(step: Step, flow: Flow, earlier: Collection[str], faults: Faults) -> None:
    if isinstance(step, LookupStep):
        if step.index:
            _check_name(step.index, step.place, "The lookup", earlier, flow, faults)
        values = [step.value]
    else:
        values = [*step.given.values()]
    for value in values:
        if isinstance(value, Query):
            _check_query(value, earlier, flow, faults)
            continue
        for path in references(value):
            if path[0] in flow.steps and path[0] not in earlier and path[0] not in flow.inputs:
                faults.error("V10", value.place, f"The step {path[0]} has not run when this one does.")


def _check_query(query: Query, there: Collection[str], flow: Flow, faults: Faults) -> None:
    try:
        first = compiled(query.text).first
    except ValueError as error:
        faults.error("V16", query.place, f"{query.text} is not a JSONPath: {error}.")
        return
    if first is not None:
        _check_name(first, query.place, query.text, there, flow, faults)


def _check_name(name: str, place: Place, what: str, there: Collection[str], flow: Flow, faults: Faults) -> None:
    if name in there:
        return
    if name in flow.steps:
        faults.error("V10", place, f"{what} names the step {name}, which has not run when it is needed.")
    else:
        faults.error("V10", place, f"{what} names {name}, and there is no such step.", near(name, there))


def _check_cycles(flows: dict[str, Flow], faults: Faults) -> None:
    """A flow that calls itself, directly or by way of others. Without recursion: chains may be long."""
    done: set[str] = set()
    for start in flows:
        path: list[tuple[str, Iterator[Target]]] = []
        inside: dict[str, int] = {}
        if start not in done:
            path.append((start, _own_calls(flows[start], flows)))
            inside[start] = 0
        while path:
            ref, calls = path[-1]
            target = next(calls, None)
            if target is None:
                path.pop()
                inside.pop(ref)
                done.add(ref)
            elif target.ref in inside:
                circle = [*(name for name, _ in path[inside[target.ref] :]), target.ref]
                faults.error("V9", target.place, f"This call leads back to itself: {' -> '.join(circle)}.")
            elif target.ref not in done:
                inside[target.ref] = len(path)
                path.append((target.ref, _own_calls(flows[target.ref], flows)))


def _own_calls(flow: Flow, flows: dict[str, Flow]) -> Iterator[Target]:
    return iter([target for target in targets(flow) if target.kind == "flow" and target.ref in flows])
