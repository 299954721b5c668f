"""Taking down what was observed: the one way by which every path of ingestion, and a correction, adds to the record.

`named` runs off the writer: it finds out which entity each observation is about. `keep_record` and `observe` run on it,
and do nothing but state facts. Boards, snapshots, the timeline, relationships and the search index follow from the
facts in the same transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from engross.ledger import Unit
from engross.replies import Issue

from .entity_rows import OWNED, entity_rows
from .ids import entity_id, observation_id, relationship_id
from .names import LONGEST_NAME, naming_value, normalise
from .owners import owner_of
from .refusals import malformed, raise_all
from .registry import own_schemas
from .schema import EntitySchema

NOTHING: Mapping[str, Any] = MappingProxyType({})
MOST_FIELDS = 500


class ObservedEntity(NamedTuple):
    """What a source says about one entity, before it is known which one that is."""

    type: str
    fields: Mapping[str, Any]
    name: str | None = None
    """What it is called, if that is not simply found among its fields."""
    spans: Mapping[str, Mapping[str, Any]] = NOTHING
    """Where in the source each field stands."""


class Claim(NamedTuple):
    """What is said about an entity that is known by its id."""

    entity: str
    type: str
    name: str
    """The canonical name."""
    fields: Mapping[str, Any]
    spans: Mapping[str, Mapping[str, Any]] = NOTHING


class Relation(NamedTuple):
    """A relationship between two of the claims, by their places."""

    type: str
    source: int
    target: int


class Record(NamedTuple):
    """Something that was taken in: a source with its bytes, or a payload."""

    id: str
    kind: Literal["source", "payload", "record"]
    type: str
    content_hash: str
    """What tells that the same thing came before: the SHA-256 of bytes, or a payload's content id."""
    category: str | None = None
    mime_type: str | None = None
    name: str | None = None
    size: int | None = None
    body: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = NOTHING


class Run(NamedTuple):
    """One interpretation of a record; `number` counts those of the same record from 1."""

    id: str
    number: int
    provider: str
    config: Mapping[str, Any] = NOTHING
    unknown_fields: int = 0
    fragments: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[Mapping[str, Any]] = ()


class Weight(NamedTuple):
    """How much observations count: see the strategies of the reducer."""

    priority: int = 0
    specificity: float | None = 0.5
    observed_at: str | None = None
    """When it was so; the time of the call where nobody knows. Later than that cannot be."""


class Observed(NamedTuple):
    """What came of it."""

    entities_created: int
    observations_created: int
    entity_ids: tuple[str, ...]
    observation_ids: tuple[str, ...]


def named(entities: Sequence[ObservedEntity], pointer: str = "/entities") -> list[Claim]:
    """The claims, each with its entity's id; Invalid, with every index, where one cannot be told."""
    issues: list[Issue] = []
    claims: list[Claim] = []
    for place, observed in enumerate(entities):
        name = observed.name or naming_value(observed.fields)
        canonical = normalise(observed.type, name) if name else ""
        if not canonical:
            hint = "Give it a name, a title, an e-mail address or an id."
            issues.append(malformed(f"{pointer}/{place}", "nothing in it tells which entity is meant", hint))
            continue
        canonical = canonical[:LONGEST_NAME]
        claims.append(
            Claim(entity_id(observed.type, canonical), observed.type, canonical, observed.fields, observed.spans)
        )
    raise_all(issues[:100])
    return claims


def keep_record(unit: Unit, record: Record, follows: int = 0) -> None:
    """State that something was taken in. `follows` is the record's version so far: 0 for a new one."""
    unit.append("RecordKept", record.id, follows, {"owner": owner_of(unit.context), **_kept(record)})


