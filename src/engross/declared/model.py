"""A capability document as data: what the file says, each part with the place where it says it.

Nothing here runs or looks anything up. The checker makes these, the compiler and the engine read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

ScalarType = Literal["string", "number", "integer", "boolean", "array", "object"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Where = Literal["query", "header", "path", "cookie", "body", "environment"]
RawFormat = Literal["json", "xml", "yaml", "csv", "tsv", "psv", "text"]
BodyType = Literal["json", "text", "xml", "formUrlEncoded"]
Mode = Literal["call", "steps", "mock"]


class Place(NamedTuple):
    """Where something stands in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class _Missing:
    """Nothing was written; null is something."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()


# What stands for a value.


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: passed on as it is."""

    value: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of an input, of an earlier step, or of something inside one of them, with its own type.

    `("location",)`, `("item", "supplier", "code")`, `("rows", "0", "id")`: the first is always an input or a step.
    If an optional input is absent, so is what refers to it.
    """

    path: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Template:
    """A text with `{{variables}}` in it; the result is a text."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Query:
    """A JSONPath, as written; over `{step: output}` in mappings and lookups, over the response in outputs."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Composed:
    """An object or a list with references inside; without any it is a Constant."""

    parts: Mapping[str, Value] | tuple[Value, ...]
    place: Place


Value: TypeAlias = Constant | Reference | Template | Composed
"""What a `with` entry holds."""


# Parameters.


@dataclass(frozen=True, slots=True)
class Input:
    """Something a caller gives."""

    name: str
    type: ScalarType
    place: Place
    description: str | None = None
    required: bool = True
    default: Any = MISSING
    enum: tuple[Any, ...] = ()
    pattern: str | None = None
    items: Input | None = None
    properties: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """Something that is answered: `mapping` is where it comes from, `value` is what it always is.

    An object has `properties`, an array `items`. In flows with steps the type alone is declared.
    """

    name: str
    type: ScalarType
    place: Place
    mapping: Query | None = None
    value: Any = MISSING
    description: str | None = None
    properties: Mapping[str, Output] = field(default_factory=dict)
    items: Output | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a call is tried in all, and how long to wait before the second time; each wait doubles."""

    attempts: int
    backoff_seconds: float = 0.2


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an upstream, and how often to try; None where nothing was said."""

    timeout_seconds: float | None = None
    retry: Retry | None = None


UNSAID: Final = Patience()


# Consumed.


@dataclass(frozen=True, slots=True)
class ConsumedInput:
    """Where a consumed operation wants a parameter; `value` is a template that stands in for the caller's."""

    name: str
    where: Where
    place: Place
    value: Any = MISSING


@dataclass(frozen=True, slots=True)
class Body:
    """What is sent: a text is a template as a whole, in other data every text is one."""

    type: BodyType
    data: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Authentication:
    """How we show who we are. The values are templates over inputs and binds."""

    type: Literal["basic", "bearer", "apikey"]
    place: Place
    username: str = ""
    password: str = ""
    token: str = ""
    key: str = ""
    value: str = ""
    placement: Literal["header", "query"] = "header"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that an upstream can do. `path` is its resource's."""

    name: str
    resource: str
    path: str
    method: Method
    place: Place
    path_place: Place
    description: str | None = None
    inputs: Mapping[str, ConsumedInput] = field(default_factory=dict)
    """Those of the client, of the resource and its own; the nearest wins."""
    body: Body | None = None
    raw_format: RawFormat = "json"
    outputs: Mapping[str, Output] = field(default_factory=dict)
    patience: Patience = UNSAID


@dataclass(frozen=True, slots=True)
class ConsumedResource:
    """A path of an upstream and what can be done there."""

    name: str
    path: str
    place: Place
    description: str | None = None
    operations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Client:
    """An upstream. Operations are called by their name alone, whatever resource they are of."""

    namespace: str
    base_uri: str
    place: Place
    base_uri_place: Place
    description: str | None = None
    authentication: Authentication | None = None
    resources: Mapping[str, ConsumedResource] = field(default_factory=dict)
    operations: Mapping[str, Operation] = field(default_factory=dict)
    patience: Patience = UNSAID


