"""Why a field has its value: who claims what, which rule decided, what changed it, and what the evidence is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from engross.ledger import Reader, receipt_at

from .course import Said, changes, ever_one_with
from .entities import Entity
from .entity_rows import OWNED, observed_of
from .observations import find_observation
from .owners import owner_of
from .places import Places
from .records import find_record
from .reducer import CORRECTION, Candidate, Merged, contributors, deciders, rank, winner
from .refusals import no_such_field
from .rows import OBSERVATION_COLUMNS, claim_of, file_urls, number_of, origin_of
from .schema import LAST_WRITE, Policy

MOST_LOSERS = 20
MOST_CLAIMS = 10_000


def field_source(reader: Reader, entity: Entity, field: str) -> dict[str, Any]:
    """A field's value and the chain behind it: observation, record, file and the place in it."""
    held = entity.board.get(field)
    snapshot = entity.snapshot
    if held is None or field not in snapshot:
        raise no_such_field(entity.id, field, snapshot)
    identifier, at = winner(held)
    row = find_observation(reader, entity.ids, identifier, at)
    assert row is not None
    told = {
        "entity_id": entity.id,
        "field": field,
        "value": snapshot[field],
        "source_observation": {
            "id": row["id"],
            "source_record_id": row["record_id"],
            "observed_at": row["observed_at"],
            "specificity_score": number_of(row["specificity"]),
            "source_priority": row["priority"],
        },
        "source_record": source_record(reader, row),
        "observed_at": row["observed_at"],
    }
    if (span := Places(reader).of(row).get(field)) is not None:
        told["span"] = span
    others = contributors(held)
    if isinstance(held, Merged) and len(others) > 1:
        told["contributors"] = others
    return {**told, "fact": evidence(reader, row)}


def source_record(reader: Reader, row: Mapping[str, Any]) -> dict[str, Any]:
    """What an observation was read from. A correction is its own source."""
    record = find_record(reader, row["record_id"]) if row["record_id"] is not None else None
    if record is None:
        return {"id": row["id"], "type": "correction", "file_urls": [], "created_at": row["created_at"]}
    kind = record["mime_type"] if record["kind"] == "source" and record["mime_type"] else record["type"]
    told = {"id": record["id"], "type": kind, "file_urls": file_urls(record), "created_at": record["created_at"]}
    more = {"record_type": record["type"], "name": record["name"], "content_hash": record["content_hash"]}
    return {**told, **{name: value for name, value in more.items() if value is not None}, **origin_of(record)}


def evidence(reader: Reader, row: Mapping[str, Any]) -> dict[str, Any]:
    """The commit that put an observation on the record: where in the ledger, by whom, who approved."""
    receipt = receipt_at(reader.reading, row["position"])
    told: dict[str, Any] = {"subject": row["subject"], "position": row["position"], "time": row["created_at"]}
    if receipt is not None:
        body = receipt.body
        told |= {"flow": body["flow"], "principal": body["principal"]["id"], "receipt": receipt.digest}
        told |= {name: body[name] for name in ("proposal", "approvers", "reason") if body.get(name)}
    return told


def explanation(reader: Reader, entity: Entity, field: str) -> dict[str, Any]:
    """The winner, the losers, the rule that decided between them, and how the value came to be what it is."""
    snapshot = entity.snapshot
    if field not in entity.board:
        raise no_such_field(entity.id, field, snapshot)
    ever = ever_one_with(reader, entity)
    said = _said(reader, entity, field, ever)
    own = set(entity.ids)
    standing = [one for one in said if one.row["withdrawn_at"] is None and one.row["entity_id"] in own]
    policy = entity.schema.policies.get(field, LAST_WRITE)
    ranked = _ranked(standing, policy)
    deciding = set(contributors(entity.board[field]))
    winners = [one for one in ranked if one.candidate.id in deciding]
    losers = [one for one in ranked if one.candidate.id not in deciding]
    return {
        "entity_id": entity.id,
        "field": field,
        "value": snapshot.get(field),
        "cleared": field not in snapshot,
        "winner": _told(reader, winners[0], field, whole=True),
        "contributors": [one.candidate.id for one in winners] if len(winners) > 1 else [],
        "losers": [
            {**_told(reader, one, field), "lost_by": _decided_by(winners[0].candidate, one.candidate, policy)}
            for one in losers[:MOST_LOSERS]
        ],
        "losers_in_all": len(losers),
        "rule": {
            "strategy": policy.strategy,
            "tie_breaker": policy.tie_breaker,
            "schema_version": entity.schema.version,
            "decided_by": _what_decided(winners, losers, policy),
        },
        "changes": changes(reader, entity, field, said, ever),
    }


