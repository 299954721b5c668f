"""The one line that every call leaves in the log; the outcome stands, whatever happens to its line."""

from __future__ import annotations

import logging

from .reply import Reply
from .trace import Trace

_LOG = logging.getLogger("engross.calls")
_LEVELS = {"S": logging.INFO, "I": logging.WARNING, "D": logging.WARNING, "E": logging.ERROR}


def outcome_of(answer: Reply) -> dict[str, str | None]:
    """How an outcome is named in a line of a log."""
    entry, trace = answer.entry, answer.trace
    return {
        "reply_type": entry.type,
        "code": entry.code,
        "trace_id": None if trace is None else trace.trace_id,
        "span_id": None if trace is None else trace.span_id,
    }


def log_end(answer: Reply) -> None:
    """Say how a call ended; the fields are in the text and on the log record."""
    level = _LEVELS[answer.entry.type]
    if _LOG.isEnabledFor(level):
        outcome = {"reply_type": answer.reply_type, "code": answer.code}
        _log(level, answer.tool, answer.duration_ms, answer.trace, outcome)


def log_interrupted(tool: str, duration_ms: float, trace: Trace, interruption: BaseException) -> None:
    """Say that a call was cancelled or interrupted from outside, and so has no outcome."""
    _log(logging.WARNING, tool, duration_ms, trace, {"interrupted": type(interruption).__name__})


def _log(level: int, tool: str | None, duration_ms: float | None, trace: Trace | None, outcome: dict[str, str]) -> None:
    try:
        if _LOG.isEnabledFor(level):
            fields = {
                "tool": tool,
                **outcome,
                "duration_ms": duration_ms,
                "trace_id": trace and trace.trace_id,
                "span_id": trace and trace.span_id,
            }
            text = " ".join(f"{name}={value}" for name, value in fields.items())
            _LOG.log(level, "tool_end %s", text, extra=fields)
    except Exception:
        return
