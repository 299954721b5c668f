"""All flows of an office, found by ref or by tool name. Some aggregates join when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from threading import RLock

from .aggregate import Aggregate
from .contents import Contents, Later
from .exposure import Exposure, Listener, Tool
from .flow import Flow
from .prompt import Prompt
from .resource import Found, Resource
from .route import Route
from .skill import Skill
from .unknown import unknown_flow


class Catalogue:
    """Whatever is ambiguous or dangling is refused when it is built."""

    def __init__(self, aggregates: Iterable[Aggregate], later: Iterable[Later] = ()) -> None:
        given = tuple(aggregates)
        self._later = {one.namespace: one for one in later}
        self._welcome: Callable[[Aggregate], None] | None = None
        self._joining = RLock()
        self._hearing: dict[object, Callable[[], None]] = {}
        self.edition = 0
        """Changes whenever aggregates are replaced: what was made of the old ones is then to be made anew."""
        wanted = sorted({_namespace(ref) for one in given for ref in _refers_to(one)} & self._later.keys())
        joined = [self._later.pop(namespace).make() for namespace in wanted]
        self._hold(Contents((*given, *joined), self._later.values()))

    def welcome(self, prepare: Callable[[Aggregate], None]) -> None:
        """From now on, prepare for each aggregate that joins before its flows are found."""
        self._welcome = prepare

    @property
    def present(self) -> tuple[Aggregate, ...]:
        """The aggregates that are there without asking for more."""
        return self._contents.aggregates

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """All aggregates."""
        return self.complete().aggregates

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The names of all aggregates; asking for them lets none join."""
        return (*(aggregate.namespace for aggregate in self._contents.aggregates), *self._later)

    @property
    def everybodys(self) -> tuple[str, ...]:
        """The aggregates whose facts do not belong to single users; asking for them lets none join."""
        present = [one.namespace for one in self._contents.aggregates if one.owned_by is None]
        return (*present, *(name for name, later in self._later.items() if not later.is_owned))

    def aggregate(self, namespace: str) -> Aggregate | None:
        """The aggregate of this name, if there is one."""
        if namespace in self._later:
            self._join(namespace)
        return next((one for one in self._contents.aggregates if one.namespace == namespace), None)

    def __iter__(self) -> Iterator[Flow]:
        """The flows, by ref."""
        flows = self.complete().flows
        return iter(flows[ref] for ref in sorted(flows))

    def __len__(self) -> int:
        return len(self.complete().flows)

    @property
    def toolsets(self) -> tuple[str, ...]:
        """The names of all toolsets."""
        return tuple(sorted({tool.exposure.toolset for tool in self.complete().tools.values()}))

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All prompts."""
        return self.complete().prompts

    @property
    def resources(self) -> tuple[Resource, ...]:
        """All resources, the most particular address first."""
        return self.complete().resources

    @property
    def routes(self) -> tuple[Route, ...]:
        """The addresses of REST's own, besides the one that every flow has."""
        return self.complete().routes

    @property
    def skills(self) -> tuple[Skill, ...]:
        """All skills."""
        return self.complete().skills

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """The ports that exposures ask for; asking for them lets nobody join."""
        return tuple(one for aggregate in self.present for one in aggregate.listeners)

    def find(self, ref: str) -> Flow | None:
        """The flow with this ref, if there is one."""
        found = self._flows.get(ref)
        if found is None and self._later and self._join(_namespace(ref)):
            found = self._flows.get(ref)
        return found

    def at_hand(self, ref: str, hidden: Container[str] = ()) -> Flow | None:
        """The flow with this ref, if it is there without letting anybody join. What is hidden is not there."""
        return self._flows.get(ref) if isinstance(ref, str) and ref not in hidden else None

    def flow(self, ref: str, hidden: Container[str] = ()) -> Flow:
        """The flow with this ref; Invalid, with the nearest ones, if there is none. What is hidden is not there."""
        found = self.find(ref) if isinstance(ref, str) else None
        if found is None or found.ref in hidden:
            contents = self.complete()
            tools = {name: tool.flow.ref for name, tool in contents.tools.items() if tool.flow.ref not in hidden}
            raise unknown_flow(ref, [known for known in sorted(contents.flows) if known not in hidden], tools)
        return found

    def offering(self, ref: object) -> Collection[str]:
        """The toolsets in which this flow is offered, and `NO_TOOLSET` for its routes; asking lets nobody join."""
        return self._contents.offering.get(ref, ()) if isinstance(ref, str) else ()

    def tool(self, name: str) -> Tool | None:
        """The tool that clients call by this name, if there is one."""
        for later in tuple(self._later.values()):
            if name in later.tools:
                self._join(later.namespace)
        return self._contents.tools.get(name)

    def tools(self, toolsets: Collection[str] | None = None) -> list[Tool]:
        """The tools of these toolsets, or all: by toolset, then name."""
        tools = self.complete().tools.values()
        return [tool for tool in tools if toolsets is None or tool.exposure.toolset in toolsets]

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

    def complete(self) -> Contents:
        """Let everybody join who has not yet."""
        for namespace in tuple(self._later):
            self._join(namespace)
        return self._contents

    def replace(self, leaving: Collection[str], joining: Iterable[Aggregate]) -> None:
        """Put these aggregates in the place of those of these names. If they do not fit, nothing changes."""
        new = tuple(joining)
        with self._joining:
            for namespace in {_namespace(ref) for one in new for ref in _refers_to(one)} & self._later.keys():
                self._join(namespace)
            staying = [one for one in self._contents.aggregates if one.namespace not in leaving]
            contents = Contents((*staying, *new), self._later.values())
            if self._welcome is not None:
                for aggregate in new:
                    self._welcome(aggregate)
            self._hold(contents)
            self.edition += 1
        for heard in tuple(self._hearing.values()):
            heard()

    def when_replaced(self, heard: Callable[[], None]) -> Callable[[], None]:
        """From now on, call this after aggregates were replaced, on the thread of who did; what comes back ends it."""
        token = object()
        self._hearing[token] = heard

        def leave() -> None:
            self._hearing.pop(token, None)

        return leave

    def _join(self, namespace: str) -> bool:
        """Let a later aggregate join, if this is one. If it cannot, the next one who asks tries again."""
        with self._joining:
            later = self._later.get(namespace)
            if later is None:
                return namespace in {one.namespace for one in self._contents.aggregates}
            aggregate = later.make()
            rest = {name: one for name, one in self._later.items() if name != namespace}
            contents = Contents((*self._contents.aggregates, aggregate), rest.values())
            if self._welcome is not None:
                self._welcome(aggregate)
            self._hold(contents)
            self._later = rest
            return True

    def _hold(self, contents: Contents) -> None:
        self._contents = contents
        self._flows = contents.flows


def _namespace(ref: str) -> str:
    return ref.partition(".")[0]


def _refers_to(aggregate: Aggregate) -> Iterator[str]:
    """The flows that an aggregate offers."""
    yield from (exposure.ref for exposure in aggregate.exposures)
    yield from (resource.ref for resource in aggregate.resources)
    yield from (route.ref for route in aggregate.routes)
    for prompt in aggregate.prompts:
        yield from prompt.refs
