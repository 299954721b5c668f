"""What the validator says about arguments, as faults.

The validator has ready-made errors too. They are not used: they write the path to `{"007": ...}` as 7, leave
out an empty key altogether, and cost twenty times as much. Its evaluation names the exact places in the
arguments and in the schema; what stands there is looked up here. A test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .fault import Fault, Path
from .pointer import steps

_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_NUMBERED = ("anyOf", "oneOf", "allOf", "prefixItems")
_LEADING_INSIDE = (
    *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    *("items", "prefixItems", "unevaluatedItems", "contains"),
)
# Below these, errors are those of alternatives not taken or of names: only the whole can be told about.
_OPAQUE = ("anyOf", "oneOf", "not", "propertyNames")


class Location(NamedTuple):
    """Where in the schema something did not hold."""

    keyword: str
    bound: Any
    around: Mapping[str, Any]
    """The schema that has the keyword."""
    below: tuple[str, ...]
    """What of the location lies below an opaque keyword."""


def faults_in(schema: Mapping[str, Any], arguments: object, errors: Iterable[Mapping[str, Any]]) -> list[Fault]:
    """The faults behind the errors of an evaluation, each once; never none."""
    found: dict[tuple[Path, str], Fault] = {}
    locations: dict[str, Location] = {}
    for error in errors:
        spelled = error["schemaLocation"]
        location = locations.get(spelled) or locations.setdefault(spelled, _located(schema, steps(spelled)))
        path = _path(arguments, steps(error["instanceLocation"]), _steps_inside(location.below))
        for fault in _faults_at(location, path, _value(arguments, path)):
            found.setdefault((fault.path, fault.keyword), fault)
    if not found:
        # The validator named a place that the schema does not have. That something is wrong stays true.
        return [Fault((), "schema", None)]
    inside = {path[:-1] for path, _ in found if path}
    return [fault for fault in found.values() if not _is_told_inside(fault, inside)]


def _faults_at(location: Location, path: Path, value: Any) -> Iterator[Fault]:
    keyword, bound = location.keyword, location.bound
    if keyword in ("required", "additionalProperties"):
        yield from _faults_of_fields(location.around, path, value)
    elif keyword == "dependentRequired":
        needed = (name for trigger, names in (bound or {}).items() if trigger in value for name in names)
        yield from (Fault((*path, name), "required", None) for name in needed if name not in value)
    else:
        yield Fault(path, keyword, bound)


def _faults_of_fields(schema: Mapping[str, Any], path: Path, value: Mapping[str, Any]) -> Iterator[Fault]:
    """Missing and unknown fields together: the validator checks them in one go and blames either keyword."""
    for name in schema.get("required", ()):
        if name not in value:
            yield Fault((*path, name), "required", None)
    if schema.get("additionalProperties") is False:
        yield from (Fault((*path, name), "additionalProperties", None) for name in _strangers(schema, value))


def _located(schema: Any, location: tuple[str, ...]) -> Location:
    around: Mapping[str, Any] = {}
    keyword = "falseSchema"
    for position, keyword, name in _keywords(location):
        around = schema if isinstance(schema, Mapping) else {}
        schema = around.get(keyword)
        if keyword in _OPAQUE:
            return Location(keyword, schema, around, location[position + 1 :])
        if keyword in _NAMED and isinstance(schema, Mapping):
            schema = schema.get(name)
        elif keyword in _NUMBERED and isinstance(schema, list):
            schema = schema[int(name)]
    if schema is False and keyword in ("items", "then", "else", *_NAMED, *_NUMBERED):
        keyword = "falseSchema"
    return Location(keyword, schema, around, ())


def _keywords(location: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    """The keywords that a location passes: position, keyword, and the name or number that belongs to it."""
    position = 0
    while position < len(location):
        keyword = location[position]
        takes_two = keyword in _NAMED or keyword in _NUMBERED or keyword == "dependentRequired"
        yield position, keyword, location[position + 1] if takes_two and position + 1 < len(location) else ""
        position += 2 if takes_two else 1


def _steps_inside(below: tuple[str, ...]) -> int:
    """How many steps into the arguments a piece of location goes."""
    # After `anyOf` comes the number of the alternative.
    rest = below[1:] if below and below[0].isdecimal() else below
    passed = list(_keywords(rest))
    inside = [keyword for _, keyword, _ in passed if keyword in _LEADING_INSIDE]
    closed = bool(passed) and passed[-1][1] in ("additionalProperties", "contains")
    return len(inside) - closed


def _path(arguments: Any, location: tuple[str, ...], too_deep: int) -> Path:
    path: list[str | int] = []
    for step in location[: len(location) - too_deep]:
        key: str | int = int(step) if isinstance(arguments, list) else step
        path.append(key)
        arguments = arguments[key]
    return tuple(path)


def _value(arguments: Any, path: Path) -> Any:
    for step in path:
        arguments = arguments[step]
    return arguments


def _strangers(schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[str]:
    names = [name for name in value if name not in schema.get("properties", {})]
    patterns = schema.get("patternProperties")
    if not patterns:
        return names
    from jsonschema_rs import Draft202012Validator, RegexOptions

    shapes = {"patternProperties": dict.fromkeys(patterns, True), "additionalProperties": False}
    known = Draft202012Validator(shapes, pattern_options=RegexOptions())
    return [name for name in names if not known.is_valid({name: None})]


def _is_told_inside(fault: Fault, inside: set[Path]) -> bool:
    """Unevaluated parts are reported for the whole and then one by one; the ones are enough."""
    return fault.keyword.startswith("unevaluated") and fault.path in inside