@dataclass(frozen=True, slots=True)
class Bind:
    """Names for values that are not in the document; `location` is a file, nothing is the environment."""

    namespace: str
    keys: Mapping[str, str]
    place: Place
    location: str | None = None
    description: str | None = None
    key_places: Mapping[str, Place] = field(default_factory=dict)


# Flows.


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a flow says about itself; None where it says nothing."""

    safe: bool | None = None
    idempotent: bool | None = None
    cacheable: bool | None = None
    destructive: bool | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What a `call` names: an operation of an upstream, or a flow, of this document or of the office."""

    namespace: str
    name: str
    place: Place
    kind: Literal["operation", "flow"] = "operation"

    @property
    def ref(self) -> str:
        """As it is written."""
        return f"{self.namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class CallStep:
    """Calls an operation or a flow."""

    name: str
    target: Target
    place: Place
    given: Mapping[str, Value] = field(default_factory=dict)
    """What `with` says."""
    patience: Patience = UNSAID


@dataclass(frozen=True, slots=True)
class LookupStep:
    """Finds, in the output of an earlier step, the entry whose field `match` is the value."""

    name: str
    index: str
    match: str
    value: Query | Value
    fields: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class HandlerStep:
    """Runs a Python function that was registered under this name."""

    name: str
    handler: str
    place: Place
    given: Mapping[str, Value] = field(default_factory=dict)


Step: TypeAlias = CallStep | LookupStep | HandlerStep


@dataclass(frozen=True, slots=True)
class Mapped:
    """A part of the answer of a flow with steps: where it goes and where it comes from."""

    target: tuple[str, ...]
    value: Query
    place: Place


@dataclass(frozen=True, slots=True)
class Example:
    """A call that shows what a flow does, and what has to come of it."""

    title: str
    arguments: Mapping[str, Any]
    place: Place
    answer: Any = MISSING
    """The part of the answer that must be there, if it says."""
    reply: str | None = None
    """The message key that it ends in; the usual one of its kind if it does not say."""
    given: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow as declared. Which of the fields count depends on `mode`."""

    namespace: str
    name: str
    description: str
    mode: Mode
    place: Place
    semantics: Semantics | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict)
    given: Mapping[str, Value] = field(default_factory=dict)
    """What `with` says on the flow: it counts in every mode."""
    target: Target | None = None
    """Mode call."""
    steps: Mapping[str, Step] = field(default_factory=dict)
    """Mode steps, in order."""
    mappings: tuple[Mapped, ...] = ()
    """Mode steps."""
    outputs: tuple[Output, ...] = ()
    """Mode call: alternatives without names, the first that is not null. Else: the named fields of the answer."""
    tags: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    patience: Patience = UNSAID
    version: str | None = None

    @property
    def ref(self) -> str:
        """The name everywhere: `stock.get-item`."""
        return f"{self.namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Flows of one namespace. `prefixes` are the namespaces that its own references may use: two after a renaming."""

    namespace: str
    display: str
    flows: Mapping[str, Flow]
    place: Place
    prefixes: tuple[str, ...] = ()


# Exposed.


@dataclass(frozen=True, slots=True)
class Ref:
    """Which flow an exposure stands for: one of this document, or any other of the office."""

    namespace: str
    name: str
    place: Place

    @property
    def ref(self) -> str:
        """As it is written."""
        return f"{self.namespace}.{self.name}"


