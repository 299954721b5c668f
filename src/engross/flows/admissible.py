"""Is this JSON at all, and is it of a size that the rest may look at?

Everything after this guard may recurse, convert and compare without fear. The guard itself keeps a list of
places to visit instead of recursing, gives up as soon as a total is exceeded (shared and cyclic structures
would otherwise unfold without end), and spells a pointer only when something is wrong at that place.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, TypeAlias

from engross.replies import Issue, codes

from .limits import LIMITS, Limits
from .pointer import pointer

MOST_ISSUES = 100
# JSON has it, but one of the two engines cannot keep it in a text.
NUL = "\0"
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1

_FEW = 32
_ONLY_TEXT = frozenset({str})

Place: TypeAlias = "tuple[Place, str | int] | None"
"""Where a value sits: the place around it and its key there; None for the whole."""


def admissible(arguments: object, limits: Limits = LIMITS) -> list[Issue]:
    """What hinders these arguments from being looked at; nothing for plain JSON of a bearable size."""
    if _is_plain(arguments, limits):
        return []
    survey = _Survey(limits)
    survey.value(arguments, None, 0)
    while survey.pending and len(survey.issues) < MOST_ISSUES:
        survey.container(*survey.pending.pop())
        if survey.values > limits.values:
            survey.over("The number of values", limits.values, None)
            break
        if survey.size > limits.size:
            survey.over("The text in all", limits.size, None)
            break
    return sorted(survey.issues, key=lambda issue: issue.pointer)[:MOST_ISSUES]


def _is_plain(arguments: object, limits: Limits) -> bool:
    """The quick look that most calls pass: an object of a few short plain texts, and nothing else."""
    if type(arguments) is not dict or len(arguments) > _FEW:
        return False
    if not (_ONLY_TEXT.issuperset(map(type, arguments)) and _ONLY_TEXT.issuperset(map(type, arguments.values()))):
        return False
    # If all keys together are short enough, each of them is; so it is with the texts.
    keys, texts = "".join(arguments), "".join(arguments.values())
    if len(keys) > limits.key or len(texts) > limits.text or len(keys) + len(texts) > limits.size:
        return False
    return keys.isascii() and texts.isascii() and NUL not in keys and NUL not in texts


class _Survey:
    __slots__ = ("issues", "limits", "pending", "size", "values")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.issues: list[Issue] = []
        self.pending: list[tuple[Any, Place, int]] = []
        self.values = self.size = 0

    def container(self, container: Any, place: Place, depth: int) -> None:
        self.values += len(container)
        if self.values > self.limits.values:
            return
        entries: Iterable[tuple[Any, Any]] = enumerate(container)
        if isinstance(container, dict):
            entries = container.items()
            if not self.keys_are_plain(container):
                entries = [entry for entry in entries if self.key(entry[0], place)]
        longest = self.limits.text
        for key, value in entries:
            # Short plain texts, most of what comes, are judged here: a call each would double the time.
            if type(value) is str and len(value) <= longest and value.isascii() and NUL not in value:
                self.size += len(value)
            else:
                self.value(value, (place, key), depth)

    def keys_are_plain(self, container: dict[Any, Any]) -> bool:
        """The quick look at all keys at once, which nearly every object passes."""
        if not _ONLY_TEXT.issuperset(map(type, container)):
            return False
        together = "".join(container)
        if len(together) > self.limits.key or not together.isascii() or NUL in together:
            return False
        self.size += len(together)
        return True

    def key(self, key: object, place: Place) -> bool:
        if type(key) is not str:
            self.malformed("a field name is not a string", place)
            return False
        self.size += len(key)
        if len(key) > self.limits.key:
            self.over("The length of a field name", self.limits.key, place)
            return False
        if not key.isascii() and _is_broken(key):
            self.malformed("a field name holds half a character", place)
            return False
        if NUL in key:
            self.malformed("a field name holds a NUL character", place)
            return False
        return True

    def value(self, value: Any, place: Place, depth: int) -> None:
        kind = type(value)
        if kind is str:
            self.text(value, place)
        elif kind is int:
            if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
                self.over("The size of a number", LARGEST_INTEGER, place)
        elif kind is float:
            if not isfinite(value):
                self.malformed("a number is not finite", place)
        elif isinstance(value, dict | list):
            if depth >= self.limits.depth:
                self.over("The depth", self.limits.depth, place)
            else:
                self.pending.append((value, place, depth + 1))
        elif kind is not bool and value is not None:
            self.malformed(f"{kind.__name__} is not a kind of JSON value", place)

    def text(self, text: str, place: Place) -> None:
        self.size += len(text)
        if len(text) > self.limits.text:
            self.over("The length of a text", self.limits.text, place)
        elif not text.isascii() and _is_broken(text):
            self.malformed("a text holds half a character", place)
        elif NUL in text:
            self.malformed("a text holds a NUL character", place)

    def over(self, what: str, limit: int, place: Place) -> None:
        self.issues.append(Issue(codes.LIMIT_EXCEEDED, {"what": what, "limit": limit}, _spelled(place)))

    def malformed(self, problem: str, place: Place) -> None:
        self.issues.append(Issue(codes.MALFORMED_INPUT, {"problem": problem}, _spelled(place)))


def _is_broken(text: str) -> bool:
    """Does a lone surrogate stand in it, so that it cannot be written as UTF-8?"""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _spelled(place: Place) -> str:
    path: list[str | int] = []
    while place is not None:
        place, key = place
        path.append(key)
    return pointer(reversed(path))
