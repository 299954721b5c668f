"""What flows say about themselves, as far as what they call bears it out.

A method, a hint or an author may say that a flow changes nothing. Of an upstream nobody here knows better; of another
flow the office does, and governs, records and answers by what is true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from engross.flows import Semantics as Promised

from .model import (
    Document,
    Exposes,
    Flow,
    Hints,
    McpExposes,
    McpTool,
    RestExposes,
    RestOperation,
    RestResource,
    Semantics,
)
from .references import targets
from .semantics import is_safe

Offering = TypeVar("Offering", McpTool, RestOperation)


class Bearing:
    """Holds what the flows of a document say against what they call."""

    def __init__(self, document: Document, others: Mapping[str, Promised]) -> None:
        """`others` are the flows of the office and what they promise."""
        self._document = document
        self._others = others

    def document(self) -> Document:
        """The document, in which no flow says that it is safe and calls one that is not."""
        aggregates = {
            namespace: replace(one, flows={name: self.flow(flow) for name, flow in one.flows.items()})
            for namespace, one in self._document.aggregates.items()
        }
        exposes = {namespace: self._exposes(one) for namespace, one in self._document.exposes.items()}
        return replace(self._document, aggregates=aggregates, exposes=exposes)

    def flow(self, flow: Flow) -> Flow:
        """The flow, which is not safe if anything that it calls is not. What followed from that is taken back too."""
        if not is_safe(flow) or not self.calls_unsafe(flow):
            return flow
        return replace(flow, semantics=Semantics(safe=False))

    def calls_unsafe(self, flow: Flow) -> bool:
        """Does it call, directly or by way of others, a flow that does not say that it is safe?"""
        return any(target.kind == "flow" and not self.is_safe(target.ref) for target in targets(flow))

    def is_safe(self, ref: str) -> bool:
        """Is the flow with this ref safe? One that nobody knows is not held against those who call it."""
        if self._document.flow(ref) is not None:
            return ref not in self._unsafe
        promised = self._others.get(ref)
        return promised is None or promised.safe

    def hints(self, tool: McpTool) -> Hints:
        """What a tool says for clients to go by. That it only reads, it does not say of what calls anything unsafe."""
        ref, flow = tool.offer.ref, tool.offer.flow
        if ref is not None:
            flow = self._document.flow(ref.ref)
        disproved = self.calls_unsafe(flow) if flow is not None else ref is not None and not self.is_safe(ref.ref)
        return replace(tool.hints, read_only=False) if tool.hints.read_only and disproved else tool.hints

    @cached_property
    def _unsafe(self) -> Collection[str]:
        """The flows of the document that are not safe, whatever they say."""
        callers: dict[str, list[str]] = defaultdict(list)
        left: list[str] = []
        for flow in (flow for one in self._document.aggregates.values() for flow in one.flows.values()):
            if not is_safe(flow):
                left.append(flow.ref)
            for target in targets(flow):
                if target.kind == "flow":
                    callers[target.ref].append(flow.ref)
        left += [ref for ref in callers if self._document.flow(ref) is None and not self.is_safe(ref)]
        found: set[str] = set()
        while left:
            ref = left.pop()
            if ref not in found:
                found.add(ref)
                left += callers[ref]
        return found

    def _exposes(self, exposes: Exposes) -> Exposes:
        if isinstance(exposes, McpExposes):
            resources = {
                name: replace(one, flow=self.flow(one.flow)) if one.flow else one
                for name, one in exposes.resources.items()
            }
            tools = {name: self._offering(one) for name, one in exposes.tools.items()}
            return replace(exposes, tools=tools, resources=resources)
        if isinstance(exposes, RestExposes):
            return replace(exposes, resources={name: self._path(one) for name, one in exposes.resources.items()})
        return exposes

    def _path(self, resource: RestResource) -> RestResource:
        return replace(resource, operations={name: self._offering(one) for name, one in resource.operations.items()})

    def _offering(self, one: Offering) -> Offering:
        flow = one.offer.flow
        return replace(one, offer=replace(one.offer, flow=self.flow(flow))) if flow is not None else one
