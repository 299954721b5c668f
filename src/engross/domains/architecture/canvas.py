"""A view as somebody drew it: shapes where they were put, with their colours and notes, and lines with their bends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Tree = list[Any]
Point = tuple[float, float]
FURTHEST = 1e7

Joined = dict[frozenset[str | None], deque[str]]
"""Relationships that are shown, by what they join."""


class Shape(NamedTuple):
    """A box in a view: of an element, around others, or a note."""

    id: str
    place: tuple[float, float, float, float]
    element_id: str | None
    label: str | None
    """What is written on one that is of no element."""
    fill: str | None
    stroke: str | None
    letters: str | None
    holds: bool
    """Are there others in it?"""

    @property
    def middle(self) -> Point:
        """Where lines lead to."""
        x, y, w, h = self.place
        return x + w / 2, y + h / 2


class Line(NamedTuple):
    """A line between two shapes."""

    source: Shape
    target: Shape
    bends: list[Point]
    relationship_id: str | None
    """What it stands for; None for one that was merely drawn."""
    stroke: str | None
    width: int


class Canvas:
    """The shapes and lines of a view, without what has been deleted since."""

    def __init__(self, body: Mapping[str, Any], elements: Mapping[str, Any], edges: Mapping[str, Mapping[str, Any]]):
        self.shapes: list[Shape] = []
        self.lines: list[Line] = []
        self._joined = _by_ends(body["connections"], edges)
        trees = list(_in_order(body["tree"]))
        nodes = [tree for tree in trees if tree[0] == "node"]
        for tree, node in zip(nodes, body["nodes"], strict=True):
            if "elementRef" not in tree[1] or node.get("element_id") in elements:
                self.shapes.append(_shape(tree, node))
        self._known = {one.id: one for one in self.shapes}
        for tree in trees:
            if tree[0] == "connection":
                self._draw(tree)

    def _draw(self, tree: Tree) -> None:
        _, attributes, _, children = tree
        source, target = (self._known.get(attributes.get(end, "")) for end in ("source", "target"))
        if source is None or target is None:
            return
        shown = self._relationship(source, target) if "relationshipRef" in attributes else None
        if shown is None and "relationshipRef" in attributes:
            return
        style = _style(children)
        bends = [_point(one[1]) for one in children if one[0] == "bendpoint"]
        self.lines.append(Line(source, target, bends, shown, _colour(style, "lineColor"), _width(style)))

    def _relationship(self, source: Shape, target: Shape) -> str | None:
        """The next of those that are shown which is between the two; they come in the order of the lines."""
        left = self._joined.get(frozenset((source.element_id, target.element_id)))
        return left.popleft() if left else None


def _by_ends(connections: Iterable[Mapping[str, str]], edges: Mapping[str, Mapping[str, Any]]) -> Joined:
    found: Joined = {}
    for one in connections:
        edge = edges.get(one["relationship_id"])
        if edge is not None:
            found.setdefault(frozenset((edge["source_id"], edge["target_id"])), deque()).append(one["relationship_id"])
    return found


def _in_order(tree: Tree) -> Iterator[Tree]:
    yield tree
    for child in tree[3]:
        yield from _in_order(child)


def _shape(tree: Tree, node: Mapping[str, Any]) -> Shape:
    _, attributes, _, children = tree
    style = _style(children)
    font: list[Tree] = next((one[3] for one in style[3] if one[0] == "font"), []) if style else []
    label = next((one[2] for one in children if one[0] == "label"), "")
    return Shape(
        attributes.get("identifier", ""),
        (float(node["x"]), float(node["y"]), float(node["w"]), float(node["h"])),
        node.get("element_id"),
        None if "elementRef" in attributes else str(label).strip(),
        _colour(style, "fillColor"),
        _colour(style, "lineColor"),
        _colour(["font", {}, "", font], "color"),
        any(one[0] == "node" for one in children),
    )


def _style(children: list[Tree]) -> Tree | None:
    return next((one for one in children if one[0] == "style"), None)


def _colour(style: Tree | None, name: str) -> str | None:
    """A colour as SVG has it. It is made of numbers, whatever the file says."""
    said = next((one[1] for one in style[3] if one[0] == name), None) if style else None
    if said is None:
        return None
    return "#" + "".join(f"{min(int(_number(said.get(part))), 255):02x}" for part in "rgb")


def _width(style: Tree | None) -> int:
    return min(max(int(_number(style[1].get("lineWidth"))), 1), 10) if style else 1


def _point(attributes: Mapping[str, str]) -> Point:
    return _number(attributes.get("x")), _number(attributes.get("y"))


def _number(text: str | None) -> float:
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if 0 <= value < FURTHEST else 0.0
