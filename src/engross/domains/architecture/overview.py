"""A model at a glance: what is in it, by layer and type."""

from __future__ import annotations

from typing import Any

from engross.ledger import Reader

from .looking import cited
from .metamodel import metamodel
from .models import find_model
from .tables import AS_OF
from .views import drawn_views


def overview(reader: Reader, model_id: str) -> dict[str, Any]:
    """The model itself, how many elements and relationships of each type it has, and its views."""
    model = find_model(reader, model_id) or {"id": model_id, "version": 0}
    elements = _counted(reader, "architecture_elements", model_id)
    relationships = _counted(reader, "architecture_relationships", model_id)
    views = drawn_views(reader, model_id)
    shown = {
        "model": {name: value for name, value in model.items() if name != "extra"},
        "counts": {
            "elements": sum(elements.values()),
            "relationships": sum(relationships.values()),
            "views": len(views),
        },
        "elements": _by_layer(elements),
        "relationships": {
            kind: relationships[kind] for kind in metamodel().relationship_types if kind in relationships
        },
        "views": views,
        "metamodel": metamodel().stamp,
    }
    return cited(reader, model_id, shown, [model], "model")


def _by_layer(counts: dict[str, int]) -> dict[str, dict[str, int]]:
    grouped: dict[str, dict[str, int]] = {layer: {} for layer in metamodel().layers}
    for kind in metamodel().creatable_types:
        if kind in counts:
            grouped[metamodel().layer(kind)][kind] = counts[kind]
    return {layer: types for layer, types in grouped.items() if types}


def _counted(reader: Reader, table: str, model_id: str) -> dict[str, int]:
    rows = reader.rows(
        f"SELECT type, count(*) AS things FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF}"
        " GROUP BY type ORDER BY type",
        model_id=model_id,
    )
    return {row["type"]: row["things"] for row in rows}
