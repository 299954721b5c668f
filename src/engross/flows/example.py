"""Examples: documentation that also runs as a test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engross.replies import REGISTRY, UnknownCode

from .definition import FlowDefinitionError

REFERENCE = re.compile(r"\$(\d+)((?:\.[A-Za-z0-9_-]+)+)")


class Example(NamedTuple):
    """A call, what must have been called before it, and the message key it ends in.

    A string `$0.card.id` in the arguments stands for that path in the answer of `given[0]`; inside `given`,
    for the answer of an earlier one.
    """

    title: str
    arguments: Mapping[str, object]
    given: tuple[tuple[str, Mapping[str, object]], ...] = ()
    reply: str = "READ_OK"


def is_reference(value: object) -> bool:
    """Does this stand for a part of an earlier answer?"""
    return isinstance(value, str) and REFERENCE.fullmatch(value) is not None


def succeeds(example: Example) -> bool:
    """Does the example end in a success?"""
    try:
        return REGISTRY.by_key(example.reply).type == "S"
    except UnknownCode:
        return False


def refers(value: object) -> bool:
    """Does any part of this stand for a part of an earlier answer?"""
    if isinstance(value, Mapping):
        return any(map(refers, value.values()))
    if isinstance(value, list | tuple):
        return any(map(refers, value))
    return is_reference(value)


def filled(value: object, answers: Sequence[Mapping[str, object]]) -> object:
    """The value with every reference replaced by what the earlier answers hold there."""
    if isinstance(value, Mapping):
        return {key: filled(part, answers) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [filled(part, answers) for part in value]
    if isinstance(value, str) and (match := REFERENCE.fullmatch(value)):
        return _looked_up(value, int(match[1]), match[2][1:].split("."), answers)
    return value


def _looked_up(reference: str, index: int, path: list[str], answers: Sequence[Mapping[str, object]]) -> object:
    if index >= len(answers):
        raise FlowDefinitionError("example", f"{reference} refers to given[{index}], which is not there.")
    found: object = answers[index]
    for step in path:
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, Sequence) and not isinstance(found, str) and _indexes(step, found):
            found = found[int(step)]
        else:
            raise FlowDefinitionError("example", f"{reference}: the answer has nothing at {step!r}.")
    return found


def _indexes(step: str, found: Sequence[object]) -> bool:
    return step.isdecimal() and int(step) < len(found)
