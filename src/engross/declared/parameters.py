"""Parameters: what callers give and what is answered, from a document to data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .fault import Faults
from .jsonpath import compiled
from .model import MISSING, Input, Mode, Output, Patience, Place, Query, Retry
from .shapes import Taken, parts


def inputs(taken: Taken | None, faults: Faults, inherited: Mapping[str, Input] | None = None) -> dict[str, Input]:
    """Inputs by name. With something to inherit from, what one leaves out is what the inherited one of its name has."""
    found = {}
    for name, one in parts(taken):
        base = None if inherited is None else inherited.get(name)
        if inherited is not None and base is None and ("type" not in one or "description" not in one):
            _refuse_bare(name, one, faults)
        found[name] = _input(name, one, base, faults)
    return found


def require_told(taken: Taken | None, faults: Faults) -> None:
    """Complain about inputs without a type or a description, where nothing is inherited."""
    for name, one in parts(taken):
        _refuse_bare(name, one, faults)


def _refuse_bare(name: str, one: Taken, faults: Faults) -> None:
    for needed in ("type", "description"):
        if needed not in one:
            faults.error("V3", one.place, f"The input parameter {name} needs {needed}.")


def _input(name: str, one: Taken, base: Input | None, faults: Faults) -> Input:
    pattern = one.get("pattern", base.pattern if base else None)
    if "pattern" in one.values:
        _check_pattern(one, faults)
    if one.broken:
        # Its type may not be what was meant: nothing is held against it then.
        one.values.pop("default", None)
        one.values.pop("enum", None)
    items = one.get("items")
    nested = {key: _input(key, part, None, faults) for key, part in parts(one.get("properties"))}
    return Input(
        name,
        one.get("type", base.type if base else "string"),
        one.place,
        one.get("description", base.description if base else None),
        one.get("required", base.required if base else True),
        one.get("default", base.default if base else MISSING),
        tuple(one.get("enum", base.enum if base else ())),
        pattern,
        _input("", items, None, faults) if items is not None else base.items if base else None,
        nested or (base.properties if base else {}),
    )


def _check_pattern(one: Taken, faults: Faults) -> None:
    try:
        re.compile(one.values["pattern"])
    except re.error as error:
        faults.error("V3", one.at("pattern"), f"This pattern cannot be read: {error.msg}.")


def outputs(found: Any, mode: Mode, place: Place, faults: Faults) -> tuple[Output, ...]:
    """What a flow of this mode answers. In mode call that is a list of alternatives, else a map of fields."""
    if mode == "call":
        if isinstance(found, Taken):
            told = "With call, outputParameters is a list: the first entry that finds something is the answer."
            faults.error("V6", place, told)
            return ()
        return tuple(_output("", one, "call", faults) for one in found or ())
    if isinstance(found, list):
        faults.error("V6", place, "Without call, outputParameters is a map of names.")
        return ()
    return tuple(_output(name, one, mode, faults) for name, one in parts(found))


def consumed_outputs(found: Taken | None, faults: Faults) -> dict[str, Output]:
    """What of a response is kept, by name: `value` is where it lies."""
    kept = {}
    for name, one in parts(found):
        value = one.get("value")
        if isinstance(value, str) and value.startswith("$") and "mapping" not in one:
            one.values["mapping"] = one.values.pop("value")
            one.places["mapping"] = one.places.pop("value")
        kept[name] = _output(name, one, "consumed", faults)
    return kept


def _output(name: str, one: Taken, mode: str, faults: Faults) -> Output:
    mapping = _mapping(one, faults)
    kind = one.get("type", "string")
    value = one.get("value", MISSING)
    inside = {key: _output(key, part, mode, faults) for key, part in parts(one.get("properties"))}
    items = _items(one.get("items"), mode, faults)
    if not one.broken:
        _check_source(one, kind, mode, faults)
    return Output(name, kind, one.place, mapping, value, one.get("description"), inside, items)


def _items(found: Any, mode: str, faults: Faults) -> Output | None:
    if found is None:
        return None
    if "type" in found.values and isinstance(found.values["type"], str):
        # An item that says no more than its type is the item itself.
        bare = mode == "call" and set(found.places) <= {"type", "description"}
        return _output("", found, "consumed" if bare else mode, faults)
    fields = {key: _output(key, part, mode, faults) for key, part in parts(found)}
    return Output("", "object", found.place, properties=fields)


def _mapping(one: Taken, faults: Faults) -> Query | None:
    text = one.get("mapping")
    if text is None:
        return None
    return query(text, one.at("mapping"), faults)


def query(text: str, place: Place, faults: Faults) -> Query:
    """A JSONPath; V16 where it is none."""
    try:
        compiled(text)
    except ValueError as error:
        faults.error("V16", place, f"{text} is not a JSONPath: {error}.")
    return Query(text, place)


def _check_source(one: Taken, kind: str, mode: str, faults: Faults) -> None:
    """Does it say where it comes from, in the way of its mode?"""
    both = "mapping" in one and "value" in one
    if both:
        faults.error("V3", one.at("value"), "An output has a mapping or a value, not both.")
    if kind == "object" and mode in ("call", "mock") and not ({"properties", "mapping", "value"} & set(one.places)):
        faults.error("V3", one.place, "An object needs properties.")
    if mode == "steps":
        for wrong in ("mapping", "value"):
            if wrong in one:
                told = (
                    f"With steps, outputParameters only declare: say where this comes from in mappings, not in {wrong}."
                )
                faults.error("V6", one.at(wrong), told)
    elif mode == "mock":
        if "mapping" in one:
            faults.error("V6", one.at("mapping"), "Without call or steps there is nothing to map from: give a value.")
        elif kind not in ("object", "array") and "value" not in one:
            faults.error("V6", one.place, "Without call or steps an output needs a value.")
    elif mode == "call" and kind not in ("object", "array") and "mapping" not in one and "value" not in one:
        faults.error("V3", one.place, "An output needs a mapping or a value.")


def patience(taken: Taken) -> Patience:
    """How long to wait and how often to try, as far as it is said."""
    retry = taken.get("retry")
    if isinstance(retry, int):
        retry = Retry(retry)
    elif isinstance(retry, Taken):
        attempts = retry.get("attempts", 1)
        retry = Retry(attempts, float(retry.get("backoff"))) if "backoff" in retry.values else Retry(attempts)
    timeout = taken.get("timeout")
    return Patience(None if timeout is None else float(timeout), retry)
