"""What a catalogue holds: aggregates whose flows, tools, resources and prompts fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from .address import Address
from .aggregate import Aggregate
from .definition import FlowDefinitionError
from .exposure import Exposure, Tool
from .names import is_tool_name
from .nearest import nearest
from .prompt import complaints_about as complaints_about_prompt
from .resource import complaints_about as complaints_about_resource
from .route import Route

NO_TOOLSET = ""
"""Where routes offer a flow: no toolset is called so, whatever the namespace of a route is."""


class Later(NamedTuple):
    """An aggregate that is made when it is first asked for. Its names are known before, so that nobody takes them."""

    namespace: str
    make: Callable[[], Aggregate]
    tools: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    is_owned: bool = False
    """Whether its facts belong to single users."""

    def is_made(self, aggregate: Aggregate) -> bool:
        """Is this the aggregate that is to come, made by somebody already? One that only has its name lacks tools."""
        offered = {exposure.tool for exposure in aggregate.exposures}
        return aggregate.namespace == self.namespace and offered.issuperset(self.tools)

    @property
    def shapes(self) -> Iterator[str]:
        """The addresses of its resources, as far as they tell one from another."""
        return (Address(address).shape for address in self.addresses)


class Contents:
    """Fixed once built: whatever is ambiguous or dangling is refused then."""

    def __init__(self, aggregates: Iterable[Aggregate], later: Collection[Later] = ()) -> None:
        """The names of those that come later are taken."""
        self.aggregates = tuple(aggregates)
        self.flows = {flow.ref: flow for aggregate in self.aggregates for flow in aggregate.flows.values()}
        exposures = sorted(chain.from_iterable(aggregate.exposures for aggregate in self.aggregates))
        resources = [resource for aggregate in self.aggregates for resource in aggregate.resources]
        self.prompts = tuple(prompt for aggregate in self.aggregates for prompt in aggregate.prompts)
        self.routes = tuple(route for aggregate in self.aggregates for route in aggregate.routes)
        self.skills = tuple(skill for aggregate in self.aggregates for skill in aggregate.skills)
        complaints = [
            *_repeated("namespace", self._namespaces(), (one.namespace for one in later)),
            *_repeated("tool", (exposure.tool for exposure in exposures), *(one.tools for one in later)),
            *chain.from_iterable(_upcasting_gaps(aggregate) for aggregate in self.aggregates),
            *(complaint for exposure in exposures if (complaint := self._dangling(exposure))),
            *_repeated("address", (resource.address.shape for resource in resources), *(one.shapes for one in later)),
            *_repeated("prompt", (prompt.name for prompt in self.prompts), *(one.prompts for one in later)),
            *chain.from_iterable(complaints_about_resource(one, self.flows.get(one.ref)) for one in resources),
            *chain.from_iterable(complaints_about_prompt(prompt, self.flows) for prompt in self.prompts),
            *_repeated("route", (f"{route.method} {route.shape}" for route in self.routes)),
            *(f"{one.method} {one.address} refers to {one.ref}, which is not there." for one in self._lost_routes()),
        ]
        if complaints:
            raise FlowDefinitionError("catalogue", complaints)
        self.tools = {exposure.tool: Tool(exposure, self.flows[exposure.ref]) for exposure in exposures}
        self.offering: dict[str, frozenset[str]] = {}
        offers = ((one.ref, one.toolset) for one in exposures)
        for ref, offered_in in chain(offers, ((route.ref, NO_TOOLSET) for route in self.routes)):
            self.offering[ref] = self.offering.get(ref, frozenset()) | {offered_in}
        # The most particular address first: it is the one that is meant.
        self.resources = tuple(sorted(resources, key=lambda one: (one.is_template, -one.address.literal)))
        for aggregate in self.aggregates:
            aggregate.seal()

    def _namespaces(self) -> Iterator[str]:
        return (aggregate.namespace for aggregate in self.aggregates)

    def _lost_routes(self) -> Iterator[Route]:
        return (route for route in self.routes if route.ref not in self.flows)

    def _dangling(self, exposure: Exposure) -> str | None:
        if exposure.ref not in self.flows:
            close = nearest(exposure.ref, self.flows)
            hint = f"; did you mean {close[0]}?" if close else "."
            return f"Tool {exposure.tool} refers to {exposure.ref}, which is not there{hint}"
        if not is_tool_name(exposure.tool):
            return f"{exposure.tool} is too long for a tool name: expose {exposure.ref} under a shorter one."
        return None


def _repeated(what: str, *names: Iterable[str]) -> list[str]:
    return [
        f"The {what} {name} is there {times} times: rename one of them."
        for name, times in sorted(Counter(chain(*names)).items())
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
