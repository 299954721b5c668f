"""From observations to what is held to be true.

A board holds, for every field, the candidate that wins so far, or for a list the newest occurrence of each element.
Which of two candidates wins never depends on a third, so candidates may come in any order and in any batches, and
boards may be merged: the outcome is the same to the byte. A write therefore costs as much as its own fields, however
much was observed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from .schema import LAST_WRITE, Policy

CORRECTION = 1000
"""From this priority on, an observation is a correction and wins over everything that is none."""
NOTHING = -1
"""The place of what an empty list says: nothing, but that the list is there."""


class Candidate(NamedTuple):
    """A value that an observation gives to a field."""

    value: Any
    id: str
    at: str
    priority: int
    specificity: float | None


class Element(NamedTuple):
    """One element of a merged list: where its newest occurrence is."""

    value: Any
    id: str
    at: str
    place: int


class Merged(NamedTuple):
    """A list that observations add to; `over` is the correction that replaces it."""

    elements: Mapping[str, Element]
    over: Candidate | None = None


Board = dict[str, Candidate | Merged]
Policies = Mapping[str, Policy]


class Claimed(NamedTuple):
    """An observation, as far as reducing goes."""

    id: str
    at: str
    priority: int
    specificity: float | None
    fields: Mapping[str, Any]


def reduced(claims: Iterable[Claimed], policies: Policies) -> Board:
    """The board that all these observations make, in whatever order they come."""
    board: Board = {}
    for claim in claims:
        add(board, claim, policies)
    return board


def add(board: Board, claim: Claimed, policies: Policies) -> None:
    """Let an observation compete. An ordinary null claims nothing; the null of a correction takes the field away."""
    identifier, at, priority, specificity, fields = claim
    for field, value in fields.items():
        if value is not None or priority >= CORRECTION:
            _compete(
                board, field, Candidate(value, identifier, at, priority, specificity), policies.get(field, LAST_WRITE)
            )


def merge(board: Board, other: Board, policies: Policies) -> None:
    """Let everything on the other board compete on this one."""
    for field, held in other.items():
        policy = policies.get(field, LAST_WRITE)
        if isinstance(held, Merged):
            for element in held.elements.values():
                _add_element(board, field, element)
            if held.over is not None:
                _compete(board, field, held.over, policy)
        else:
            _compete(board, field, held, policy)


def snapshot_of(board: Board) -> dict[str, Any]:
    """What is held to be true."""
    return {field: value for field in sorted(board) if (value := _value(board[field])) is not None}


def provenance_of(board: Board) -> dict[str, str]:
    """Which observation each field comes from; for a list all that gave it something, newest first."""
    return {field: ",".join(contributors(held)) for field in sorted(board) if _value(held := board[field]) is not None}


def contributors(held: Candidate | Merged) -> list[str]:
    """The observations that a field's value comes from, the newest first."""
    if isinstance(held, Candidate):
        return [held.id]
    if held.over is not None:
        return [held.over.id]
    told = [element for element in in_order(held) if element.place != NOTHING]
    return list(dict.fromkeys(element.id for element in told or in_order(held)))


def deciders(held: Candidate | Merged) -> list[tuple[str, str]]:
    """The ids and instants of the observations that a field's value comes from, the newest first."""
    if not isinstance(held, Merged) or held.over is not None:
        return [winner(held)]
    instants = {element.id: element.at for element in held.elements.values()}
    return [(identifier, instants[identifier]) for identifier in contributors(held)]


def winner(held: Candidate | Merged) -> tuple[str, str]:
    """The id and the instant of the observation that decides, or for a list of its newest contributor."""
    if isinstance(held, Merged):
        if held.over is not None:
            return held.over.id, held.over.at
        first = contributors(held)[0]
        return first, next(element.at for element in held.elements.values() if element.id == first)
    return held.id, held.at


def correction_of(held: Candidate | Merged | None) -> Candidate | None:
    """The correction that a field follows, if it follows one."""
    found = held.over if isinstance(held, Merged) else held
    return found if found is not None and found.priority >= CORRECTION else None


