"""Further entities that lie in the fields of one: companies in an invoice, tasks in a note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .capabilities import NATURAL_KEYS, Extraction

LONGEST_NAME = 400
MOST_ITEMS = 1_000


class Extracted(NamedTuple):
    """An entity that was found in a field, or in one item of it."""

    entity_type: str
    name: str
    fields: dict[str, Any]
    field: str
    item: int | None
    relation: str


def natural_name(fields: Mapping[str, Any]) -> str | None:
    """What a document is known by: its title, its name, or the number or id that it bears."""
    for key in ("title", "name", *NATURAL_KEYS):
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()[:LONGEST_NAME]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def extracted(rules: Iterable[Extraction], fields: Mapping[str, Any]) -> Iterator[Extracted]:
    """The entities that the rules find in the fields, in their order."""
    for rule in rules:
        value = fields.get(rule.field)
        if rule.kind == "field_value":
            if isinstance(value, str) and value.strip():
                yield _named(rule, value, {}, None)
        elif isinstance(value, list | tuple):
            for place, item in enumerate(value[:MOST_ITEMS]):
                yield from _of_item(rule, item, place)


def _of_item(rule: Extraction, item: Any, place: int) -> Iterator[Extracted]:
    if isinstance(item, str) and item.strip():
        yield _named(rule, item, {}, place)
    elif isinstance(item, Mapping):
        name = next((item[key] for key in ("title", "name", "id") if _says(item.get(key))), None)
        if name is not None:
            yield _named(rule, name, dict(item), place)


def _named(rule: Extraction, raw: str, own: dict[str, Any], place: int | None) -> Extracted:
    name = raw.strip()[:LONGEST_NAME]
    fields = own or {_NAMED_BY.get(rule.entity_type, "name"): name}
    return Extracted(rule.entity_type, name, fields, rule.field, place, rule.relation)


def _says(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_NAMED_BY = {"task": "title", "feature_unit": "id"}
