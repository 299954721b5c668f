"""Payloads: structured data under a capability that says what counts for its identity, and what lies in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from engross.calls import Answer
from engross.flows import nearest
from engross.flows.pointer import pointer
from engross.ledger import Reader, Unit, last_version
from engross.replies import Invalid, codes

from ..capabilities import CAPABILITIES, Capability
from ..extraction import extracted, natural_name
from ..ids import record_id
from ..moments import kept_instant
from ..observing import Claim, ObservedEntity, Record, Relation, Run, Weight, keep_record, named, observe
from ..owners import owner_of
from ..payloads import payload_content_id
from ..refusals import malformed, raise_all
from .relating import without_cycles
from .shelf import first_ids, first_run, kept_record, next_number

CREATED = "Payload created and observations extracted"
FOUND = "Duplicate payload found, returning existing"
PROVIDER = "capability"
LONGEST_NAME = 300

_WITH_ZONE = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})", re.IGNORECASE
)


class Submission(NamedTuple):
    """A payload that was looked at."""

    record: Record
    observed_at: str
    claims: list[Claim]
    relations: list[Relation]


def prepare_submission(reader: Reader, arguments: Mapping[str, Any]) -> Submission:
    """Find out what a payload is and what lies in it, off the writer."""
    capability = _capability(arguments["capability_id"])
    body, provenance = arguments["body"], arguments["provenance"]
    observed_at = _extracted_at(provenance["extracted_at"])
    content_id = payload_content_id(capability, body, provenance["source_refs"], provenance["extractor_version"])
    claims, relations = _claims(capability, body, content_id)
    record = Record(
        record_id(owner_of(reader.context), content_id),
        "payload",
        capability.entity_type,
        content_id,
        category=_category(capability.entity_type),
        body=body,
        provenance={**provenance, "capability_id": capability.id},
    )
    return Submission(record, observed_at, claims, relations)


def submit(unit: Unit, submission: Submission) -> Answer:
    """Record a payload, unless it is there already."""
    record = submission.record
    known = kept_record(unit, record.id)
    if known is not None and known.stands:
        run = first_run(unit, record.id)
        assert run is not None
        told = _told(record, str(known.provenance.get("submission_id")), run.entity_ids, created=False)
        return Answer(told, warnings=run.notes)
    submission_id = unit.new_id("sub_")
    follows = known.version if known else last_version(unit, "memory", record.id)
    keep_record(unit, record._replace(provenance={**record.provenance, "submission_id": submission_id}), follows)
    relations, warnings = without_cycles(unit, submission.claims, submission.relations)
    done = observe(
        unit,
        submission.claims,
        record=record.id,
        follows=follows + 1,
        run=Run(
            unit.new_id(),
            next_number(unit, record.id) if known else 1,
            PROVIDER,
            {"capability_id": record.provenance["capability_id"]},
            notes=warnings,
        ),
        weight=Weight(priority=0, specificity=0.8, observed_at=submission.observed_at),
        relations=relations,
    )
    return Answer(_told(record, submission_id, done.entity_ids, created=True), warnings=warnings)


def _told(record: Record, submission_id: str, entity_ids: Sequence[str], *, created: bool) -> dict[str, Any]:
    return {
        "payload_id": record.id,
        "payload_content_id": record.content_hash,
        "payload_submission_id": submission_id,
        "created": created,
        "message": CREATED if created else FOUND,
        "entity_ids": first_ids(entity_ids),
    }


def _capability(identifier: str) -> Capability:
    found = CAPABILITIES.get(identifier)
    if found is None:
        raise Invalid(
            codes.UNKNOWN_CAPABILITY,
            field="capability_id",
            suggestions={
                "did_you_mean": nearest(identifier, CAPABILITIES),
                "allowed_values": list(CAPABILITIES),
                "hint": "If none of them fits, use ingest_structured; do not make up capabilities.",
            },
        )
    return found


def _extracted_at(text: str) -> str:
    instant = kept_instant(text) if _WITH_ZONE.fullmatch(text.strip()) else None
    if instant is None:
        problem = "this is no ISO 8601 time with a zone"
        raise_all([malformed("/provenance/extracted_at", problem, "As 2025-01-15T10:30:00Z.")])
    assert instant is not None
    return instant


def _claims(capability: Capability, body: Mapping[str, Any], content_id: str) -> tuple[list[Claim], list[Relation]]:
    """The payload itself comes first; each of the others is tied to it."""
    spans = {field: {"path": pointer((field,))} for field in body}
    entities = [ObservedEntity(capability.entity_type, body, _own_name(capability, body) or content_id, spans)]
    relations = []
    for place, one in enumerate(extracted(capability.extractions, body), start=1):
        path = pointer((one.field,) if one.item is None else (one.field, one.item))
        entities.append(
            ObservedEntity(one.entity_type, one.fields, one.name, {name: {"path": path} for name in one.fields})
        )
        relations.append(
            Relation("PART_OF", place, 0) if one.relation == "PART_OF" else Relation(one.relation, 0, place)
        )
    return named(entities, "/body"), relations


def _own_name(capability: Capability, body: Mapping[str, Any]) -> str | None:
    """What the payload itself is called: by what the capability names it by, else by what documents are known by."""
    parts = [
        str(body[field]).strip() for field in capability.named_by if isinstance(body.get(field), str | int | float)
    ]
    name = " ".join(part for part in parts if part) or natural_name(body)
    if name is None or len(name) <= LONGEST_NAME:
        return name
    # What is cut off still tells two of them apart.
    return f"{name[:LONGEST_NAME]} {sha256(name.encode()).hexdigest()[:12]}"


def _category(entity_type: str) -> str:
    from ..interpretation.record_types import category

    return category(entity_type)
