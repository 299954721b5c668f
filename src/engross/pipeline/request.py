"""What a surface hands in: a call, and who the credential says is calling."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from msgspec import Struct

from engross.calls import NO_PINS, Context, Principal, Surface


class Request(Struct, frozen=True):
    """One call as it came in. Identity is the surface's word, taken from the credential, never from the arguments."""

    flow: str
    arguments: Any
    tenant: str
    principal: Principal
    surface: Surface = "embedded"
    traceparent: str | None = None
    tracestate: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    timeout: float | None = None
    dry_run: bool = False
    break_glass: bool = False
    pins: Mapping[str, str] = NO_PINS
    hidden: Container[str] = ()
    """Flows that are not there for whoever calls."""
    is_counted: bool = True
    """Does it count against the caller's rate? Not if nobody asked for it now."""

    @classmethod
    def within(cls, context: Context, flow: str, arguments: Any, **more: Any) -> Request:
        """A call that another one makes: by the same caller, on the same trace."""
        return cls(
            flow,
            arguments,
            context.tenant,
            context.principal,
            surface=context.surface,
            traceparent=context.trace.traceparent,
            tracestate=context.trace.tracestate,
            correlation_id=context.correlation_id,
            pins=context.pins,
            hidden=context.hidden,
            **more,
        )
