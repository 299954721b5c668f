"""A caller's place in the writer's queue.

Waiting must cost little: a lock for a thread, a future for an event loop, and one wake-up per loop and batch
however many of its calls were in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from .failures import timed_out
from .port import WriteWork

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, TimerHandle


MOST_LOOKS = 8
"""For so many turns of the loop tickets wait for others at most, however many keep coming."""


class Ticket:
    """One unit of work on its way to the writer, and its outcome on the way back."""

    __slots__ = ("attempts", "error", "seconds", "tenant", "tentative", "value", "work")

    def __init__(self, tenant: str, work: WriteWork[Any], tentative: bool) -> None:
        self.tenant = tenant
        self.tentative = tentative
        self.work = work
        self.attempts = 0
        self.seconds: float | None = None
        """How long it may take, where that is more than others may."""
        self.value: Any = None
        self.error: BaseException | None = None

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for the outcome any more."""
        return False


class ThreadTicket(Ticket):
    """The ticket of a caller that blocks its own thread."""

    __slots__ = ("_gate", "_gone")

    def __init__(self, tenant: str, work: WriteWork[Any], tentative: bool = False) -> None:
        super().__init__(tenant, work, tentative)
        self._gone = False
        self._gate = Lock()
        self._gate.acquire()

    @property
    def abandoned(self) -> bool:
        """Whether the caller has given up."""
        return self._gone

    def release(self) -> None:
        """Let the caller go on."""
        self._gate.release()

    def wait(self, timeout: float) -> Any:
        """The outcome, once the batch is durable."""
        if not self._gate.acquire(timeout=timeout):
            self._gone = True
            raise timed_out(outcome="unknown")
        if self.error is not None:
            raise self.error
        return self.value


class LoopTicket(Ticket):
    """The ticket of a caller on an event loop."""

    __slots__ = ("future", "loop", "turn")

    def __init__(self, tenant: str, work: WriteWork[Any], loop: AbstractEventLoop, tentative: bool = False) -> None:
        # As for any ticket; a call of it would take as long as all of this.
        self.tenant = tenant
        self.tentative = tentative
        self.work = work
        self.attempts = 0
        self.seconds = None
        self.value = self.error = None
        self.loop = loop
        self.future: Future[Any] = loop.create_future()
        self.turn: Turn | None = None

    @property
    def abandoned(self) -> bool:
        """Whether the caller has given up, or was cancelled."""
        return self.future.done()

    def give_up(self) -> None:
        """Answer a caller that has waited long enough."""
        if not self.future.done():
            self.future.set_exception(timed_out(outcome="unknown"))

    def settle(self) -> None:
        """Let the caller go on; on the loop's own thread."""
        if self.turn is not None:
            self.turn.settled()
            # The turn lists its tickets: left as they are, the two would wait for the garbage collector.
            self.turn = None
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.value)
        elif isinstance(self.error, StopIteration):
            # No future can carry one.
            self.future.set_exception(RuntimeError("a flow let a StopIteration out"))
        else:
            self.future.set_exception(self.error)


class Turn:
    """Tickets that go to the writer together. They share an alarm: a timer each would cost more than the wait."""

    __slots__ = ("_alarm", "_left", "_looks", "tickets")

    def __init__(self, first: LoopTicket) -> None:
        self.tickets = [first]
        self._left = 0
        self._looks = 0
        self._alarm: TimerHandle | None = None

    def has_grown(self) -> bool:
        """Whether any joined since the last look, and it is worth another one."""
        self._looks += 1
        before, self._left = self._left, len(self.tickets)
        return self._left > before and self._looks < MOST_LOOKS

    def begin(self, patience: float) -> None:
        """Nobody joins any more; from now on they wait."""
        self._left = len(self.tickets)
        self._alarm = self.tickets[0].loop.call_later(patience, self._give_up)

    def settled(self) -> None:
        """One of them knows its outcome."""
        self._left -= 1
        if self._left == 0 and self._alarm is not None:
            self._alarm.cancel()

    def _give_up(self) -> None:
        for ticket in self.tickets:
            ticket.give_up()


class Outbox:
    """Collects the tickets that an event loop's tasks hand in, and passes them on together.

    The tasks of a turn of the loop run one after the other anyway. Handing in their units one by one would wake the
    writer in the middle of the turn, and the two threads would fight over the interpreter at every statement. For the
    same reason they are passed on only when a turn went by in which nobody joined: whatever is on its way comes along.
    """

    def __init__(self, put_all: Callable[[Sequence[Ticket]], None], patience: float) -> None:
        self._put_all = put_all
        self._patience = patience
        self._turns: dict[AbstractEventLoop, Turn] = {}

    def put(self, ticket: LoopTicket) -> None:
        """Hand in a ticket; on its loop's own thread."""
        turn = self._turns.get(ticket.loop)
        if turn is not None:
            turn.tickets.append(ticket)
        else:
            turn = self._turns[ticket.loop] = Turn(ticket)
            ticket.loop.call_soon(self._pass_on, ticket.loop)
        ticket.turn = turn

    def _pass_on(self, loop: AbstractEventLoop) -> None:
        turn = self._turns[loop]
        if turn.has_grown():
            loop.call_soon(self._pass_on, loop)
            return
        del self._turns[loop]
        turn.begin(self._patience)
        self._put_all(turn.tickets)


def deliver(tickets: Iterable[Ticket]) -> None:
    """Wake everybody whose outcome is known."""
    loops: dict[AbstractEventLoop, list[LoopTicket]] = {}
    for ticket in tickets:
        if isinstance(ticket, ThreadTicket):
            ticket.release()
        elif isinstance(ticket, LoopTicket):
            loops.setdefault(ticket.loop, []).append(ticket)
    for loop, waiting in loops.items():
        _wake(loop, waiting)


def _wake(loop: AbstractEventLoop, waiting: list[LoopTicket]) -> None:
    def settle_all() -> None:
        for ticket in waiting:
            ticket.settle()

    # A loop that closed meanwhile has nobody left to tell.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(settle_all)
