"""Who is calling right now, for code that a request reaches without being handed the caller."""

from __future__ import annotations

from contextvars import ContextVar

from engross.calls import Caller

CALLER: ContextVar[Caller] = ContextVar("engross.caller")
"""The caller of the request at hand. Only the layer that admits requests sets it, and only from a credential."""
