"""What stands for a value, made into that value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .model import MISSING, Composed, Constant, Query, Reference, Value
from .template import Scope, compiled, followed


def resolved(value: Value, scope: Scope) -> Any:
    """The value, with its own type unless it is a text with variables; MISSING where it refers to nothing."""
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Reference):
        return followed(value.path, scope)
    if isinstance(value, Composed):
        return _composed(value, scope)
    return compiled(value.text).render(scope)


def given(values: Mapping[str, Value], scope: Scope) -> dict[str, Any]:
    """What a `with` gives: all of it seen from before the `with`, and nothing for what is absent."""
    found = {name: resolved(value, scope) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not MISSING}


def _composed(value: Composed, scope: Scope) -> Any:
    if isinstance(value.parts, Mapping):
        return given(value.parts, scope)
    items = [resolved(part, scope) for part in value.parts]
    return [item for item in items if item is not MISSING]


def rendered(data: Any, scope: Scope) -> Any:
    """Data in which every text is a template. A text that is one variable alone keeps that one's type."""
    if isinstance(data, str):
        template = compiled(data)
        if template.only is not None:
            return followed(template.only.split("."), scope)
        return template.render(scope) if template.variables else data
    if isinstance(data, Mapping):
        fields = {name: rendered(part, scope) for name, part in data.items()}
        return {name: part for name, part in fields.items() if part is not MISSING}
    if isinstance(data, list | tuple):
        items = [rendered(part, scope) for part in data]
        return [part for part in items if part is not MISSING]
    return data


def names_in(value: Value | Query) -> Iterator[str]:
    """What a value refers to: the names of inputs and steps that it starts from."""
    if isinstance(value, Reference):
        yield value.path[0]
    elif isinstance(value, Composed):
        for part in value.parts.values() if isinstance(value.parts, Mapping) else value.parts:
            yield from names_in(part)
    elif not isinstance(value, Constant | Query):
        yield from roots(compiled(value.text).variables)


def roots(variables: frozenset[str]) -> Iterator[str]:
    """The names that variables start from. A name with a dot may be one name as a whole."""
    for variable in variables:
        yield variable
        yield variable.partition(".")[0]


def variables_in(data: Any) -> frozenset[str]:
    """All variables in the texts of data."""
    if isinstance(data, str):
        return compiled(data).variables
    parts = data.values() if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else ()
    return frozenset().union(*(variables_in(part) for part in parts))
