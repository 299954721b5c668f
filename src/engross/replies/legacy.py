"""What to make of a tool that did not answer with a Reply: an error, or while migrating a wrapped success."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from . import codes
from .reply import Reply, reply

_FAILED_WORDS = ("error", "failed", "failure")
_SIGNS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("success", lambda value: value is False),
    ("ok", lambda value: value is False),
    ("isError", bool),
    ("is_error", bool),
    ("status", lambda value: isinstance(value, str) and value.lower() in _FAILED_WORDS),
    ("error", bool),
    ("errors", bool),
)
_wraps: Counter[str] = Counter()
_lock = threading.Lock()
_strict = True


def set_strict(on: bool) -> None:
    """Whether tools that do not say so themselves must answer with a Reply; off only while migrating."""
    global _strict
    _strict = on


def strict_mode() -> bool:
    """The setting of set_strict, for start-up messages and health checks."""
    return _strict


def judged(result: object, tool: str, strict: bool | None) -> Reply:
    """A tool's result as a Reply, whatever it was."""
    if isinstance(result, Reply):
        return result
    if (strict_mode() if strict is None else strict) or result is None or tells_failure(result):
        return reply(codes.NON_REPLY_RETURN, {"tool": tool, "kind": type(result).__name__})
    answer = reply(codes.LEGACY_WRAP, {"tool": tool}, {"result": result})
    with _lock:
        _wraps[tool] += 1
    return answer


def tells_failure(result: object) -> bool:
    """Does a raw result say of itself that the tool failed?"""
    if isinstance(result, str) and result.lstrip().startswith("{"):
        result = _decoded(result)
    if not isinstance(result, Mapping):
        return False
    return any(name in result and sign(result[name]) for name, sign in _SIGNS)


def legacy_wraps() -> dict[str, int]:
    """How often each tool's raw result was wrapped; every count must stay at rest before strict mode."""
    with _lock:
        return dict(_wraps)


def _decoded(text: str) -> object:
    try:
        return orjson.loads(text)
    except ValueError:
        return None
