"""Structured sources, read once more: what they said is on the record already, as the first run took it down."""

from __future__ import annotations

from typing import Any

import orjson

from engross.ledger import Reader

from ..entity_rows import entity_rows
from ..observations import observations_from
from ..observing import Claim, Weight
from ..owners import owner_of
from ..places import STRUCTURED
from ..records import runs_of
from ..rows import number_of
from .config import Config
from .interpreting import Interpreted
from .shelf import Kept

MOST = 100_000


def was_structured(source: Kept) -> bool:
    """Whether a source came as entities, not as a file."""
    return source.provenance.get("upload_method") == "ingest_structured"


def reread(reader: Reader, source: str, config: Config) -> Interpreted:
    """The same claims once more, with the weight that they had."""
    rows = _first_run(reader, source)
    config_then = orjson.loads(runs_of(reader, source)[0]["config"])
    known = entity_rows(reader, owner_of(reader.context), sorted({row["entity_id"] for row in rows}))
    claims = [
        Claim(
            row["entity_id"],
            known[row["entity_id"]]["type"],
            known[row["entity_id"]]["name"],
            orjson.loads(row["fields"]),
        )
        for row in rows
    ]
    said = {**config_then, **({"requested": dict(config.asked)} if config.asked else {})}
    weight = Weight(rows[0]["priority"], number_of(rows[0]["specificity"])) if rows else Weight()
    return Interpreted(
        "dataset", "StructuredData", "application/json", STRUCTURED, said, claims, (), together=False, weight=weight
    )


def stated_json(reader: Reader, source: str) -> bytes:
    """The entities as JSON, for an interpreter that wants to see a text."""
    rows = _first_run(reader, source)
    known = entity_rows(reader, owner_of(reader.context), sorted({row["entity_id"] for row in rows}))
    return orjson.dumps(
        [{"entity_type": known[row["entity_id"]]["type"], **orjson.loads(row["fields"])} for row in rows]
    )


def _first_run(reader: Reader, source: str) -> list[dict[str, Any]]:
    rows = observations_from(reader, source, limit=MOST)
    return [row for row in rows if row["run_id"] == rows[0]["run_id"]]