def observe(
    unit: Unit,
    claims: Sequence[Claim],
    *,
    record: str | Record,
    follows: int,
    run: Run,
    weight: Weight,
    relations: Sequence[Relation] = (),
    together: bool = True,
    schemas: Mapping[str, EntitySchema] | None = None,
) -> Observed:
    """State what an interpretation of a record observed.

    A record that is given whole is kept by the same fact. `follows` is its version so far: 0 for a new one, 1 right
    after it was kept. `together`: everything is part of one document, so that its dates concern all of it. `schemas`
    are those that the tenant registered for the types, where they are known already.
    """
    owner = owner_of(unit.context)
    subject = record if isinstance(record, str) else record.id
    observations = _observations(claims, f"{subject}/{run.number}")
    said = {
        "owner": owner,
        "record_id": subject,
        "run": run._asdict(),
        "together": together,
        **_weighed(unit, weight),
        **_decided_by(unit, claims, schemas),
        "observations": observations,
    }
    if not isinstance(record, str):
        said["record"] = _kept(record)
    if relations:
        said["relations"] = _relations(owner, claims, relations)
    unit.append("Observed", subject, follows, said)
    return Observed(
        _newly_told(unit, owner, [claim.entity for claim in claims], subject, run.number),
        len(observations),
        tuple([claim.entity for claim in claims]),
        tuple([one["id"] for one in observations]),
    )


def observe_alone(unit: Unit, claim: Claim, weight: Weight, origin: str) -> str:
    """State an observation that no record stands behind, as a correction is; its id, which follows from `origin`."""
    (observation,) = _observations([claim], origin)
    owner = owner_of(unit.context)
    said = {"owner": owner, "record_id": None, **_weighed(unit, weight), **_decided_by(unit, [claim], None)}
    unit.append("Observed", observation["id"], 0, {**said, "observations": [observation]})
    identifier: str = observation["id"]
    return identifier


def _newly_told(unit: Unit, owner: str, told: Sequence[str], record: str, number: int) -> int:
    """About how many of the entities of a run nothing stood before it."""
    times = Counter(told)
    # Whoever applied the fact had to look for them all, and wrote down how many it found nowhere.
    never_heard_of: int = unit.value(
        f"SELECT entities_created FROM memory_runs {OWNED} AND record_id = :record_id AND number = :number",
        owner=owner,
        record_id=record,
        number=number,
    )
    if never_heard_of == len(times):
        return never_heard_of
    rows = entity_rows(unit, owner, list(times))
    return sum(rows[entity]["observations"] == count for entity, count in times.items())


def _decided_by(
    unit: Unit, claims: Sequence[Claim], schemas: Mapping[str, EntitySchema] | None
) -> dict[str, Mapping[str, Any]]:
    """The tenant's own schemas, as they are now: a fact says by itself how it is to be reduced."""
    own = own_schemas(unit, [claim.type for claim in claims]) if schemas is None else schemas
    return {"schemas": {kind: schema.as_data() for kind, schema in own.items()}} if own else {}


def _weighed(unit: Unit, weight: Weight) -> dict[str, Any]:
    at = min(weight.observed_at or unit.now, unit.now)
    return {"at": at, "priority": weight.priority, "specificity": weight.specificity}


def _kept(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record._asdict().items() if value is not None and name != "id"}


def _observations(claims: Sequence[Claim], origin: str) -> list[dict[str, Any]]:
    return [_observation(claim, place, origin) for place, claim in enumerate(claims)]


def _observation(claim: Claim, place: int, origin: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        "id": observation_id(origin, claim.entity, claim.fields, place),
        "entity": claim.entity,
        "type": claim.type,
        "name": claim.name,
        "fields": claim.fields,
    }
    return {**said, "spans": claim.spans} if claim.spans else said


def _relations(owner: str, claims: Sequence[Claim], relations: Sequence[Relation]) -> list[dict[str, str]]:
    found = {}
    for relation in relations:
        source, target = claims[relation.source].entity, claims[relation.target].entity
        identifier = relationship_id(owner, relation.type, source, target)
        if source != target:
            found[identifier] = {"id": identifier, "type": relation.type, "source": source, "target": target}
    return list(found.values())
