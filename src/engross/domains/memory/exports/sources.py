"""Where the fields of an entity come from: the deciding observation of each, and its record."""

from __future__ import annotations

from typing import Any, NamedTuple

from engross.ledger import Reader

from ..entities import Entity
from ..observations import find_observation
from ..places import Places, Span
from ..records import find_record
from ..reducer import winner


class Sourced(NamedTuple):
    """A field's value, the row of its observation, and that of the record behind it; a correction has no record."""

    field: str
    value: Any
    observation: dict[str, Any]
    record: dict[str, Any] | None
    span: Span | None
    """Where in the record it stands."""


class Sources:
    """Looks up what is behind fields, each observation and record once."""

    def __init__(self, reader: Reader) -> None:
        self.places = Places(reader)
        self._reader = reader
        self._records: dict[str, dict[str, Any] | None] = {}

    def of(self, entity: Entity) -> list[Sourced]:
        """The fields of an entity, by name."""
        observations: dict[str, tuple[dict[str, Any], dict[str, Span]] | None] = {}
        told = []
        for field, value in entity.snapshot.items():
            identifier, at = winner(entity.board[field])
            if identifier not in observations:
                row = find_observation(self._reader, entity.ids, identifier, at)
                observations[identifier] = None if row is None else (row, self.places.of(row))
            if (found := observations[identifier]) is not None:
                observation, spans = found
                record = self.record(observation["record_id"])
                told.append(Sourced(field, value, observation, record, spans.get(field)))
        return told

    def record(self, identifier: str | None) -> dict[str, Any] | None:
        """The row of a record."""
        if identifier is None:
            return None
        if identifier not in self._records:
            self._records[identifier] = find_record(self._reader, identifier)
        return self._records[identifier]
