"""What may change something, by what flows and operations say about themselves."""

from __future__ import annotations

from .model import CallStep, Document, Flow, HandlerStep, LookupStep, Step, Target
from .references import targets


def is_safe(flow: Flow) -> bool:
    """Does the flow say that it changes nothing?"""
    return flow.mode == "mock" or (flow.semantics is not None and flow.semantics.safe is True)


def is_repeatable(flow: Flow) -> bool:
    """Does the flow say that running it twice is the same as once?"""
    return is_safe(flow) or (flow.semantics is not None and flow.semantics.idempotent is True)


def is_cacheable(flow: Flow) -> bool:
    """May an answer be given again without asking? Only of a flow that changes nothing."""
    return is_safe(flow) and flow.semantics is not None and flow.semantics.cacheable is True


def is_destructive(document: Document, flow: Flow) -> bool:
    """Does it, or a flow of the document that it calls, say that it takes something away?"""
    seen: set[str] = set()
    left = [flow]
    while left:
        one = left.pop()
        if one.ref in seen or is_safe(one):
            continue
        if one.semantics is not None and one.semantics.destructive:
            return True
        seen.add(one.ref)
        called = [document.flow(target.ref) for target in targets(one) if target.kind == "flow"]
        left += [each for each in called if each is not None]
    return False


def target_changes(document: Document, flow: Flow, target: Target) -> bool:
    """May this call, in this flow, change anything? A safe flow is taken at its word, also where it posts."""
    if is_safe(flow):
        return False
    if target.kind == "flow":
        called = document.flow(target.ref)
        return called is None or not is_safe(called)
    operation = document.operation(target)
    return operation is None or operation.method != "GET"


def changes(document: Document, flow: Flow, step: Step) -> bool:
    """May this step change anything?"""
    if isinstance(step, CallStep):
        return target_changes(document, flow, step.target)
    return isinstance(step, HandlerStep) and not is_safe(flow)


def changing_calls(document: Document, flow: Flow) -> int:
    """How many of a flow's calls may change something."""
    if flow.target is not None:
        return int(target_changes(document, flow, flow.target))
    return sum(changes(document, flow, step) for step in flow.steps.values() if not isinstance(step, LookupStep))
