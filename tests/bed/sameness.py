"""Answers without what is different every time: ids, times, traces, places in the ledger, tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engross.replies import Reply

_EACH_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"  # a moment
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # an id
    r"|\b[0-9a-f]{64}\b"  # a digest
    r"|\bobs_[0-9a-f]{24}\b"  # an observation, whose id follows from its moment
    r"|(?<=/documents/)[^/]+(?=/)"  # a tenant's folder
)
_HIDDEN = frozenset(
    {
        *("trace_id", "span_id", "traceparent", "position", "next", "confirm_token", "approval_token", "cursor"),
        *("next_cursor", "correlationid", "causationid", "correlation_id", "message_id", "tenant", "tenantid"),
        *("principal", "surface", "created_by", "text"),
        # Its wording is nobody's business, and another process may word it differently.
        "message",
    }
)


def masked(value: Any) -> Any:
    """The value with what differs from call to call replaced by what it is."""
    if isinstance(value, Mapping):
        return {name: "<>" if name in _HIDDEN else masked(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [masked(part) for part in value]
    return _EACH_TIME.sub("<>", value) if isinstance(value, str) else value


def told(answer: Reply) -> dict[str, Any]:
    """What a Reply says, apart from what differs from call to call."""
    return {
        "code": answer.code,
        "params": masked(answer.params),
        "data": masked(answer.data),
        "tool": answer.tool,
        "retryable": answer.retryable,
    }
