"""From facts to rows: the only code that writes the state tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.flows import Aggregate
from engross.ledger import Fact, State
from engross.store import Insert, Statement

from .boards import stated_claims
from .derivations import DERIVATION, FORGET_DERIVATIONS, named_sources
from .entity_rows import OWNED, Statements
from .erasing import ONE_OBSERVATION, STATED_BY_HAND, decide_anew, drop_what_it_supports, erased
from .events import events_in
from .identity import end_redirect, entangled, resettle
from .ids import event_id
from .observations import stated_by
from .rebuilding import rebuild_entities
from .rows import as_text


def _spanning(table: str) -> str:
    """Times that reach from the first to the last, in whatever order they come: a clock may be set back."""
    first = f"CASE WHEN excluded.created_at < {table}.created_at THEN excluded.created_at ELSE {table}.created_at END"
    last = f"CASE WHEN excluded.updated_at > {table}.updated_at THEN excluded.updated_at ELSE {table}.updated_at END"
    return f"created_at = {first}, updated_at = {last}"


KEEP_RECORD = (
    "INSERT INTO memory_records (tenant, owner, id, version, kind, type, category, content_hash, mime_type, name, size,"
    " body, provenance, created_at, retracted_at) VALUES (:tenant, :owner, :id, :version, :kind, :type, :category,"
    " :content_hash, :mime_type, :name, :size, :body, :provenance, :created_at, NULL)"
    " ON CONFLICT (tenant, owner, id) DO UPDATE SET version = excluded.version, retracted_at = NULL,"
    " provenance = excluded.provenance, name = excluded.name, mime_type = excluded.mime_type, type = excluded.type,"
    " category = excluded.category"
)
KEEP_RUN = (
    "INSERT INTO memory_runs (tenant, owner, id, record_id, number, provider, config, status, started_at, completed_at,"
    " entities_created, observations_created, unknown_fields, fragments, notes, position, observed_at, stated)"
    " VALUES (:tenant, :owner, :id, :record_id, :number, :provider, :config, 'completed', :at, :at, :entities_created,"
    " :observations_created, :unknown_fields, :fragments, :notes, :position, :observed_at, :stated)"
)
INSERT_STATEMENT = (
    "INSERT INTO memory_statements (tenant, owner, subject, position, observed_at, stated)"
    " VALUES (:tenant, :owner, :subject, :position, :observed_at, :stated)"
)
KEEP_EVENT = (
    "INSERT INTO memory_events (tenant, owner, id, event_type, event_timestamp, record_id, entity_ids, properties,"
    " created_at) VALUES (:tenant, :owner, :id, :event_type, :event_timestamp, :record_id, :entity_ids, :properties,"
    " :created_at) ON CONFLICT (tenant, owner, id) DO UPDATE SET entity_ids = excluded.entity_ids,"
    " properties = excluded.properties"
)
KEEP_RELATIONSHIP = (
    "INSERT INTO memory_relationships (tenant, owner, id, version, type, source_id, target_id, metadata, created_at,"
    " updated_at) VALUES (:tenant, :owner, :id, :version, :type, :source_id, :target_id, :metadata, :at, :at)"
    " ON CONFLICT (tenant, owner, id) DO UPDATE SET version = excluded.version, metadata = excluded.metadata,"
    f" {_spanning('memory_relationships')}"
)
KEEP_RELATION = (
    "INSERT INTO memory_relationships (tenant, owner, id, version, type, source_id, target_id, metadata, created_at,"
    " updated_at) VALUES (:tenant, :owner, :id, 0, :type, :source_id, :target_id, '{}', :at, :at)"
    f" ON CONFLICT (tenant, owner, id) DO UPDATE SET {_spanning('memory_relationships')}"
)
SUPPORT = (
    "INSERT INTO memory_supports (tenant, owner, relationship_id, record_id, created_at, updated_at) VALUES (:tenant,"
    " :owner, :id, :record_id, :at, :at) ON CONFLICT (tenant, owner, relationship_id, record_id) DO UPDATE"
    f" SET {_spanning('memory_supports')}"
)
KEEP_SCHEMA = (
    "INSERT INTO memory_schemas (tenant, entity_type, schema_version, active, definition, created_at) VALUES (:tenant,"
    " :entity_type, :schema_version, 0, :definition, :created_at)"
)
FOLLOW_RECORD = f"UPDATE memory_records SET version = :version {OWNED} AND id = :id"


def add_appliers(memory: Aggregate) -> None:
    """Teach an aggregate what its facts mean."""
    memory.applies("RecordKept")(_record_kept)
    memory.applies("Observed")(_observed)
    memory.applies("Related")(_related)
    memory.applies("EntityMerged")(_entity_merged)
    memory.applies("EntityUnmerged")(_entity_unmerged)
    memory.applies("RecordRetracted")(_record_retracted)
    memory.applies("SchemaRegistered")(_schema_registered)
    memory.applies("SchemaActivated")(_schema_activated)
    memory.erases(erased)


def _record_kept(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    owner, record = said["owner"], fact.subject
    statements = [_record(fact, owner, said)]
    if named := named_sources(said.get("provenance") or {}):
        # Those of a payload that is taken in again are there already.
        state.execute(FORGET_DERIVATIONS, owner=owner, id=record)
        statements.append(Insert("memory_derivations", DERIVATION, [(owner, source, record) for source in named]))
    state.execute_all(statements)


def _record(fact: Fact, owner: str, said: Mapping[str, Any]) -> Statement:
    return KEEP_RECORD, {
        "owner": owner,
        "id": fact.subject,
        "version": fact.version,
        "kind": said["kind"],
        "type": said["type"],
        "category": said.get("category"),
        "content_hash": said["content_hash"],
        "mime_type": said.get("mime_type"),
        "name": said.get("name"),
        "size": said.get("size"),
        "body": _text_or_none(said.get("body")),
        "provenance": _text_or_none(said.get("provenance")),
        "created_at": fact.time,
    }


def _observed(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    statements, first_told = stated_claims(state, fact)
    record = said["record_id"]
    if record is None:
        statements.append((INSERT_STATEMENT, {"owner": said["owner"], "subject": fact.subject, **_stated(fact, said)}))
    else:
        statements += _events(fact, said)
        statements += _relations(fact, said)
        statements.append(_run(fact, said, first_told))
        statements.append(
            _record(fact, said["owner"], said["record"])
            if "record" in said
            else (FOLLOW_RECORD, {"owner": said["owner"], "id": record, "version": fact.version})
        )
    state.execute_all(statements)
    if first_told:
        # Who was erased and is told of again may have been merged before.
        told = sorted({one["entity"] for one in said["observations"]})
        resettle(state, said["owner"], entangled(state, said["owner"], told))


def _stated(fact: Fact, said: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of all that a fact observed."""
    keys = [[one["entity"], one["id"]] for one in said["observations"]]
    return {"position": fact.position, "observed_at": said["at"], "stated": as_text(keys)}


