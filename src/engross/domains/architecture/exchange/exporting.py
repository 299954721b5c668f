"""Handing a model out: everything that is in it, in the words of a format."""

from __future__ import annotations

from typing import Any

from engross.ledger import Reader

from ..models import find_model, no_such_model
from ..rows import of_row
from ..tables import AS_OF
from ..views import whole_views
from .archi_csv import write_csv
from .exchange_out import write_exchange

PART = 1_500_000
"""How many characters one answer holds."""


class Handout:
    """A model with everything in it, each thing with the id that it has outside."""

    def __init__(self, reader: Reader, model_id: str) -> None:
        model = find_model(reader, model_id)
        if model is None:
            raise no_such_model(reader, model_id, "model_id")
        outside = (model.get("extra") or {}).get("external_id") or model["id"]
        self.model: dict[str, Any] = {**model, "external_id": outside}
        self.elements = _all(reader, "architecture_elements", model_id)
        self.relationships = _all(reader, "architecture_relationships", model_id)
        self.views = [
            {**one, "external_id": one.get("external_id") or one["id"]} for one in whole_views(reader, model_id)
        ]

    def exchange(self) -> str:
        """The model as an exchange file."""
        return write_exchange(self.model, self.elements, self.relationships, self.views)

    def csv(self) -> dict[str, str]:
        """The model as Archi's three CSV files."""
        return write_csv(self.model, self.elements, self.relationships)


def part_of(text: str, part: int) -> tuple[str, int]:
    """One part of a long text, and how many there are."""
    parts = max(1, -(-len(text) // PART))
    return text[(part - 1) * PART : part * PART], parts


def _all(reader: Reader, table: str, model_id: str) -> list[dict[str, Any]]:
    rows = reader.rows(
        f"SELECT * FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF} ORDER BY type, id",
        model_id=model_id,
    )
    return [{**(one := of_row(row)), "external_id": one.get("external_id") or one["id"]} for row in rows]
