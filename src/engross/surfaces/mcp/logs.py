"""Remarks for the client of the handshake era: from which level on it wants to have them."""

from __future__ import annotations

from typing import get_args

import mcp_types as types
from mcp.server.connection import Connection, allowed_log_levels

from .protocol import is_modern
from .window import RequestContext

LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
_LEAST = "engross.level"


def connection_of(context: RequestContext) -> Connection:
    """The connection behind a request: what is kept there lives as long as the client stays."""
    # The SDK offers it to its own layers only, and has no other place for something of a session's.
    return context.session._connection


async def set_level(context: RequestContext, params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Answer `logging/setLevel`."""
    connection_of(context).state[_LEAST] = params.level
    return types.EmptyResult()


def wants(context: RequestContext, level: types.LoggingLevel) -> bool:
    """Does the client want to have remarks of this level?"""
    if is_modern(context):
        return level in allowed_log_levels(context.protocol_version, context.meta)
    return LEVELS.index(level) >= LEVELS.index(connection_of(context).state.get(_LEAST, "info"))
