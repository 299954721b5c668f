"""What a run calls: upstreams, other flows, and Python functions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from engross.calls import Context
from engross.replies import Coded, Denied, Failed, Invalid, Reply, codes

from .cache import lifetime
from .conversion import Unreadable, charset_of, converted
from .failure import is_undone, no_response, refused, seconds_to_wait, settled, unreadable
from .model import MISSING, Flow, Operation
from .outbound.exchange import OutboundError, Received, Sent
from .patience import Patient

if TYPE_CHECKING:
    from .engine import Engine
    from .handlers import StepHandler

_WORTH_REPEATING = frozenset({408, 429, 502, 503, 504})
_TROUBLE_PASSES = frozenset({"unreachable", "timeout", "broken"})
SMALL_BYTES = 64_000
LONGEST_WAIT = 30.0


class Rehearsed(Exception):
    """A dry run came to requests that may change something, and does not make them."""

    def __init__(self, requests: tuple[Mapping[str, Any], ...]) -> None:
        self.requests = requests
        super().__init__("rehearsed")


class Calling:
    """The calls of one run, and what is to be known of them afterwards."""

    def __init__(self, engine: Engine, context: Context) -> None:
        self._engine = engine
        self._context = context
        self.status: int | None = None
        self.keep_seconds = engine.ways.cache_seconds
        self.weight = 0
        self.acted = False
        """May anything have been changed by now?"""

    async def exchanged(
        self, step: str, operation: Operation, sent: Sent, patient: Patient, changing: bool, note: dict[str, Any] | None
    ) -> Any:
        """The value that an upstream answers with. In `note` it says what it does, if somebody looks."""
        if changing and self._context.dry_run:
            raise Rehearsed(({"step": step, **self._request(sent)},))
        if note is not None:
            note["request"] = self._request(sent)
        with self._acting(changing):
            received, attempts = await self._received(step, sent, patient, changing)
            self.status = received.status
            if note is not None:
                note |= {"attempts": attempts, "status": received.status}
            if received.status >= 400:
                raise refused(step, received, self._engine.redactor)
        self.keep_seconds = min(self.keep_seconds, lifetime(received.headers, self._engine.ways.cache_seconds))
        self.weight += len(received.body)
        try:
            value = await _converted(received, operation)
        except Unreadable as error:
            raise unreadable(step, str(error)) from error
        if note is not None and value is not MISSING:
            note["output"] = self._engine.redactor.data(value)
        return value

    async def own_flow(self, step: str, flow: Flow, arguments: Mapping[str, Any], key: str | None) -> Any:
        """What another flow of the document answers. Who may not call that one cannot do it through this one."""
        from .engine import Variant
        from .run import ran

        if self._engine.office is not None:
            self._engine.office.allow(flow.ref, self._context)
        missing = [one.name for one in flow.inputs.values() if one.required and one.name not in arguments]
        missing = [name for name in missing if flow.inputs[name].default is MISSING]
        if missing:
            problem = f"{flow.ref} needs {', '.join(missing)}"
            raise Failed(codes.STEP_FAILED, {"step": step}, data={"step": step, "problem": problem})
        usual = {one.name: one.default for one in flow.inputs.values() if one.default is not MISSING}
        with self._acting(key is not None):
            outcome = await ran(self._engine, Variant(flow, {}, ()), {**usual, **arguments}, self._context, key)
        if outcome.would:
            raise Rehearsed(tuple({**one, "step": f"{step}/{one['step']}"} for one in outcome.would))
        self.keep_seconds = min(self.keep_seconds, outcome.keep_seconds)
        return MISSING if outcome.value is None else outcome.value

    async def office_flow(
        self, step: str, ref: str, said: Mapping[str, Any], inputs: Mapping[str, Any], key: str | None
    ) -> Any:
        """What a flow of the office answers; it is governed like any call of its own.

        It gets what `with` says, and of the caller's inputs those that it takes too. A key comes with a change.
        """
        if self._engine.office is None:
            problem = f"{ref} cannot be called: there is no office here"
            raise Failed(codes.STEP_FAILED, {"step": step}, data={"step": step, "problem": problem})
        taken = self._engine.office.fields(ref)
        arguments = {**{name: value for name, value in inputs.items() if name in taken}, **said}
        if key is not None and self._context.dry_run:
            raise Rehearsed(({"step": step, "call": ref, "arguments": arguments},))
        with self._acting(key is not None):
            answer = await self._engine.office(ref, arguments, self._context, key)
            if not answer.ok:
                raise _passed_on(step, answer)
        return dict(answer.data)

    async def handled(
        self,
        step: str,
        function: StepHandler,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        values: Mapping[str, Any],
        changing: bool,
    ) -> Any:
        """What a registered Python function gives."""
        from inspect import iscoroutinefunction

        self.acted = self.acted or changing
        try:
            if iscoroutinefunction(function):
                output = await function(inputs, outputs, values)
            else:
                output = await _on_a_thread(lambda: function(inputs, outputs, values))
            # A copy, as JSON has it: what the function keeps may change, and not everything is data.
            return orjson.loads(orjson.dumps(output))
        except (Coded, asyncio.CancelledError):
            raise
        except orjson.JSONEncodeError as error:
            problem = f"{step} gave something that is no JSON value"
            raise Failed(codes.STEP_FAILED, {"step": step}, data={"step": step, "problem": problem}) from error
        except Exception as crash:
            raise Failed(codes.STEP_FAILED, {"step": step}, data={"step": step}) from crash

    @contextmanager
    def _acting(self, changing: bool) -> Iterator[None]:
        """Something is changed inside, unless it ends with a refusal, or by failing before it could."""
        before, self.acted = self.acted, self.acted or changing
        try:
            yield
        except Coded as failure:
            if is_undone(failure):
                self.acted = before
            raise

    async def _received(self, step: str, sent: Sent, patient: Patient, changing: bool) -> tuple[Received, int]:
        """The response, and how often it took."""
        reached = False
        for attempt in range(1, patient.retry.attempts + 1):
            last = attempt == patient.retry.attempts
            try:
                received = await self._engine.upstreams.send(sent, self._seconds(patient))
            except OutboundError as error:
                passes = error.trouble in _TROUBLE_PASSES and (patient.repeatable or not error.reached)
                reached = reached or error.reached
                if last or not passes or not await self._waited(patient, attempt, None):
                    failure = no_response(step, error, self._engine.redactor)
                    raise (settled(failure, acted=reached) if changing else failure) from error
                continue
            reached = True
            if last or not patient.repeatable or received.status not in _WORTH_REPEATING:
                return received, attempt
            if not await self._waited(patient, attempt, seconds_to_wait(received)):
                return received, attempt
        raise AssertionError("the last attempt returns or raises")

    async def _waited(self, patient: Patient, attempt: int, asked: int | None) -> bool:
        """Wait before the next attempt; False when there is no time for that."""
        seconds = max(patient.retry.backoff_seconds * 2 ** (attempt - 1), asked or 0)
        if seconds > min(LONGEST_WAIT, self._left()):
            return False
        await asyncio.sleep(seconds)
        return True

    def _seconds(self, patient: Patient) -> float:
        left = self._left()
        return max(0.001, left if patient.seconds is None else min(patient.seconds, left))

    def _left(self) -> float:
        deadline = self._context.deadline
        return LONGEST_WAIT * 2 if deadline is None else deadline - time.monotonic()

    def _request(self, sent: Sent) -> dict[str, Any]:
        redactor = self._engine.redactor
        shown: dict[str, Any] = {
            "method": sent.method,
            "url": redactor.text(sent.url),
            "headers": {name: redactor.text(value) for name, value in sent.headers},
        }
        if sent.body:
            shown["body"] = redactor.text(sent.body.decode("utf-8", "replace"))
        return shown


async def _converted(received: Received, operation: Operation) -> Any:
    charset = charset_of(received.headers.get("content-type", ""))
    if operation.raw_format == "json" or len(received.body) < SMALL_BYTES:
        return converted(received.body, operation.raw_format, charset)
    return await _on_a_thread(lambda: converted(received.body, operation.raw_format, charset))


async def _on_a_thread(work: Any) -> Any:
    """Off the loop, on a thread that does not keep the process from ending."""
    from contextvars import copy_context
    from threading import Thread

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = copy_context()

    def settle(method: str, value: Any) -> None:
        if not future.done():
            getattr(future, method)(value)

    def run() -> None:
        try:
            outcome = ("set_result", context.run(work))
        except StopIteration:
            outcome = ("set_exception", RuntimeError("a handler let a StopIteration out"))
        except BaseException as error:
            outcome = ("set_exception", error if isinstance(error, Exception) else RuntimeError("a handler ended"))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    Thread(target=run, name="engross-step", daemon=True).start()
    return await future


def _passed_on(step: str, answer: Reply) -> Coded:
    """The refusal of an inner call as that of the outer one, naming the step."""
    data = {**answer.data, "step": step}
    if answer.reply_type == "I":
        return Invalid(answer.code, answer.params, data=data)
    if answer.reply_type == "D":
        return Denied(answer.code, answer.params, data=data)
    return Failed(answer.code, answer.params, data=data)
