"""Answers to lines that are too long to be read, and to calls in lines that cannot be.

A client waits for the answer to its request, so its id is looked for at the two ends of the line: libraries write the
short members of a message before its parameters or behind them. Whatever else the line may say is not looked at.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import NamedTuple

import orjson
from mcp_types import INVALID_REQUEST, ErrorData

from engross.flows import Flow
from engross.replies import Coded, mcp_result, record_crash, reply_of
from engross.surfaces.oversize import too_large

from .guide import GUIDES
from .lane import METHOD, message
from .pipes import Overlong
from .protocol import error_line
from .window import Visit, Window, circumstances

_SHORT = rb'"(jsonrpc|id|method)"\s*:\s*("[\x20\x21\x23-\x5b\x5d-\x7e]{0,200}"|0|-?[1-9][0-9]{0,17})'
_MEMBER = re.compile(_SHORT)
_BEGINNING = re.compile(rb"\s*\{\s*(?:" + _SHORT + rb"\s*,\s*)*")
_END = re.compile(rb"\}(?:\s*,\s*" + _SHORT + rb")*\s*\}\s*\Z")
_TOOL = re.compile(rb'"params"\s*:\s*\{\s*"name"\s*:\s*"([\x20\x21\x23-\x5b\x5d-\x7e]{1,200})"')


class Sender(NamedTuple):
    """What the ends of a line say about the request that it is."""

    id: str | int | None
    method: str | None
    tool: str | None


def sender_of(line: Overlong) -> Sender:
    """Who waits for an answer, as far as it can be told."""
    ends = _BEGINNING.match(line.head), _END.search(line.tail)
    members = b"".join(found.group() for found in ends if found is not None)
    short = {name: orjson.loads(value) for name, value in _MEMBER.findall(members)}
    tool = _TOOL.search(line.head)
    return Sender(short.get(b"id"), short.get(b"method"), None if tool is None else tool[1].decode())


def no_header(name: str) -> None:
    """A pipe has no headers."""


class Refusing:
    """Answers what cannot be read."""

    def __init__(self, window: Window, most: int, header: Callable[[str], str | None] = no_header) -> None:
        """`header` reads those of the request at hand, where requests have some."""
        self._window = window
        self._most = most
        self._header = header

    def answer(self, line: Overlong, *, is_modern: bool) -> bytes:
        """A Reply to who calls a tool; the protocol's own error to everybody else."""
        sender = sender_of(line)
        refusal = too_large(self._most, what="The number of bytes in a message")
        answer = self.call(sender, lambda flow: refusal, is_modern=is_modern)
        if answer is not None:
            return answer
        error = ErrorData(code=INVALID_REQUEST, message=f"Invalid request: a message has at most {self._most} bytes")
        return error_line(sender.id, error)

    def call(self, sender: Sender, against: Callable[[Flow], BaseException | None], *, is_modern: bool) -> bytes | None:
        """A Reply to who calls a tool, with what there is against the call; None if it is no call, or nothing is.

        What is against it may be a crash, of the flow's own code that looks at arguments.
        """
        flow = self._flow(sender)
        refusal = None if flow is None else against(flow)
        if flow is None or refusal is None or sender.id is None:
            return None
        window = self._window
        visit = Visit(window.desk, window.who(), window.surface, circumstances({}, self._header))
        try:
            visit.counted(flow)
        except Coded as late:
            refusal = late
        answer = visit.settle(reply_of(refusal), flow.ref, None, time.perf_counter())
        if not isinstance(refusal, Coded):
            record_crash(answer.trace_id, refusal, flow.ref)
        return message(sender.id, mcp_result(answer, flow.dialect), is_modern=is_modern)

    def _flow(self, sender: Sender) -> Flow | None:
        if sender.method != METHOD or sender.tool is None:
            return None
        if self._header("mcp-name") not in (None, sender.tool):
            # Where a header repeats the name, the two have to agree.
            return None
        tool = self._window.desk.find(sender.tool)
        return GUIDES.get(sender.tool) if tool is None else tool.flow
