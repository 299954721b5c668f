"""Checking arguments against a schema: quick when they fit, complete when they do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.replies import Issue, codes

from .admissible import LARGEST_INTEGER, SMALLEST_INTEGER, admissible
from .definition import FlowDefinitionError
from .evaluation import faults_in
from .fault import MOST_SHOWN, SERVER_OWNED, Fault, Path, is_unknown, misfit, missing, unknown
from .moment import MOMENT_FORMAT, is_moment
from .schemas import Schema, rewritten

MOST_LOOKED_AT = 1000

_ANYTHING: Schema = {}


class Checker:
    """A schema, compiled once."""

    __slots__ = ("_compiled", "_validator", "also_allowed", "forbidden", "samples", "schema", "unlisted")

    def __init__(
        self,
        schema: Schema,
        *,
        also_allowed: tuple[str, ...] = (),
        unlisted: frozenset[str] = frozenset(),
        forbidden: frozenset[str] = SERVER_OWNED,
        samples: Mapping[str, Any] | None = None,
        subject: str = "schema",
    ) -> None:
        """`also_allowed` names fields that are checked elsewhere, so that they can be suggested.

        `unlisted` are those that pass and are never suggested; `samples` shows a good value of some fields.
        """
        from jsonschema_rs import Draft202012Validator, RegexOptions

        self.schema = schema
        self._compiled = rewritten(schema, _within_64_bits)
        self.also_allowed = also_allowed
        self.unlisted = unlisted
        self.forbidden = forbidden
        self.samples = samples or {}
        try:
            # RegexOptions: an engine without backtracking, which no pattern can slow down.
            self._validator = Draft202012Validator(
                self._compiled,
                formats={MOMENT_FORMAT: is_moment},
                validate_formats=True,
                offline=True,
                pattern_options=RegexOptions(),
            )
        except ValueError as problem:
            reason = str(problem).splitlines()[0]
            raise FlowDefinitionError(subject, f"The schema cannot be used: {reason}") from problem

    def accepts(self, arguments: object) -> bool:
        """Do the arguments fit?"""
        return self._validator.is_valid(arguments)

    def check(self, arguments: object) -> list[Issue]:
        """What is wrong with the arguments, in the order of the schema's fields; the first hundred issues."""
        try:
            faults = self.faults(arguments)
        except ValueError:
            # Not JSON; the flow's own guard has already looked, unless somebody calls a checker by itself.
            malformed = Issue(codes.MALFORMED_INPUT, {"problem": "this is not JSON"})
            return admissible(arguments) or [malformed]
        return [self.issue(fault, arguments) for fault in faults[:MOST_SHOWN]]

    def faults(self, arguments: object) -> list[Fault]:
        """What is wrong, in the order of the schema's fields."""
        return self.examine(arguments)[0]

    def examine(self, arguments: object) -> tuple[list[Fault], int]:
        """The faults, and how many there are in all: of very many, only the first are looked at closely."""
        if self._validator.is_valid(arguments):
            return [], 0
        errors = self._validator.evaluate(arguments).errors()
        found = faults_in(self._compiled, arguments, errors[:MOST_LOOKED_AT])
        in_order = sorted(found, key=lambda fault: (self._position(fault.path), fault.keyword))
        return in_order, len(found) + len(errors[MOST_LOOKED_AT:])

    def issue(self, fault: Fault, arguments: object) -> Issue:
        """The issue that tells the caller about a fault."""
        if is_unknown(fault):
            around = _at(arguments, fault.path[:-1])
            return unknown(fault, self._allowed_at(fault.path[:-1]), around, self.forbidden)
        if fault.keyword == "required":
            return missing(fault, self._schema_at(fault.path), self._sample_at(fault.path))
        return misfit(fault, _at(arguments, fault.path), self._schema_at(fault.path), self._sample_at(fault.path))

    def _allowed_at(self, path: Path) -> list[str]:
        own = list(self._schema_at(path).get("properties", {}))
        return own if path else [*(name for name in own if name not in self.unlisted), *self.also_allowed]

    def _sample_at(self, path: Path) -> Any:
        found: Any = self.samples
        for step in path:
            if not isinstance(found, Mapping):
                return None
            found = found.get(step)
        return found

    def _schema_at(self, path: Path) -> Mapping[str, Any]:
        schema: Mapping[str, Any] = self.schema
        for step in path:
            schema = _inside(schema, step)
        return schema

    def _position(self, path: Path) -> list[tuple[int, str]]:
        schema: Mapping[str, Any] = self.schema
        position = []
        for step in path:
            if isinstance(step, int):
                position.append((step, ""))
            else:
                names = list(schema.get("properties", ()))
                position.append((names.index(step) if step in names else len(names), step))
            schema = _inside(schema, step)
        return position


def _inside(schema: Mapping[str, Any], step: str | int) -> Mapping[str, Any]:
    if isinstance(step, int):
        part = schema.get("items")
    else:
        part = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
    return part if isinstance(part, Mapping) else _ANYTHING


def _at(arguments: Any, path: Path) -> Any:
    for step in path:
        arguments = arguments[step]
    return arguments


def _within_64_bits(schema: Schema) -> Schema:
    """`1e300` counts as an integer in JSON Schema, but no column and no digest of ours could hold it."""
    if schema.get("type") != "integer":
        return schema
    bounds = {"minimum": SMALLEST_INTEGER, "maximum": LARGEST_INTEGER}
    return {**bounds, **schema}