def _run(fact: Fact, said: Mapping[str, Any], first_told: int) -> Statement:
    run = said["run"]
    return KEEP_RUN, {
        "owner": said["owner"],
        "id": run["id"],
        "record_id": said["record_id"],
        "number": run["number"],
        "provider": run["provider"],
        "config": as_text(run["config"]),
        "at": fact.time,
        "entities_created": first_told,
        "observations_created": len(said["observations"]),
        "unknown_fields": run["unknown_fields"],
        "fragments": _text_or_none(run["fragments"]),
        "notes": _text_or_none(run["notes"]),
        **_stated(fact, said),
    }


def _events(fact: Fact, said: Mapping[str, Any]) -> Statements:
    """The events of a document concern all that was found in it; those of entities that only came together do not."""
    record, together = said["record_id"], said["together"]
    everything = list(dict.fromkeys(one["entity"] for one in said["observations"])) if together else []
    found: dict[str, Statement] = {}
    for place, one in enumerate(said["observations"]):
        for event in events_in(one["type"], one["fields"]):
            origin = record if together or place == 0 else f"{record}/{place}"
            identifier = event_id(origin, event.field, event.at)
            properties = {"source_field": event.field, "value": event.value, "entity_type": one["type"]}
            params = {
                "owner": said["owner"],
                "id": identifier,
                "event_type": event.type,
                "event_timestamp": event.at,
                "record_id": record,
                "entity_ids": as_text(everything or [one["entity"]]),
                "properties": as_text(properties),
                "created_at": fact.time,
            }
            found.setdefault(identifier, (KEEP_EVENT, params))
    return list(found.values())


