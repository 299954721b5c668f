"""From what came back to what is answered: output parameters, projections and mappings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .jsonpath import compiled
from .model import MISSING, Mapped, Output, Query
from .pen import plain
from .resolution import rendered
from .template import Scope

INFINITE = float("inf")
_INTEGER = re.compile(r"[-+]?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class Misfit(ValueError):
    """Something that is of another type than the document declares, and cannot be made of it."""

    def __init__(self, output: Output) -> None:
        named = output.name or (output.mapping.text if output.mapping else "an output")
        super().__init__(f"{named} is no {output.type}")


def first_of(outputs: Sequence[Output], root: Any, scope: Scope) -> Any:
    """The first of the alternatives that is something; the whole when none is."""
    for output in outputs:
        found = produced(output, root, scope)
        if found is not None:
            return found
    return root


def produced(output: Output, root: Any, scope: Scope) -> Any:
    """What an output parameter is, all the way down; null where nothing is."""
    if output.value is not MISSING:
        return fitted(rendered(output.value, scope), output)
    found = root if output.mapping is None else _found(output.mapping, root)
    if output.type == "array":
        return _listed(output, found, scope)
    if output.type == "object":
        return _object(output, found, scope)
    if output.mapping is None and output.name:
        found = root.get(output.name) if isinstance(root, dict) else None
    return fitted(found, output)


def projected(outputs: Mapping[str, Output], response: Any, scope: Scope) -> Any:
    """A response as the consumed operation declares it: an object has these fields only, items of a list gain them."""
    if not outputs or response is MISSING:
        return response
    if isinstance(response, list):
        return [{**(item if isinstance(item, dict) else {}), **_projection(outputs, item, scope)} for item in response]
    return _projection(outputs, response, scope)


def mocked(outputs: Iterable[Output], scope: Scope) -> dict[str, Any]:
    """The answer of a flow that calls nobody."""
    found = {output.name: _mock(output, scope) for output in outputs}
    return {name: value for name, value in found.items() if value is not None}


def mapped(mappings: Iterable[Mapped], outputs: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The answer of a flow with steps, and how each part of it came about. What leads nowhere is left out."""
    answer: dict[str, Any] = {}
    told = []
    for mapping in mappings:
        value = across(mapping.value, outputs)
        if value is not MISSING:
            _put(answer, mapping.target, value)
        shown = {} if value is MISSING else {"output": value}
        told.append({"target": ".".join(mapping.target), "value": mapping.value.text, **shown})
    return answer, told


def conforming(outputs: Iterable[Output], answer: Any) -> Any:
    """The answer of a flow with steps in the types that it declares. What it does not declare stays as it is."""
    if not isinstance(answer, dict):
        return answer
    return {**answer, **{one.name: _conforming(one, answer[one.name]) for one in outputs if one.name in answer}}


def _conforming(output: Output, value: Any) -> Any:
    if output.type == "object" and isinstance(value, dict):
        return conforming(output.properties.values(), value)
    if output.type == "array" and isinstance(value, list):
        items = output.items
        return value if items is None else [_conforming(items, item) for item in value]
    return fitted(value, output)


def across(query: Query, outputs: Mapping[str, Any]) -> Any:
    """What a path finds in the outputs of steps; MISSING when its step has none."""
    path = compiled(query.text)
    if path.first is not None and path.first not in outputs:
        return MISSING
    return path.find(dict(outputs))


def fitted(value: Any, output: Output) -> Any:
    """The value in the declared type, if nothing is lost by that: clients hold answers to what is declared."""
    if value is None or value is MISSING:
        return None
    found = _FITS[output.type](value)
    if found is MISSING:
        raise Misfit(output)
    return found


def _as_text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return plain(value) if isinstance(value, bool | int | float) else MISSING


def _as_number(value: Any) -> Any:
    if isinstance(value, bool):
        return MISSING
    if isinstance(value, str):
        text = value.strip()
        if _INTEGER.fullmatch(text):
            return int(text)
        return number if _DECIMAL.fullmatch(text) and abs(number := float(text)) != INFINITE else MISSING
    return value if isinstance(value, int | float) else MISSING


def _as_integer(value: Any) -> Any:
    found = _as_number(value)
    if isinstance(found, float):
        return int(found) if found.is_integer() else MISSING
    return found


def _as_truth(value: Any) -> Any:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), MISSING)
    return value if isinstance(value, bool) else MISSING


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else MISSING


def _as_object(value: Any) -> Any:
    return value if isinstance(value, dict) else MISSING


_FITS: Mapping[str, Callable[[Any], Any]] = {
    "string": _as_text,
    "number": _as_number,
    "integer": _as_integer,
    "boolean": _as_truth,
    "array": _as_list,
    "object": _as_object,
}


def _projection(outputs: Mapping[str, Output], root: Any, scope: Scope) -> dict[str, Any]:
    return {name: produced(output, root, scope) for name, output in outputs.items()}


def _listed(output: Output, found: Any, scope: Scope) -> list[Any] | None:
    if isinstance(found, dict):
        # XML cannot tell one from a list of one.
        found = [found]
    if not isinstance(found, list):
        return None
    items = output.items
    return found if items is None else [_item(items, item, scope) for item in found]


def _item(items: Output, item: Any, scope: Scope) -> Any:
    if items.mapping is None and items.value is MISSING and items.type not in ("object", "array"):
        return fitted(item, items)
    return produced(items, item, scope)


def _object(output: Output, found: Any, scope: Scope) -> dict[str, Any] | None:
    if output.mapping is not None and not isinstance(found, dict):
        return None
    if not output.properties:
        return found if isinstance(found, dict) else None
    return {name: produced(part, found, scope) for name, part in output.properties.items()}


def _mock(output: Output, scope: Scope) -> Any:
    if output.value is not MISSING:
        return fitted(rendered(output.value, scope), output)
    if output.properties:
        found = mocked(output.properties.values(), scope)
        return found or None
    if output.items is not None:
        item = _mock(output.items, scope)
        return None if item is None else [item]
    return None


def _put(answer: dict[str, Any], target: Sequence[str], value: Any) -> None:
    *above, last = target
    for name in above:
        inner = answer.get(name)
        # A copy: what is there may be the output of a step, which others still read.
        answer[name] = inner = dict(inner) if isinstance(inner, dict) else {}
        answer = inner
    answer[last] = value


def _found(query: Query, root: Any) -> Any:
    return MISSING if root is MISSING else compiled(query.text).find(root)
