"""Complaints: what Cedar has to say against a policy file, with the line it is about.

Cedar's library says what is wrong and not where. So the place is looked for: in a statement that cannot be read, the
first token with which no statement could go on; in one that can, the name that the complaint quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from engross.flows import nearest

from .policy_files import schema_text

if TYPE_CHECKING:
    from cedarpy import ValidationError

MOST = 20
LONGEST = 300
_TOKENS = re.compile(r'//[^\n\r]*|("(?:\\.|[^"\\])*"|\w+|::|[=!<>]=|&&|\|\||\S)', re.DOTALL)
_NAMED = re.compile(r"`([^`]+)`|'([^']+)'|: (@?\w+)$")
_SCHEMA_WORDS = {"entity", "appliesTo", "String", "Long", "Bool", "Set"}
_EFFECTS = {"permit", "forbid"}
_CEDAR_WORDS = _EFFECTS | {"when", "unless", "Action", "has", "like", "contains", "containsAll", "containsAny"}
_ENDS_TOO_EARLY = "permit ("


class Token(NamedTuple):
    """A word or sign of a policy file, with where it is."""

    text: str
    start: int
    end: int


Statement = Sequence[Token]


def unreadable(text: str) -> list[dict[str, Any]]:
    """Why a file is not Cedar: the first statement that cannot be read."""
    for statement in _statements(text):
        problem = _objection(text[statement[0].start : statement[-1].end])
        if problem is not None:
            return [_fault(text, _breaks_at(text, statement, problem), problem)]
    return []


def unfit(text: str, errors: Sequence[ValidationError], ids: Mapping[str, str]) -> list[dict[str, Any]]:
    """Why a file that is Cedar does not fit the schema, policy by policy; `ids` are in the order of the file.

    What names something comes first: the rest often follows from it.
    """
    faults = []
    for (place, id_), statement in zip(ids.items(), _statements(text), strict=False):
        problems = {error.error.removeprefix(f"for policy `{place}`, ") for error in errors if error.policy_id == place}
        for problem in sorted(problems, key=lambda problem: (not _names(problem), problem)):
            found = _named_in(statement, problem) or _head(statement)
            faults.append({"policy": id_, **_fault(text, found, problem)})
    return faults[:MOST]


def _fault(text: str, place: Token, problem: str) -> dict[str, Any]:
    line = text.count("\n", 0, place.start) + 1
    guesses = _guesses(problem)
    meant = {"did_you_mean": guesses} if guesses else {}
    return {"line": line, "problem": " ".join(problem.split())[:LONGEST], **meant}


def _objection(text: str) -> str | None:
    from . import cedar

    try:
        cedar.policies_to_json_str(text)
    except ValueError as unreadable:
        return str(unreadable)
    return None


def _breaks_at(text: str, statement: Statement, problem: str) -> Token:
    unended = _objection(_ENDS_TOO_EARLY)

    def is_broken(token: Token) -> bool:
        return _objection(text[statement[0].start : token.end]) not in (None, unended)

    *before, last = statement
    if problem == unended:
        return last
    broken = bisect_left(before, True, key=is_broken)
    # A statement that breaks with its very end has all its signs in order: something it names is wrong.
    return before[broken] if broken < len(before) else _named_in(statement, problem) or _head(statement)


def _head(statement: Statement) -> Token:
    """Where a policy begins, behind its annotations."""
    return next((token for token in statement if token.text in _EFFECTS), statement[0])


def _named_in(statement: Statement, problem: str) -> Token | None:
    """Where a statement has what a complaint quotes."""
    words = [token.text for token in statement]
    for name in _names(problem):
        sought = [token.text for token in _tokens(name)]
        for at in range(len(words) - len(sought) + 1):
            if words[at : at + len(sought)] == sought:
                return statement[at]
    return None


def _guesses(problem: str) -> list[str]:
    """What was probably meant by the first quoted word that nobody knows."""
    words = (word for name in _names(problem) for word in re.findall(r"\w+", name))
    return next((nearest(word, _vocabulary()) for word in words if word not in _vocabulary()), [])


def _names(problem: str) -> list[str]:
    return ["".join(groups) for groups in _NAMED.findall(problem)]


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    words = {token.text for token in _tokens(schema_text()) if token.text.isidentifier()}
    return frozenset(words - _SCHEMA_WORDS | _CEDAR_WORDS)


def _tokens(text: str) -> list[Token]:
    return [Token(found[1], found.start(1), found.end(1)) for found in _TOKENS.finditer(text) if found[1]]


def _statements(text: str) -> list[Statement]:
    statements: list[list[Token]] = [[]]
    for token in _tokens(text):
        statements[-1].append(token)
        if token.text == ";":
            statements.append([])
    return [statement for statement in statements if statement]
