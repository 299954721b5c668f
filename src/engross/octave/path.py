"""Dotted paths: `META.STATUS`, `SERVER.HOST`, `§1.OWNER`, `LIMITS.cpu`.

Dots have no meaning in keys, so `A.B` may be a key of its own: at each level the longest key that is there wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .document import Document
from .names import Names
from .node import Assignment, Block, Comment, Node, Section, Separator
from .value import List, Pair, Value

LONGEST_PATH: Final = 100


class _Absent:
    """What a path that leads nowhere leads to: neither null nor a value."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent()


class Place(NamedTuple):
    """Where a path leads: to a node among others, or to a pair in that node's list."""

    nodes: list[Node]
    at: int
    pair: str | None = None

    @property
    def node(self) -> Node:
        """The node."""
        return self.nodes[self.at]


def find(document: Document, path: str, names: Names | None = None) -> Place | None:
    """Where a path leads, in the first envelope that has it. META means the one at the top, if there is one.

    `names` is what is known already, for whoever looks for many.
    """
    parts = segments(path)
    names = Names() if names is None else names
    for envelope in document.envelopes:
        if parts[0] == "META" and envelope.meta is not None:
            at = envelope.nodes.index(envelope.meta)
            place = locate(envelope.meta.children, parts[1:], names) if len(parts) > 1 else Place(envelope.nodes, at)
        else:
            place = locate(envelope.nodes, parts, names)
        if place is not None:
            return place
    return None


def value_at(document: Document, path: str) -> Value | Block | Section | _Absent:
    """What stands at a path: a value, a block or section, or ABSENT."""
    place = find(document, path)
    if place is None:
        return ABSENT
    node = place.node
    if isinstance(node, Assignment):
        return node.value if place.pair is None else pairs_of(node.value)[place.pair]
    return node if isinstance(node, (Block, Section)) else ABSENT


def segments(path: str) -> list[str]:
    """The parts between the dots."""
    return path.split(".", LONGEST_PATH)


def locate(nodes: list[Node], parts: Sequence[str], names: Names) -> Place | None:
    """Where the parts of a path lead among nodes and below them. Of nodes with the same name the last counts."""
    for end in range(len(parts), 0, -1):
        for at in reversed(names.places(nodes, ".".join(parts[:end]))):
            if place := _within(nodes, at, parts[end:], names):
                return place
    return None


def _within(nodes: list[Node], at: int, rest: Sequence[str], names: Names) -> Place | None:
    node = nodes[at]
    if not rest:
        return Place(nodes, at)
    if isinstance(node, (Block, Section)):
        return locate(node.children, rest, names)
    if isinstance(node, Assignment) and ".".join(rest) in pairs_of(node.value):
        return Place(nodes, at, ".".join(rest))
    return None


def pairs_of(value: Value) -> dict[str, Value]:
    """The pairs of an inline map; the last of a key counts."""
    items = value.items if isinstance(value, List) else ()
    return {item.key: item.value for item in items if isinstance(item, Pair)}


def paths(document: Document) -> Iterator[tuple[str, Node]]:
    """Every node that has a name, with its path."""
    pending = [("", node) for envelope in reversed(document.envelopes) for node in reversed(envelope.nodes)]
    while pending:
        above, node = pending.pop()
        if isinstance(node, (Comment, Separator)):
            continue
        path = f"{above}.{node.key}" if above else node.key
        yield path, node
        if isinstance(node, (Block, Section)):
            pending.extend((path, child) for child in reversed(node.children))
