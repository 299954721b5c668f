"""Watching what flows answer with, so that a code which a flow does not name is found out by whoever provokes it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType

from engross.flows import Flow
from engross.office.refusals import own_refusals, usual_codes
from engross.replies import REGISTRY, codes

CALLS = logging.getLogger("engross.calls")


def named(flow: Flow) -> set[str]:
    """The message keys of all that a flow says it may refuse with or fail with."""
    usual = {REGISTRY.entry(code).key for code in usual_codes(flow)}
    return usual | {entry.key for entry in own_refusals(flow)}


class Watch(logging.Handler):
    """Reads the line that each call of these flows leaves in the log, as long as it is open."""

    def __init__(self, flows: Mapping[str, Flow]) -> None:
        super().__init__()
        self._flows = flows
        self.unnamed: set[tuple[str, str]] = set()
        """Flows, by ref, and the message keys that they answered with and do not name."""

    def emit(self, record: logging.LogRecord) -> None:
        """Look at how a call ended."""
        flow, code = self._flows.get(str(getattr(record, "tool", None))), getattr(record, "code", None)
        if flow is None or code in (None, codes.UNKNOWN_OPERATION):
            # Of a flow that is not there for the caller, the office says so.
            return
        entry = REGISTRY.entry(code)
        if entry.type != "S" and entry.key not in named(flow):
            self.unnamed.add((flow.ref, entry.key))

    def __enter__(self) -> Watch:
        CALLS.addHandler(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        CALLS.removeHandler(self)
