"""Handing a model out: everything that is in it, in the words of a format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engross.calls import Answer
from engross.ledger import Reader
from engross.replies import Invalid

from ..graphs import drawn, of_types
from ..markup import illegal
from ..metamodel import metamodel
from ..models import effective_model, find_model, no_such_model
from ..notices import Notices, notice
from ..refusals import malformed
from ..rows import of_row
from ..tables import AS_OF
from ..views import picture, require_view, whole_views

PART = 1_500_000
"""How many characters one answer holds."""
PICTURES = ("mermaid", "svg")
MOST_PICTURED = 500
MOST_TOLD = 20

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

    def unwritable(self) -> Iterator[tuple[str, str, int]]:
        """Texts with characters that no XML document can hold: whose, which, and how many."""
        for one in (self.model, *self.elements, *self.relationships, *self.views):
            for field in ("name", "description", "modifier", "properties"):
                count = sum(map(illegal, _texts(one.get(field))))
                if count:
                    yield one["id"], field, count

    def exchange(self) -> str:
        """The model as an exchange file."""
        from .exchange_out import write_exchange

        return write_exchange(self.model, self.elements, self.relationships, self.views)

    def csv(self) -> dict[str, str]:
        """The model as Archi's three CSV files."""
        from .archi_csv import write_csv

        return write_csv(self.model, self.elements, self.relationships)


def handed_out(reader: Reader, arguments: Arguments) -> Answer:
    """A model, or a view of it, as a file."""
    model_id = effective_model(reader, arguments.get("model_id"))
    if arguments.get("format") in PICTURES:
        return Answer(_pictured(reader, model_id, arguments))
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
        return Answer({**told, "files": handout.csv()})
    shown, parts = _part_of(handout.exchange(), arguments.get("part", 1))
    data = {**told, "text": shown, "part": arguments.get("part", 1), "parts": parts}
    return Answer(data, warnings=tuple(_replaced(handout)))


def _replaced(handout: Handout) -> Notices:
    """A warning of what no XML document can hold, and where it was."""
    found = list(handout.unwritable())
    if not found:
        return []
    count, places = sum(one for _, _, one in found), [{"id": one, "field": field} for one, field, _ in found]
    told = f"{count} control characters cannot be in XML, and are replaced by U+FFFD."
    hint = "Take them out, or export as archi_csv."
    return [notice("CHARACTERS_REPLACED", told, None, hint, count=count, places=places[:MOST_TOLD])]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        yield from (one for one in value.values() if isinstance(one, str))


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
