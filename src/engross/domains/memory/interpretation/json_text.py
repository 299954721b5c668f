"""JSON: objects that say what they are become claims about that; everything else is a document with its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..capabilities import CAPABILITIES
from ..extraction import natural_name
from .claimed import date_in
from .document import add_document, read_as_text
from .losses import FIELDS
from .money import number_of
from .plain import plain
from .record_types import known_record_type
from .result import Draft, Findings, Found, Span
from .script import Script
from .sniffing import LONGEST_JSON
from .source import Source

MOST_ITEMS = 1_000
MOST_FIELDS = 200

_LONG_NUMBER = re.compile(r"\d[\d.]{15}|[eE][+-]?\d{3}")
_TYPE_KEYS = ("entity_type", "record_type", "type", "@type")
_LISTS = ("entities", "records", "items", "data", "results")


def read_json(draft: Draft, script: Script, source: Source) -> str:
    """Claims from JSON; the type that it was found to have."""
    loaded = _loaded(draft, script.text)
    if loaded is None:
        draft.note("JSON_UNREADABLE", "The JSON is damaged or too large to be taken apart; it was read as plain text.")
        return read_as_text(draft, script, source)
    if isinstance(loaded, Mapping) and not _list_in(loaded):
        kind = _kind(loaded) or "document"
        add_document(draft, kind, _findings(draft, loaded, ""), source, _name(kind, loaded))
        return kind
    draft.together = False
    path, items = _list_in(loaded) or ("", [loaded])
    count = len(items)
    place = add_document(draft, "dataset", {"row_count": Found(count, Span(path=path or "/"))}, source)
    for number, item in enumerate(items[:MOST_ITEMS]):
        if isinstance(item, Mapping) and item:
            _add_item(draft, place, source, item, f"{path}/{number}")
    if count > MOST_ITEMS:
        draft.note("ROWS_CUT", f"There are {count} items; the first {MOST_ITEMS} were taken.")
    return "dataset"


def _loaded(draft: Draft, text: str) -> Any:
    import orjson

    if len(text) > LONGEST_JSON:
        return None
    try:
        loaded = orjson.loads(text)
        return plain(draft, _exactly_loaded(text) if _LONG_NUMBER.search(text) else loaded)
    except (ValueError, RecursionError):
        return None


def _exactly_loaded(text: str) -> Any:
    """JSON with numbers that would change if they were kept as such: those stay the texts that they are."""
    import json

    def exact(said: str) -> Any:
        number = number_of(said)
        return said if number is None else number

    return json.loads(text, parse_int=exact, parse_float=exact)


def _list_in(loaded: Any) -> tuple[str, list[Any]] | None:
    if isinstance(loaded, list):
        return "", loaded
    if isinstance(loaded, Mapping) and not any(key in loaded for key in _TYPE_KEYS):
        for key in _LISTS:
            items = loaded.get(key)
            if isinstance(items, list) and items and all(isinstance(item, Mapping) for item in items):
                return f"/{key}", items
    return None


def _add_item(draft: Draft, place: int, source: Source, item: Mapping[str, Any], path: str) -> None:
    kind = _kind(item) or "dataset_row"
    name = _name(kind, item) or f"{source.fallback_name} {path}"
    draft.tie("PART_OF", draft.claim(kind, name, _findings(draft, item, path)), place)


def _kind(item: Mapping[str, Any]) -> str | None:
    """What an object says that it is, or what its fields say."""
    said = item.get("entity_type")
    if isinstance(said, str) and (word := re.sub(r"[^\w]+", "_", said.strip().lower()).strip("_")):
        return word[:100]
    for key in _TYPE_KEYS[1:]:
        if (known := known_record_type(item.get(key))) is not None:
            return known
    by_fields = {one.entity_type: sum(field in item for field in one.included) for one in CAPABILITIES.values()}
    best = max(by_fields, key=by_fields.__getitem__)
    telling = {"invoice_number", "transaction_id", "receipt_number", "contract_number"}
    return best if by_fields[best] >= 2 and telling & item.keys() else None


def _name(kind: str, item: Mapping[str, Any]) -> str | None:
    if kind == "dataset_row" and "name" not in item and "title" not in item:
        return None
    return natural_name({**item, "name": item.get("name") or item.get("full_name") or item.get("email")})


def _findings(draft: Draft, item: Mapping[str, Any], path: str) -> Findings:
    said = [name for name, value in item.items() if name and name != "entity_type" and value is not None]
    draft.count(FIELDS, len(said) - MOST_FIELDS)
    return {
        name: Found(_value(draft, name, item[name]), Span(path=f"{path}/{name.replace('~', '~0').replace('/', '~1')}"))
        for name in said[:MOST_FIELDS]
    }


def _value(draft: Draft, name: str, value: Any) -> Any:
    return (date_in(draft, name, value) or value) if isinstance(value, str) and value.strip() else value
