"""Rows and what they stand for. Maps are kept as JSON text with sorted keys: a fact that is read from the ledger must
give the same bytes as when it was stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from .reducer import Claimed

OBSERVATION_COLUMNS = (
    "entity_id, observed_at, id, position, fact, ordinal, subject, record_id, run_id, schema_version, priority,"
    " specificity, fields, spans, created_at, withdrawn_at, withdrawn_position"
)
CLAIM_COLUMNS = "id, observed_at, priority, specificity, fields"


def as_text(value: object) -> str:
    """JSON text with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def claim_of(row: Mapping[str, Any]) -> Claimed:
    """An observation's row, as far as reducing goes."""
    return Claimed(
        row["id"], row["observed_at"], row["priority"], number_of(row["specificity"]), orjson.loads(row["fields"])
    )


def number_of(text: str | None) -> float | None:
    """A number that is kept as text, because the engines differ in how they keep it otherwise."""
    return None if text is None else float(text)


def observation_of(row: Mapping[str, Any], entity: Mapping[str, Any]) -> dict[str, Any]:
    """An observation as callers see it: about the entity that stands for it today."""
    shown = {
        "id": row["id"],
        "entity_id": entity["id"],
        "entity_type": entity["type"],
        "schema_version": row["schema_version"],
        "source_record_id": row["record_id"],
        "observed_at": row["observed_at"],
        "specificity_score": number_of(row["specificity"]),
        "source_priority": row["priority"],
        "fields": orjson.loads(row["fields"]),
        "created_at": row["created_at"],
    }
    if row["entity_id"] != entity["id"]:
        shown["original_entity_id"] = row["entity_id"]
    return shown


def relationship_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A relationship as callers see it."""
    return {
        "id": row["id"],
        "relationship_type": row["type"],
        "source_entity_id": row["source_id"],
        "target_entity_id": row["target_id"],
        "metadata": orjson.loads(row["metadata"]),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def event_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A timeline event as callers see it."""
    return {
        "id": row["id"],
        "event_type": row["event_type"],
        "event_timestamp": row["event_timestamp"],
        "source_record_id": row["record_id"],
        "entity_ids": orjson.loads(row["entity_ids"]),
        "properties": orjson.loads(row["properties"]),
    }


def record_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record as callers see it."""
    shown = {
        "id": row["id"],
        "kind": row["kind"],
        "type": row["type"],
        "category": row["category"],
        "mime_type": row["mime_type"],
        "name": row["name"],
        "file_size": row["size"],
        "content_hash": row["content_hash"],
        "file_urls": file_urls(row),
        "created_at": row["created_at"],
    }
    if row["body"] is not None:
        shown["properties"] = orjson.loads(row["body"])
    return {name: value for name, value in (shown | origin_of(row)).items() if value is not None}


def origin_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a payload says of where it comes from: its sources, and who made it. A source says nothing of the kind."""
    if row["kind"] != "payload" or row["provenance"] is None:
        return {}
    said = orjson.loads(row["provenance"])
    return {name: said[name] for name in ("source_refs", "extractor_version", "agent_id") if name in said}


def file_urls(row: Mapping[str, Any]) -> list[str]:
    """Where a record's file lies in the office's storage; none for what never was a file."""
    if row["kind"] != "source" or row["provenance"] is None:
        return []
    kept = orjson.loads(row["provenance"]).get("storage")
    return [kept] if isinstance(kept, str) else []
