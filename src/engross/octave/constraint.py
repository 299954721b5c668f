"""Constraints: what a field's value must be, and the codes of what it is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from .error import OctaveError
from .spelling import BARE_CONSTRAINTS, CONSTRAINTS_WITH_ARGUMENTS, spelled
from .value import List, Literal, Number, Value, is_number, same_value

TYPES: Final = ("STRING", "NUMBER", "BOOLEAN", "LIST", "LITERAL")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII).fullmatch
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
).fullmatch
_NUMERIC: Final = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII).fullmatch


class Constraint(NamedTuple):
    """One constraint with its arguments."""

    name: str
    arguments: tuple[Value, ...] = ()

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"{self.name}[{','.join(spelled(argument, 0) for argument in self.arguments)}]"


class Breach(NamedTuple):
    """A constraint that a value does not meet: the code of the format, a name that means only this, and why."""

    code: str
    name: str
    message: str


def text_of(value: Value) -> str:
    """What a value says as text."""
    if isinstance(value, str):
        return value
    return value.content if isinstance(value, Literal) else spelled(value, 0)


def checked(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The constraints, if each of them can be used; raises E_CONSTRAINT otherwise."""
    for constraint in constraints:
        reason = _misuse(constraint)
        if reason is not None:
            raise OctaveError("E_CONSTRAINT", f"{constraint}: {reason}")
    return tuple(constraints)


def conflict(constraints: Sequence[Constraint]) -> Breach | None:
    """What makes a chain impossible to meet."""
    names = {constraint.name for constraint in constraints}
    constants = [constraint.arguments[0] for constraint in constraints if constraint.name == "CONST"]
    members = [text_of(member) for one in constraints if one.name == "ENUM" for member in one.arguments]
    if {"REQ", "OPT"} <= names:
        return _conflict("REQ and OPT exclude each other")
    if any(not same_value(constants[0], other) for other in constants[1:]):
        return _conflict("two constants differ")
    if members and constants and text_of(constants[0]) not in members:
        return _conflict("the constant is not in ENUM")
    return None


def breach(value: Value, constraints: Sequence[Constraint]) -> Breach | None:
    """The first constraint that a value does not meet, from left to right; conflicts come before all."""
    impossible = conflict(constraints)
    if impossible is not None:
        return impossible
    for constraint in constraints:
        found = _CHECKS[constraint.name](value, constraint.arguments)
        if found is not None:
            return found
    return None


def _conflict(message: str) -> Breach:
    return Breach("E999", "CONSTRAINT_CONFLICT", message)


def _misuse(constraint: Constraint) -> str | None:
    """Why a constraint cannot be used."""
    name, arguments = constraint
    if name in BARE_CONSTRAINTS:
        return None if not arguments else "takes nothing in brackets"
    if name not in CONSTRAINTS_WITH_ARGUMENTS:
        return "there is no such constraint"
    if not arguments:
        return "needs something in brackets"
    return _ARGUMENTS[name](arguments)


def _one_type(arguments: tuple[Value, ...]) -> str | None:
    known = len(arguments) == 1 and arguments[0] in TYPES
    return None if known else f"one of {', '.join(TYPES)} is needed"


def _one(arguments: tuple[Value, ...]) -> str | None:
    return None if len(arguments) == 1 else "takes one argument"


def _compiles(arguments: tuple[Value, ...]) -> str | None:
    try:
        re.compile(text_of(arguments[0]))
    except (re.error, OverflowError, RecursionError):
        return "is no regular expression"
    return _one(arguments)


def _bounds(arguments: tuple[Value, ...]) -> str | None:
    if len(arguments) != 2 or not all(is_number(argument) for argument in arguments):
        return "takes two numbers"
    return None if _amount(arguments[0]) <= _amount(arguments[1]) else "its bounds are the wrong way round"


def _length(arguments: tuple[Value, ...]) -> str | None:
    fits = len(arguments) == 1 and type(arguments[0]) is int and arguments[0] >= 0
    return None if fits else "takes a whole number"


def _amount(value: Value) -> float:
    if isinstance(value, Number):
        return float(value.value)
    return float(value) if isinstance(value, (int, float, str)) else float("nan")


def _required(value: Value, _: tuple[Value, ...]) -> Breach | None:
    empty = value is None or value == ""
    return Breach("E003", "REQUIRED_EMPTY", "needs a value") if empty else None


def _optional(_: Value, __: tuple[Value, ...]) -> Breach | None:
    return None


