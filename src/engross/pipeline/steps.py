"""Where a call has to wait.

The path of a call is written once, as a generator that yields a step whenever it must wait for something. A caller on a
thread of its own drives it by blocking, one on an event loop by awaiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, ParamSpec, Protocol, TypeVar

from engross.calls import Context
from engross.replies import Failed, codes
from engross.store import Reading, Store, TooLong, Transaction

from .workers import Workers

P = ParamSpec("P")
T = TypeVar("T")


CRASHES = (Exception, SystemExit)
"""What code of a domain's or a user's may end with: asking the program to exit is a crash like any other."""
# A timer for every write costs more than it is worth; the store itself ends what takes longer.
PATIENT = 25.0


class Step(Protocol):
    """Something to wait for."""

    def block(self) -> Any:
        """Wait on this thread."""

    def wait(self) -> Coroutine[Any, Any, Any]:
        """Wait on this event loop."""


Steps = Generator[Step, Any, T]


def drive(steps: Steps[T]) -> T:
    """Walk the path on this thread."""
    result: Any = None
    failure: Exception | None = None
    try:
        while True:
            step = steps.send(result) if failure is None else steps.throw(failure)
            try:
                result, failure = step.block(), None
            except CRASHES as raised:
                result, failure = None, _contained(raised)
    except StopIteration as end:
        answer: T = end.value
        return answer
    finally:
        # A caller who is interrupted must not keep its key until somebody collects the garbage.
        steps.close()


async def adrive(steps: Steps[T]) -> T:
    """Walk the path on this event loop."""
    result: Any = None
    failure: Exception | None = None
    try:
        while True:
            step = steps.send(result) if failure is None else steps.throw(failure)
            try:
                result, failure = await step.wait(), None
            except CRASHES as raised:
                result, failure = None, _contained(raised)
    except StopIteration as end:
        answer: T = end.value
        return answer
    finally:
        steps.close()


def time_left(context: Context) -> float:
    """The seconds until a call's deadline, at least a moment."""
    return max(0.001, (context.deadline or 0.0) - time.monotonic())


async def ended(future: Future[Any], seconds: float) -> bool:
    """Whether the future has an outcome by then."""
    import asyncio

    wrapped = asyncio.wrap_future(future)
    # Else the loop would tell everybody about an exception that nobody asked this one for.
    wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
    done, _ = await asyncio.wait([wrapped], timeout=seconds)
    return bool(done)


def _contained(raised: BaseException) -> Exception:
    """A flow that asks the program to exit has crashed, like any other."""
    if isinstance(raised, Exception):
        return raised
    crash = RuntimeError("a flow asked the program to exit")
    crash.__cause__ = raised
    return crash


def contained(work: Callable[P, T]) -> Callable[P, T]:
    """The work, with an error for a `StopIteration` that gets out of it: no event loop's future can carry one."""

    def run(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return work(*arguments, **options)
        except StopIteration as stop:
            raise RuntimeError("a flow let a StopIteration out") from stop

    return run


class Write:
    """A unit of work, until it is durable."""

    __slots__ = ("bulk", "deadline", "store", "tenant", "tentative", "work")

    def __init__(
        self,
        store: Store,
        tenant: str,
        work: Callable[[Transaction], Any],
        *,
        tentative: bool = False,
        deadline: float | None = None,
        bulk: bool = False,
    ) -> None:
        """`bulk`: the unit may hold the writer until the deadline, instead of as long as any other may."""
        self.store = store
        self.bulk = bulk
        self.tenant = tenant
        self.work = work
        self.tentative = tentative
        self.deadline = deadline

    def block(self) -> Any:
        """Wait on this thread."""
        return self.store.write(self.tenant, self.work, timeout=self._hurry, tentative=self.tentative, long=self._long)

    def wait(self) -> Coroutine[Any, Any, Any]:
        """Wait on this event loop."""
        return self.store.awrite(self.tenant, self.work, timeout=self._hurry, tentative=self.tentative, long=self._long)

    @property
    def _hurry(self) -> float | None:
        """How long the caller waits, where that is not what the store would let it wait anyway."""
        left = None if self.deadline is None else self.deadline - time.monotonic()
        return None if left is None or (left > PATIENT and not self.bulk) else max(left, 0.001)

    @property
    def _long(self) -> float | None:
        """How long the unit may take, where that is more than others may."""
        return max(self.deadline - time.monotonic(), 0.001) if self.bulk and self.deadline is not None else None


class Landing:
    """The call with the same key that is already under way. False when it takes too long."""

    __slots__ = ("future", "seconds")

    def __init__(self, future: Future[None], seconds: float) -> None:
        self.future = future
        self.seconds = seconds

    def block(self) -> bool:
        """Wait on this thread."""
        try:
            self.future.result(self.seconds)
        except FutureTimeout:
            return False
        return True

    async def wait(self) -> bool:
        """Wait on this event loop."""
        return await ended(self.future, self.seconds)


class Work:
    """Code of a domain's or a user's, on a thread where it can be given up on."""

    __slots__ = ("deadline", "work", "workers")

    def __init__(self, workers: Workers, work: Callable[[], Any], deadline: float) -> None:
        self.workers = workers
        self.work = work
        self.deadline = deadline

    def block(self) -> Any:
        """Wait on this thread."""
        future = self.workers.submit(self.work)
        seconds = max(0.0, self.deadline - time.monotonic())
        try:
            return future.result(seconds)
        except FutureTimeout:
            if future.done():
                return future.result()
            self._give_up(future, seconds)

    async def wait(self) -> Any:
        """Wait on this event loop."""
        future = self.workers.submit(contained(self.work))
        seconds = max(0.0, self.deadline - time.monotonic())
        if await ended(future, seconds):
            return future.result()
        self._give_up(future, seconds)

    def _give_up(self, future: Future[Any], seconds: float) -> None:
        self.workers.abandon(future)
        raise Failed(codes.TIMEOUT, data={"timeout_seconds": round(seconds, 3)})


class Look:
    """A read that is expected to be brief: in place, and on a worker only when it turns out not to be."""

    __slots__ = ("deadline", "store", "tenant", "work", "workers")

    def __init__(
        self, store: Store, tenant: str, work: Callable[[Reading], Any], workers: Workers, deadline: float
    ) -> None:
        self.store = store
        self.tenant = tenant
        self.work = work
        self.workers = workers
        self.deadline = deadline

    def block(self) -> Any:
        """Wait on this thread."""
        return self.store.read(self.tenant, self.work, timeout=max(0.001, self.deadline - time.monotonic()))

    async def wait(self) -> Any:
        """Wait on this event loop."""
        try:
            return self.store.read_briefly(self.tenant, self.work)
        except TooLong:
            return await Work(self.workers, self.block, self.deadline).wait()
