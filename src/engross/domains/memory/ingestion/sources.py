"""Files become sources, sources are interpreted, and interpretations are recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from msgspec.structs import replace

from engross.calls import Answer, Overtaken, report
from engross.ledger import Reader, Unit, last_version
from engross.replies import Invalid, codes

from ..ids import record_id
from ..observing import Observed, Record, Run, keep_record, observe
from ..owners import owner_of
from ..ways import Ways
from .config import PROVIDERS, config_of
from .files import arrived, require_files
from .interpreting import Interpreted, interpreted
from .quota import quota_of
from .relating import without_cycles
from .rereading import reread, stated_json, was_structured
from .shelf import Kept, first_ids, first_run, kept_record, next_number

Arguments = Mapping[str, Any]
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
UNREAD = "file"
"""The type of a source that nobody has looked into."""


class Arrival(NamedTuple):
    """A file that was looked at, and what came of interpreting it, if that was done."""

    record: Record
    wanted: bool
    reading: Interpreted | None


class Rereading(NamedTuple):
    """A source that was interpreted once more."""

    source_id: str
    reading: Interpreted


def prepare_ingest(reader: Reader, arguments: Arguments, ways: Ways) -> Arrival:
    """Take a file in, off the writer: its bytes are kept, and interpreted unless that was done before."""
    config = config_of(arguments.get("interpretation_config", {}), ways)
    file = arrived(reader, arguments, ways)
    digest = sha256(file.content).hexdigest()
    identifier = record_id(owner_of(reader.context), digest)
    wanted = arguments.get("interpret", True)
    reading = None
    if wanted and not _is_interpreted(reader, identifier) and not quota_of(reader, ways).is_spent:
        report(0, 2, "Interpreting")
        reading = interpreted(reader, file.content, file.media_type, file.name, config, ways, insist=False)
    if not reader.context.dry_run and not file.is_uploaded:
        require_files(ways).keep(reader.context.tenant, file.content)
    said = {
        "upload_method": "content_hash" if file.is_uploaded else reader.context.surface,
        "storage": f"sources/{digest}",
        "declared_mime_type": file.media_type,
    }
    record = Record(
        identifier,
        "source",
        reading.record_type if reading else UNREAD,
        digest,
        category=reading.category if reading else None,
        mime_type=reading.media_type if reading else _bare(file.media_type),
        name=file.name or None,
        size=len(file.content),
        provenance=said,
    )
    return Arrival(record, wanted, reading)


def ingest(unit: Unit, arrival: Arrival, ways: Ways) -> Answer:
    """Record a source, and what it says."""
    record, wanted, reading = arrival
    known = kept_record(unit, record.id)
    stands = known is not None and known.stands
    answer: dict[str, Any] = {
        "source_id": record.id,
        "content_hash": record.content_hash,
        "file_size": record.size,
        "deduplicated": stands,
        "interpretation": None,
    }
    version = known.version if known else last_version(unit, "memory", record.id)
    if not stands:
        _require_bytes(unit, record, ways)
        keep_record(unit, record, version)
        version += 1
    if not wanted:
        return Answer(answer)
    if known is not None and stands and (run := first_run(unit, record.id)) is not None:
        about = {"record_type": known.type, "category": known.category, "mime_type": known.mime_type}
        return Answer({**answer, "interpretation": run.told(), **about}, warnings=run.notes)
    quota = quota_of(unit, ways)
    if reading is None or quota.is_spent:
        return Answer({**answer, "interpretation_skipped": quota.skipped()}, warnings=(quota.warning(),))
    if stands:
        version = _now_known(unit, record, version)
    return _recorded(unit, record.id, version, reading, answer)


def prepare_reinterpretation(reader: Reader, arguments: Arguments, ways: Ways) -> Rereading:
    """Interpret a source once more, off the writer."""
    config = config_of(arguments["interpretation_config"], ways)
    source = standing_source(reader, arguments["source_id"])
    is_structured = was_structured(source)
    if is_structured and not config.by_model:
        return Rereading(source.id, reread(reader, source.id, config))
    _require_quota(reader, ways)
    if is_structured:
        content = stated_json(reader, source.id)
    else:
        content = require_files(ways).content(reader.context.tenant, source.content_hash)
    reading = interpreted(reader, content, _declared(source), source.name, config, ways, insist=True)
    return Rereading(source.id, reading)


def reinterpret(unit: Unit, rereading: Rereading, ways: Ways) -> Answer:
    """Record what a source says now; what was recorded before stays."""
    source = standing_source(unit, rereading.source_id)
    if rereading.reading.provider in PROVIDERS:
        _require_quota(unit, ways)
    version = source.version
    if source.type == UNREAD:
        version = _now_known(unit, _with_type(source, rereading.reading), version)
    answer = _recorded(unit, source.id, version, rereading.reading, {})
    told = answer.data["interpretation"]
    return replace(answer, data={**told, "source_id": source.id, **_about(rereading.reading)})


def standing_source(reader: Reader, identifier: str) -> Kept:
    """A source of the caller's that was not withdrawn."""
    found = kept_record(reader, identifier)
    if found is None or found.kind != "source" or not found.stands:
        # Whatever somebody takes for an id may be a name; only what has the form of one is repeated.
        shown = identifier if _UUID.fullmatch(identifier) else "with this id"
        raise Invalid(codes.SOURCE_NOT_FOUND, {"id": shown}, field="source_id")
    return found


