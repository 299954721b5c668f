"""Views: those that are made when they are asked for, and those that came with an imported model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engross.ledger import Reader
from engross.replies import Invalid, codes

from .elements import find_element, no_such_element, referred
from .graphs import CAPABILITY, Graph, Thing, drawn, neighbourhood, of_capability, of_types
from .looking import Arguments, cited, graph_answer
from .metamodel import metamodel
from .models import effective_model
from .names import folded
from .refusals import malformed, no_such_element_type, raise_all
from .tables import AS_OF

CHOICES = ("view_id", "element_id", "capability_id", "types")
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


def stored_views(reader: Reader, arguments: Arguments) -> dict[str, Any]:
    """The views that came with a model, each to be asked for by its id or name."""
    model_id = effective_model(reader, arguments.get("model_id"))
    views = drawn_views(reader, model_id)
    return cited(reader, model_id, {"views": views}, views, "view")


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
        around = arguments["element_id"]
        graph = neighbourhood(reader, around, hops=arguments.get("hops", 2), limit=limit, field="element_id")
        return f"Around {graph.elements[0]['name']}", graph
    if "capability_id" in arguments:
        capability = _capability(reader, arguments["capability_id"], arguments.get("model_id"))
        return capability["name"], of_capability(reader, capability, hops=arguments.get("hops", 2), limit=limit)
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


def _capability(reader: Reader, called: str, model_id: str | None) -> Thing:
    """The capability that an id, `Name` or `Capability/Name` stands for; Invalid where there is none."""
    found = find_element(reader, called)
    if found is None:
        kind = metamodel().element_type(called.partition("/")[0])
        reference = called if kind and kind.type == CAPABILITY and "/" in called else f"{CAPABILITY}/{called}"
        found = referred(reader, effective_model(reader, model_id), reference, "capability_id")
    if found["type"] != CAPABILITY:
        issue = no_such_element(reader, called, "capability_id")
        hint = f"This is a {found['type']}: give it as element_id."
        raise Invalid.many([issue._replace(suggestions={**(issue.suggestions or {}), "hint": hint})])
    return found


def _stored_views(reader: Reader, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The views that came with the model, for whoever has not chosen one."""
    if any(name in arguments for name in ("view_id", "element_id", "capability_id")):
        return {}
    return {"stored_views": drawn_views(reader, effective_model(reader, arguments.get("model_id")))}
