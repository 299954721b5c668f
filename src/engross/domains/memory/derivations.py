"""What payloads were made from. They name it by the id of a record, or by that of its content; what no record of the
same owner has for an id is kept as it was said, and leads nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from engross.ledger import Reader

from .entity_rows import OWNED, parts
from .ids import RECORD_ID
from .owners import owner_of
from .records import find_record, record_with_content

DERIVATION = ("owner", "source", "record_id")
FORGET_DERIVATIONS = f"DELETE FROM memory_derivations {OWNED} AND record_id = :id"


def named_sources(provenance: Mapping[str, Any]) -> list[str]:
    """What a payload names as its sources, each once; only what could be an id."""
    return [one for one in dict.fromkeys(provenance.get("source_refs", ())) if RECORD_ID.fullmatch(one)]


def resting_on(reader: Reader, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the payloads that were made from a record or from such payloads, withdrawn or not, each once.

    The nearest come first. One that was made from several sources rests on each of them.
    """
    found: list[dict[str, Any]] = []
    seen = {record["id"]}
    wave: Sequence[Mapping[str, Any]] = [record]
    while wave:
        fresh = sorted(_made_from(reader, wave) - seen)
        seen.update(fresh)
        rows = [row for row in (find_record(reader, one) for one in fresh) if row is not None]
        found += rows
        wave = rows
    return found


def _made_from(reader: Reader, records: Iterable[Mapping[str, Any]]) -> set[str]:
    names = sorted({name for one in records for name in (one["id"], one["content_hash"])})
    found: set[str] = set()
    for some in parts(names):
        rows = reader.rows(
            f"SELECT record_id FROM memory_derivations {OWNED}"
            f" AND source IN ({', '.join(f':source_{n}' for n in range(len(some)))})",
            owner=owner_of(reader.context),
            **{f"source_{n}": one for n, one in enumerate(some)},
        )
        found.update(row["record_id"] for row in rows)
    return found


def sources_of(reader: Reader, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the records that a payload was made from and that stand, each once."""
    found: dict[str, dict[str, Any]] = {}
    for name in named_sources(orjson.loads(record["provenance"] or "{}")):
        row = find_record(reader, name) or record_with_content(reader, name)
        if row is not None and row["retracted_at"] is None:
            found[row["id"]] = row
    return list(found.values())
