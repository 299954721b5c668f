"""What a flow holds while it works: a reader, or a unit of work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from engross.calls import Context, FactDraft, derived_id
from engross.store import FOREVER, Publication, Reading, Row, Statement, Transaction, kind_of

from .bulk import Bulk, Kind, New
from .drafts import UnsoundFact, require_sound, require_unbroken
from .factbook import FactBook
from .facts import Fact, Written, facts_digest, write_down

# A row that still stands ends at FOREVER, so the present is just before it.
PRESENT = FOREVER - 1


class MisplacedStatement(ValueError):
    """A domain sent a statement where it has no place: the domain is to be mended, not the call."""


class Reader:
    """A consistent look at the caller's tenant, now or as of a ledger position.

    Statements may use `:tenant` and `:as_of`; both are bound.
    """

    answers_to: ClassVar[tuple[str, ...]] = ("asks",)
    """The kinds of statements that may have rows for an answer."""

    __slots__ = ("_reading", "as_of", "context")

    def __init__(self, reading: Reading, context: Context) -> None:
        self._reading = reading
        self.context = context
        self.as_of = PRESENT if context.as_of is None else context.as_of

    @property
    def now(self) -> str:
        """The time of this call."""
        return self.context.occurred_at

    @property
    def reading(self) -> Reading:
        """The engine's own view below this one."""
        return self._reading

    def rows(self, sql: str, **params: Any) -> list[Row]:
        """All rows of a query."""
        if kind_of(sql) not in self.answers_to:
            raise MisplacedStatement("only an applier changes anything, and nobody begins or ends a transaction", sql)
        params["as_of"] = self.as_of
        return self._reading.rows(sql, params)

    def row(self, sql: str, **params: Any) -> Row | None:
        """The first row of a query, if there is one."""
        found = self.rows(sql, **params)
        return found[0] if found else None

    def value(self, sql: str, **params: Any) -> Any:
        """The first column of the first row, if there is one."""
        row = self.row(sql, **params)
        return None if row is None else next(iter(row.values()))


class State(Reader):
    """What an applier holds: the only hand that writes state tables."""

    answers_to: ClassVar[tuple[str, ...]] = ("asks", "changes")

    __slots__ = ("_transaction",)

    def __init__(self, transaction: Transaction, context: Context) -> None:
        self._reading = self._transaction = transaction
        self.context = context
        self.as_of = PRESENT

    def execute(self, sql: str, **params: Any) -> int:
        """Run a statement and count the rows it touched."""
        if kind_of(sql) != "changes":
            raise MisplacedStatement("execute changes rows, and this does not", sql)
        return self._transaction.execute(sql, params)

    def execute_all(self, statements: Iterable[Statement]) -> None:
        """Run several statements whose answers nobody needs. No two of them may touch the same row."""
        self._transaction.execute_all(statements)


