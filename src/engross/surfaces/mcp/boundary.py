"""What stands around every handler: no failure gets out as it is, and what clients keep for us is sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types.methods import is_input_required
from pydantic import ValidationError

from engross.replies import Trace, record_crash

from .protocol import crashed
from .questions import PATIENCE_SECONDS
from .window import RequestContext, Window, whose

if TYPE_CHECKING:
    from mcp.server.request_state import RequestStateBoundary


class Boundary:
    """A middleware of the SDK's server. Its own wall around state is put up when there first is some."""

    def __init__(self, window: Window, name: str) -> None:
        self._window = window
        self._name = name
        self._sealing: RequestStateBoundary | None = None

    async def __call__(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Let one request or notification through."""
        try:
            if ctx.params is not None and ctx.params.get("requestState") is not None:
                return await self._seal()(ctx, call_next)
            result = await call_next(ctx)
            return await self._sealed(ctx, result) if is_input_required(result) else result
        except (MCPError, ValidationError):
            raise
        except Exception as crash:
            trace = Trace.new()
            record_crash(trace.trace_id, crash, ctx.method)
            raise crashed(trace.trace_id) from None

    async def _sealed(self, context: RequestContext, result: HandlerResult) -> HandlerResult:
        async def made(_: RequestContext) -> HandlerResult:
            return result

        return await self._seal()(context, made)

    def _seal(self) -> RequestStateBoundary:
        if self._sealing is None:
            from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

            key = self._window.desk.office.secret("mcp request state")
            security = RequestStateSecurity(keys=[key], ttl=PATIENCE_SECONDS, bind_principal=self._principal)
            self._sealing = RequestStateBoundary(security, default_audience=self._name)
        return self._sealing

    def _principal(self, context: RequestContext) -> str:
        return whose(self._window.who())
