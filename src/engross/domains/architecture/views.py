"""Views: those that are made when they are asked for, and those that came with an imported model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engross.ledger import Reader
from engross.replies import Invalid, codes

from .graphs import Graph, drawn, neighbourhood, of_types
from .looking import Arguments, graph_answer
from .metamodel import metamodel
from .models import effective_model
from .names import folded
from .refusals import malformed, no_such_element_type, raise_all
from .tables import AS_OF

CHOICES = ("view_id", "element_id", "types")
MOST_TOLD = 20


def one_view(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """A part of a model as a graph or a picture."""
    title, graph = _viewed(reader, arguments)
    answer = graph_answer(reader, graph)
    named = {"name": title, "format": arguments.get("format", "graph")}
    if named["format"] == "graph":
        return {**answer, "view": named, **_stored_views(reader, arguments)}
    told = {name: answer[name] for name in ("citations", "read_context", "truncated")}
    return {**told, "view": {**named, "text": picture(graph, title, named["format"])}}


def picture(graph: Graph, title: str, format: str) -> str:
    """The graph as text that others draw, or as a drawing."""
    from .drawing import mermaid, svg

    return svg(graph, title) if format == "svg" else mermaid(graph)


def drawn_views(reader: Reader, model_id: str) -> list[dict[str, Any]]:
    """The views that came with a model, without their content."""
    rows = reader.rows(
        "SELECT id, version, name FROM architecture_views WHERE tenant = :tenant AND model_id = :model_id"
        f" AND {AS_OF} ORDER BY id",
        model_id=model_id,
    )
    return [dict(row) for row in rows]


def whole_views(reader: Reader, model_id: str) -> list[dict[str, Any]]:
    """The views that came with a model, with everything that was drawn."""
    rows = reader.rows(
        "SELECT id, version, name, external_id, body FROM architecture_views WHERE tenant = :tenant"
        f" AND model_id = :model_id AND {AS_OF} ORDER BY id",
        model_id=model_id,
    )
    return [{**row, "body": orjson.loads(row["body"])} for row in rows]


def require_view(reader: Reader, called: str, model_id: str | None) -> dict[str, Any]:
    """The view that an id, or a name in a model, stands for; Invalid where there is none, or more than one.

    An id needs no model; where one is named nevertheless, the view has to be in it.
    """
    named_model = None if model_id is None else effective_model(reader, model_id)
    found = _find_view(reader, called)
    if found is not None and named_model in (None, found["model_id"]):
        return found
    views = drawn_views(reader, named_model or effective_model(reader, None))
    named = [one for one in views if folded(one["name"]) == folded(called)]
    if len(named) > 1:
        raise Invalid(
            codes.NEEDS_DISAMBIGUATION,
            {"reference": called[:80]},
            field="view_id",
            suggestions={"candidates": named[:MOST_TOLD], "hint": "Refer to one of them by its id."},
        )
    found = _find_view(reader, named[0]["id"]) if named else None
    if found is None:
        raise Invalid(
            codes.RECORD_NOT_FOUND,
            {"kind": "view", "id": called[:80]},
            field="view_id",
            suggestions={"available_views": views[:MOST_TOLD], "hint": "Views come with imported models."},
        )
    return found


def _find_view(reader: Reader, view_id: str) -> dict[str, Any] | None:
    row = reader.row(
        "SELECT id, version, model_id, name, body FROM architecture_views WHERE tenant = :tenant AND id = :id"
        f" AND {AS_OF}",
        id=view_id,
    )
    return None if row is None else {**row, "body": orjson.loads(row["body"])}


def _viewed(reader: Reader, arguments: Arguments) -> tuple[str, Graph]:
    chosen = [name for name in CHOICES if name in arguments]
    if len(chosen) > 1:
        raise Invalid.many([malformed(f"/{chosen[1]}", f"give {' or '.join(chosen)}, not several")])
    limit = arguments.get("limit", 100)
    if "view_id" in arguments:
        view = require_view(reader, arguments["view_id"], arguments.get("model_id"))
        return view["name"], drawn(reader, view["body"])
    if "element_id" in arguments:
        hops = arguments.get("hops", 2)
        graph = neighbourhood(reader, arguments["element_id"], hops=hops, limit=limit, field="element_id")
        return f"Around {graph.elements[0]['name']}", graph
    raise_all(
        [
            no_such_element_type(word, f"types/{index}")
            for index, word in enumerate(arguments.get("types", ()))
            if metamodel().element_type(word) is None
        ]
    )
    model_id = effective_model(reader, arguments.get("model_id"))
    types = arguments.get("types")
    return ", ".join(types) if types else "Model", of_types(reader, model_id, types, limit=limit)


def _stored_views(reader: Reader, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The views that came with the model, for whoever has not chosen one."""
    if "view_id" in arguments or "element_id" in arguments:
        return {}
    return {"stored_views": drawn_views(reader, effective_model(reader, arguments.get("model_id")))}
