"""Runs the flows of one document. Everything that a run holds belongs to that run; what is shared never changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Generator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engross.calls import Answer, Context
from engross.replies import Reply

from .model import Client, Document, Flow, Output, Target, Value
from .redaction import Redactor
from .request import Blueprint
from .schemas import RESULT, SAID_OF_CALLS, SAID_OF_WRITES
from .ways import Ways

if TYPE_CHECKING:
    from .handlers import StepHandler
    from .outbound.exchange import Received, Sent
    from .schedule import Schedule


class OfficeCall(Protocol):
    """How a step calls a flow of the office."""

    def __call__(self, ref: str, arguments: Mapping[str, Any], context: Context, key: str | None) -> Awaitable[Reply]:
        """Call a flow as part of another call, with a key of its own if it may change something."""

    def allow(self, ref: str, context: Context) -> None:
        """Refuse a flow of the document to whoever may not call it by itself."""

    def fields(self, ref: str) -> Collection[str]:
        """The names of what a flow takes."""


class Binds(Protocol):
    """What a document binds, by name."""

    @property
    def secrets(self) -> Sequence[str]:
        """All values."""

    def value(self, name: str) -> str | None:
        """The value of `VAR` or `namespace.VAR`."""


class Upstreams(Protocol):
    """Whoever answers requests: the network, or a recording of it."""

    async def send(self, sent: Sent, seconds: float) -> Received:
        """The response, within the time."""


class Reaching(Protocol):
    """What the pipeline gives a reach flow."""

    @property
    def context(self) -> Context:
        """The call."""

    @property
    def key(self) -> str:
        """The key to hand on."""


class Outcome(NamedTuple):
    """What came of a run."""

    value: Any
    """The answer: any JSON value. None is an upstream that answered with nothing."""
    status: int | None = None
    """The status of the upstream, where the flow is a single call."""
    warnings: tuple[Mapping[str, Any], ...] = ()
    cached: bool = False
    keep_seconds: float = 0.0
    """How long the answer may be given again."""
    would: tuple[Mapping[str, Any], ...] = ()
    """In a dry run: the requests that were not made because they may change something."""

    def answer(self, said_of_calls: Collection[str] = SAID_OF_CALLS) -> Answer:
        """As the pipeline takes it: an object has its own fields, anything else is called `result`.

        So is, once more and as a whole, an object with fields that say something about the call itself.
        """
        data: dict[str, Any]
        if self.value is None:
            data = {}
        elif not isinstance(self.value, dict):
            data = {RESULT: self.value}
        elif self.value.keys().isdisjoint(said_of_calls):
            data = self.value
        else:
            data = {name: part for name, part in self.value.items() if name not in said_of_calls}
            data[RESULT] = self.value
        return Answer(data, warnings=self.warnings, would=self.would)


class Variant(NamedTuple):
    """A flow as an exposure offers it: what the exposure gives and puts out differently."""

    flow: Flow
    given: Mapping[str, Value]
    outputs: tuple[Output, ...]


class Engine:
    """The flows of a document, ready to run. Making one opens nothing and reads no template."""

    def __init__(
        self,
        document: Document,
        binds: Binds,
        ways: Ways | None = None,
        *,
        handlers: Mapping[str, StepHandler] | None = None,
        office: OfficeCall | None = None,
    ) -> None:
        self.document = document
        self.ways = ways or Ways()
        self.office = office
        self._binds = binds
        self._handlers = dict(handlers or {})
        self._blueprints: dict[str, Blueprint] = {}
        self._schedules: dict[int, tuple[Flow, Schedule]] = {}

    def handler(
        self, flow: Flow, given: Mapping[str, Value] | None = None, outputs: Sequence[Output] = ()
    ) -> Callable[[Any, Mapping[str, Any]], Generator[Any, Any, Answer]]:
        """The code of a flow, for an aggregate's `read` or `reach`: it holds nothing of the store while it waits."""
        variant = Variant(flow, given or {}, tuple(outputs))

        def handle(call: Context | Reaching, arguments: Mapping[str, Any]) -> Generator[Any, Any, Answer]:
            from .running import Running

            context, key = (call, None) if isinstance(call, Context) else (call.context, call.key)
            outcome: Outcome = yield Running(
                lambda: self.arun(flow, arguments, context, key=key, variant=variant), context.deadline
            )
            return outcome.answer(SAID_OF_CALLS if isinstance(call, Context) else SAID_OF_WRITES)

        handle.__name__ = flow.name.replace("-", "_")
        handle.__doc__ = flow.description
        return handle

    def run(self, flow: Flow, arguments: Mapping[str, Any], context: Context, *, key: str | None = None) -> Outcome:
        """Run a flow and wait for it on this thread."""
        from .running import Running

        found: Outcome = Running(lambda: self.arun(flow, arguments, context, key=key), context.deadline).block()
        return found

    async def arun(
        self,
        flow: Flow,
        arguments: Mapping[str, Any],
        context: Context,
        *,
        key: str | None = None,
        variant: Variant | None = None,
    ) -> Outcome:
        """Run a flow on this event loop."""
        from .run import ran

        return await ran(self, variant or Variant(flow, {}, ()), arguments, context, key)

    def verify(self) -> None:
        """ValueError with the first operation that could never be sent."""
        for client in self.document.consumes.values():
            for name in client.operations:
                self._blueprint(client, name)

    def blueprint(self, target: Target) -> Blueprint:
        """The operation that a call names."""
        return self._blueprint(self.document.consumes[target.namespace], target.name)

    def schedule(self, flow: Flow) -> Schedule:
        """Which steps of a flow wait for which."""
        from .schedule import scheduled
        from .semantics import changes

        held = self._schedules.get(id(flow))
        if held is None:
            made = scheduled(
                flow.steps,
                lambda step: changes(self.document, flow, step),
                lambda step: self._takes(step.target),
            )
            held = self._schedules.setdefault(id(flow), (flow, made))
        return held[1]

    def _takes(self, target: Target) -> Collection[str]:
        """The names that whatever is called takes its values from by itself."""
        if target.kind == "operation":
            return self.blueprint(target).names
        own = self.document.flow(target.ref)
        return own.inputs.keys() if own is not None else ()

    def step_handler(self, name: str) -> StepHandler | None:
        """The function that was registered under a name."""
        from .handlers import HANDLERS

        return self._handlers.get(name) or HANDLERS.get(name)

    @cached_property
    def bound(self) -> Mapping[str, str]:
        """The values of binds by every name that they go by."""
        names = [
            name
            for bind in self.document.binds.values()
            for key in bind.keys
            for name in (key, f"{bind.namespace}.{key}")
        ]
        return {name: value for name in names if (value := self._binds.value(name)) is not None}

    @cached_property
    def redactor(self) -> Redactor:
        """Takes out what must not be seen: binds, what is made of them, and what is read from the environment."""
        import os

        secrets = list(self._binds.secrets)
        for client in self.document.consumes.values():
            for name, operation in client.operations.items():
                secrets += self._blueprint(client, name).secrets
                inputs = operation.inputs.values()
                secrets += [os.environ.get(one.name, "") for one in inputs if one.where == "environment"]
        return Redactor(secrets)

    @cached_property
    def cache(self) -> Any:
        """The answers of cacheable flows."""
        from .cache import Cache

        return Cache()

    @cached_property
    def upstreams(self) -> Upstreams:
        """The network, or a recording of it."""
        from .outbound.upstreams import upstreams_of

        clients = self.document.consumes.values()
        origins = [self._blueprint(client, name).origin for client in clients for name in client.operations]
        return upstreams_of(self.document.file, origins, self.ways, self.redactor)

    def _blueprint(self, client: Client, name: str) -> Blueprint:
        key = f"{client.namespace}.{name}"
        made = self._blueprints.get(key)
        if made is None:
            made = self._blueprints.setdefault(key, Blueprint(client, client.operations[name], self.bound))
        return made
