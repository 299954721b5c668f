"""Callers and flows for the tests of governance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.calls import Context, Principal, PrincipalType
from engross.flows import Aggregate, Flow, NoArguments
from engross.replies import Trace

NOW = "2026-11-16T12:00:00.000000Z"


def nothing(unit: object, arguments: NoArguments) -> Mapping[str, object]:
    """Do nothing."""
    return {}


def read_flow(name: str = "get-card", **facets: Any) -> Flow:
    return Aggregate("cards", "Cards").define("read", nothing, name=name, **facets)


def write_flow(name: str = "update-card", **facets: Any) -> Flow:
    return Aggregate("cards", "Cards").define("record", nothing, name=name, **{"effect": "update", **facets})


def principal(type_: PrincipalType = "human", *roles: str, id_: str = "ada") -> Principal:
    return Principal(id_, type_, frozenset(roles))


def call_by(caller: Principal, **more: Any) -> Context:
    given: dict[str, Any] = {
        "tenant": "acme",
        "flow": "cards.update-card",
        "message_id": "019a8c00-0000-7000-8000-000000000001",
        "occurred_at": NOW,
        "trace": Trace("1" * 32, "2" * 16),
        "correlation_id": "1" * 32,
    }
    return Context(principal=caller, **{**given, **more})


def call(type_: PrincipalType, *roles: str, **more: Any) -> Context:
    return call_by(principal(type_, *roles), **more)
