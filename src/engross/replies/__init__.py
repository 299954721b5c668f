"""Replies: the one way to answer across a boundary."""

from typing import TYPE_CHECKING

from engross.later import later

from . import codes
from .calllog import log_end
from .coded import Coded, Denied, Failed, Invalid, reply_of
from .crashes import configure_crash_log, crash_log, record_crash
from .entry import Entry, RegistryError
from .frozen import EMPTY, FrozenDict, FrozenList, NotSerializable, extended, freeze
from .issue import Issue
from .registry import REGISTRY, Registry, UnknownCode
from .reply import Reply, reply
from .trace import Trace, current_trace, tracing

if TYPE_CHECKING:
    from .envelopes import exit_code, http, mcp_result, neutral, parse, problem, received, serialise, structured
    from .legacy import legacy_wraps, set_strict, strict_mode
    from .safety import mcp_safe_tool
    from .servertool import mcp_server_tool

__all__ = [
    "EMPTY",
    "REGISTRY",
    "Coded",
    "Denied",
    "Entry",
    "Failed",
    "FrozenDict",
    "FrozenList",
    "Invalid",
    "Issue",
    "NotSerializable",
    "Registry",
    "RegistryError",
    "Reply",
    "Trace",
    "UnknownCode",
    "codes",
    "configure_crash_log",
    "crash_log",
    "current_trace",
    "exit_code",
    "extended",
    "freeze",
    "http",
    "legacy_wraps",
    "log_end",
    "mcp_result",
    "mcp_safe_tool",
    "mcp_server_tool",
    "neutral",
    "parse",
    "problem",
    "received",
    "record_crash",
    "reply",
    "reply_of",
    "serialise",
    "set_strict",
    "strict_mode",
    "structured",
    "tracing",
]

_ENVELOPES = (
    *("exit_code", "http", "mcp_result", "neutral", "parse", "problem", "received", "serialise", "structured"),
)
_LEGACY = ("legacy_wraps", "set_strict", "strict_mode")

__getattr__ = later(
    __name__,
    {
        "mcp_safe_tool": f"{__name__}.safety",
        "mcp_server_tool": f"{__name__}.servertool",
        **dict.fromkeys(_ENVELOPES, f"{__name__}.envelopes"),
        **dict.fromkeys(_LEGACY, f"{__name__}.legacy"),
    },
)
