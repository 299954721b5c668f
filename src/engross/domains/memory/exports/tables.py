"""Memory as tables: what is true with its source, entities, observations, relationships, events, records.

Every row has the same columns as the others of its table; what has a structure of its own is JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader

from ..entities import Entity
from ..entity_rows import OWNED
from ..owners import owner_of
from ..places import Places
from ..relating import shown_edges
from ..rows import as_text, number_of
from .sources import Sources
from .walk import Page, entities_after, key_of, paged

Row = dict[str, Any]
CHUNK = 500
KEY_KINDS = {"born": int}
"""Columns of keys that are no texts."""


class Table(NamedTuple):
    """What a table looks like: column by type."""

    columns: dict[str, str]
    read: Callable[[Reader, str | None, str | None, int], Page]


def read_table(reader: Reader, table: str, cursor: str | None, entity_type: str | None, limit: int) -> Page:
    """A page of rows."""
    return TABLES[table].read(reader, cursor, entity_type, limit)


def _facts(reader: Reader, cursor: str | None, entity_type: str | None, limit: int) -> Page:
    sources = Sources(reader)
    page = paged(
        entities_after(reader, cursor, entity_type),
        lambda entity: _facts_of(entity, sources),
        lambda entity: (entity.type, entity.id),
        limit,
    )
    return page._replace(things=[row for rows in page.things for row in rows])


def _facts_of(entity: Entity, sources: Sources) -> list[Row]:
    about = {"entity_id": entity.id, "entity_type": entity.type, "canonical_name": entity.name}
    return [
        {
            **about,
            "field": one.field,
            "value": as_text(one.value),
            "observation_id": one.observation["id"],
            "observed_at": one.observation["observed_at"],
            "source_priority": one.observation["priority"],
            "source_record_id": one.observation["record_id"],
            "source_type": one.record["type"] if one.record else "correction",
            "source_name": one.record["name"] if one.record else None,
            "span": as_text(one.span) if one.span else None,
        }
        for one in sources.of(entity)
    ]


def _entities(reader: Reader, cursor: str | None, entity_type: str | None, limit: int) -> Page:
    return paged(
        entities_after(reader, cursor, entity_type),
        lambda entity: {
            "entity_id": entity.id,
            "entity_type": entity.type,
            "canonical_name": entity.name,
            "aliases": as_text(entity.aliases),
            "snapshot": as_text(entity.snapshot),
            "observation_count": entity.observations,
            "last_observation_at": entity.last_observed_at,
        },
        lambda entity: (entity.type, entity.id),
        limit,
    )


def _as_they_are(reader: Reader, rows: Sequence[Row]) -> Iterable[Row]:
    return rows


def _by_key(
    table: str,
    key: tuple[str, ...],
    columns: Mapping[str, str],
    *,
    more: tuple[str, ...] = (),
    shown: Callable[[Reader, Sequence[Row]], Iterable[Row]] = _as_they_are,
    condition: str = "",
) -> Callable[[Reader, str | None, str | None, int], Page]:
    """Reads a table along its key: some columns, and `more` that it takes to show them."""

    def read(reader: Reader, cursor: str | None, entity_type: str | None, limit: int) -> Page:
        after = key_of(cursor, [KEY_KINDS.get(name, str) for name in key])
        some = _rows_along(reader, table, key, ", ".join((*columns, *more)), condition, after)
        return paged(
            (row for rows in some for row in shown(reader, rows)),
            lambda row: {name: row[name] for name in columns},
            lambda row: tuple(row[name] for name in key),
            limit,
        )

    return read


def _rows_along(
    reader: Reader, table: str, key: tuple[str, ...], columns: str, condition: str, after: list[Any] | None
) -> Iterator[list[Row]]:
    order = ", ".join(key)
    behind = f" AND ({order}) > ({', '.join(f':after_{name}' for name in key)})"
    while True:
        params = {f"after_{name}": value for name, value in zip(key, after or (), strict=False)}
        rows = reader.rows(
            f"SELECT {columns} FROM {table} {OWNED}{condition}{behind if after else ''} ORDER BY {order} LIMIT {CHUNK}",
            owner=owner_of(reader.context),
            **params,
        )
        yield rows
        if len(rows) < CHUNK:
            return
        after = [rows[-1][name] for name in key]


def _observations(reader: Reader, rows: Sequence[Row]) -> Iterator[Row]:
    places = Places(reader)
    for row in rows:
        spans = places.of(row)
        yield {**row, "specificity": number_of(row["specificity"]), "spans": as_text(spans) if spans else None}


def _relationships(reader: Reader, rows: Sequence[Row]) -> list[Row]:
    """Those that reads show too, with the ends that speak for them today."""
    return [edge.shown for edge in shown_edges(reader, rows)]


FACTS = {
    "entity_id": "string",
    "entity_type": "string",
    "canonical_name": "string",
    "field": "string",
    "value": "string",
    "observation_id": "string",
    "observed_at": "string",
    "source_priority": "int64",
    "source_record_id": "string",
    "source_type": "string",
    "source_name": "string",
    "span": "string",
}
ENTITIES = {
    "entity_id": "string",
    "entity_type": "string",
    "canonical_name": "string",
    "aliases": "string",
    "snapshot": "string",
    "observation_count": "int64",
    "last_observation_at": "string",
}
OBSERVATIONS = {
    "id": "string",
    "entity_id": "string",
    "record_id": "string",
    "observed_at": "string",
    "priority": "int64",
    "specificity": "float64",
    "schema_version": "string",
    "fields": "string",
    "spans": "string",
    "created_at": "string",
}
RELATIONSHIPS = {
    "id": "string",
    "type": "string",
    "source_id": "string",
    "target_id": "string",
    "metadata": "string",
    "created_at": "string",
}
EVENTS = {
    "id": "string",
    "event_type": "string",
    "event_timestamp": "string",
    "record_id": "string",
    "entity_ids": "string",
    "properties": "string",
}
RECORDS = {
    "id": "string",
    "kind": "string",
    "type": "string",
    "category": "string",
    "mime_type": "string",
    "name": "string",
    "size": "int64",
    "content_hash": "string",
    "created_at": "string",
}


TABLES: dict[str, Table] = {
    "facts": Table(FACTS, _facts),
    "entities": Table(ENTITIES, _entities),
    "observations": Table(
        OBSERVATIONS,
        _by_key(
            "memory_observations",
            ("born", "entity_id", "observed_at", "id"),
            OBSERVATIONS,
            more=("born", "ordinal", "run_id"),
            shown=_observations,
            condition=" AND withdrawn_at IS NULL",
        ),
    ),
    "relationships": Table(
        RELATIONSHIPS, _by_key("memory_relationships", ("id",), RELATIONSHIPS, shown=_relationships)
    ),
    "events": Table(EVENTS, _by_key("memory_events", ("event_timestamp", "id"), EVENTS)),
    "records": Table(RECORDS, _by_key("memory_records", ("id",), RECORDS, condition=" AND retracted_at IS NULL")),
}
"""Every table, by name."""
