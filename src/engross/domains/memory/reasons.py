"""Why an entity is what it is: what decides each field, where that was read, who brought it in, and who approved.

Everything is looked up in the memory of the owner; only what was found there leads on to facts and receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from engross.ledger import Reader, facts_about
from engross.ledger.facts import envelopes_at
from engross.ledger.reasons import Stated, last_setters, reasons_of
from engross.replies import Invalid, codes

from .entities import STANDS, Entity, find_entity
from .entity_rows import GONE, OWNED, entity_rows
from .explaining import ever_said, source_record
from .finding import Match, by_identifier
from .ids import ENTITY_ID, NAMESPACE
from .observations import find_observation
from .owners import owner_of
from .places import Places
from .records import find_record
from .reducer import deciders
from .refusals import LOOK_FOR_IT, malformed, no_such_field, raise_all

OBSERVED = "Observed"
WORDS = "words"
MOST_CANDIDATES = 20
TELL_APART = "Name it by its id, or as type/name."


class Ground(NamedTuple):
    """An observation, and those of its fields that are asked about."""

    row: Mapping[str, Any]
    fields: tuple[str, ...]

    @property
    def place(self) -> tuple[int, str]:
        """Where in the ledger it was stated: the position and the subject."""
        return self.row["position"], self.row["subject"]


def reasons(reader: Reader, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The reasons of an entity; also of one about which everything was withdrawn, if it is named by its id."""
    reference, field, limit = arguments["ref"].strip(), arguments.get("field"), arguments["limit"]
    if not reference:
        raise_all([malformed("/ref", "it is empty")])
    withdrawn = _withdrawn(reader, reference, limit)
    if withdrawn is not None:
        return _told_of_one_gone(reader, *withdrawn, field)
    entity = _meant(reader, reference)
    deciding = _deciding(entity, field)
    grounds = _found(reader, entity, deciding, limit)
    merges = _merges(reader, entity, field, grounds)
    listed = _in_order(*_observed(reader, grounds, entity.id), *merges)
    snapshot, provenance = entity.snapshot, entity.provenance
    fields = sorted({name for names in deciding.values() for name in names})
    return {
        "entity": {**_brief(entity.row), **({"aliases": entity.aliases} if entity.members else {})},
        "subject": entity.id,
        "subjects": _subjects(reader, entity.ids, grounds),
        "is_deleted": False,
        "snapshot": {name: snapshot[name] for name in fields if name in snapshot},
        "provenance": {name: provenance[name] for name in fields if name in provenance},
        "cleared": [name for name in fields if name not in snapshot],
        "reasons": listed[-limit:],
        "reasons_in_all": len(deciding) + len(merges),
        "fields": last_setters(one for one in listed if one["fact"] == OBSERVED),
    }


def _meant(reader: Reader, reference: str) -> Entity:
    """The entity that a reference means. Names that only hold the same words are no more than suggestions."""
    found = by_identifier(reader, reference, None)
    kind, _, name = reference.partition("/")
    if found.tier in ("none", WORDS) and kind.strip() and name.strip():
        told_apart = by_identifier(reader, name, kind.strip())
        found = found if told_apart.tier in ("none", WORDS) else told_apart
    if found.tier in ("none", WORDS):
        raise _nobody(reference, found.matches)
    if len(found.matches) > 1:
        raise _several(found.matches)
    return found.matches[0].entity


def _nobody(reference: str, similar: Iterable[Match]) -> Invalid:
    # Neither names nor addresses of people belong into errors.
    called = reference if ENTITY_ID.fullmatch(reference) else "of that name"
    suggestions = {"similar_entities": _candidates(similar), "hint": LOOK_FOR_IT}
    return Invalid(codes.ENTITY_NOT_FOUND, {"id": called}, field="ref", suggestions=suggestions)


def _several(matches: Iterable[Match]) -> Invalid:
    suggestions = {"candidates": _candidates(matches), "hint": TELL_APART}
    return Invalid(codes.NEEDS_DISAMBIGUATION, {"reference": "The name"}, field="ref", suggestions=suggestions)


def _candidates(matches: Iterable[Match]) -> list[dict[str, Any]]:
    some = list(matches)[:MOST_CANDIDATES]
    return [{"id": one.entity.id, "type": one.entity.type, "matched_by": one.by} for one in some]


def _deciding(entity: Entity, field: str | None) -> dict[tuple[str, str], list[str]]:
    """The observations that decide fields, by id and instant, with the fields that each of them decides."""
    if field is not None and field not in entity.board:
        raise no_such_field(entity.id, field, entity.snapshot)
    deciding: dict[tuple[str, str], list[str]] = {}
    for name in sorted(entity.board) if field is None else (field,):
        for key in deciders(entity.board[name]):
            deciding.setdefault(key, []).append(name)
    return deciding


