"""What a value in `with` means: a reference, a template or a literal."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from . import template
from .fault import Faults, near
from .model import Composed, Constant, Place, Query, Reference, Template, Value
from .node import Listed, Node, Scalar
from .shapes import Taken


class Names(NamedTuple):
    """What a value may refer to where it stands."""

    inputs: Collection[str]
    prefixes: tuple[str, ...] = ()
    """The namespaces that may stand before the name of an input."""


def given(taken: Taken | None, names: Names, faults: Faults) -> dict[str, Value]:
    """What a `with` says."""
    if taken is None:
        return {}
    return {name: value(node, names, faults) for name, node in taken.items()}


def value(node: Node, names: Names, faults: Faults) -> Value:
    """What one entry says: a name of an input refers to it, so does `{{name}}` and `namespace.name`."""
    if isinstance(node, Scalar):
        return _text(node, names, faults) if isinstance(node.value, str) else Constant(node.value, node.place)
    if isinstance(node, Listed):
        return _composed(Composed(tuple(value(item, names, faults) for item in node.items), node.place))
    return _composed(Composed({key: value(part, names, faults) for key, part in node.entries.items()}, node.place))


def looked_for(node: Scalar, names: Names, faults: Faults) -> Query | Value:
    """What a lookup looks for: a path through the steps, or what a `with` could say."""
    if node.text.startswith("$"):
        return Query(node.text, node.place)
    return value(node, names, faults)


def variables(text: str) -> frozenset[str]:
    """The names in a template; none in a text that is no template."""
    try:
        return template.compiled(text).variables
    except ValueError:
        return frozenset()


def check_template(text: str, place: Place, faults: Faults) -> None:
    """Complain about a text that is no template."""
    try:
        template.compiled(text)
    except ValueError as error:
        faults.error("V3", place, f"This template cannot be read: {error}.")


def _text(node: Scalar, names: Names, faults: Faults) -> Value:
    text: str = node.value
    if "{{" in text:
        return _template(text, node, faults)
    if text in names.inputs:
        return Reference((text,), node.place)
    for prefix in names.prefixes:
        if text.startswith(f"{prefix}."):
            rest = text[len(prefix) + 1 :]
            if rest in names.inputs:
                return Reference((rest,), node.place)
            told = f"{text} is passed on as it is: there is no input {rest}."
            faults.warning("V11", node.place, told, near(rest, names.inputs))
    if text.startswith(("$this.", "$.")):
        told = f"{text} is passed on as it is: write {{{{name}}}} for the value of an input or of an earlier step."
        faults.warning("V11", node.place, told)
    return Constant(text, node.place)


def _template(text: str, node: Scalar, faults: Faults) -> Value:
    try:
        found = template.compiled(text)
    except ValueError as error:
        faults.error("V3", node.place, f"This template cannot be read: {error}.")
        return Constant(text, node.place)
    if found.only is not None:
        return Reference(tuple(found.only.split(".")), node.place)
    return Template(text, node.place)


def _composed(whole: Composed) -> Value:
    """Without any reference inside it is data."""
    parts = whole.parts
    values = parts.values() if isinstance(parts, Mapping) else parts
    if not all(isinstance(part, Constant) for part in values):
        return whole
    if isinstance(parts, Mapping):
        return Constant({key: part.value for key, part in parts.items() if isinstance(part, Constant)}, whole.place)
    return Constant([part.value for part in parts if isinstance(part, Constant)], whole.place)


def references(found: Value | Query) -> frozenset[tuple[str, ...]]:
    """Everything that a value refers to, as paths."""
    if isinstance(found, Reference):
        return frozenset({found.path})
    if isinstance(found, Template):
        return frozenset(tuple(name.split(".")) for name in variables(found.text))
    if isinstance(found, Composed):
        inside = found.parts.values() if isinstance(found.parts, Mapping) else found.parts
        return frozenset().union(*map(references, inside))
    return frozenset()
