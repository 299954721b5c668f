"""A safe tool for the SDK's MCPServer, which sends a CallToolResult as it is and anything else as a success."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, ParamSpec, overload

from .envelopes import mcp_result
from .reply import Reply
from .safety import MARK, show_signature

if TYPE_CHECKING:
    from mcp_types import CallToolResult

P = ParamSpec("P")


@overload
def mcp_server_tool(
    func: Callable[P, Coroutine[Any, Any, Reply]],
) -> Callable[P, Coroutine[Any, Any, CallToolResult]]: ...
@overload
def mcp_server_tool(func: Callable[P, Reply]) -> Callable[P, CallToolResult]: ...
def mcp_server_tool(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a safe tool fit for MCPServer: decorate it between mcp_safe_tool and the line that registers it."""
    from mcp_types import CallToolResult

    if not hasattr(func, MARK):
        raise TypeError("only a safe tool always has a Reply to send; put mcp_safe_tool right under mcp_server_tool")
    wrapper = _awaiting(func) if inspect.iscoroutinefunction(func) else _direct(func)
    functools.update_wrapper(wrapper, func)
    # What it gives is no Reply any more, so it must not pass for a safe tool.
    delattr(wrapper, MARK)
    show_signature(wrapper, inspect.signature(func), CallToolResult)
    return wrapper


def _direct(func: Callable[..., Reply]) -> Callable[..., CallToolResult]:
    def wrapper(*args: Any, **kwargs: Any) -> CallToolResult:
        return _result(func(*args, **kwargs))

    return wrapper


def _awaiting(
    func: Callable[..., Coroutine[Any, Any, Reply]],
) -> Callable[..., Coroutine[Any, Any, CallToolResult]]:
    async def wrapper(*args: Any, **kwargs: Any) -> CallToolResult:
        return _result(await func(*args, **kwargs))

    return wrapper


def _result(answer: Reply) -> CallToolResult:
    from mcp_types import CallToolResult

    return CallToolResult.model_validate(mcp_result(answer))
