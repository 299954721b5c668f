"""Where a request carries the inputs of an exposed operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engross.flows import RouteField
from engross.flows.route import usual_place

from .jsonpath import compiled as path_of
from .model import MISSING, RestOperation, RestResource


def route_fields(resource: RestResource, operation: RestOperation, taken: Iterable[str]) -> tuple[RouteField, ...]:
    """Where the arguments are: as the operation says, else in the path, in the query of a read, in the body."""
    fields = []
    for name in taken:
        said = operation.inputs.get(name)
        if said is None:
            fields.append(RouteField(name, usual_place(name, resource.path, operation.method)))
        elif isinstance(said.value, str) and said.value.startswith("$"):
            fields.append(RouteField(name, "body", find=_finder(said.value)))
        else:
            constant = None if said.value is MISSING else said.value
            fields.append(RouteField(name, said.where, constant))
    return tuple(fields)


def _finder(text: str) -> Callable[[Any], Any]:
    path = path_of(text)

    def find(body: Any) -> Any:
        try:
            found = path.find(body)
        except ValueError:
            # Nested too deeply for a path: the check of the arguments says what is missing.
            return None
        return None if found is MISSING else found

    return find
