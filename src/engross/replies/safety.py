"""The safety wrapper: whatever a tool does, its caller gets one Reply.

It gives each call a trace, catches what the tool raises, guards the type of what it returns, makes sure that
the answer can be sent, and leaves one line in the log. Nothing else happens here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, overload

from .reply import Reply
from .running import Running
from .worker import DeadlinePassed, Worker

MAX_BYTES = 4 * 1024 * 1024
MARK = "__engross_safe__"
REQUEST_ID = "client_request_id"
P = ParamSpec("P")


class SafeToolDecorator(Protocol):
    """What mcp_safe_tool(...) gives when it is called with settings only."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, func: Callable[P, Awaitable[object]]
    ) -> Callable[P, Coroutine[Any, Any, Reply]]: ...
    @overload
    def __call__(self, func: Callable[P, object]) -> Callable[P, Reply]: ...


@overload
def mcp_safe_tool(  # type: ignore[overload-overlap]
    func: Callable[P, Awaitable[object]],
    *,
    strict: bool | None = None,
    timeout: float | None = None,
    name: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Callable[P, Coroutine[Any, Any, Reply]]: ...
@overload
def mcp_safe_tool(
    func: Callable[P, object],
    *,
    strict: bool | None = None,
    timeout: float | None = None,
    name: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Callable[P, Reply]: ...
@overload
def mcp_safe_tool(
    func: None = None,
    *,
    strict: bool | None = None,
    timeout: float | None = None,
    name: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> SafeToolDecorator: ...
def mcp_safe_tool(
    func: Callable[..., object] | None = None,
    *,
    strict: bool | None = None,
    timeout: float | None = None,
    name: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Make a tool safe: decorate it once, right under the line that registers it."""
    if timeout is not None and timeout <= 0:
        raise ValueError("a timeout is a positive number of seconds")
    if func is None:
        options: dict[str, Any] = {"strict": strict, "timeout": timeout, "name": name, "max_bytes": max_bytes}
        return functools.partial(mcp_safe_tool, **options)
    core = _core(func)
    _refuse_unfit(func, core)
    guard = _Guard(func, name or _name_of(core), strict, timeout, max_bytes, _key_place(func))
    wrapper = _awaiting(guard) if _is_async(core) else _direct(guard)
    return _dressed(wrapper, func, guard.tool)


@dataclass(frozen=True, slots=True)
class _Guard:
    """One tool with its settings."""

    func: Callable[..., object]
    tool: str
    strict: bool | None
    timeout: float | None
    max_bytes: int
    key_place: int | None = None
    """Which of the arguments without a name is the client request id."""

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Running:
        request_id = kwargs.get(REQUEST_ID)
        if self.key_place is not None and self.key_place < len(args):
            request_id = args[self.key_place]
        return Running(self.tool, self.strict, self.timeout, self.max_bytes, request_id)

    def call(self, work: Callable[[], object], running: Running) -> object:
        if self.timeout is None:
            return work()
        return Worker(work, self.tool, running.trace.trace_id).result_within(self.timeout)

    async def wait(self, work: Callable[[], object]) -> object:
        if self.timeout is None:
            return await _resolved(work)
        import asyncio

        limit = asyncio.timeout(self.timeout)
        try:
            async with limit:
                return await _resolved(work)
        except TimeoutError:
            if limit.expired():
                raise DeadlinePassed from None
            raise


def _direct(guard: _Guard) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with guard.begin(args, kwargs) as running:
            running.result = guard.call(functools.partial(guard.func, *args, **kwargs), running)
        # Only now is it known that a plain function gave something to await: nothing has run yet.
        return _later(guard, running) if inspect.isawaitable(running.result) else running.settle()

    return wrapper


def _awaiting(guard: _Guard) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Reply:
        with guard.begin(args, kwargs) as running:
            running.result = await guard.wait(functools.partial(guard.func, *args, **kwargs))
        return running.settle()

    return wrapper


def _later(guard: _Guard, running: Running) -> Any:
    import asyncio

    pending = running.result

    async def finish() -> Reply:
        with running:
            running.result = await guard.wait(lambda: pending)
        return running.settle()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(finish())
    return finish()


async def _resolved(work: Callable[[], object]) -> object:
    result = work()
    return await result if inspect.isawaitable(result) else result


def _core(func: Callable[..., object]) -> Callable[..., object]:
    """The function under partials and other decorators."""
    while not hasattr(func, MARK):
        if isinstance(func, functools.partial):
            func = func.func
        elif hasattr(func, "__wrapped__"):
            func = func.__wrapped__
        else:
            break
    return func


def _refuse_unfit(func: object, core: object) -> None:
    if not callable(func):
        raise TypeError(f"{type(func).__name__} cannot be called; decorate the function itself")
    if hasattr(core, MARK):
        raise TypeError("this tool is safe already; wrap it once")
    if any(inspect.isgeneratorfunction(view) or inspect.isasyncgenfunction(view) for view in _views(core)):
        raise TypeError("a tool gives one answer; a generator gives many")


def _is_async(core: object) -> bool:
    return any(inspect.iscoroutinefunction(view) for view in _views(core))


def _views(core: object) -> tuple[object, ...]:
    return core, type(core).__call__ if callable(core) else None


def _name_of(core: object) -> str:
    return str(getattr(core, "__name__", None) or type(core).__name__)


def _dressed(wrapper: Callable[..., Any], func: Callable[..., object], tool: str) -> Callable[..., Any]:
    functools.update_wrapper(wrapper, func, updated=functools.WRAPPER_UPDATES if inspect.isroutine(func) else ())
    if not hasattr(func, "__name__"):
        wrapper.__name__ = wrapper.__qualname__ = tool
    signature = _signature(func)
    if signature is None:
        del wrapper.__wrapped__  # type: ignore[attr-defined]
    else:
        show_signature(wrapper, signature, Reply)
    setattr(wrapper, MARK, True)
    return wrapper


def _key_place(func: Callable[..., object]) -> int | None:
    signature = _signature(func)
    names = [] if signature is None else [*signature.parameters]
    if REQUEST_ID not in names or signature is None:
        return None
    named_only = signature.parameters[REQUEST_ID].kind is inspect.Parameter.KEYWORD_ONLY
    return None if named_only else names.index(REQUEST_ID)


def _signature(func: Callable[..., object]) -> inspect.Signature | None:
    """With types where they can be had: a signature that is handed on is read as it is, names and all."""
    for evaluated in (True, False):
        # An annotation may be any expression, so evaluating it may raise anything.
        with suppress(Exception):
            return inspect.signature(func, eval_str=evaluated)
    return None


def show_signature(wrapper: Callable[..., Any], signature: inspect.Signature, returns: type) -> None:
    """Frameworks make schemas of it: the parameters are the tool's own, the result is what the wrapper gives."""
    wrapper.__signature__ = signature.replace(return_annotation=returns)  # type: ignore[attr-defined]
    annotated = (each for each in signature.parameters.values() if each.annotation is not each.empty)
    wrapper.__annotations__ = {**{each.name: each.annotation for each in annotated}, "return": returns}
