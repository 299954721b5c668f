"""Checks of single settings: what a document holds, in its own type, or what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from engross.calls import SURFACES, instant

from .grant import Grant

Check = Callable[[Any], Any]

RATE_CLASSES = ("read", "write", "upload")
UNLIMITED = "unlimited"
RATE = re.compile(r"[1-9][0-9]{0,8}/([1-9][0-9]{0,4} )?(second|minute|hour|day)s?")
_GRANT_FIELDS = ("principal", "role", "operations", "types", "max_tier", "expires_at")


class Unfit(ValueError):
    """A value that its setting cannot take, in our own words, with what would help."""

    def __init__(self, problem: str, *, place: str = "", **help_: Any) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place = place
        self.help = help_


def one_of(*allowed: str) -> Check:
    """One of a few words."""

    def check(value: Any) -> str:
        if value not in allowed:
            raise Unfit(f"this is none of {', '.join(allowed)}", allowed_values=list(allowed))
        return str(value)

    return check


def whole(low: int, high: int) -> Check:
    """A whole number in a range."""

    def check(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise Unfit(f"this is no whole number from {low} to {high}", minimum=low, maximum=high)
        return value

    return check


def flag(value: Any) -> bool:
    """True or false."""
    if type(value) is not bool:
        raise Unfit("this is neither true nor false", allowed_values=[True, False])
    return value


def table(value: Any) -> Mapping[str, Any]:
    """A table of settings."""
    if not isinstance(value, Mapping):
        raise Unfit("this is no table")
    return value


def names(value: Any) -> tuple[str, ...]:
    """A list of names."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one for one in value):
        raise Unfit("this is no list of names")
    return tuple(value)


def surfaces(value: Any) -> tuple[str, ...]:
    """A list of surfaces."""
    given = names(value)
    for one in given:
        one_of(*SURFACES)(one)
    return given


def tiers(low: int, high: int) -> Check:
    """A whole number for some of the tiers 1 to 4."""

    def check(value: Any) -> Mapping[int, int]:
        found = {}
        for name, number in table(value).items():
            if str(name) not in ("1", "2", "3", "4"):
                raise Unfit("the tiers are 1 to 4", place=f".{name}", allowed_values=["1", "2", "3", "4"])
            found[int(name)] = _at(f".{name}", whole(low, high), number)
        return MappingProxyType(found)

    return check


def rates(value: Any) -> Mapping[str, str]:
    """A rate for each of some classes of flows, or for flows by a pattern of their ref."""
    found = {}
    for name, one in table(value).items():
        if name not in RATE_CLASSES and "." not in name and name != "*":
            raise Unfit(
                "this is neither a class of flows nor a pattern such as cards.*",
                place=f".{name}",
                allowed_values=[*RATE_CLASSES, "namespace.flow", "namespace.*", "*"],
            )
        found[name] = _at(f".{name}", rate, one)
    return MappingProxyType(found)


def rate(value: Any) -> str:
    """So many calls in such a time."""
    if not isinstance(value, str) or not (value == UNLIMITED or RATE.fullmatch(value)):
        raise Unfit("this is no rate", examples=["100/minute", "5/10 seconds", UNLIMITED])
    return value


def grants(value: Any) -> tuple[Grant, ...]:
    """A list of direct commit grants."""
    if not isinstance(value, list | tuple):
        raise Unfit("this is no list of grants")
    return tuple(_at(f".{place}", _grant, one) for place, one in enumerate(value))


def _grant(value: Any) -> Grant:
    given = value.as_data() if isinstance(value, Grant) else table(value)
    for name in given:
        if name not in _GRANT_FIELDS:
            from engross.flows import nearest

            raise Unfit("a grant has no such field", place=f".{name}", did_you_mean=nearest(name, _GRANT_FIELDS))
    if (given.get("principal") is None) == (given.get("role") is None):
        raise Unfit("a grant is for a principal or for a role, not for both or none")
    return Grant(
        operations=_at(".operations", _patterns, given.get("operations")),
        types=_at(".types", _types, given.get("types")),
        principal=_at(".principal", _name, given.get("principal")),
        role=_at(".role", _name, given.get("role")),
        max_tier=_at(".max_tier", whole(1, 3), given.get("max_tier", 2)),
        expires_at=_at(".expires_at", _moment, given.get("expires_at")),
    )


def _patterns(value: Any) -> tuple[str, ...]:
    found = names(value)
    if not found:
        raise Unfit("a grant names at least one operation", examples=["cards.update-card", "cards.*"])
    return found


def _types(value: Any) -> tuple[str, ...] | None:
    found = None if value is None else names(value)
    if found == ():
        raise Unfit("a grant names at least one type, or says nothing about types", examples=["Node", "Application*"])
    return found


def _name(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value):
        raise Unfit("this is no name")
    return value


def _moment(value: Any) -> str | None:
    if value is None:
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Unfit("this is no moment in time", examples=["2027-01-31T18:00:00Z"]) from None
    if moment.tzinfo is None:
        raise Unfit("this moment has no time zone", examples=["2027-01-31T18:00:00Z"])
    return instant(moment)


def _at(place: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except Unfit as unfit:
        raise Unfit(unfit.problem, place=place + unfit.place, **unfit.help) from None