def _relations(fact: Fact, said: Mapping[str, Any]) -> Statements:
    statements: Statements = []
    for relation in said.get("relations", ()):
        params = {
            "owner": said["owner"],
            "id": relation["id"],
            "type": relation["type"],
            "source_id": relation["source"],
            "target_id": relation["target"],
            "at": fact.time,
        }
        support = {"owner": said["owner"], "id": relation["id"], "record_id": said["record_id"], "at": fact.time}
        statements += [(KEEP_RELATION, params), (SUPPORT, support)]
    return statements


def _related(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    state.execute(
        KEEP_RELATIONSHIP,
        owner=said["owner"],
        id=said["id"],
        version=fact.version,
        type=said["type"],
        source_id=said["source_id"],
        target_id=said["target_id"],
        metadata=as_text(said["metadata"]),
        at=fact.time,
    )
    state.execute(SUPPORT, owner=said["owner"], id=said["id"], record_id=STATED_BY_HAND, at=fact.time)


def _entity_merged(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    owner, source, target = said["owner"], said["from_id"], said["to_id"]
    # If it was merged before, then into one who was erased: it spoke for itself.
    spoke = end_redirect(state, owner, source, fact.time, source)
    state.execute(
        "INSERT INTO memory_redirects (tenant, owner, from_id, number, to_id, survivor_id, reason, merged_by,"
        " merged_at, ended_at) VALUES (:tenant, :owner, :from_id, :number, :to_id, :to_id, :reason, :merged_by, :at,"
        " NULL)",
        owner=owner,
        from_id=source,
        number=fact.version,
        to_id=target,
        reason=said.get("reason"),
        merged_by=said.get("merged_by"),
        at=fact.time,
    )
    resettle(state, owner, [source, target, *spoke])


def _entity_unmerged(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    owner, source = said["owner"], said["from_id"]
    resettle(state, owner, [source, *end_redirect(state, owner, source, fact.time, said["survivor_id"])])


def _record_retracted(state: State, fact: Fact) -> None:
    """What only this record says is no longer true; everything that it said stays readable as what was known then."""
    said = fact.payload or {}
    owner, record = said["owner"], fact.subject
    state.execute(
        f"UPDATE memory_records SET retracted_at = :at, version = :version {OWNED} AND id = :id",
        owner=owner,
        id=record,
        at=fact.time,
        version=fact.version,
    )
    stated = list(stated_by(state, owner, record))
    for one in stated:
        state.execute(
            "UPDATE memory_observations SET withdrawn_at = :withdrawn_at, withdrawn_position = :withdrawn_position"
            f" {OWNED} AND {ONE_OBSERVATION} AND withdrawn_at IS NULL",
            owner=owner,
            withdrawn_at=fact.time,
            withdrawn_position=fact.position,
            **one._asdict(),
        )
    drop_what_it_supports(state, owner, record)
    rebuild_entities(state, owner, sorted({one.entity_id for one in stated}))


def _schema_registered(state: State, fact: Fact) -> None:
    said = fact.payload or {}
    state.execute(
        KEEP_SCHEMA,
        entity_type=said["entity_type"],
        schema_version=said["schema_version"],
        definition=as_text(said),
        created_at=fact.time,
    )


def _schema_activated(state: State, fact: Fact) -> None:
    """Another schema may decide otherwise, so every entity of the type is decided anew."""
    said = fact.payload or {}
    state.execute(
        "UPDATE memory_schemas SET active = CASE WHEN schema_version = :schema_version THEN 1 ELSE 0 END"
        " WHERE tenant = :tenant AND entity_type = :entity_type",
        entity_type=said["entity_type"],
        schema_version=said["schema_version"],
    )
    if said["decides_otherwise"]:
        decide_anew(state, said["entity_type"])


def _text_or_none(value: Any) -> str | None:
    return as_text(value) if value else None