def ever_said(reader: Reader, ids: Sequence[str], most: int) -> list[dict[str, Any]]:
    """The rows of the last things that were said about entities, withdrawn or not, in the order they came in."""
    rows = reader.rows(
        f"SELECT {OBSERVATION_COLUMNS} FROM memory_observations {OWNED}"
        f" AND {observed_of(len(ids))}"
        " ORDER BY position DESC, fact DESC, ordinal DESC LIMIT :most",
        owner=owner_of(reader.context),
        most=most,
        **{f"id_{n}": one for n, one in enumerate(ids)},
    )
    return rows[::-1]


def _said(reader: Reader, entity: Entity, field: str, ids: Sequence[str]) -> list[Said]:
    """What was said about a field, in the order in which it came in: what decides, and of the rest the last."""
    rows = ever_said(reader, ids, MOST_CLAIMS)
    if len(rows) == MOST_CLAIMS:
        known = {row["id"] for row in rows}
        old = (
            find_observation(reader, entity.ids, *key) for key in deciders(entity.board[field]) if key[0] not in known
        )
        rows = [*(row for row in old if row is not None), *rows]
    found: list[Said] = []
    for row in rows:
        fields = orjson.loads(row["fields"])
        if field in fields and (fields[field] is not None or row["priority"] >= CORRECTION):
            claim = claim_of(row)
            found.append(Said(row, Candidate(fields[field], claim.id, claim.at, claim.priority, claim.specificity)))
    return found


def _ranked(said: Sequence[Said], policy: Policy) -> list[Said]:
    by_id = sorted(said, key=lambda one: one.candidate.id)
    return sorted(by_id, key=lambda one: rank(one.candidate, policy), reverse=True)


def _what_decided(winners: Sequence[Said], losers: Sequence[Said], policy: Policy) -> str:
    if len(winners) > 1:
        return "merged"
    return _decided_by(winners[0].candidate, losers[0].candidate, policy) if losers else "only_claim"


def _decided_by(winner_: Candidate, loser: Candidate, policy: Policy) -> str:
    """What made the difference between two candidates."""
    if winner_.priority >= CORRECTION > loser.priority:
        return "correction"
    if policy.strategy == "merge_array" and loser.priority < CORRECTION:
        return "contained"
    if winner_.priority < CORRECTION:
        if policy.strategy == "highest_priority" and winner_.priority != loser.priority:
            return "source_priority"
        if policy.strategy == "most_specific":
            if (winner_.specificity or 0) != (loser.specificity or 0):
                return "specificity_score"
            if policy.tie_breaker == "source_priority" and winner_.priority != loser.priority:
                return "source_priority"
    return "observed_at" if winner_.at != loser.at else "observation_id"


def _told(reader: Reader, said: Said, field: str, *, whole: bool = False) -> dict[str, Any]:
    row, candidate = said
    told = {
        "observation_id": candidate.id,
        "value": candidate.value,
        "observed_at": candidate.at,
        "created_at": row["created_at"],
        "source_priority": candidate.priority,
        "specificity_score": candidate.specificity,
        "source_record_id": row["record_id"],
    }
    if not whole:
        return told
    if (span := Places(reader).of(row).get(field)) is not None:
        told["span"] = span
    return {**told, "source_record": source_record(reader, row), "fact": evidence(reader, row)}
