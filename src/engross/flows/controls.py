"""Fields that steer a call instead of describing what is wanted. Every flow offers those of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from .checker import Checker
from .moment import MOMENT, Moment, moment_of

# Every tool shows these, and each word costs a model's context once per tool: what they mean is told at length in
# docs/flows.md, and to models in the instructions of the MCP server.
CONTROLS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "client_request_id": {
            "type": "string",
            "description": "Idempotency key.",
            "minLength": 8,
            "maxLength": 255,
            "pattern": r"^[A-Za-z0-9._:\-]+$",
        },
        "commit_mode": {
            "type": "string",
            "description": "draft collects; proposal asks a person.",
            "enum": ["draft", "proposal", "direct"],
        },
        "proposal_id": {
            "type": "string",
            "description": "Draft to use.",
            "minLength": 1,
            "maxLength": 128,
        },
        "reason": {
            "type": "string",
            "description": "Why, for reviewers.",
            "minLength": 1,
            "maxLength": 2000,
        },
        "confirm_token": {
            "type": "string",
            "description": "From CONFIRMATION_REQUIRED.",
            "minLength": 1,
            "maxLength": 2048,
        },
        "as_of": {
            "type": "string",
            "description": "Position or time.",
        },
    }
)
SAMPLES: Mapping[str, Any] = MappingProxyType(
    {"client_request_id": "0198c0de-5f6a-7bcd-8ef0-123456789abc", "commit_mode": "proposal", "as_of": 1}
)
"""What a good value looks like, where one can be made up."""
# A read offers `as_of` when it chooses to: only rows that keep their versions can answer it.
READ_CONTROLS = ("proposal_id",)
WRITE_CONTROLS = ("client_request_id", "commit_mode", "proposal_id", "reason", "confirm_token")
# A flow may have a field of its own called like the others; these three mean one thing everywhere.
NEVER_OWN = ("client_request_id", "commit_mode", "confirm_token")


class Controls(Struct, frozen=True, gc=False):
    """The control fields of one call; None where the caller gave nothing."""

    client_request_id: str | None = None
    commit_mode: Literal["draft", "proposal", "direct"] | None = None
    proposal_id: str | None = None
    reason: str | None = None
    confirm_token: str | None = None
    as_of: Moment | None = None


NO_CONTROLS = Controls()


def controls_of(kind: str) -> tuple[str, ...]:
    """The control fields that flows of this kind offer."""
    return READ_CONTROLS if kind == "read" else WRITE_CONTROLS


def split(arguments: dict[str, Any], offered: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The flow's own arguments, and the controls that were given. Null counts as not given."""
    own, given = dict(arguments), {}
    for name in offered:
        if name in own:
            value = own.pop(name)
            if value is not None:
                given[name] = value
    return own, given


def controls_from(given: dict[str, Any]) -> Controls:
    """The controls that passed the check."""
    if "as_of" in given:
        given["as_of"] = moment_of(given["as_of"])
    return Controls(**given)


@cache
def control_checker() -> Checker:
    """The checker of all control fields; `split` passes on only those that the flow offers."""
    fields = {name: dict(schema) for name, schema in {**CONTROLS, "as_of": MOMENT}.items()}
    closed = {"type": "object", "properties": fields, "additionalProperties": False}
    return Checker(closed, samples=SAMPLES, subject="controls")