def _constant(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    if same_value(value, arguments[0]):
        return None
    return Breach("E004", "NOT_THE_CONSTANT", f"must be {spelled(arguments[0], 0)}")


def _enumerated(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    members = [text_of(member) for member in arguments]
    text = text_of(value)
    if text in members:
        return None
    begun = [member for member in members if text and member.startswith(text)]
    if len(begun) == 1:
        return None
    if begun:
        return Breach("E006", "ENUM_AMBIGUOUS", f"{text!r} may be any of {', '.join(begun)}")
    return Breach("E005", "NOT_IN_ENUM", f"must be one of {', '.join(members)}")


def _typed(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    kind = kind_of(value)
    return None if kind == arguments[0] else Breach("E007", "WRONG_TYPE", f"must be {arguments[0]}, is {kind}")


def kind_of(value: Value) -> str:
    """The name of a value's type, as TYPE spells it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "BOOLEAN"
    if is_number(value):
        return "NUMBER"
    if isinstance(value, List):
        return "LIST"
    if isinstance(value, Literal):
        return "LITERAL"
    return "STRING" if isinstance(value, str) else "PATTERN"


def _language(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    tag = text_of(arguments[0])
    if isinstance(value, Literal) and (value.info or "").casefold() == tag.casefold():
        return None
    return Breach("E007", "WRONG_LANGUAGE", f"must be a literal zone with the tag {tag}")


def _matching(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    pattern = text_of(arguments[0])
    return None if re.match(pattern, text_of(value)) else Breach("E008", "NO_MATCH", f"does not match {pattern}")


def _directory(value: Value, _: tuple[Value, ...]) -> Breach | None:
    return Breach("E009", "NO_DIRECTORY", "holds a NUL character") if "\0" in text_of(value) else None


def _appended(value: Value, _: tuple[Value, ...]) -> Breach | None:
    return None if isinstance(value, List) else Breach("E010", "NOT_A_LIST", "must be a list")


def _ranged(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    low, high = arguments
    numeric = is_number(value) or (isinstance(value, str) and _NUMERIC(value) is not None)
    if numeric and _amount(low) <= _amount(value) <= _amount(high):
        return None
    return Breach("E011", "OUT_OF_RANGE", f"must be a number from {spelled(low, 0)} to {spelled(high, 0)}")


def _at_most(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    limit, length = arguments[0], _length_of(value)
    fits = length is not None and isinstance(limit, int) and length <= limit
    return None if fits else Breach("E012", "TOO_LONG", f"must be a text or list of at most {limit}")


def _at_least(value: Value, arguments: tuple[Value, ...]) -> Breach | None:
    limit, length = arguments[0], _length_of(value)
    fits = length is not None and isinstance(limit, int) and length >= limit
    return None if fits else Breach("E013", "TOO_SHORT", f"must be a text or list of at least {limit}")


def _length_of(value: Value) -> int | None:
    if isinstance(value, List):
        return len(value.items)
    return len(value) if isinstance(value, str) else None


def _date(value: Value, _: tuple[Value, ...]) -> Breach | None:
    return None if _is_moment(value, _DATE) else Breach("E014", "NO_DATE", "must be a date, YYYY-MM-DD")


def _moment(value: Value, _: tuple[Value, ...]) -> Breach | None:
    return None if _is_moment(value, _MOMENT) else Breach("E015", "NO_ISO8601", "must be a date or time in ISO 8601")


def _is_moment(value: Value, shape: Callable[[str], re.Match[str] | None]) -> bool:
    if not isinstance(value, str) or shape(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


_CHECKS: Final[Mapping[str, Callable[[Value, tuple[Value, ...]], Breach | None]]] = {
    "REQ": _required,
    "OPT": _optional,
    "CONST": _constant,
    "ENUM": _enumerated,
    "TYPE": _typed,
    "LANG": _language,
    "REGEX": _matching,
    "DIR": _directory,
    "APPEND_ONLY": _appended,
    "RANGE": _ranged,
    "MAX_LENGTH": _at_most,
    "MIN_LENGTH": _at_least,
    "DATE": _date,
    "ISO8601": _moment,
}
_ARGUMENTS: Final[Mapping[str, Callable[[tuple[Value, ...]], str | None]]] = {
    "CONST": _one,
    "ENUM": lambda _: None,
    "TYPE": _one_type,
    "LANG": _one,
    "REGEX": _compiles,
    "RANGE": _bounds,
    "MAX_LENGTH": _length,
    "MIN_LENGTH": _length,
}
