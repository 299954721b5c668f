"""Taking things out of the state: what a record supports, and everything of a subject that was erased."""

from __future__ import annotations

from engross.ledger import Fact, State

from .derivations import FORGET_DERIVATIONS
from .entity_rows import OBSERVED_OF, OWNED
from .identity import resettle, spoken_for_by
from .observations import stated_by
from .rebuilding import first_said, rebuild_entities

ONE_OBSERVATION = f"{OBSERVED_OF} AND observed_at = :at AND id = :id"
SCHEMA = "schema"
"""What the subject of a schema's facts begins with."""
STATED_BY_HAND = ""
"""Stands for the record of a relationship that no record brought."""


def drop_what_it_supports(state: State, owner: str, record: str) -> None:
    """Take away the events of a record, and the relationships that nobody else states."""
    state.execute(f"DELETE FROM memory_events {OWNED} AND record_id = :record_id", owner=owner, record_id=record)
    supported = state.rows(
        f"SELECT relationship_id FROM memory_supports {OWNED} AND record_id = :record_id ORDER BY relationship_id",
        owner=owner,
        record_id=record,
    )
    state.execute(f"DELETE FROM memory_supports {OWNED} AND record_id = :record_id", owner=owner, record_id=record)
    for row in supported:
        _drop_unsupported(state, owner, row["relationship_id"])


def _drop_unsupported(state: State, owner: str, relationship: str) -> None:
    """A relationship that nobody states any more goes; of another, only those count who still state it."""
    supports = f"FROM memory_supports {OWNED} AND relationship_id = :id"
    state.execute(
        f"DELETE FROM memory_relationships {OWNED} AND id = :id AND NOT EXISTS (SELECT 1 {supports})",
        owner=owner,
        id=relationship,
    )
    state.execute(
        f"UPDATE memory_relationships SET created_at = (SELECT min(created_at) {supports}),"
        f" updated_at = (SELECT max(updated_at) {supports}) {OWNED} AND id = :id",
        owner=owner,
        id=relationship,
    )


def decide_anew(state: State, entity_type: str) -> None:
    """Reduce every entity of a type again, by the schema that holds now."""
    rows = state.rows(
        "SELECT owner, id FROM memory_entities WHERE tenant = :tenant AND type = :type ORDER BY owner, id",
        type=entity_type,
    )
    for row in rows:
        rebuild_entities(state, row["owner"], [row["id"]])


def erased(state: State, fact: Fact) -> None:
    """Nothing of the subject stays: a record with all it said, a correction, a relationship, a merge or a schema."""
    for table in ("memory_records", "memory_statements", "memory_relationships"):
        column = "subject" if table == "memory_statements" else "id"
        rows = state.rows(
            f"SELECT DISTINCT owner FROM {table} WHERE tenant = :tenant AND {column} = :id", id=fact.subject
        )
        for row in rows:
            _forget(state, row["owner"], fact.subject)
    # A user may be called as the subjects of schemas begin, and a type as an entity: then it is about both.
    place, _, entity_type = fact.subject.partition("/")
    if place == SCHEMA:
        state.execute("DELETE FROM memory_schemas WHERE tenant = :tenant AND entity_type = :type", type=entity_type)
        decide_anew(state, entity_type)
    owner, _, source = fact.subject.rpartition("/")
    if owner:
        _forget_merges(state, owner, source)


def _forget(state: State, owner: str, subject: str) -> None:
    stated = list(stated_by(state, owner, subject))
    touched = sorted({one.entity_id for one in stated})
    first_told = [one for one in touched if _was_first(state, owner, one, subject)]
    for one in stated:
        state.execute(f"DELETE FROM memory_observations {OWNED} AND {ONE_OBSERVATION}", owner=owner, **one._asdict())
    state.execute(f"DELETE FROM memory_statements {OWNED} AND subject = :subject", owner=owner, subject=subject)
    drop_what_it_supports(state, owner, subject)
    for entity_id in first_told:
        _pass_on(state, owner, entity_id)
    rebuild_entities(state, owner, touched)
    state.execute(f"DELETE FROM memory_runs {OWNED} AND record_id = :id", owner=owner, id=subject)
    state.execute(f"DELETE FROM memory_records {OWNED} AND id = :id", owner=owner, id=subject)
    state.execute(FORGET_DERIVATIONS, owner=owner, id=subject)
    state.execute(
        f"DELETE FROM memory_supports {OWNED} AND relationship_id = :id AND record_id = :by_hand",
        owner=owner,
        id=subject,
        by_hand=STATED_BY_HAND,
    )
    state.execute(
        f"UPDATE memory_relationships SET version = 0, metadata = '{{}}' {OWNED} AND id = :id", owner=owner, id=subject
    )
    _drop_unsupported(state, owner, subject)


def _was_first(state: State, owner: str, entity_id: str, subject: str) -> bool:
    first = first_said(state, {"owner": owner, "entity_id": entity_id})
    return first is not None and bool(first["subject"] == subject)


def _pass_on(state: State, owner: str, entity_id: str) -> None:
    """An entity was first told of by whoever is the first now."""
    first = first_said(state, {"owner": owner, "entity_id": entity_id})
    if first is not None and first["run_id"] is not None:
        state.execute(
            f"UPDATE memory_runs SET entities_created = entities_created + 1 {OWNED} AND record_id = :record_id"
            " AND id = :run_id",
            owner=owner,
            record_id=first["record_id"],
            run_id=first["run_id"],
        )


def _forget_merges(state: State, owner: str, source: str) -> None:
    spoke = spoken_for_by(state, owner, source)
    state.execute(f"DELETE FROM memory_redirects {OWNED} AND from_id = :from_id", owner=owner, from_id=source)
    if spoke:
        resettle(state, owner, [source, *spoke])
