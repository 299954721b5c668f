"""One run of one flow: from the caller's arguments to the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from hashlib import sha256
from typing import Any

import orjson

from engross.calls import Context
from engross.replies import Coded, Failed, codes

from .calling import Calling, Rehearsed
from .engine import Engine, Outcome, Variant
from .failure import halfway, settled, unreadable, unwritable
from .jsonpath import PathError
from .lookup import Index, chosen
from .model import MISSING, CallStep, HandlerStep, LookupStep, Query, Step, Target
from .patience import Patient, patience
from .pen import Unwritable
from .resolution import given, resolved
from .result import Misfit, across, conforming, first_of, mapped, mocked, projected
from .schedule import carried_out
from .semantics import changes, changing_calls, is_cacheable, is_safe, target_changes
from .trace import TRACING

DEEPEST = 20
LONGEST_KEY = 255
USUAL_SECONDS = 60.0
_CHAIN: ContextVar[tuple[str, ...]] = ContextVar("engross.declared.chain", default=())


async def ran(
    engine: Engine, variant: Variant, arguments: Mapping[str, Any], context: Context, key: str | None
) -> Outcome:
    """What a flow answers. Flows may call flows, but never one that they are called by."""
    chain = _CHAIN.get()
    if variant.flow.ref in chain or len(chain) >= DEEPEST:
        raise Failed(codes.FLOW_CYCLE, {"flow": variant.flow.ref}, data={"chain": [*chain, variant.flow.ref]})
    entered = _CHAIN.set((*chain, variant.flow.ref))
    try:
        return await _remembered(Run(engine, variant, arguments, context, key))
    finally:
        _CHAIN.reset(entered)


async def _remembered(run: Run) -> Outcome:
    """The answer, or the one that was given a moment ago if the flow is cacheable."""
    if not is_cacheable(run.flow) or run.context.dry_run:
        return await run.outcome()
    mark = run.mark()
    kept = run.engine.cache.get(mark)
    if kept is not None:
        run.note({"step": run.flow.ref, "type": "cache", "output": kept.value.value})
        found: Outcome = kept.value
        return found._replace(cached=True)
    outcome = await run.outcome()
    run.engine.cache.put(mark, outcome, outcome.keep_seconds, run.calling.weight + 1000)
    return outcome


class Run:
    """The state of a run. Nothing of it outlives the run."""

    def __init__(
        self, engine: Engine, variant: Variant, arguments: Mapping[str, Any], context: Context, key: str | None
    ) -> None:
        self.engine = engine
        self.flow = variant.flow
        self.context = context
        self.variant = variant
        self.inputs = {**arguments, **given(variant.given, arguments)}
        self.scope: dict[str, Any] = {**self.inputs, **given(self.flow.given, self.inputs)}
        self.outputs: dict[str, Any] = {}
        self.done: list[str] = []
        self.under_way: dict[str, None] = {}
        self._would: list[Mapping[str, Any]] = []
        self._left_out: set[str] = set()
        self.calling = Calling(engine, context)
        self._key = key or context.client_request_id or context.message_id
        self._indexes: dict[tuple[str, str], Index] = {}
        self._trace = TRACING.get()

    async def outcome(self) -> Outcome:
        """Run, until the deadline at the latest."""
        left = USUAL_SECONDS if self.context.deadline is None else self.context.deadline - time.monotonic()
        try:
            async with asyncio.timeout(left):
                return await self._outcome()
        except TimeoutError as late:
            waiting = next(iter(self.under_way), self.flow.ref)
            raise self._told(Failed(codes.UPSTREAM_TIMEOUT, {"step": waiting}, data={"step": waiting})) from late
        except Failed as failure:
            raise self._told(failure) from failure.__cause__
        except Rehearsed as rehearsed:
            would: list[Mapping[str, Any]] = self.engine.redactor.data(list(rehearsed.requests))
            return Outcome({}, would=tuple(would))

    def _told(self, failure: Failed) -> Failed:
        """The failure, with what is certain about the changes that the flow makes."""
        if is_safe(self.flow) or self.context.dry_run:
            return failure
        return settled(failure, acted=self.calling.acted)

    async def _outcome(self) -> Outcome:
        value: Any
        if self.flow.mode == "mock":
            value = self._mocked()
        elif self.flow.mode == "call":
            value = await self._single()
        else:
            value = await self._orchestrated()
        value = self.engine.redactor.data(None if value is MISSING else value)
        status = self.calling.status if self.flow.mode == "call" else None
        return Outcome(value, status, keep_seconds=self.calling.keep_seconds)

    def _mocked(self) -> dict[str, Any]:
        try:
            return mocked(self.variant.outputs or self.flow.outputs, self.scope)
        except Misfit as error:
            step = self.flow.ref
            raise Failed(codes.STEP_FAILED, {"step": step}, data={"step": step, "problem": str(error)}) from None

    async def _single(self) -> Any:
        target = self.flow.target
        assert target is not None
        patient = self._patience(target)
        root = await self._guarded(target.ref, self._called(target.ref, target, None, self.scope, patient))
        outputs = self.variant.outputs or self.flow.outputs
        if root is MISSING:
            return root
        with _usable(target.ref):
            value = first_of(outputs, root, self.scope)
        if outputs:
            self.note({"step": target.ref, "type": "output", "output": value})
        return value

    async def _orchestrated(self) -> Any:
        ways = self.engine.ways
        # One by one where answers are recorded: which calls are made must not depend on who answers first.
        at_once = ways.steps_at_once if ways.upstreams == "live" else 1
        await carried_out(self.engine.schedule(self.flow), self._step, at_once)
        if self._left_out:
            raise Rehearsed(tuple(self._would))
        with _usable("mappings"):
            value, told = mapped(self.flow.mappings, self.outputs)
        if told:
            self.note({"step": self.flow.ref, "type": "mapping", "mappings": told})
        with _usable("outputParameters"):
            result = conforming(self.flow.outputs, value) if value else self._last_call()
            return first_of(self.variant.outputs, result, self.scope) if self.variant.outputs else result

    def _last_call(self) -> Any:
        """The output of the last call in the document that has one."""
        calls = [step.name for step in self.flow.steps.values() if isinstance(step, CallStep)]
        return next((self.outputs[name] for name in reversed(calls) if name in self.outputs), MISSING)

    async def _step(self, step: Step) -> None:
        try:
            self._require_known(step)
            await self._performed(step)
        except Rehearsed as rehearsed:
            self._would += rehearsed.requests
            self._left_out.add(step.name)
            self.under_way.pop(step.name, None)

    def _require_known(self, step: Step) -> None:
        """In a dry run, what uses the answer to a call that was not made cannot be made either, but told of."""
        unknown = sorted(self._left_out & self.engine.schedule(self.flow).uses[step.name])
        if not unknown:
            return
        if isinstance(step, LookupStep) or not changes(self.engine.document, self.flow, step):
            raise Rehearsed(())
        called = {"handler": step.handler} if isinstance(step, HandlerStep) else {"call": step.target.ref}
        raise Rehearsed(({"step": step.name, **called, "depends_on": unknown},))

    async def _performed(self, step: Step) -> None:
        if isinstance(step, CallStep):
            values = given(step.given, self.scope)
            seen = {**self.scope, **values}
            work = self._called(step.name, step.target, values, seen, self._patience(step.target, step))
            output = await self._guarded(step.name, work)
            if step.target.kind == "operation":
                with _usable(step.name):
                    output = projected(self.engine.blueprint(step.target).operation.outputs, output, seen)
        elif isinstance(step, LookupStep):
            with _usable(step.name):
                output = self._looked_up(step)
            self.note({"step": step.name, "type": "lookup", "index": step.index, **_shown(output)})
        else:
            output = await self._guarded(step.name, self._handled(step))
            self.note({"step": step.name, "type": "handler", "handler": step.handler, **_shown(output)})
        if output is not MISSING:
            self.outputs[step.name] = self.scope[step.name] = output

    async def _guarded(self, step: str, work: Any) -> Any:
        """The work of a step; what stops it says which step it was, and whether something was done before."""
        self.under_way[step] = None
        try:
            output = await work
        except Unwritable as error:
            raise halfway(step, unwritable(step, error.name, error.problem, self.flow.inputs), self.done) from None
        except Coded as refusal:
            raise halfway(step, refusal, self.done) from refusal.__cause__
        del self.under_way[step]
        return output

    async def _called(
        self, step: str, target: Target, values: Mapping[str, Any] | None, scope: Mapping[str, Any], patient: Patient
    ) -> Any:
        changing = target_changes(self.engine.document, self.flow, target)
        if target.kind == "operation":
            blueprint = self.engine.blueprint(target)
            sent = blueprint.filled(scope, self._own_key(step) if changing else None)
            note = self.note({"step": step, "type": "call", "call": target.ref})
            output = await self.calling.exchanged(step, blueprint.operation, sent, patient, changing, note)
        else:
            try:
                async with asyncio.timeout(patient.seconds):
                    output = await self._flow_called(step, target, values, changing)
            except TimeoutError as late:
                raise Failed(codes.UPSTREAM_TIMEOUT, {"step": step}, data={"step": step}) from late
            self.note({"step": step, "type": "flow", "call": target.ref, **_shown(output)})
        if changing:
            self.done.append(step)
        return output

    async def _flow_called(self, step: str, target: Target, values: Mapping[str, Any] | None, changing: bool) -> Any:
        own = self.engine.document.flow(target.ref)
        key = self._own_key(step) if changing else None
        if own is not None and (is_safe(own) or not is_safe(self.flow)):
            passed = {name: self.scope[name] for name in own.inputs if name in self.scope}
            return await self.calling.own_flow(step, own, {**passed, **(values or {})}, key)
        said = given(self.flow.given, self.inputs) if values is None else dict(values)
        return await self.calling.office_flow(step, target.ref, said, self.inputs, key)

    def _looked_up(self, step: LookupStep) -> Any:
        """The entry, or the entries, that the value leads to; MISSING when there is none."""
        rows = self.outputs.get(step.index, MISSING)
        value = across(step.value, self.outputs) if isinstance(step.value, Query) else resolved(step.value, self.scope)
        if rows is MISSING or value is MISSING or value is None:
            return MISSING
        index = self._indexes.get((step.index, step.match))
        if index is None:
            index = self._indexes[step.index, step.match] = Index(rows, step.match)
        if isinstance(value, list):
            found = [chosen(entry, step.fields) for item in value if (entry := index.find(item)) is not None]
            return found or MISSING
        entry = index.find(value)
        return MISSING if entry is None else chosen(entry, step.fields)

    async def _handled(self, step: HandlerStep) -> Any:
        function = self.engine.step_handler(step.handler)
        if function is None:
            raise Failed(codes.STEP_FAILED, {"step": step.name}, data={"step": step.name, "problem": "no such handler"})
        if self.context.dry_run and not is_safe(self.flow):
            raise Rehearsed(({"step": step.name, "handler": step.handler},))
        values = given(step.given, self.scope)
        changing = not is_safe(self.flow)
        output = await self.calling.handled(
            step.name, function, dict(self.inputs), dict(self.outputs), values, changing
        )
        if changing:
            self.done.append(step.name)
        return MISSING if output is None else output

    def note(self, entry: dict[str, Any]) -> dict[str, Any] | None:
        """Write down what a step does, if somebody wants to see it."""
        if self._trace is None:
            return None
        told: dict[str, Any] = self.engine.redactor.data(entry)
        self._trace.append(told)
        return told

    def mark(self) -> tuple[Any, ...]:
        """What an answer depends on: the arguments, and who asks unless only upstreams are asked."""
        upstreams_only = all(target.kind == "operation" for target in self._targets) and not self._handlers
        who = None if upstreams_only else (self.context.principal, tuple(sorted(self.context.pins.items())))
        outputs = tuple(output.place for output in self.variant.outputs)
        told = orjson.dumps(self.inputs, option=orjson.OPT_SORT_KEYS)
        return (self.context.tenant, who, self.flow.ref, self.flow.place, outputs, told)

    @property
    def _targets(self) -> list[Target]:
        if self.flow.target is not None:
            return [self.flow.target]
        return [step.target for step in self.flow.steps.values() if isinstance(step, CallStep)]

    @property
    def _handlers(self) -> bool:
        return any(isinstance(step, HandlerStep) for step in self.flow.steps.values())

    def _patience(self, target: Target, step: CallStep | None = None) -> Patient:
        return patience(self.engine.document, self.engine.ways, self.flow, target, step)

    @cached_property
    def _one_change(self) -> bool:
        return changing_calls(self.engine.document, self.flow) == 1

    def _own_key(self, step: str) -> str:
        """The key that a call hands on: the run's own, told apart by step where several calls change something."""
        key = self._key if self._one_change else f"{self._key}:{step}"
        return key if len(key) <= LONGEST_KEY else sha256(key.encode()).hexdigest()


@contextmanager
def _usable(step: str) -> Iterator[None]:
    """A response that can be read may still not be what the document says."""
    try:
        yield
    except (PathError, Misfit) as error:
        raise unreadable(step, str(error)) from error


def _shown(output: Any) -> dict[str, Any]:
    return {} if output is MISSING else {"output": output}
