"""The protocol's own errors, for what is no answer of a flow."""

from __future__ import annotations

from typing import Any

import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ErrorData,
    RequestId,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from engross.flows import nearest, shortened
from engross.replies import Reply, structured

from .window import RequestContext, Visit

RESOURCE_NOT_FOUND = -32002
"""What the handshake era calls a resource that is not there; later it is a parameter that does not fit."""


def error_line(number: RequestId | None, error: ErrorData) -> bytes:
    """The message with an error."""
    told = error.model_dump(by_alias=True, exclude_unset=True)
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "error": told})


def is_modern(context: RequestContext) -> bool:
    """Does the request belong to the era without sessions?"""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def unknown_tool(visit: Visit, name: str) -> MCPError:
    """There is no such tool, as far as this caller can tell."""
    close = nearest(name, [tool.name for tool in visit.reachable() if tool.name])
    return MCPError(INVALID_PARAMS, f"Unknown tool: {shortened(name)}", {"did_you_mean": close})


def unknown_prompt(name: str, names: list[str]) -> MCPError:
    """There is no such prompt, as far as this caller can tell."""
    return MCPError(INVALID_PARAMS, f"Unknown prompt: {shortened(name)}", {"did_you_mean": nearest(name, names)})


def unknown_resource(context: RequestContext, uri: str, data: dict[str, Any] | None = None) -> MCPError:
    """There is nothing at this address, as far as this caller can tell."""
    code = INVALID_PARAMS if is_modern(context) else RESOURCE_NOT_FOUND
    return MCPError(code, "Resource not found", {"uri": _whole(uri), **(data or {})})


def unknown_cursor() -> MCPError:
    """Every list comes on one page, so nobody was given a cursor."""
    return MCPError(INVALID_PARAMS, "Unknown cursor")


def failed(answer: Reply, **data: Any) -> MCPError:
    """A Reply where the protocol has no place for one: its code and all it says are in `data`."""
    code = INTERNAL_ERROR if answer.reply_type == "E" else INVALID_PARAMS
    return MCPError(code, answer.message, {**data, **structured(answer)})


def lacking_capability(answer: Reply, capabilities: list[str]) -> MCPError:
    """The client did not declare what this call needs of it; the later era has an error of its own for that."""
    required: dict[str, Any] = {"requiredCapabilities": {capability: {} for capability in capabilities}}
    return MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, answer.message, {**required, **structured(answer)})


def crashed(trace_id: str) -> MCPError:
    """We failed, outside of any call; the stack is in the log under the trace id."""
    return MCPError(INTERNAL_ERROR, "Internal error", {"trace_id": trace_id})


def _whole(text: str) -> str:
    # Half a character that came in must not make the answer unsendable.
    return text[:2048].encode(errors="replace").decode()
