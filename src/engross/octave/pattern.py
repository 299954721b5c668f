"""Holographic patterns taken apart: an example, constraints, and where the value goes."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from .constraint import Constraint, checked
from .error import OctaveError
from .faults import Faults
from .reading import Reading
from .source import Source
from .token import COMMA, OPEN, OPERATOR, SECTION, Lexer, Line, Token
from .value import List, Value

_LEGACY_TYPE: Final = re.compile(r"\bTYPE\(([A-Z]+)\)")
_BETWEEN: Final = re.compile(r"(?<=[A-Z0-9\]_]) +(?=[A-Z])")


class Rule(NamedTuple):
    """What a pattern says of a field. The example is documentation, never a default."""

    example: Value
    constraints: tuple[Constraint, ...]
    targets: tuple[str, ...]

    @property
    def required(self) -> bool:
        """Whether the field must be there."""
        return any(constraint.name == "REQ" for constraint in self.constraints)

    def arguments(self, name: str) -> tuple[Value, ...]:
        """The arguments of a constraint; empty if the rule has none of that name."""
        return next((one.arguments for one in self.constraints if one.name == name), ())


def rule_of(text: str) -> Rule:
    """Take a pattern's text apart; raises E_CONSTRAINT for one that cannot be used."""
    reading, end = _tokens(text)
    marks = _own_marks(reading, 1, end)
    target = next((at for at in marks if _leads_to_target(reading.tokens, at)), end)
    wedges = [at for at in marks if reading.tokens[at].text == "∧" and at < target]
    bounds = [*wedges, target]
    example = reading.value(1, bounds[0])[0] if bounds[0] > 1 else None
    constraints = [_constraint(reading, low + 1, high) for low, high in pairwise(bounds)]
    return Rule(example, checked(constraints), _targets(reading.tokens[target:end]))


def chain_of(text: str) -> tuple[Constraint, ...]:
    """The constraints of a chain alone, `REQ∧TYPE[STRING]`; blanks may stand for the marks between them."""
    marked = _BETWEEN.sub("∧", _LEGACY_TYPE.sub(r"TYPE[\1]", text.strip()))
    return rule_of(f"[example∧{marked}]").constraints if marked else ()


def _tokens(text: str) -> tuple[Reading, int]:
    faults = Faults()
    line: Line = Lexer(Source(body=text), [], faults).read(0)
    faults.tell()
    reading = Reading(line, text, [], lenient=True)
    if not line.tokens or line.tokens[0].kind != OPEN or reading.closing[0] != len(line.tokens) - 1:
        raise OctaveError("E_CONSTRAINT", f"{text} is no pattern")
    return reading, len(line.tokens) - 1


def _own_marks(reading: Reading, first: int, end: int) -> list[int]:
    """The operators that stand in no inner brackets."""
    marks: list[int] = []
    at = first
    while at < end:
        if reading.tokens[at].kind == OPEN:
            at = reading.closing[at]
        elif reading.tokens[at].kind == OPERATOR:
            marks.append(at)
        at += 1
    return marks


def _leads_to_target(tokens: list[Token], at: int) -> bool:
    return tokens[at].text == "→" and tokens[at + 1].kind == SECTION


def _constraint(reading: Reading, first: int, end: int) -> Constraint:
    tokens = reading.tokens
    if first == end:
        raise OctaveError("E_CONSTRAINT", "a constraint is missing")
    if end - first == 1:
        return Constraint(tokens[first].text)
    if tokens[first + 1].kind != OPEN or reading.closing[first + 1] != end - 1:
        raise OctaveError("E_CONSTRAINT", f"{reading.joined(first, end)} is no constraint")
    return Constraint(tokens[first].text, tuple(_arguments(reading, first + 2, end - 1)))


def _arguments(reading: Reading, first: int, end: int) -> list[Value]:
    """What stands between the commas; what has no form of its own is text."""
    arguments: list[Value] = []
    start = at = first
    while at <= end:
        if at == end or reading.tokens[at].kind == COMMA:
            if at > start:
                value = reading.value(start, at)[0]
                arguments.append(reading.joined(start, at) if isinstance(value, List) else value)
            start = at + 1
        elif reading.tokens[at].kind == OPEN:
            at = reading.closing[at]
        at += 1
    return arguments


def _targets(tokens: list[Token]) -> tuple[str, ...]:
    texts = "".join(token.text for token in tokens).lstrip("→").split("§")
    return tuple(text.rstrip("→\N{LOGICAL OR}") for text in texts if text)
