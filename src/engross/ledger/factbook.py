"""What the office knows about facts: who applies them, how old ones are read, how a subject is erased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from engross.calls import FactDraft
from engross.flows import Aggregate

from .facts import Fact

if TYPE_CHECKING:
    from .unit import Reader, State

Applier = Callable[["State", Fact], None]
Together = Callable[["State", Sequence[Fact]], None]
Classifier = Callable[["Reader", str], str | None]
Upcaster = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Stated = TypeVar("Stated", Fact, FactDraft)
ERASED = "Erased"
REACHED = "Reached"


class FactBook:
    """The fact handlers of all aggregates of an office."""

    def __init__(self, aggregates: Iterable[Aggregate]) -> None:
        self._appliers: dict[tuple[str, str], tuple[int, Applier]] = {}
        self._upcasters: dict[tuple[str, str, int], Upcaster] = {}
        self._together: dict[tuple[str, str], Together] = {}
        self._erasers: dict[str, Applier] = {}
        self._owned_by: dict[str, str] = {}
        self._classifiers: dict[str, Classifier] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        for aggregate in aggregates:
            self.enter(aggregate)

    def current_version(self, aggregate: str, fact_type: str) -> int:
        """The schema version in which new facts of a type are written."""
        found = self._appliers.get((aggregate, fact_type))
        if found is not None:
            return found[0]
        if fact_type in (ERASED, REACHED):
            return 1
        raise _unhandled(aggregate, fact_type)

    def handles(self, aggregate: str, fact_type: str) -> bool:
        """Whether it is known what facts of a type do to the state."""
        if (aggregate, fact_type) in self._appliers or fact_type == REACHED:
            return True
        return fact_type == ERASED and aggregate in self._erasers

    def erases(self, aggregate: str) -> bool:
        """Whether an aggregate knows how to forget a subject."""
        return aggregate in self._erasers

    @property
    def forgetful(self) -> list[str]:
        """The aggregates that know how to forget a subject."""
        return sorted(self._erasers)

    def apply(self, state: State, fact: Fact) -> None:
        """Let the fact's own aggregate change its state. The only way by which state changes."""
        found = self._appliers.get((fact.aggregate, fact.type))
        if found is not None:
            if fact.payload is not None:
                found[1](state, fact)
        elif fact.type == ERASED:
            self._erasers[fact.aggregate](state, fact)
        elif fact.payload is not None and fact.type != REACHED:
            raise _unhandled(fact.aggregate, fact.type)

    def apply_all(self, state: State, facts: Sequence[Fact]) -> None:
        """`apply` for facts of one type, all at once where their aggregate knows how."""
        if len(facts) == 1:
            self.apply(state, facts[0])
            return
        together = self._together.get((facts[0].aggregate, facts[0].type))
        if together is None:
            for fact in facts:
                self.apply(state, fact)
        elif stated := [fact for fact in facts if fact.payload is not None]:
            together(state, stated)

    def owner(self, fact: Fact) -> str | None:
        """Whose fact it is, where facts of its kind belong to single users."""
        field = self._owned_by.get(fact.aggregate)
        return None if field is None or fact.payload is None else fact.payload.get(field)

    def type_of(self, reader: Reader, aggregate: str, subject: str) -> str | None:
        """Of what type a subject is, where its aggregate tells types apart."""
        classifier = self._classifiers.get(aggregate)
        return None if classifier is None else classifier(reader, subject)

    def upcast(self, fact: Fact) -> Fact:
        """The fact as the present program would have written it."""
        return fact if fact.payload is None else self._upcast(fact, fact.payload)

    def upcast_draft(self, draft: FactDraft) -> FactDraft:
        """The draft as the present program would have made it."""
        return self._upcast(draft, draft.payload)

    def _upcast(self, stated: Stated, payload: Mapping[str, Any]) -> Stated:
        version = stated.schema_version
        while caster := self._upcasters.get((stated.aggregate, stated.type, version)):
            payload, version = caster(payload), version + 1
        return stated if version == stated.schema_version else replace(stated, payload=payload, schema_version=version)

    def enter(self, aggregate: Aggregate) -> None:
        """Take in the handlers of an aggregate."""
        name = aggregate.namespace
        self.tables[name] = tuple(aggregate.tables)
        if aggregate.owned_by is not None:
            self._owned_by[name] = aggregate.owned_by
        if aggregate.classifier is not None:
            self._classifiers[name] = aggregate.classifier
        if aggregate.eraser is not None:
            self._erasers[name] = aggregate.eraser
        for fact_type, applier in aggregate.appliers.items():
            self._appliers[name, fact_type] = (applier.version, applier.function)
            if applier.together is not None:
                self._together[name, fact_type] = applier.together
        for (fact_type, version), caster in aggregate.upcasters.items():
            self._upcasters[name, fact_type, version] = caster


def _unhandled(aggregate: str, fact_type: str) -> LookupError:
    return LookupError(f"{aggregate} has no handler for the fact {fact_type}")