@dataclass(frozen=True, slots=True)
class Hints:
    """MCP hints as said by a tool; None derives."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a tool or an operation says itself: either it has a `ref`, or a `flow` of its own written inline.

    With a ref, what is None or empty is inherited from the flow.
    """

    ref: Ref | None = None
    flow: Flow | None = None
    display: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    inputs: Mapping[str, Input] = field(default_factory=dict)
    given: Mapping[str, Value] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool."""

    name: str
    offer: Offer
    place: Place
    hints: Hints = Hints()


@dataclass(frozen=True, slots=True)
class McpResource:
    """Something to look up by an address: what a flow answers, or files of a folder."""

    name: str
    display: str
    uri: str
    description: str
    place: Place
    mime_type: str | None = None
    flow: Flow | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """Something that a prompt asks for."""

    name: str
    description: str
    place: Place
    display: str | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """The words that start a job: messages as (role, content), or a file."""

    name: str
    display: str
    description: str
    place: Place
    arguments: Mapping[str, PromptArgument] = field(default_factory=dict)
    template: tuple[tuple[str, str], ...] = ()
    location: str | None = None


@dataclass(frozen=True, slots=True)
class McpExposes:
    """Tools, resources and prompts."""

    namespace: str
    place: Place
    description: str | None = None
    transport: Literal["http", "stdio"] = "http"
    port: int | None = None
    address: str = "localhost"
    tools: Mapping[str, McpTool] = field(default_factory=dict)
    resources: Mapping[str, McpResource] = field(default_factory=dict)
    prompts: Mapping[str, McpPrompt] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RestInput:
    """Where a request carries an input; `value` is a constant, or a JSONPath into the body."""

    name: str
    where: Literal["query", "header", "path", "cookie", "body"]
    place: Place
    value: Any = MISSING


@dataclass(frozen=True, slots=True)
class RestOperation:
    """A method on a path."""

    name: str
    method: Method
    offer: Offer
    place: Place
    inputs: Mapping[str, RestInput] = field(default_factory=dict)
    """Of the resource and its own, its own win; what they leave out is found by the rule of inheritance."""


@dataclass(frozen=True, slots=True)
class RestResource:
    """A path, with `{variables}`, and what can be done there."""

    name: str
    path: str
    place: Place
    description: str | None = None
    operations: Mapping[str, RestOperation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RestExposes:
    """Paths below the namespace."""

    namespace: str
    place: Place
    port: int | None = None
    address: str = "localhost"
    resources: Mapping[str, RestResource] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SkillTool:
    """A tool that a skill tells of: derived from another exposure, or a file of instructions."""

    name: str
    description: str
    place: Place
    source_namespace: str | None = None
    action: str | None = None
    instruction: str | None = None


@dataclass(frozen=True, slots=True)
class Skill:
    """An entry of the catalogue of skills."""

    name: str
    description: str
    place: Place
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: str | None = None
    argument_hint: str | None = None
    user_invocable: bool | None = None
    disable_model_invocation: bool | None = None
    location: str | None = None
    tools: Mapping[str, SkillTool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SkillExposes:
    """A catalogue of skills; it never runs anything."""

    namespace: str
    place: Place
    description: str | None = None
    port: int | None = None
    address: str = "localhost"
    skills: Mapping[str, Skill] = field(default_factory=dict)


Exposes: TypeAlias = McpExposes | RestExposes | SkillExposes


# The whole.


@dataclass(frozen=True, slots=True)
class Info:
    """What people should know about a document."""

    display: str
    description: str
    tags: tuple[str, ...] = ()
    created: str | None = None
    modified: str | None = None
    version: str | None = None
    stakeholders: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document with everything that it imports."""

    file: Path
    version: str
    """Of the format: what `ikanos` says."""
    digest: str
    """Over the bytes of all files that it is made of."""
    info: Info | None = None
    binds: Mapping[str, Bind] = field(default_factory=dict)
    consumes: Mapping[str, Client] = field(default_factory=dict)
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    exposes: Mapping[str, Exposes] = field(default_factory=dict)
    sources: tuple[Path, ...] = ()
    """The files it is made of."""
    partial: bool = False
    """A section alone, made to be imported."""
    files: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict, repr=False)
    """What lies at the locations that exposures name."""

    def flows(self) -> Iterator[Flow]:
        """All flows, those written inside exposures too."""
        for aggregate in self.aggregates.values():
            yield from aggregate.flows.values()
        for exposes in self.exposes.values():
            for offer in _offers(exposes):
                if offer.flow is not None:
                    yield offer.flow

    def flow(self, ref: str) -> Flow | None:
        """The flow of an aggregate with this ref."""
        namespace, _, name = ref.partition(".")
        aggregate = self.aggregates.get(namespace)
        return aggregate.flows.get(name) if aggregate else None

    def operation(self, target: Target) -> Operation | None:
        """The operation that a call names."""
        client = self.consumes.get(target.namespace)
        return client.operations.get(target.name) if client else None


def _offers(exposes: Exposes) -> Iterator[Offer]:
    if isinstance(exposes, McpExposes):
        yield from (tool.offer for tool in exposes.tools.values())
        yield from (Offer(flow=resource.flow) for resource in exposes.resources.values())
    elif isinstance(exposes, RestExposes):
        for resource in exposes.resources.values():
            yield from (operation.offer for operation in resource.operations.values())
