"""A part of a model as a graph: around an element, of some types, or as somebody drew it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader

from .elements import find_elements, require_element
from .pages import page_of_elements
from .relationships import relationships_of

Thing = dict[str, Any]


class Graph(NamedTuple):
    """Elements and the relationships between them; whether there would have been more."""

    elements: list[Thing]
    relationships: list[Thing]
    truncated: bool = False
    placed: Mapping[str, Mapping[str, float]] | None = None
    """Where elements were drawn, by id, in a view that somebody made."""


def neighbourhood(
    reader: Reader,
    element_id: str,
    *,
    hops: int,
    limit: int,
    types: Collection[str] | None = None,
    field: str = "id",
) -> Graph:
    """What can be reached from an element in so many steps, along relationships of these types."""
    centre = require_element(reader, element_id, field)
    elements: dict[str, Thing] = {centre["id"]: centre}
    edges: dict[str, Thing] = {}
    frontier, truncated = [centre["id"]], False
    for _ in range(hops):
        found = relationships_of(reader, frontier, most=limit * 2 + 1)
        wanted = [one for one in found if types is None or one["type"] in types]
        ends = {one[end] for one in wanted for end in ("source_id", "target_id")}
        reached = find_elements(reader, ends - elements.keys())
        room = limit - len(elements)
        truncated = truncated or len(reached) > room or len(found) > limit * 2
        frontier = sorted(reached)[: max(room, 0)]
        elements |= {identifier: reached[identifier] for identifier in frontier}
        edges |= {one["id"]: one for one in wanted}
        if not frontier:
            break
    return Graph(list(elements.values()), _between(edges.values(), elements), truncated)


def of_types(reader: Reader, model_id: str, types: Sequence[str] | None, *, limit: int) -> Graph:
    """The elements of some types, and what relates them."""
    page = page_of_elements(reader, model_id, types=types, starts_with=None, cursor=None, limit=limit)
    elements = {one["id"]: one for one in page.found}
    edges = relationships_of(reader, elements)
    return Graph(page.found, _between(edges, elements), page.cursor is not None)


def drawn(reader: Reader, body: Mapping[str, Any]) -> Graph:
    """What a view shows, as somebody drew it, without what has been deleted since."""
    placed = {node["element_id"]: node for node in body["nodes"] if node.get("element_id")}
    elements = find_elements(reader, placed)
    joined = {edge["relationship_id"] for edge in body["connections"] if edge.get("relationship_id")}
    edges = [one for one in relationships_of(reader, elements) if one["id"] in joined]
    shown = {name: {key: node[key] for key in ("x", "y", "w", "h")} for name, node in placed.items()}
    return Graph([elements[one] for one in placed if one in elements], _between(edges, elements), placed=shown)


def _between(edges: Any, elements: Mapping[str, Thing]) -> list[Thing]:
    inside = [one for one in edges if one["source_id"] in elements and one["target_id"] in elements]
    return sorted(inside, key=lambda one: one["id"])
