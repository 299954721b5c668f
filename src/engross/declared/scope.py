"""V11: what is passed on is wanted, what is named has a value, and what an address needs is given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from . import template
from .binding import bind_names
from .consumed import body_texts
from .fault import Faults, near
from .model import (
    MISSING,
    CallStep,
    Client,
    Document,
    Flow,
    HandlerStep,
    LookupStep,
    McpExposes,
    Offer,
    Operation,
    Output,
    Place,
    Query,
    RestExposes,
    RestOperation,
    RestResource,
    Step,
    Target,
    Value,
)
from .values import references, variables


def check_scope(document: Document, faults: Faults) -> None:
    """Every flow, and every exposure of a flow of this document."""
    bound = bind_names(document)
    for flow in document.flows():
        _check_flow(flow, document, bound, faults)
    for client in document.consumes.values():
        _check_client(client, bound, faults)
    for exposes in document.exposes.values():
        if isinstance(exposes, McpExposes):
            for tool in exposes.tools.values():
                _check_offer(tool.offer, {}, document, tool.place, faults)
        elif isinstance(exposes, RestExposes):
            for resource in exposes.resources.values():
                for operation in resource.operations.values():
                    _check_operation(resource, operation, document, faults)


def wanted(operation: Operation, client: Client) -> frozenset[str]:
    """Every name that a consumed operation takes a value for."""
    return (
        frozenset(operation.inputs)
        | {name.partition(".")[0] for text in _texts(operation, client) for name in variables(text)}
        | {name.partition(".")[0] for name in address_variables(operation, client)}
    )


def address_variables(operation: Operation, client: Client) -> frozenset[str]:
    """The names in the address of an operation."""
    try:
        path = template.path_template(operation.path).variables
    except ValueError:
        path = frozenset()
    return path | variables(client.base_uri)


def _texts(operation: Operation, client: Client) -> Iterator[str]:
    yield from body_texts(operation.body)
    yield from (one.value for one in operation.inputs.values() if isinstance(one.value, str))
    said = client.authentication
    if said is not None:
        yield from (said.username, said.password, said.token, said.value)


def _check_flow(flow: Flow, document: Document, bound: Collection[str], faults: Faults) -> None:
    names = {*flow.inputs}
    _check_values(flow.given, names, "inputs", faults)
    names |= flow.given.keys()
    if flow.mode == "mock":
        for output in flow.outputs:
            _check_mock(output, names, faults)
    if flow.target is not None:
        _check_call(flow.target, flow.given, names, document, bound, faults)
    steps = {*flow.steps}
    earlier: set[str] = set()
    for step in flow.steps.values():
        values = _values(step)
        # A step that comes later is another rule's business.
        _check_values(values, names | steps, "inputs and earlier steps", faults)
        if isinstance(step, CallStep):
            _check_call(step.target, step.given, names | earlier | step.given.keys(), document, bound, faults)
        _check_literals(values, earlier, faults)
        earlier.add(step.name)


def _values(step: Step) -> Mapping[str, Value]:
    if isinstance(step, LookupStep):
        return {} if isinstance(step.value, Query) else {"lookupValue": step.value}
    return step.given


def _check_values(values: Mapping[str, Value], names: Collection[str], what: str, faults: Faults) -> None:
    for value in values.values():
        for path in references(value):
            if path[0] not in names and path[0] != "":
                told = f"{{{{{'.'.join(path)}}}}} has no value here: it is none of the {what}."
                faults.warning("V11", value.place, told, near(path[0], names))


def _check_literals(values: Mapping[str, Value], earlier: Collection[str], faults: Faults) -> None:
    for value in values.values():
        said = getattr(value, "value", None)
        if isinstance(said, str) and said in earlier:
            told = f"{said} is passed on as this very text: write {{{{{said}}}}} for what the step gave."
            faults.warning("V11", value.place, told)


def _check_call(
    target: Target,
    given: Mapping[str, Value],
    sources: Collection[str],
    document: Document,
    bound: Collection[str],
    faults: Faults,
) -> None:
    operation = document.operation(target) if target.kind == "operation" else None
    if operation is not None:
        client = document.consumes[target.namespace]
        _check_keys(given, wanted(operation, client), target.ref, faults)
        _check_address(operation, client, {*sources, *bound}, target.place, faults)
        return
    called = document.flow(target.ref) if target.kind == "flow" else None
    if called is not None:
        _check_keys(given, called.inputs, target.ref, faults)
        for one in called.inputs.values():
            if one.required and one.default is MISSING and one.name not in sources:
                faults.error("V11", target.place, f"{target.ref} needs {one.name}, and nothing gives it.")


def _check_keys(given: Mapping[str, Value], known: Collection[str], what: str, faults: Faults) -> None:
    for name, value in given.items():
        if name not in known:
            faults.warning("V11", value.place, f"{what} takes no {name}.", near(name, known))


def _check_address(
    operation: Operation, client: Client, sources: Collection[str], place: Place, faults: Faults
) -> None:
    for name in sorted(address_variables(operation, client)):
        first = name.partition(".")[0]
        own = operation.inputs.get(first)
        supplied = own is not None and (own.value is not MISSING or own.where == "environment")
        if first not in sources and name not in sources and not supplied:
            told = f"The address of {operation.name} needs {name}, and nothing gives it."
            faults.warning("V11", place, told, near(first, sources))


def _check_mock(output: Output, names: Collection[str], faults: Faults) -> None:
    if isinstance(output.value, str):
        for name in sorted(variables(output.value)):
            if name.partition(".")[0] not in names and name != ".":
                told = f"{{{{{name}}}}} has no value here: it is none of the inputs."
                faults.warning("V11", output.place, told, near(name, names))
    for part in (*output.properties.values(), *([output.items] if output.items else [])):
        _check_mock(part, names, faults)


def _check_client(client: Client, bound: Collection[str], faults: Faults) -> None:
    """V14: capitals name binds, and here only binds can be meant."""
    said = client.authentication
    texts = [(client.base_uri, client.base_uri_place)]
    if said is not None:
        texts += [(text, said.place) for text in (said.username, said.password, said.token, said.value)]
    for operation in client.operations.values():
        texts += [(str(one.value), one.place) for one in operation.inputs.values() if one.value is not MISSING]
    for text, place in texts:
        for name in sorted(variables(text)):
            if name.rpartition(".")[2].isupper() and name not in bound:
                faults.error("V14", place, f"{{{{{name}}}}} is not bound: name it in binds.", near(name, bound))


def _check_offer(offer: Offer, located: Mapping[str, Place], document: Document, place: Place, faults: Faults) -> None:
    """Does an exposure give its flow what it needs, and nothing that it does not know?"""
    base = document.flow(offer.ref.ref) if offer.ref else None
    if base is None:
        return
    own = {name: one.place for name, one in offer.inputs.items()} or dict(located)
    for name, where in {**own, **located}.items():
        if name not in base.inputs and not _is_used(name, offer.given):
            faults.error("V11", where, f"{base.ref} takes no {name}.", near(name, base.inputs))
    _check_keys(offer.given, base.inputs, base.ref, faults)
    _check_values(offer.given, {*(own or base.inputs)}, "inputs", faults)
    if not offer.inputs:
        return
    for one in base.inputs.values():
        needed = one.required and one.default is MISSING
        if needed and one.name not in offer.inputs and one.name not in offer.given:
            faults.error("V8", place, f"{base.ref} needs {one.name}, and this neither takes nor gives it.")


def _is_used(name: str, given: Mapping[str, Value]) -> bool:
    return any(path[0] == name for value in given.values() for path in references(value))


def _check_operation(resource: RestResource, operation: RestOperation, document: Document, faults: Faults) -> None:
    flow = operation.offer.flow or (document.flow(operation.offer.ref.ref) if operation.offer.ref else None)
    _check_offer(operation.offer, {}, document, operation.place, faults)
    if flow is None:
        return
    known = {*flow.inputs, *operation.inputs, *operation.offer.inputs}
    in_path = template.path_template(resource.path).variables
    for name in sorted(in_path):
        if name not in known:
            told = f"{{{name}}} in the path is no input of {operation.name}."
            faults.error("V11", resource.place, told, near(name, known))
    for one in operation.inputs.values():
        if one.where == "path" and one.name not in in_path and one.value is MISSING:
            faults.error("V11", one.place, f"The path has no {{{one.name}}}.", near(one.name, in_path))


def uses(flow: Flow, document: Document) -> frozenset[str] | None:
    """The inputs that a flow does something with; None where nobody can know, as a handler gets all of them."""
    used = {path[0] for value in flow.given.values() for path in references(value)}
    if flow.mode == "mock":
        used |= {name.partition(".")[0] for text in _mock_texts(flow.outputs) for name in variables(text)}
    for target, given in ([(flow.target, flow.given)] if flow.target else []) + [
        (step.target, step.given) for step in flow.steps.values() if isinstance(step, CallStep)
    ]:
        operation = document.operation(target) if target.kind == "operation" else None
        called = document.flow(target.ref) if target.kind == "flow" else None
        if operation is not None:
            used |= wanted(operation, document.consumes[target.namespace]) - given.keys()
        elif called is not None:
            used |= called.inputs.keys() - given.keys()
        else:
            return None
    for step in flow.steps.values():
        if isinstance(step, HandlerStep):
            return None
        used |= {path[0] for value in _values(step).values() for path in references(value)}
    return frozenset(used)


def _mock_texts(outputs: Collection[Output]) -> Iterator[str]:
    for output in outputs:
        if isinstance(output.value, str):
            yield output.value
        yield from _mock_texts([*output.properties.values(), *([output.items] if output.items else [])])
