"""What a view shows: flat lists of nodes and connections, read off the tree that is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engross.replies import Issue, codes

from .parcel import Parcel

Tree = list[Any]


def view_body(tree: Tree, elements: Mapping[str, str], relationships: Mapping[str, str]) -> dict[str, Any]:
    """A view as it is kept: its tree for the way back, and what it shows by the ids that we gave."""
    nodes: list[dict[str, Any]] = []
    connections: list[dict[str, Any]] = []
    pending = [tree]
    while pending:
        name, attributes, _, children = pending.pop()
        if name == "node":
            nodes.append(_node(attributes, elements))
        elif name == "connection" and (shown := relationships.get(attributes.get("relationshipRef", ""))):
            connections.append({"relationship_id": shown})
        pending.extend(reversed(children))
    return {"tree": tree, "nodes": nodes, "connections": connections}


def references(tree: Tree) -> list[tuple[str, str]]:
    """Which concepts of the model a view refers to, as (attribute, id)."""
    found: list[tuple[str, str]] = []
    pending = [tree]
    while pending:
        _, attributes, _, children = pending.pop()
        found += [(key, attributes[key]) for key in ("elementRef", "relationshipRef") if key in attributes]
        pending.extend(children)
    return found


def dangling(parcel: Parcel) -> list[Issue]:
    """Every reference of a view that leads nowhere."""
    elements = {piece.id for piece in parcel.elements}
    relationships = {piece.id for piece in parcel.relationships}
    known = {"elementRef": elements, "relationshipRef": relationships}
    return [
        Issue(codes.ELEMENT_NOT_FOUND, {"id": identifier[:80]}, parcel.pointer, {"place": f"view {view.id}"[:200]})
        for view in parcel.views
        for attribute, identifier in references(view.said["tree"])
        if identifier not in known[attribute]
    ]


def _node(attributes: Mapping[str, str], elements: Mapping[str, str]) -> dict[str, Any]:
    place = {key: _number(attributes.get(key)) for key in ("x", "y", "w", "h")}
    shown = elements.get(attributes.get("elementRef", ""))
    return {**place, "element_id": shown} if shown else place


def _number(text: str | None) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if 0 <= value < 1e7 else 0.0
