"""Where in its record a field stands: a span that was kept with the observation, or the place that follows from it.

Entities that came as structured data stand in the order in which they came, so that nothing has to be kept of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engross.flows.pointer import pointer
from engross.ledger import Reader

from .entity_rows import OWNED
from .owners import owner_of

STRUCTURED = "structured"
"""The provider of runs over entities that came as structured data."""
Span = dict[str, Any]


class Places:
    """Looks up where the fields of observations stand, and the runs behind them once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._runs: dict[str, frozenset[str]] = {}

    def of(self, row: Mapping[str, Any]) -> dict[str, Span]:
        """The spans of an observation, by field."""
        if row["spans"]:
            kept: dict[str, Span] = orjson.loads(row["spans"])
            return kept
        if not self._came_structured(row):
            return {}
        return {field: {"path": pointer(("entities", row["ordinal"], field))} for field in orjson.loads(row["fields"])}

    def _came_structured(self, row: Mapping[str, Any]) -> bool:
        record = row["record_id"]
        if record is None:
            return False
        if record not in self._runs:
            runs = self._reader.rows(
                f"SELECT id FROM memory_runs {OWNED} AND record_id = :record_id AND provider = :provider",
                owner=owner_of(self._reader.context),
                record_id=record,
                provider=STRUCTURED,
            )
            self._runs[record] = frozenset(run["id"] for run in runs)
        return row["run_id"] in self._runs[record]
