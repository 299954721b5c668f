"""How long to wait for an upstream and how often to try: what is said nearest to the call counts."""

from __future__ import annotations

from typing import NamedTuple

from .model import CallStep, Document, Flow, Patience, Retry, Target
from .semantics import is_repeatable
from .ways import Ways

ONCE = Retry(1)
USUAL = Retry(3)
_IDEMPOTENT = frozenset({"PUT", "DELETE"})


class Patient(NamedTuple):
    """What holds for one call."""

    seconds: float | None
    retry: Retry
    repeatable: bool
    """May the call be made again when it is not known what became of it?"""


def patience(document: Document, ways: Ways, flow: Flow, target: Target, step: CallStep | None) -> Patient:
    """What holds for this call."""
    operation = document.operation(target) if target.kind == "operation" else None
    client = document.consumes.get(target.namespace) if operation is not None else None
    said: list[Patience] = [part.patience for part in (step, flow, operation, client) if part is not None]
    # A flow has a time of its own; a system that is called gets the usual one.
    usual_seconds = ways.timeout_seconds if operation is not None else None
    seconds = next((one.timeout_seconds for one in said if one.timeout_seconds is not None), usual_seconds)
    retry = next((one.retry for one in said if one.retry is not None), None)
    method = operation.method if operation is not None else ""
    # Who asks for repeating a PUT or DELETE relies on what HTTP says about them.
    repeatable = is_repeatable(flow) or method == "GET" or (retry is not None and method in _IDEMPOTENT)
    usual = USUAL if is_repeatable(flow) else ONCE
    return Patient(seconds, retry or usual, repeatable)