def _require_bytes(unit: Unit, record: Record, ways: Ways) -> None:
    """The same bytes may have been erased since these were kept; then they are kept once more."""
    if not unit.context.dry_run and not require_files(ways).are_here_to_stay(unit, record.content_hash):
        raise Overtaken(codes.RECORD_NOT_FOUND, {"kind": "blob", "id": record.content_hash}, field="content_hash")


def _require_quota(reader: Reader, ways: Ways) -> None:
    quota = quota_of(reader, ways)
    if quota.is_spent:
        raise quota.refusal()


def _recorded(unit: Unit, record: str, version: int, reading: Interpreted, answer: dict[str, Any]) -> Answer:
    relations, skipped = without_cycles(unit, reading.claims, reading.relations)
    run = Run(
        unit.new_id(),
        next_number(unit, record),
        reading.provider,
        reading.config,
        reading.unknown_fields,
        reading.fragments,
        (*reading.notes, *skipped),
    )
    done = observe(
        unit,
        reading.claims,
        record=record,
        follows=version,
        run=run,
        weight=reading.weight,
        relations=relations,
        together=reading.together,
    )
    told = {**answer, "interpretation": _told(run, done, reading), **_about(reading)}
    return Answer(told, warnings=tuple(run.notes))


def _now_known(unit: Unit, record: Record, version: int) -> int:
    """State what a source is that was only kept before; its version then."""
    keep_record(unit, record, version)
    return version + 1


def _with_type(source: Kept, reading: Interpreted) -> Record:
    return Record(
        source.id,
        "source",
        reading.record_type,
        source.content_hash,
        category=reading.category,
        mime_type=reading.media_type,
        name=source.name or None,
        size=source.size,
        body=source.body or None,
        provenance=source.provenance,
    )


def _told(run: Run, done: Observed, reading: Interpreted) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "entities_created": done.entities_created,
        "observations_created": done.observations_created,
        "entity_ids": first_ids(done.entity_ids),
        "provider": reading.provider,
    }


def _about(reading: Interpreted) -> dict[str, Any]:
    return {"record_type": reading.record_type, "category": reading.category, "mime_type": reading.media_type}


def _is_interpreted(reader: Reader, identifier: str) -> bool:
    known = kept_record(reader, identifier)
    return known is not None and known.stands and first_run(reader, identifier) is not None


def _declared(source: Kept) -> str:
    return str(source.provenance.get("declared_mime_type") or source.mime_type)


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
