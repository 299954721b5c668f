"""The one immutable object that says everything about a call but its arguments."""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from engross.replies import Trace

from .principal import Principal

Surface = Literal["embedded", "cli", "mcp-stdio", "mcp-http", "rest"]
SURFACES: tuple[Surface, ...] = ("embedded", "cli", "mcp-stdio", "mcp-http", "rest")
PRODUCER = "urn:engross:office"
NO_PINS: Mapping[str, str] = MappingProxyType({})


class Context(Struct, frozen=True, gc=False):
    """Who calls which flow, when, on whose behalf and under which conditions. Built once, by admit."""

    tenant: str
    principal: Principal
    flow: str
    message_id: str
    occurred_at: str
    trace: Trace
    correlation_id: str
    causation_id: str | None = None
    surface: Surface = "embedded"
    deadline: float | None = None
    client_request_id: str | None = None
    proposal_id: str | None = None
    commit_mode: Literal["draft", "proposal", "direct"] | None = None
    confirm_token: str | None = None
    reason: str | None = None
    as_of: int | None = None
    dry_run: bool = False
    break_glass: bool = False
    pins: Mapping[str, str] = NO_PINS
    producer: str = PRODUCER
    hidden: Container[str] = ()
    """Flows that are not there, as far as a caller over this surface can tell."""

    def as_data(self) -> dict[str, Any]:
        """What a replay needs to be the same call again: who, how, why, when, and the source of its ids."""
        return {
            "principal": self.principal.as_data(),
            "flow": self.flow,
            "message_id": self.message_id,
            "occurred_at": self.occurred_at,
            "correlation_id": self.correlation_id,
            "surface": self.surface,
            "reason": self.reason,
            "pins": dict(self.pins),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, tenant: str, trace: Trace, causation_id: str) -> Context:
        """The author's context again, inside another call's trace."""
        return cls(
            tenant=tenant,
            principal=Principal.from_data(data["principal"]),
            flow=data["flow"],
            message_id=data["message_id"],
            occurred_at=data["occurred_at"],
            trace=trace,
            correlation_id=data["correlation_id"],
            causation_id=causation_id,
            surface=data["surface"],
            reason=data["reason"],
            pins=MappingProxyType(dict(data["pins"])),
        )
