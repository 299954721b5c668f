"""Arguments made complete: defaults filled in, whole numbers as whole numbers.

What is planned, fingerprinted and shown to a reviewer are the arguments after this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

Settle = Callable[[Any], Any]


class Defaults:
    """The defaults of a schema's top-level fields."""

    __slots__ = ("_plain", "_settle", "_structured")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        fields = schema.get("properties", {})
        given = {name: part["default"] for name, part in fields.items() if "default" in part}
        self._structured = {name: value for name, value in given.items() if isinstance(value, dict | list)}
        self._plain = {name: value for name, value in given.items() if name not in self._structured}
        self._settle = _settler(schema)

    def complete(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with what was left out; the caller's own object stays as it is."""
        if self._structured:
            arguments = {**deepcopy(self._structured), **arguments}
        if self._plain:
            arguments = {**self._plain, **arguments}
        settled: dict[str, Any] = self._settle(arguments) if self._settle else arguments
        return settled


def _settler(schema: object) -> Settle | None:
    """How to turn `3.0` into `3` where the schema says integer; None where it never says so."""
    if not isinstance(schema, Mapping):
        return None
    if schema.get("type") == "integer":
        return _whole
    inner = {name: settle for name, part in schema.get("properties", {}).items() if (settle := _settler(part))}
    if inner:
        return partial(_settled_fields, tuple(inner.items()))
    items = _settler(schema.get("items"))
    return partial(_settled_items, items) if items else None


def _whole(value: Any) -> Any:
    return int(value) if type(value) is float else value


def _settled_fields(fields: tuple[tuple[str, Settle], ...], value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    changed = {}
    for name, settle in fields:
        if name in value:
            before = value[name]
            after = settle(before)
            if after is not before:
                changed[name] = after
    return {**value, **changed} if changed else value


def _settled_items(settle: Settle, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    after = [settle(item) for item in value]
    return after if any(new is not old for new, old in zip(after, value, strict=True)) else value
