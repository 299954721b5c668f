"""A part of a model as a graph: around an element, of a capability, of some types, or as somebody drew it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from engross.ledger import Reader
from engross.replies import Invalid

from .elements import find_element, find_elements, no_such_element
from .pages import page_of_elements
from .relationships import find_relationship, find_relationships, relationships_of

Thing = dict[str, Any]

ENDS = ("source_id", "target_id")
HOLDING = ("Composition", "Aggregation")
"""What leads from a whole to its parts."""
CAPABILITY = "Capability"


class Graph(NamedTuple):
    """Elements and the relationships between them; whether there would have been more."""

    elements: list[Thing]
    relationships: list[Thing]
    truncated: bool = False
    body: Mapping[str, Any] | None = None
    """How it was drawn, of a view that somebody made."""


class Walk:
    """A walk through a model, step by step, as long as there is room for elements.

    An end of a relationship may be a relationship. It is nothing without its own ends, so whoever reaches it has
    reached those as well; and what is tied to a relationship is one step farther than the relationship.
    """

    def __init__(self, reader: Reader, limit: int) -> None:
        self._reader = reader
        self._limit = limit
        self.elements: dict[str, Thing] = {}
        self.relationships: dict[str, Thing] = {}
        self.frontier: list[str] = []
        self.truncated = False

    def tied(self) -> list[Thing]:
        """What the things that were reached last are ends of, so many at most."""
        most = self._limit * 2
        found = relationships_of(self._reader, self.frontier, most=most + 1)
        self.truncated = self.truncated or len(found) > most
        return found

    def go(self, along: Iterable[Thing]) -> None:
        """Take one step along these relationships."""
        passed = {one["id"]: one for one in along if one["id"] not in self.relationships}
        self.relationships |= passed
        self.frontier = sorted(passed)
        self.reach(one[end] for one in passed.values() for end in ENDS)

    def reach(self, identifiers: Iterable[str]) -> None:
        """Take in what has these ids."""
        waiting = set(identifiers)
        while waiting := waiting - self.elements.keys() - self.relationships.keys():
            found = find_elements(self._reader, waiting)
            room = max(self._limit - len(self.elements), 0)
            taken = sorted(found)[:room]
            self.truncated = self.truncated or len(found) > room
            self.elements |= {identifier: found[identifier] for identifier in taken}
            tied = find_relationships(self._reader, waiting - found.keys())
            self.relationships |= tied
            self.frontier += [*taken, *tied]
            waiting = {one[end] for one in tied.values() for end in ENDS} - found.keys()

    def graph(self) -> Graph:
        """What was passed, but for relationships of which an end was not reached."""
        return Graph(list(self.elements.values()), _held(self.relationships.values(), self.elements), self.truncated)


def neighbourhood(
    reader: Reader,
    identifier: str,
    *,
    hops: int,
    limit: int,
    types: Collection[str] | None = None,
    field: str = "id",
) -> Graph:
    """What can be reached from an element, or from the ends of a relationship, along relationships of these types."""
    centre = find_element(reader, identifier) or find_relationship(reader, identifier)
    if centre is None:
        raise Invalid.many([no_such_element(reader, identifier, field)])
    walk = Walk(reader, limit)
    walk.reach([identifier])
    for _ in range(hops):
        walk.go(one for one in walk.tied() if types is None or one["type"] in types)
    return walk.graph()


def of_capability(reader: Reader, capability: Thing, *, hops: int, limit: int) -> Graph:
    """A capability with those that it is made of, and what is related to them, so many steps far.

    What it is itself a part of is shown, and not gone on from: that would lead to everything beside it.
    """
    walk = Walk(reader, limit)
    walk.reach([capability["id"]])
    while walk.frontier:
        walk.go(_leading_to_parts(reader, walk))
    parts = set(walk.elements)
    walk.frontier = [*walk.elements, *walk.relationships]
    for _ in range(hops):
        tied = walk.tied()
        wholes = {one["source_id"] for one in tied if one["type"] in HOLDING and one["target_id"] in parts}
        walk.go(tied)
        walk.frontier = [one for one in walk.frontier if one not in wholes]
    return walk.graph()


def of_types(reader: Reader, model_id: str, types: Sequence[str] | None, *, limit: int) -> Graph:
    """The elements of some types, and what relates them."""
    page = page_of_elements(reader, model_id, types=types, starts_with=None, cursor=None, limit=limit)
    elements = {one["id"]: one for one in page.found}
    edges = relationships_of(reader, elements)
    return Graph(page.found, _held(edges, elements), page.cursor is not None)


def drawn(reader: Reader, body: Mapping[str, Any]) -> Graph:
    """What a view shows, as somebody drew it, without what has been deleted since."""
    placed = dict.fromkeys(node["element_id"] for node in body["nodes"] if node.get("element_id"))
    elements = find_elements(reader, placed)
    joined = {edge["relationship_id"] for edge in body["connections"] if edge.get("relationship_id")}
    edges = [one for one in relationships_of(reader, elements) if one["id"] in joined]
    return Graph([elements[one] for one in placed if one in elements], _held(edges, elements), body=body)


def in_order(relationships: Iterable[Thing], elements: Collection[str]) -> list[Thing]:
    """The relationships of which both ends are there, each after those that it is tied to."""
    waiting = list(relationships)
    there = set(elements)
    found: list[Thing] = []
    while held := [one for one in waiting if all(one[end] in there for end in ENDS)]:
        found += held
        there |= {one["id"] for one in held}
        waiting = [one for one in waiting if one["id"] not in there]
    return found


def _held(relationships: Iterable[Thing], elements: Collection[str]) -> list[Thing]:
    return sorted(in_order(relationships, elements), key=lambda one: one["id"])


def _leading_to_parts(reader: Reader, walk: Walk) -> list[Thing]:
    walk.frontier = [one for one in walk.frontier if one in walk.elements]
    wholes = set(walk.frontier)
    down = [one for one in walk.tied() if one["type"] in HOLDING and one["source_id"] in wholes]
    parts = find_elements(reader, (one["target_id"] for one in down))
    return [one for one in down if parts.get(one["target_id"], {}).get("type") == CAPABILITY]