class Unit(Reader):
    """One unit of work. A flow changes nothing but by appending facts."""

    most_held: ClassVar[int] = 5_000
    """Whoever states more new things than this does so in bulk; and nobody is asked to look through more facts."""

    __slots__ = (
        *("_book", "_ids", "_lasting", "_root", "_state"),
        *("bulk", "flaws", "forgotten", "publications", "transaction", "written"),
    )

    def __init__(self, transaction: Transaction, context: Context, book: FactBook) -> None:
        self._reading = transaction
        self.context = context
        self.as_of = PRESENT
        self.transaction = transaction
        self.written: list[Written] = []
        self.bulk = Bulk()
        self.publications: list[Publication] = []
        self.forgotten: list[tuple[str, str]] = []
        self._book = book
        self._root = context.message_id
        self._lasting: list[Callable[[], None]] = []
        self.flaws: list[BaseException] = []
        self._state: State | None = None
        self._ids = 0

    def new_id(self, prefix: str = "") -> str:
        """The next id of this call: the same one whenever the call is run again."""
        self._ids += 1
        return prefix + derived_id(self.context.message_id, self._ids)

    def append(
        self,
        type: str,
        subject: str,
        follows: int,
        payload: Mapping[str, Any],
        *,
        aggregate: str | None = None,
        before: Mapping[str, Any] | None = None,
        fields: Iterable[str] = (),
        ends: bool = False,
    ) -> Fact:
        """State a fact about a subject whose version so far is `follows` (0: it is new), and apply it.

        The fact belongs to the flow's own aggregate unless another is named. `before` shows a reviewer what was
        there; `fields` names what the fact sets; `ends` says that the subject is gone afterwards.
        """
        if isinstance(fields, str):
            raise UnsoundFact(f"{type} has the fields {fields!r}: name them one by one")
        owner = aggregate or self.context.flow.partition(".")[0]
        version = self._book.current_version(owner, type)
        draft = FactDraft(owner, type, version, subject, follows + 1, payload, before, tuple(fields), ends)
        return self.append_draft(draft)

    def append_draft(self, draft: FactDraft) -> Fact:
        """Append a fact that was drafted before."""
        require_sound(draft)
        ordinal = self.stated
        written = write_down(
            draft,
            tenant=self.transaction.tenant,
            position=self.transaction.position,
            ordinal=ordinal,
            id=self.fact_id(ordinal),
            time=self.context.occurred_at,
            causation=self.context.causation_id,
        )
        self.apply_all([written.fact])
        self.written.append(written)
        return written.fact

    def append_all(self, type: str, stated: Iterable[New]) -> int:
        """State that there are very many new things, each as (subject, payload); how many there were.

        They are written down on the way and not held: what they are is not part of the plan but for the first few,
        so that such a unit can be committed, and cannot be proposed.
        """
        owner = self.context.flow.partition(".")[0]
        return self.bulk.enter(self, Kind(owner, type, self._book.current_version(owner, type)), stated)

    def apply_all(self, facts: Sequence[Fact]) -> None:
        """Let facts of one type change the state."""
        if self._state is None:
            self._state = State(self.transaction, self.context)
        try:
            self._book.apply_all(self._state, facts)
        except BaseException as flaw:
            # What it wrote before it failed must not be kept, whoever shrugs the error off.
            self.flaws.append(flaw)
            raise

    @property
    def stated(self) -> int:
        """How many facts this unit has stated."""
        return len(self.written) + self.bulk.count

    def fact_id(self, ordinal: int) -> str:
        """The id of the unit's fact number `ordinal`."""
        return f"{self._root}.{ordinal}"

    def facts_digest(self) -> str:
        """The digest that a receipt keeps of the unit's facts."""
        if self.bulk.count:
            return self.bulk.digest(self)
        return facts_digest([written.fact for written in self.written])

    def require_unbroken(self) -> None:
        """Refuse facts of which one follows a fact that there is not."""
        require_unbroken(self.transaction, [written.draft for written in self.written])

    def publish(self, publication: Publication) -> None:
        """Have a blob published at a path once this unit is committed."""
        publication.intend(self.transaction, len(self.publications))
        self.publications.append(publication)

    def under(self, context: Context) -> Unit:
        """The same unit in another call's name: its ids, its time, its principal."""
        other = Unit(self.transaction, context, self._book)
        other.written = self.written
        other.bulk = self.bulk
        other.publications = self.publications
        other.forgotten = self.forgotten
        other._root = self._root
        other.flaws = self.flaws
        return other

    def rewind(self) -> None:
        """Take everything back that this unit did, but for what is lasting."""
        self.transaction.rewind()
        self.written.clear()
        self.bulk.clear()
        self.publications.clear()
        self.forgotten.clear()
        self._ids = 0
        for step in self._lasting:
            step()

    def lasting(self, step: Callable[[], None]) -> None:
        """Do something now, and once more whenever this unit is rewound."""
        self._lasting.append(step)
        step()
