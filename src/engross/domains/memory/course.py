"""How a field came to be what it is: everything that ever had a say in it, gone through once more in its order.

Others were merged into the entity and stood for themselves again, sources were taken back, schemas decided otherwise.
Each of that may make another value of a field about which nobody said anything new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engross.ledger import Fact, Reader
from engross.ledger.facts import history

from .commits import commit_times
from .entities import Entity
from .entity_rows import OWNED, parts
from .erasing import SCHEMA
from .ids import NAMESPACE
from .owners import owner_of
from .reducer import (
    CORRECTION,
    Board,
    Candidate,
    Claimed,
    Merged,
    add,
    element_key,
    merge,
    reduced,
    snapshot_of,
    winner,
)
from .registry import versions_of
from .schema import LAST_WRITE, Policy
from .shipped_schemas import shipped_schema

MOST_CHANGES = 20
NOT_YET = 2**62
"""The position of what is only laid over the record."""
Held = Candidate | Merged | None


class Said(NamedTuple):
    """An observation that says something about the field."""

    row: Mapping[str, Any]
    candidate: Candidate


class Moment(NamedTuple):
    """Something that may have made another value of a field."""

    place: tuple[int, int, int]
    by: str
    subject: str
    drafted_at: str
    happen: Callable[[Course], None]
    told: Mapping[str, Any]


class Change(NamedTuple):
    """A moment that did."""

    moment: Moment
    before: Any
    after: Any
    decider: str | None


class Course:
    """One field of an entity on its way: who speaks for whom, what stands, and how it is decided."""

    def __init__(self, entity_id: str, field: str, policy: Policy) -> None:
        self._entity_id = entity_id
        self._field = field
        self._policies = {field: policy}
        self._standing: dict[str, dict[str, Claimed]] = {}
        self._boards: dict[str, Board] = {}
        self._leads: dict[str, str] = {}
        self._members = [entity_id]

    def say(self, said: Said) -> None:
        """An observation came in."""
        entity_id, one = said.row["entity_id"], said.candidate
        claim = Claimed(one.id, one.at, one.priority, one.specificity, {self._field: one.value})
        self._standing.setdefault(entity_id, {})[claim.id] = claim
        add(self._boards.setdefault(entity_id, {}), claim, self._policies)

    def take_back(self, some: Iterable[Said]) -> None:
        """Observations were withdrawn."""
        concerned = {one.row["entity_id"] for one in some}
        for one in some:
            self._standing.get(one.row["entity_id"], {}).pop(one.candidate.id, None)
        for entity_id in concerned:
            self._boards[entity_id] = reduced(self._standing.get(entity_id, {}).values(), self._policies)

    def lead(self, source: str, target: str | None) -> None:
        """An entity was merged into another one, or stands for itself again."""
        if target is None:
            self._leads.pop(source, None)
        else:
            self._leads[source] = target
        speaker = self._speaker(self._entity_id)
        others = [one for one in sorted({*self._leads, self._entity_id} - {speaker}) if self._speaker(one) == speaker]
        self._members = [speaker, *others]

    def decide_by(self, policy: Policy) -> None:
        """Another schema holds."""
        self._policies = {self._field: policy}
        self._boards = {one: reduced(claims.values(), self._policies) for one, claims in self._standing.items()}

    @property
    def held(self) -> Held:
        """What competes for the field, in all that the entity is made of."""
        boards = [board for one in self._members if (board := self._boards.get(one))]
        if len(boards) < 2:
            return boards[0].get(self._field) if boards else None
        together: Board = {}
        for board in boards:
            merge(together, board, self._policies)
        return together.get(self._field)

    def value_of(self, held: Held) -> Any:
        """What of that is held to be true."""
        return None if held is None else snapshot_of({self._field: held}).get(self._field)

    def _speaker(self, entity_id: str) -> str:
        while entity_id in self._leads:
            entity_id = self._leads[entity_id]
        return entity_id


def ever_one_with(reader: Reader, entity: Entity) -> list[str]:
    """The ids of everything that was ever merged into an entity, or into what it was merged into; its own first."""
    found = dict.fromkeys(entity.ids)
    waiting = list(found)
    while waiting:
        rows = _redirects(reader, waiting)
        waiting = [one for one in _ends(rows) if one not in found]
        found |= dict.fromkeys(waiting)
    return list(found)


def changes(
    reader: Reader, entity: Entity, field: str, said: Sequence[Said], ids: Sequence[str]
) -> list[dict[str, Any]]:
    """When the value became another one, and by what: the last time first."""
    course = Course(entity.id, field, shipped_schema(entity.type).policies.get(field, LAST_WRITE))
    moments = [*_spoken(said), *_identities(reader, ids), *_schemas(reader, entity.type, field)]
    found = _gone_through(course, sorted(moments, key=lambda one: one.place))
    return _dated(reader, found[: -MOST_CHANGES - 1 : -1])


def _gone_through(course: Course, moments: Iterable[Moment]) -> list[Change]:
    found: list[Change] = []
    held: Held = None
    value: Any = None
    for moment in moments:
        moment.happen(course)
        before, held = held, course.held
        if held is before:
            continue
        new = course.value_of(held)
        if element_key(new) != element_key(value):
            found.append(Change(moment, value, new, None if held is None else winner(held)[0]))
            value = new
    return found


def _spoken(said: Iterable[Said]) -> Iterator[Moment]:
    """What came in, and what was withdrawn: all that one retraction took back is one moment."""
    gone: dict[tuple[int, str], list[Said]] = {}
    for one in said:
        row = one.row
        by = "correction" if one.candidate.priority >= CORRECTION else "observed"
        place = (row["position"], row["fact"], row["ordinal"])
        told = {"observation_id": one.candidate.id}
        yield Moment(place, by, row["subject"], row["created_at"], _saying(one), told)
        if row["withdrawn_position"] is not None:
            gone.setdefault((row["withdrawn_position"], row["subject"]), []).append(one)
    for (position, subject), some in gone.items():
        last = some[-1]
        told = {"observation_id": last.candidate.id, "source_id": last.row["record_id"]}
        when = last.row["withdrawn_at"]
        yield Moment((position, NOT_YET, 0), "retraction", subject, when, _taking_back(some), told)


def _identities(reader: Reader, ids: Sequence[str]) -> Iterator[Moment]:
    owner = owner_of(reader.context)
    stated: dict[str, dict[int, Fact]] = {}
    for row in _redirects(reader, ids):
        source, number = row["from_id"], row["number"]
        subject = f"{owner}/{source}"
        if source not in stated:
            stated[source] = {fact.version: fact for fact in history(reader.reading, NAMESPACE, subject)}
        ends = {"from_entity_id": source, "to_entity_id": row["to_id"]}
        told = {**ends, "reason": row["reason"]} if row["reason"] else ends
        place = _place(stated[source].get(number))
        yield Moment(place, "merge", subject, row["merged_at"], _leading(source, row["to_id"]), told)
        if row["ended_at"] is not None:
            place = _place(stated[source].get(number + 1))
            yield Moment(place, "unmerge", subject, row["ended_at"], _leading(source, None), ends)


def _schemas(reader: Reader, entity_type: str, field: str) -> Iterator[Moment]:
    known = versions_of(reader, entity_type)
    if not known:
        return
    subject = f"{SCHEMA}/{entity_type}"
    for fact in history(reader.reading, NAMESPACE, subject):
        version = (fact.payload or {}).get("schema_version")
        if fact.type == "SchemaActivated" and version in known:
            policy = known[version].policies.get(field, LAST_WRITE)
            told = {"schema_version": version}
            yield Moment(_place(fact), "schema", subject, fact.time, _deciding_by(policy), told)


def _place(fact: Fact | None) -> tuple[int, int, int]:
    return (NOT_YET, 0, 0) if fact is None else (fact.position, fact.ordinal, 0)


def _saying(one: Said) -> Callable[[Course], None]:
    return lambda course: course.say(one)


def _taking_back(some: Sequence[Said]) -> Callable[[Course], None]:
    return lambda course: course.take_back(some)


def _leading(source: str, target: str | None) -> Callable[[Course], None]:
    return lambda course: course.lead(source, target)


def _deciding_by(policy: Policy) -> Callable[[Course], None]:
    return lambda course: course.decide_by(policy)


def _redirects(reader: Reader, ids: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of all merges, undone ones too, into or out of these entities; each once, in a steady order."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for part in parts(ids):
        some = {f"id_{n}": one for n, one in enumerate(part)}
        for column in ("from_id", "to_id"):
            rows = reader.rows(
                f"SELECT from_id, number, to_id, reason, merged_at, ended_at FROM memory_redirects {OWNED}"
                f" AND {column} IN ({', '.join(f':{name}' for name in some)})",
                owner=owner_of(reader.context),
                **some,
            )
            found |= {(row["from_id"], row["number"]): row for row in rows}
    return [found[key] for key in sorted(found)]


def _ends(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row[end] for row in rows for end in ("from_id", "to_id")))


def _dated(reader: Reader, found: Sequence[Change]) -> list[dict[str, Any]]:
    """Changes with the times at which they were committed."""
    times = commit_times(reader, [(change.moment.place[0], change.moment.subject) for change in found])
    return [
        {
            "time": times.get(change.moment.place[0], change.moment.drafted_at),
            "by": change.moment.by,
            "observation_id": change.decider,
            "before": change.before,
            "after": change.after,
            **change.moment.told,
        }
        for change in found
    ]