def _found(
    reader: Reader, entity: Entity, deciding: Mapping[tuple[str, str], Sequence[str]], limit: int
) -> list[Ground]:
    """The rows of the observations that decide; of too many, those of the newest."""
    newest = sorted(deciding, key=lambda key: key[1], reverse=True)[:limit]
    rows = [(find_observation(reader, entity.ids, *key), deciding[key]) for key in newest]
    return [Ground(row, tuple(fields)) for row, fields in rows if row is not None]


def _observed(reader: Reader, grounds: Sequence[Ground], entity_id: str) -> list[dict[str, Any]]:
    facts = envelopes_at(reader.reading, NAMESPACE, (ground.place for ground in grounds))
    stated = {(fact.position, fact.subject): (fact, receipt) for fact, receipt in facts if fact.type == OBSERVED}
    standing = [ground for ground in grounds if ground.place in stated]
    told = reasons_of(reader.reading, [stated[ground.place] for ground in standing])
    return [{**one, **_shown(reader, ground, entity_id)} for one, ground in zip(told, standing, strict=True)]


def _shown(reader: Reader, ground: Ground, entity_id: str) -> dict[str, Any]:
    """What an observation says about the fields, and where that was read."""
    row, fields = ground
    said = orjson.loads(row["fields"])
    spans = Places(reader).of(row)
    told = {
        "fields": list(fields),
        "payload": {name: said.get(name) for name in fields},
        "erased": False,
        "observation_id": row["id"],
        "observed_at": row["observed_at"],
        "source_priority": row["priority"],
        "source_record": source_record(reader, row),
    }
    if places := {name: spans[name] for name in fields if name in spans}:
        told["spans"] = places
    if row["entity_id"] != entity_id:
        told["original_entity_id"] = row["entity_id"]
    if row["withdrawn_at"] is not None:
        told["withdrawn_at"] = row["withdrawn_at"]
    return told


def _merges(reader: Reader, entity: Entity, field: str | None, grounds: Iterable[Ground]) -> list[dict[str, Any]]:
    """The merges by which others became part of the entity; of one field, those that brought it what decides."""
    if not entity.members:
        return []
    owner, concerned = owner_of(reader.context), {ground.row["entity_id"] for ground in grounds}
    rows = reader.rows(
        f"SELECT from_id, number FROM memory_redirects {OWNED} AND survivor_id = :survivor AND {STANDS}"
        " ORDER BY from_id",
        owner=owner,
        survivor=entity.id,
    )
    found: list[Stated] = []
    for row in rows:
        if field is None or row["from_id"] in concerned:
            subject = f"{owner}/{row['from_id']}"
            found += facts_about(reader.reading, NAMESPACE, subject, after_version=row["number"] - 1, most=1)
    return reasons_of(reader.reading, found)


def _withdrawn(reader: Reader, reference: str, limit: int) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """The row of an entity about which nothing stands any more, and those of the last things that did."""
    if not ENTITY_ID.fullmatch(reference) or find_entity(reader, reference) is not None:
        return None
    row = entity_rows(reader, owner_of(reader.context), [reference]).get(reference)
    if row is None or row["survivor_id"] != GONE:
        return None
    rows = ever_said(reader, [reference], limit)
    return (row, rows) if rows else None


def _told_of_one_gone(
    reader: Reader, row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], field: str | None
) -> dict[str, Any]:
    said = [(one, tuple(sorted(orjson.loads(one["fields"])))) for one in rows]
    grounds = [Ground(one, names if field is None else (field,)) for one, names in said if field in (None, *names)]
    if not grounds:
        raise no_such_field(row["id"], field or "", {name for _, names in said for name in names})
    listed = _in_order(*_observed(reader, grounds, row["id"]), *_retractions(reader, grounds))
    return {
        "entity": _brief(row),
        "subject": row["id"],
        "subjects": _subjects(reader, [row["id"]], grounds),
        "is_deleted": True,
        "reasons": listed,
        "fields": last_setters(one for one in listed if one["fact"] == OBSERVED),
    }


def _retractions(reader: Reader, grounds: Iterable[Ground]) -> list[dict[str, Any]]:
    """The facts that took the records behind observations back."""
    found: list[Stated] = []
    for identifier in sorted({ground.row["record_id"] for ground in grounds} - {None}):
        record = find_record(reader, identifier)
        if record is not None and record["retracted_at"] is not None:
            found += facts_about(reader.reading, NAMESPACE, identifier, after_version=record["version"] - 1, most=1)
    return reasons_of(reader.reading, found)


def _subjects(reader: Reader, ids: Iterable[str], grounds: Iterable[Ground]) -> list[str]:
    """What the ledger calls it: the subjects of merges, and those of the records and corrections behind it."""
    owner = owner_of(reader.context)
    return [*(f"{owner}/{one}" for one in ids), *sorted({ground.row["subject"] for ground in grounds})]


def _in_order(*told: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(told, key=lambda one: (one["position"], one["fact"] != OBSERVED))


def _brief(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], "type": row["type"], "name": row["name"]}
