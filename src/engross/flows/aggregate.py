"""An aggregate: the flows of one namespace, and the code that turns their facts into state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar, Unpack, overload

from .address import Address
from .define import define
from .definition import FlowDefinitionError
from .exposure import Exposure, Listener, Overrides
from .facets import Dialect, Facets, Kind
from .flow import Flow
from .names import Naming, is_kebab, is_tool_name, tool_name
from .prompt import Prompt, PromptArgument, prompt_arguments, user_message
from .resource import ANY, JSON, Resource
from .route import Route
from .semantics import hints
from .signature import Handler
from .skill import Skill

FactHandler: TypeAlias = Callable[..., None]
Keeper: TypeAlias = Callable[[Any, str], None]
Upcaster: TypeAlias = Callable[..., Mapping[str, Any]]

OWN_FACTS = frozenset({"Erased", "Reached"})
"""What the ledger itself states; no aggregate says what these mean."""

Classifier: TypeAlias = Callable[..., str | None]

Handling = TypeVar("Handling", bound=FactHandler)
Classifying = TypeVar("Classifying", bound=Classifier)
Upcasting = TypeVar("Upcasting", bound=Upcaster)
Keeping = TypeVar("Keeping", bound=Keeper)


class Applier(NamedTuple):
    """Writes what a fact says into the state tables; older payloads are brought to `version` first."""

    fact_type: str
    version: int
    function: FactHandler
    together: FactHandler | None = None


class Aggregate:
    """Groups flows under a namespace; what is decorated with its methods belongs to it."""

    def __init__(
        self,
        namespace: str,
        display: str,
        *,
        dialect: Dialect = "plain",
        tables: Sequence[str] = (),
        migrations: Sequence[tuple[str, str | Mapping[str, str]]] = (),
        naming: Naming = "camel",
        owned_by: str | None = None,
    ) -> None:
        """`migrations` are pairs of a name and SQL, or SQL by engine; `naming` is the style of tool names by default.

        `owned_by` is the field of every fact's payload that names whose it is, where facts belong to single users.
        """
        if not is_kebab(namespace):
            raise FlowDefinitionError(f"aggregate {namespace!r}", "A namespace is lower-case words joined by hyphens.")
        if not display.strip():
            raise FlowDefinitionError(f"aggregate {namespace!r}", "Give a display name for people.")
        self.namespace = namespace
        self.display = display
        self.dialect: Dialect = dialect
        self.tables = tuple(tables)
        self.migrations = tuple(migrations)
        self.naming: Naming = naming
        self.owned_by = owned_by
        self._flows: dict[str, Flow] = {}
        self._exposures: list[Exposure] = []
        self._resources: list[Resource] = []
        self._prompts: list[Prompt] = []
        self._routes: list[Route] = []
        self._skills: list[Skill] = []
        self._listeners: list[Listener] = []
        self._appliers: dict[str, Applier] = {}
        self._upcasters: dict[tuple[str, int], Upcaster] = {}
        self._eraser: FactHandler | None = None
        self._classifier: Classifier | None = None
        self._keeper: Keeper | None = None
        self._sealed = False

    def __repr__(self) -> str:
        return f"<Aggregate {self.namespace}>"

    @property
    def flows(self) -> Mapping[str, Flow]:
        """The flows by name, in the order of their definition."""
        return MappingProxyType(self._flows)

    @property
    def appliers(self) -> Mapping[str, Applier]:
        """The appliers by fact type."""
        return MappingProxyType(self._appliers)

    @property
    def upcasters(self) -> Mapping[tuple[str, int], Upcaster]:
        """The upcasters by fact type and the version they read."""
        return MappingProxyType(self._upcasters)

    @property
    def eraser(self) -> FactHandler | None:
        """The function that takes erased content out of the state tables."""
        return self._eraser

    @property
    def classifier(self) -> Classifier | None:
        """The function that tells of what type a subject is."""
        return self._classifier

    @property
    def keeper(self) -> Keeper | None:
        """The function that says which subjects cannot be erased as things stand."""
        return self._keeper

    @property
    def exposures(self) -> tuple[Exposure, ...]:
        """What `.expose` said, and for every flow it said nothing about, the default."""
        said = {exposure.ref for exposure in self._exposures}
        usual = (flow for flow in self._flows.values() if flow.exposed and flow.ref not in said)
        return (*self._exposures, *(self._default_exposure(flow) for flow in usual))

    @property
    def resources(self) -> tuple[Resource, ...]:
        """What `.resource` said."""
        return tuple(self._resources)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """What `.prompt` said."""
        return tuple(self._prompts)

    @property
    def routes(self) -> tuple[Route, ...]:
        """What `.route` said."""
        return tuple(self._routes)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """What `.skill` said."""
        return tuple(self._skills)

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """What `.listen` said."""
        return tuple(self._listeners)

    @overload
    def read(self, handler: Handler, /) -> Flow: ...
    @overload
    def read(self, /, **facets: Unpack[Facets]) -> Callable[[Handler], Flow]: ...
    def read(self, handler: Handler | None = None, /, **facets: Unpack[Facets]) -> Flow | Callable[[Handler], Flow]:
        """Decorator: a flow that changes nothing. `(reader, arguments) -> answer`."""
        return self._decorated("read", handler, facets)

    @overload
    def record(self, handler: Handler, /) -> Flow: ...
    @overload
    def record(self, /, **facets: Unpack[Facets]) -> Callable[[Handler], Flow]: ...
    def record(self, handler: Handler | None = None, /, **facets: Unpack[Facets]) -> Flow | Callable[[Handler], Flow]:
        """Decorator: a flow that changes our own store, in one transaction. `(unit, arguments) -> answer`."""
        return self._decorated("record", handler, facets)

    @overload
    def reach(self, handler: Handler, /) -> Flow: ...
    @overload
    def reach(self, /, **facets: Unpack[Facets]) -> Callable[[Handler], Flow]: ...
    def reach(self, handler: Handler | None = None, /, **facets: Unpack[Facets]) -> Flow | Callable[[Handler], Flow]:
        """Decorator: a flow that calls other systems, holding no transaction meanwhile."""
        return self._decorated("reach", handler, facets)

    def define(self, kind: Kind, handler: Handler, /, **facets: Unpack[Facets]) -> Flow:
        """A flow from a function and facets, for flows that are not written as decorated functions."""
        return self._added(define(self, kind, handler, **facets))

    def applies(
        self, fact_type: str, version: int = 1, *, together: FactHandler | None = None
    ) -> Callable[[Handling], Handling]:
        """Decorator: `(state, fact)`, the only code that writes state tables for facts of this type.

        `together` is `(state, facts)`: the same for very many at once, where that is quicker.
        """

        def register(function: Handling) -> Handling:
            self._refuse(fact_type in self._appliers, f"There is an applier for {fact_type} already.")
            self._refuse(fact_type in OWN_FACTS, f"{fact_type} is a fact of the ledger's own.")
            self._refuse(version < 1, f"Versions of {fact_type} start at 1.")
            self._appliers[fact_type] = Applier(fact_type, version, function, together)
            return function

        return register

    def upcasts(self, fact_type: str, from_version: int = 1) -> Callable[[Upcasting], Upcasting]:
        """Decorator: `payload -> payload`, from this version of the fact to the next."""

        def register(function: Upcasting) -> Upcasting:
            taken = (fact_type, from_version) in self._upcasters
            self._refuse(taken, f"There is an upcaster for {fact_type} version {from_version} already.")
            self._upcasters[fact_type, from_version] = function
            return function

        return register

    def erases(self, function: Handling) -> Handling:
        """Decorator: takes erased content out of the state tables."""
        self._refuse(self._eraser is not None, "There is an eraser already.")
        self._eraser = function
        return function

    def classifies(self, function: Classifying) -> Classifying:
        """Decorator: `(reader, subject) -> type`, as grants of direct commits name it; None for what is of none.

        It is asked after the facts about the subject were applied, also after one that ended it.
        """
        self._refuse(self._classifier is not None, "There is a classifier already.")
        self._classifier = function
        return function

    def keeps(self, function: Keeping) -> Keeping:
        """Decorator: `(reader, subject)`, raises Invalid where a subject cannot be erased as things stand."""
        self._refuse(self._keeper is not None, "There is a keeper already.")
        self._keeper = function
        return function

    def expose(
        self,
        flow: Flow | str,
        tool: str | None = None,
        toolset: str | None = None,
        **overrides: Unpack[Overrides],
    ) -> Exposure:
        """Offer a flow, also another aggregate's by its ref, under this name instead of the default one."""
        ref = flow if isinstance(flow, str) else flow.ref
        name = tool or tool_name(ref.rpartition(".")[2], self.naming)
        self._refuse(
            not is_tool_name(name),
            f"{name!r} is no tool name: use 1 to 64 letters, digits, hyphens and underscores.",
        )
        hints(None, overrides.get("hints"))
        exposure = Exposure(toolset or self.namespace, name, ref, overrides)
        self._exposures.append(exposure)
        return exposure

    def resource(
        self,
        template: str,
        flow: Flow | str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str = JSON,
        text: str | None = None,
        blob: str | None = None,
        changes: str | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> Resource:
        """Make what a read flow answers something to look up: the variables of the address are its arguments.

        `text` or `blob` name the field of the answer to show, if not all of it. `changes` says whose facts change it:
        by default those about the subject that the only variable names, else all of this aggregate's.
        """
        ref = flow if isinstance(flow, str) else flow.ref
        address = Address(template)
        self._refuse(text is not None and blob is not None, f"{template} is text or a blob, not both.")
        resource = Resource(
            address,
            ref,
            name or ref.rpartition(".")[2],
            title,
            description,
            mime_type,
            text,
            blob,
            self._usual_changes(address) if changes is None else changes,
            arguments or {},
        )
        self._resources.append(resource)
        return resource

    def prompt(
        self,
        name: str,
        description: str,
        arguments: Mapping[str, str] | Sequence[PromptArgument] = (),
        *,
        text: str | None = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        flow: Flow | str | None = None,
        title: str | None = None,
        needs: Sequence[str] = (),
        for_writers: bool = False,
    ) -> Prompt:
        """Offer the words that start a job: a `text`, several `messages`, or those that a read flow answers with.

        `{name}` in them stands for the argument of that name. Who may not use the flows in `needs` is not offered it,
        nor, where it is `for_writers`, who may use no flow that writes.
        """
        said = [one for one in (text, messages, flow) if one is not None]
        self._refuse(len(said) != 1, f"The prompt {name} has a text, messages or a flow: give one of them.")
        self._refuse(not is_tool_name(name), f"{name!r} is no name for a prompt: use letters, digits, - and _.")
        ref = flow.ref if isinstance(flow, Flow) else flow
        told = (user_message(text),) if text is not None else tuple(messages or ())
        prompt = Prompt(name, description, prompt_arguments(arguments), told, ref, title, tuple(needs), for_writers)
        self._prompts.append(prompt)
        return prompt

    def route(self, route: Route) -> Route:
        """Offer a flow at an address of REST's own."""
        self._refuse(not route.path.startswith("/"), f"The path {route.path} has to begin with a slash.")
        self._routes.append(route)
        return route

    def skill(self, skill: Skill) -> Skill:
        """Offer an entry of the catalogue of skills."""
        self._refuse(any(one.name == skill.name for one in self._skills), f"There is a skill {skill.name} already.")
        self._skills.append(skill)
        return skill

    def listen(self, listener: Listener) -> Listener:
        """Ask for a port for an exposure alone; whoever serves the office decides."""
        self._refuse(False, "")
        self._listeners.append(listener)
        return listener

    def seal(self) -> None:
        """End the definition: an aggregate in a catalogue no longer changes."""
        self._sealed = True
        for flow in self._flows.values():
            flow.seal()

    def _decorated(self, kind: Kind, handler: Handler | None, facets: Facets) -> Flow | Callable[[Handler], Flow]:
        def decorate(function: Handler) -> Flow:
            return self._added(define(self, kind, function, **facets))

        return decorate if handler is None else decorate(handler)

    def _added(self, flow: Flow) -> Flow:
        self._refuse(flow.name in self._flows, f"There is a flow {flow.name} already: choose another name.")
        self._flows[flow.name] = flow
        return flow

    def _default_exposure(self, flow: Flow) -> Exposure:
        return Exposure(self.namespace, tool_name(flow.name, self.naming), flow.ref)

    def _usual_changes(self, address: Address) -> str:
        only = f"{{{address.variables[0]}}}" if len(address.variables) == 1 else ANY
        return f"{self.namespace}/{only}"

    def _refuse(self, wrong: bool, complaint: str) -> None:
        if self._sealed:
            raise FlowDefinitionError(f"aggregate {self.namespace}", "It is in use already: define before that.")
        if wrong:
            raise FlowDefinitionError(f"aggregate {self.namespace}", complaint)
