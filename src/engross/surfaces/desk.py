"""What every served surface stands at: an office, which of its tools are offered, and the daybook of the calls."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from typing import Any

from engross.calls import Caller, Surface
from engross.flows import Catalogue, Flow, Found, Prompt, Resource, Tool, shortened
from engross.office import Office, Request
from engross.office.toolsets import HIDDEN, hidden_in, refuse_unknown_toolsets
from engross.replies import Coded, Denied, Reply, Trace, log_end, record_crash, reply_of

from .watching import Daybook

NOT_BY_DEFAULT = frozenset({"review", "legacy"})
"""Toolsets that are listed only when somebody names them. So are those whose names end in `-more`."""
MORE = "-more"


class _View:
    """What is listed and found, in one edition of the catalogue."""

    def __init__(self, catalogue: Catalogue, toolsets: frozenset[str] | None, hidden: Container[str]) -> None:
        self.edition = catalogue.edition
        self.listed = frozenset(_default(catalogue)) if toolsets is None else toolsets
        self.found = frozenset(catalogue.toolsets) - HIDDEN | self.listed
        named = catalogue.tools(self.found)
        by_name = {tool.flow.ref for tool in named}
        unnamed = (flow for flow in catalogue if flow.ref not in by_name and flow.ref not in hidden)
        self.reached = [*named, *map(Tool.unnamed, unnamed)]
        self.by_ref = {tool.flow.ref: tool for tool in reversed(self.reached)}


class Desk:
    """Offers an office's flows to callers. What a caller may use is the policy's word, not the desk's."""

    def __init__(
        self, office: Office, *, toolsets: Collection[str] | None = None, daybook: Daybook | None = None
    ) -> None:
        """`toolsets` names those to list; by default those of the settings, or else all but `review` and `legacy`."""
        refuse_unknown_toolsets(toolsets or (), office.catalogue)
        self.office = office
        self.daybook = daybook or Daybook()
        self._toolsets = office.toolsets if toolsets is None else frozenset(toolsets)
        self.hidden = hidden_in(office.catalogue, self._toolsets)
        """The flows that are not there."""
        self._view = _View(office.catalogue, self._toolsets, self.hidden)

    @property
    def edition(self) -> int:
        """Changes when the office's flows do: what was made of them is then to be made anew."""
        return self.catalogue.edition

    def _seen(self) -> _View:
        if self._view.edition != self.catalogue.edition:
            self._view = _View(self.catalogue, self._toolsets, self.hidden)
        return self._view

    @property
    def catalogue(self) -> Catalogue:
        """All flows and tools of the office."""
        return self.office.catalogue

    @property
    def toolsets(self) -> list[str]:
        """The toolsets whose tools are listed."""
        return [name for name in self.catalogue.toolsets if name in self._seen().listed]

    def tools(self, caller: Caller, surface: Surface) -> list[Tool]:
        """The tools to list for this caller."""
        return [tool for tool in self.catalogue.tools(self._seen().listed) if self._may(caller, tool.flow, surface)]

    def reachable(self, caller: Caller, surface: Surface) -> Iterator[Tool]:
        """Every tool that this caller can use, listed or not; then every flow that has none and goes by its ref."""
        return (tool for tool in self._seen().reached if self._may(caller, tool.flow, surface))

    def find(self, name: str) -> Tool | None:
        """What a tool name or a ref stands for, listed or not. What is hidden is not there."""
        tool = self.catalogue.tool(name)
        if tool is not None and tool.exposure.toolset in self._seen().found:
            return tool
        return self._seen().by_ref.get(name)

    def resources(self, caller: Caller, surface: Surface) -> list[Resource]:
        """The resources that this caller may read."""
        return [one for one in self.catalogue.resources if self._offers(caller, one.ref, surface)]

    def resource(self, caller: Caller, uri: str, surface: Surface) -> Found | None:
        """What is at an address, for somebody who may know of it."""
        found = self.catalogue.resource(uri)
        return found if found is not None and self._offers(caller, found.flow.ref, surface) else None

    def prompts(self, caller: Caller, surface: Surface) -> list[Prompt]:
        """The prompts whose flows this caller may use."""
        return [one for one in self.catalogue.prompts if self._prompts(caller, one, surface)]

    @property
    def flows(self) -> list[Flow]:
        """Every flow that can be called by its ref, the ones without a tool included. What is hidden is not there."""
        return [flow for flow in self.catalogue if self._is_found(flow)]

    async def call(self, caller: Caller, flow: str, arguments: Any, surface: Surface, **options: Any) -> Reply:
        """Call a flow as this caller. Options are those of `Request`."""
        request = Request(
            flow, arguments, caller.tenant, caller.principal, surface=surface, hidden=self.hidden, **options
        )
        self.daybook.begin()
        answer: Reply | None = None
        try:
            answer = await self.office.acall(request)
        finally:
            self.daybook.end(request, answer)
        return answer

    def refuse(self, caller: Caller, flow: str, surface: Surface, refusal: Coded, **options: Any) -> Reply:
        """Answer a call that cannot even be read; it counts like any other. Options are those of `Request`."""
        request = Request(flow, None, caller.tenant, caller.principal, surface=surface, **options)
        known = self.catalogue.at_hand(flow, self.hidden) if request.is_counted else None
        try:
            if known is not None:
                self.office.count_call(caller, known, surface)
        except Denied as late:
            refusal = late
        answer = reply_of(refusal).traced(Trace.from_headers(request.traceparent, request.tracestate), shortened(flow))
        if refusal.__cause__ is not None and answer.trace is not None:
            record_crash(answer.trace.trace_id, refusal, flow)
        log_end(answer)
        self.daybook.note(request, answer)
        return answer

    def _prompts(self, caller: Caller, prompt: Prompt, surface: Surface) -> bool:
        if prompt.for_writers and not any(tool.flow.writes for tool in self.reachable(caller, surface)):
            return False
        return all(self._offers(caller, ref, surface) for ref in prompt.refs)

    def _offers(self, caller: Caller, ref: str, surface: Surface) -> bool:
        flow = self.catalogue.flow(ref)
        return self._is_found(flow) and self._may(caller, flow, surface)

    def _is_found(self, flow: Flow) -> bool:
        return flow.ref in self._seen().by_ref

    def _may(self, caller: Caller, flow: Flow, surface: Surface) -> bool:
        return self.office.may_call(caller, flow, surface)


def _default(catalogue: Catalogue) -> set[str]:
    return {name for name in catalogue.toolsets if name not in NOT_BY_DEFAULT and not name.endswith(MORE)}