def in_order(merged: Merged) -> list[Element]:
    """The elements of a list as they are shown: those of the newest observation first, each in its own order."""
    known = sorted(merged.elements.values(), key=lambda one: (one.id, one.place))
    return sorted(known, key=lambda one: one.at, reverse=True)


def rank(candidate: Candidate, policy: Policy) -> tuple[Any, ...]:
    """What decides between candidates; the higher wins, and of equals the one with the lower id."""
    if candidate.priority >= CORRECTION:
        return (1, candidate.at)
    strategy, tie_breaker = policy
    if strategy == "highest_priority":
        return (0, candidate.priority, candidate.at)
    if strategy == "most_specific":
        if tie_breaker == "source_priority":
            return (0, candidate.specificity or 0, candidate.priority, candidate.at)
        return (0, candidate.specificity or 0, candidate.at)
    return (0, candidate.at)


def beats(challenger: Candidate, holder: Candidate, policy: Policy) -> bool:
    """Does the one win over the other?"""
    if policy is LAST_WRITE and challenger.priority < CORRECTION and holder.priority < CORRECTION:
        return challenger.at > holder.at or (challenger.at == holder.at and challenger.id < holder.id)
    first, second = rank(challenger, policy), rank(holder, policy)
    return first > second or (first == second and challenger.id < holder.id)


def element_key(value: Any) -> str:
    """What two elements of a list have in common that are equal as JSON. True is not 1, and 1.0 is."""
    return orjson.dumps(_whole(value), option=orjson.OPT_SORT_KEYS).decode()


def written(board: Board) -> str:
    """The board as text: the same bytes for the same board."""
    return orjson.dumps(
        {
            field: held
            if isinstance(held, Candidate)
            else {"of": in_order(held)} | ({"over": held.over} if held.over is not None else {})
            for field, held in board.items()
        },
        default=tuple,
        option=orjson.OPT_SORT_KEYS,
    ).decode()


def read(text: str) -> Board:
    """The board that a text holds."""
    return {
        field: Candidate(*held) if type(held) is list else _merged(held) for field, held in orjson.loads(text).items()
    }


def _merged(held: Mapping[str, Any]) -> Merged:
    elements = [Element(*one) for one in held["of"]]
    over = held.get("over")
    return Merged({_key(one): one for one in elements}, None if over is None else Candidate(*over))


def _value(held: Candidate | Merged) -> Any:
    if isinstance(held, Candidate):
        return held.value
    if held.over is not None:
        return held.over.value
    return [element.value for element in in_order(held) if element.place != NOTHING]


def _compete(board: Board, field: str, challenger: Candidate, policy: Policy) -> None:
    holder = board.get(field)
    if policy.strategy == "merge_array" or isinstance(holder, Merged):
        _add_to_list(board, field, challenger, policy)
    elif holder is None or beats(challenger, holder, policy):
        board[field] = challenger


def _add_to_list(board: Board, field: str, challenger: Candidate, policy: Policy) -> None:
    if challenger.priority >= CORRECTION:
        held = _list_at(board, field)
        if held.over is None or beats(challenger, held.over, policy):
            board[field] = held._replace(over=challenger)
        return
    values = challenger.value if isinstance(challenger.value, list | tuple) else (challenger.value,)
    for place, value in enumerate(values):
        _add_element(board, field, Element(value, challenger.id, challenger.at, place))
    if not values:
        _add_element(board, field, Element(None, challenger.id, challenger.at, NOTHING))


def _add_element(board: Board, field: str, element: Element) -> None:
    held = _list_at(board, field)
    key = _key(element)
    known = held.elements.get(key)
    if known is None or _is_newer(element, known):
        board[field] = held._replace(elements={**held.elements, key: element})


def _key(element: Element) -> str:
    return "" if element.place == NOTHING else element_key(element.value)


def _list_at(board: Board, field: str) -> Merged:
    held = board.get(field)
    return held if isinstance(held, Merged) else Merged({})


def _is_newer(one: Element, other: Element) -> bool:
    if one.at != other.at:
        return one.at > other.at
    return (one.id, one.place) < (other.id, other.place)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _whole(one) for key, one in value.items()}
    return value
