"""What a document consumes and binds, from a document to data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fault import Faults
from .model import (
    MISSING,
    Authentication,
    Bind,
    Body,
    Client,
    ConsumedInput,
    ConsumedResource,
    Operation,
    Place,
)
from .parameters import consumed_outputs, patience
from .shapes import Taken, parts
from .values import check_template


def client(namespace: str, taken: Taken, faults: Faults) -> Client:
    """An upstream under this namespace."""
    common = consumed_inputs(taken.get("inputParameters"), faults)
    resources: dict[str, ConsumedResource] = {}
    operations: dict[str, Operation] = {}
    for name, one in parts(taken.get("resources")):
        mine = {**common, **consumed_inputs(one.get("inputParameters"), faults)}
        found = dict(_operations(name, one, mine, faults))
        for twice in found.keys() & operations.keys():
            first = operations[twice].place
            told = f"The operation {twice} is there twice in {namespace}: in line {first.line} already."
            faults.error("V12", found[twice].place, told)
        resources[name] = ConsumedResource(name, one.get("path", ""), one.place, one.get("description"), tuple(found))
        operations = {**found, **operations}
    base = taken.get("baseUri", "")
    check_template(base, taken.at("baseUri"), faults)
    return Client(
        namespace,
        base,
        taken.place,
        taken.at("baseUri"),
        taken.get("description"),
        _authentication(taken.get("authentication"), faults),
        resources,
        operations,
        patience(taken),
    )


def consumed_inputs(taken: Taken | None, faults: Faults) -> dict[str, ConsumedInput]:
    """Where parameters go, by name."""
    found = {}
    for name, one in parts(taken):
        value = one.get("value", MISSING)
        if isinstance(value, str):
            check_template(value, one.at("value"), faults)
        found[name] = ConsumedInput(name, one.get("in", "query"), one.place, value)
    return found


def _operations(
    resource: str, taken: Taken, common: dict[str, ConsumedInput], faults: Faults
) -> Iterator[tuple[str, Operation]]:
    path, path_place = taken.get("path", ""), taken.at("path")
    check_template(path, path_place, faults)
    operations = taken.get("operations")
    for name, one in parts(operations):
        yield (
            name,
            Operation(
                name,
                resource,
                path,
                one.get("method", "GET"),
                operations.at(name),
                path_place,
                one.get("description"),
                {**common, **consumed_inputs(one.get("inputParameters"), faults)},
                _body(one.get("body"), one.at("body"), faults),
                one.get("outputRawFormat", "json"),
                consumed_outputs(one.get("outputParameters"), faults),
                patience(one),
            ),
        )


def _body(found: Any, place: Place, faults: Faults) -> Body | None:
    if found is None:
        return None
    body = (
        Body("json", found, place)
        if isinstance(found, str)
        else Body(found.get("type", "json"), found.get("data"), place)
    )
    for text in _texts(body.data):
        check_template(text, place, faults)
    return body


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _texts(part)


def body_texts(body: Body | None) -> Iterator[str]:
    """The templates of a body."""
    yield from _texts(body.data) if body else ()


def _authentication(taken: Taken | None, faults: Faults) -> Authentication | None:
    if taken is None:
        return None
    said = {name: value for name, value in taken.items() if name != "type"}
    for name, value in said.items():
        check_template(value, taken.at(name), faults)
    return Authentication(taken.get("type"), taken.place, **said)


def bind(namespace: str, taken: Taken) -> Bind:
    """Names for values from elsewhere."""
    keys = taken.get("keys")
    return Bind(
        namespace,
        dict(parts(keys)),
        taken.place,
        taken.get("location"),
        taken.get("description"),
        dict(keys.places) if keys is not None else {},
    )
