"""Handing a model out: everything that is in it, in the words of a format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.ledger import Reader
from engross.replies import Invalid

from ..graphs import drawn, of_types
from ..metamodel import metamodel
from ..models import effective_model, find_model, no_such_model
from ..refusals import malformed
from ..rows import of_row
from ..tables import AS_OF
from ..views import picture, require_view, whole_views

PART = 1_500_000
"""How many characters one answer holds."""
PICTURES = ("mermaid", "svg")
MOST_PICTURED = 500

Arguments = Mapping[str, Any]


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

    @property
    def counts(self) -> dict[str, int]:
        """How much there is."""
        return {
            "elements": len(self.elements),
            "relationships": len(self.relationships),
            "views": len(self.views),
        }

    def exchange(self) -> str:
        """The model as an exchange file."""
        from .exchange_out import write_exchange

        return write_exchange(self.model, self.elements, self.relationships, self.views)

    def csv(self) -> dict[str, str]:
        """The model as Archi's three CSV files."""
        from .archi_csv import write_csv

        return write_csv(self.model, self.elements, self.relationships)


def handed_out(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """A model, or a view of it, as a file."""
    model_id = effective_model(reader, arguments.get("model_id"))
    if arguments.get("format") in PICTURES:
        return _pictured(reader, model_id, arguments)
    if "view_id" in arguments:
        raise Invalid.many([malformed("/view_id", "a view goes out as a picture", "Choose format mermaid or svg.")])
    handout = Handout(reader, model_id)
    told: dict[str, Any] = {
        "model": {name: handout.model[name] for name in ("id", "name", "version")},
        "format": arguments.get("format", "exchange_xml"),
        "counts": handout.counts,
        "metamodel": metamodel().stamp,
    }
    if told["format"] == "archi_csv":
        return {**told, "files": handout.csv()}
    shown, parts = _part_of(handout.exchange(), arguments.get("part", 1))
    return {**told, "text": shown, "part": arguments.get("part", 1), "parts": parts}


def _pictured(reader: Reader, model_id: str, arguments: Arguments) -> dict[str, Any]:
    if "view_id" in arguments:
        view = require_view(reader, arguments["view_id"], arguments.get("model_id"))
        title, model_id, graph = view["name"], view["model_id"], drawn(reader, view["body"])
    else:
        title, graph = "Model", of_types(reader, model_id, None, limit=MOST_PICTURED)
    return {
        "model": {"id": model_id},
        "format": arguments["format"],
        "counts": {"elements": len(graph.elements), "relationships": len(graph.relationships)},
        "truncated": graph.truncated,
        "text": picture(graph, title, arguments["format"]),
    }


def _part_of(text: str, part: int) -> tuple[str, int]:
    """One part of a long text, and how many there are."""
    parts = max(1, -(-len(text) // PART))
    return text[(part - 1) * PART : part * PART], parts


def _all(reader: Reader, table: str, model_id: str) -> list[dict[str, Any]]:
    rows = reader.rows(
        f"SELECT * FROM {table} WHERE tenant = :tenant AND model_id = :model_id AND {AS_OF} ORDER BY type, id",
        model_id=model_id,
    )
    return [{**(one := of_row(row)), "external_id": one.get("external_id") or one["id"]} for row in rows]
