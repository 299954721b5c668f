"""Changes in three states: what is absent stays, a value is set, `{"$op": "DELETE"}` takes a property away.

In a fact, each property is a field of its own (`properties.owner`), so that two people who set different properties do
not get in each other's way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DELETE: Mapping[str, str] = {"$op": "DELETE"}
MAPS = ("properties", "profile")


def spread(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with every entry of a map as a field of its own."""
    fields: dict[str, Any] = {}
    for name, value in changes.items():
        if name in MAPS and isinstance(value, Mapping):
            fields |= {f"{name}.{_escaped(key)}": one for key, one in value.items()}
        else:
            fields[name] = value
    return fields


def patched(thing: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The thing after these fields were set."""
    after: dict[str, Any] = {**thing, **{name: dict(thing.get(name) or {}) for name in MAPS}}
    for field, value in fields.items():
        name, dot, key = field.partition(".")
        if not dot:
            after[name] = value
        elif is_deletion(value):
            after[name].pop(_unescaped(key), None)
        else:
            after[name][_unescaped(key)] = value
    return after


def changed(thing: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the fields that would change something."""
    return {field: value for field, value in fields.items() if _differs(thing, field, value)}


def value_of(thing: Mapping[str, Any], field: str) -> Any:
    """What a field holds now; None where it holds nothing."""
    name, dot, key = field.partition(".")
    return (thing.get(name) or {}).get(_unescaped(key)) if dot else thing.get(name)


def is_deletion(value: object) -> bool:
    """Does this take a property away?"""
    return isinstance(value, Mapping) and value.get("$op") == DELETE["$op"]


def _differs(thing: Mapping[str, Any], field: str, value: Any) -> bool:
    name, dot, key = field.partition(".")
    held = thing.get(name)
    if not dot:
        return bool(held != value)
    known: Mapping[str, Any] = held or {}
    if is_deletion(value):
        return _unescaped(key) in known
    return _unescaped(key) not in known or bool(known[_unescaped(key)] != value)


def _escaped(key: str) -> str:
    # The ledger lists the fields of a fact separated by commas.
    return key.replace("%", "%25").replace(",", "%2C")


def _unescaped(key: str) -> str:
    return key.replace("%2C", ",").replace("%25", "%")
