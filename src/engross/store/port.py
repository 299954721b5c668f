"""The one port that both engines implement.

The tenant is bound when a unit of work opens: `:tenant` is a parameter of every statement and no query method takes it.
`work` may run more than once (a serialization failure, a neighbour that took the batch down with it), so it must draw
its ids and its time from the call's context and keep nothing between runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

T = TypeVar("T")
Engine = Literal["sqlite", "postgres"]
Row = dict[str, Any]
Params = dict[str, Any]
FOREVER = 2**62


class Insert(NamedTuple):
    """New rows of one table, each as the values of these columns; the tenant goes without saying."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


Statement = tuple[str, Params] | Insert


class Reading(Protocol):
    """A consistent look at one tenant's rows."""

    tenant: str
    engine: Engine

    def rows(self, sql: str, params: Params) -> list[Row]:
        """All rows of a query."""

    def watermark(self) -> int:
        """The last ledger position below which nothing can appear any more."""

    def state(self) -> str:
        """Names what is committed: another text as soon as anything else is."""


class Transaction(Reading, Protocol):
    """One unit of work: everything in it is kept, or nothing."""

    @property
    def position(self) -> int:
        """Where in the ledger this unit would be."""

    @property
    def is_trial(self) -> bool:
        """Whether a row that stands in this unit's way has it run once more, and then not as a trial."""

    def peek(self, sql: str, params: Params) -> list[Row]:
        """Rows as they are committed, without a part in this unit's conflicts with others. Best asked first."""

    def execute(self, sql: str, params: Params) -> int:
        """Run a statement and count the rows it touched."""

    def execute_all(self, statements: Iterable[Statement]) -> None:
        """Run several statements whose answers nobody needs, in one trip where the engine can."""

    def rewind(self) -> None:
        """Forget everything this unit did, and go on as if it had just begun."""

    def claim(self, name: str) -> bool:
        """Take the named lock until the unit ends; False when another process holds it."""


ReadWork = Callable[[Reading], T]
WriteWork = Callable[[Transaction], T]


class Store(Protocol):
    """Rows of all tenants, in one engine."""

    engine: Engine

    def write(
        self,
        tenant: str,
        work: WriteWork[T],
        *,
        timeout: float | None = None,
        tentative: bool = False,
        long: float | None = None,
    ) -> T:
        """Do the work in one transaction and return after it is durable.

        `tentative` says that the work may well rewind or fail after it changed something. It is a hint: work that does
        so unannounced costs more, and is as safe. `long` lets it take so many seconds, where that is more than others
        may; they wait meanwhile.
        """

    async def awrite(
        self,
        tenant: str,
        work: WriteWork[T],
        *,
        timeout: float | None = None,
        tentative: bool = False,
        long: float | None = None,
    ) -> T:
        """`write` for callers on an event loop."""

    def read(self, tenant: str, work: ReadWork[T], *, timeout: float | None = None) -> T:
        """Do the work on a consistent snapshot, on the caller's own thread."""

    def read_briefly(self, tenant: str, work: ReadWork[T]) -> T:
        """`read` for an event loop's own thread: raises `TooLong` rather than take long."""

    def tenants(self, having: str | None = None) -> list[str]:
        """Everybody who ever wrote here; of them those for whom a query about `:tenant` finds rows."""

    def figures(self) -> dict[str, float]:
        """How the store is doing, in numbers that are cheap to read."""

    def close(self) -> None:
        """Finish what was accepted, then let go of everything."""


class TooLong(Exception):
    """A brief read that is not brief: do it again where it may take its time."""


class RequeueError(Exception):
    """Another process holds the lock this unit needs: roll back, wait a moment, run the unit again."""
