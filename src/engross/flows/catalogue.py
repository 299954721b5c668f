"""All flows of an office, found by ref or by tool name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from .aggregate import Aggregate
from .definition import FlowDefinitionError
from .exposure import Exposure, Tool
from .flow import Flow
from .names import is_tool_name
from .nearest import nearest
from .prompt import Prompt
from .prompt import complaints_about as complaints_about_prompt
from .resource import Found
from .resource import complaints_about as complaints_about_resource
from .unknown import unknown_flow


class Catalogue:
    """Fixed once built: whatever is ambiguous or dangling is refused then."""

    def __init__(self, aggregates: Iterable[Aggregate]) -> None:
        self.aggregates = tuple(aggregates)
        self._flows = {flow.ref: flow for aggregate in self.aggregates for flow in aggregate.flows.values()}
        exposures = sorted(chain.from_iterable(aggregate.exposures for aggregate in self.aggregates))
        resources = [resource for aggregate in self.aggregates for resource in aggregate.resources]
        self.prompts = tuple(prompt for aggregate in self.aggregates for prompt in aggregate.prompts)
        complaints = [
            *_repeated("namespace", (aggregate.namespace for aggregate in self.aggregates)),
            *_repeated("tool", (exposure.tool for exposure in exposures)),
            *chain.from_iterable(_upcasting_gaps(aggregate) for aggregate in self.aggregates),
            *(complaint for exposure in exposures if (complaint := self._dangling(exposure))),
            *_repeated("address", (resource.address.shape for resource in resources)),
            *_repeated("prompt", (prompt.name for prompt in self.prompts)),
            *chain.from_iterable(complaints_about_resource(one, self.find(one.ref)) for one in resources),
            *chain.from_iterable(complaints_about_prompt(prompt, self._flows) for prompt in self.prompts),
        ]
        if complaints:
            raise FlowDefinitionError("catalogue", complaints)
        self._tools = {exposure.tool: Tool(exposure, self._flows[exposure.ref]) for exposure in exposures}
        # The most particular address first: it is the one that is meant.
        self.resources = tuple(sorted(resources, key=lambda one: (one.is_template, -one.address.literal)))
        for aggregate in self.aggregates:
            aggregate.seal()

    def __iter__(self) -> Iterator[Flow]:
        """The flows, by ref."""
        return iter(self._flows[ref] for ref in sorted(self._flows))

    def __len__(self) -> int:
        return len(self._flows)

    @property
    def toolsets(self) -> tuple[str, ...]:
        """The names of all toolsets."""
        return tuple(sorted({tool.exposure.toolset for tool in self._tools.values()}))

    def find(self, ref: str) -> Flow | None:
        """The flow with this ref, if there is one."""
        return self._flows.get(ref)

    def flow(self, ref: str) -> Flow:
        """The flow with this ref; Invalid, with the nearest ones, if there is none."""
        found = self._flows.get(ref) if isinstance(ref, str) else None
        if found is None:
            tools = {name: tool.flow.ref for name, tool in self._tools.items()}
            raise unknown_flow(ref, sorted(self._flows), tools)
        return found

    def tool(self, name: str) -> Tool | None:
        """The tool that clients call by this name, if there is one."""
        return self._tools.get(name)

    def tools(self, toolsets: Collection[str] | None = None) -> list[Tool]:
        """The tools of these toolsets, or all: by toolset, then name."""
        return [tool for tool in self._tools.values() if toolsets is None or tool.exposure.toolset in toolsets]

    def exposures(self, toolsets: Collection[str] | None = None) -> list[Exposure]:
        """The exposures of these toolsets, or all: by toolset, then name."""
        return [tool.exposure for tool in self.tools(toolsets)]

    def resource(self, uri: str) -> Found | None:
        """What is at an address, if anything is."""
        for resource in self.resources:
            values = resource.address.read(uri)
            if values is not None:
                return Found(resource, self._flows[resource.ref], values)
        return None

    def prompt(self, name: str) -> Prompt | None:
        """The prompt of this name, if there is one."""
        return next((prompt for prompt in self.prompts if prompt.name == name), None)

    def _dangling(self, exposure: Exposure) -> str | None:
        if exposure.ref not in self._flows:
            close = nearest(exposure.ref, self._flows)
            hint = f"; did you mean {close[0]}?" if close else "."
            return f"Tool {exposure.tool} refers to {exposure.ref}, which is not there{hint}"
        if not is_tool_name(exposure.tool):
            return f"{exposure.tool} is too long for a tool name: expose {exposure.ref} under a shorter one."
        return None


def _repeated(what: str, names: Iterable[str]) -> list[str]:
    return [
        f"The {what} {name} is there {times} times: rename one of them."
        for name, times in sorted(Counter(names).items())
        if times > 1
    ]


def _upcasting_gaps(aggregate: Aggregate) -> list[str]:
    return [
        f"{applier.fact_type} is at version {applier.version}, but nothing reads its version {version}: "
        f"add @{aggregate.namespace}.upcasts({applier.fact_type!r}, {version})."
        for applier in aggregate.appliers.values()
        for version in range(1, applier.version)
        if (applier.fact_type, version) not in aggregate.upcasters
    ]
