"""Views that came with an imported model: kept as they were drawn."""

from __future__ import annotations

from typing import Any

import orjson

from engross.ledger import Reader

from .tables import AS_OF


def drawn_views(reader: Reader, model_id: str) -> list[dict[str, Any]]:
    """The views of a model, without their content."""
    rows = reader.rows(
        "SELECT id, version, name FROM architecture_views WHERE tenant = :tenant AND model_id = :model_id"
        f" AND {AS_OF} ORDER BY id",
        model_id=model_id,
    )
    return [dict(row) for row in rows]


def whole_views(reader: Reader, model_id: str) -> list[dict[str, Any]]:
    """The views of a model with everything that was drawn."""
    rows = reader.rows(
        "SELECT id, version, name, external_id, body FROM architecture_views WHERE tenant = :tenant"
        f" AND model_id = :model_id AND {AS_OF} ORDER BY id",
        model_id=model_id,
    )
    return [{**row, "body": orjson.loads(row["body"])} for row in rows]
