"""Archi's views in the words of the exchange format, where places count from the view's own corner, in whole numbers.

Archi keeps the bend of a line as how far it is from the middle of either end, so that it moves along with them. Where
it is drawn lies between the two, the nearer to the end the further along the line it comes.
"""

from __future__ import annotations

from typing import Any

from ..names import clean
from .parcel import Piece
from .trees import Node

Tree = list[Any]
Point = tuple[float, float]
USUAL_WIDTH, USUAL_HEIGHT = 120, 55


def view_of(node: Node) -> Piece:
    """A view with its shapes and lines."""
    identifier = node.get("id") or ""
    name = clean(node.get("name") or "") or "View"
    middles: dict[str, Point] = {}
    shapes = [_shape(child, 0.0, 0.0, middles) for child in node.all("child")]
    lines = [_line(one, middles) for one in _connections(node)]
    attributes = {"identifier": identifier, "xsi:type": "Diagram"}
    children = [["name", {}, name, []], *shapes, *lines]
    return Piece(identifier, {"name": name, "tree": ["view", attributes, "", children]})


def _shape(node: Node, left: float, top: float, middles: dict[str, Point]) -> Tree:
    bounds = node.first("bounds")
    x, y, w, h = (_number(bounds, key) for key in ("x", "y", "width", "height"))
    x, y = max(left + x, 0.0), max(top + y, 0.0)
    w, h = w if w > 0 else USUAL_WIDTH, h if h > 0 else USUAL_HEIGHT
    identifier = node.get("id") or ""
    middles[identifier] = (x + w / 2, y + h / 2)
    attributes = {"identifier": identifier, "x": _whole(x), "y": _whole(y), "w": _whole(w), "h": _whole(h)}
    element = node.get("archimateElement")
    if element:
        attributes |= {"elementRef": element, "xsi:type": "Element"}
        label: list[Tree] = []
    else:
        grouping = node.kind == "Group"
        text = node.get("name") if grouping else (content.text if (content := node.first("content")) else None)
        attributes["xsi:type"] = "Container" if grouping else "Label"
        label = [["label", {}, clean(text or "") or " ", []]]
    inside = node.all("child") if attributes["xsi:type"] != "Label" else ()
    return ["node", attributes, "", [*label, *(_shape(child, x, y, middles) for child in inside)]]


def _connections(node: Node) -> list[Node]:
    """Every line, those first that others begin or end at."""
    found: list[Node] = []
    pending = list(node.all("child"))
    while pending:
        child = pending.pop(0)
        found += child.all("sourceConnection")
        pending += [*child.all("child"), *child.all("sourceConnection")]
    return found


def _line(node: Node, middles: dict[str, Point]) -> Tree:
    identifier, source, target = (node.get(key) or "" for key in ("id", "source", "target"))
    attributes = {"identifier": identifier, "source": source, "target": target}
    shown = node.get("archimateRelationship") or node.get("relationship")
    attributes |= {"relationshipRef": shown, "xsi:type": "Relationship"} if shown else {"xsi:type": "Line"}
    if source not in middles or target not in middles:
        return ["connection", attributes, "", []]
    start, end = middles[source], middles[target]
    middles[identifier] = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    bends = [*node.all("bendpoint"), *node.all("bendpoints")]
    placed = [_bend(one, (number + 1) / (len(bends) + 1), start, end) for number, one in enumerate(bends)]
    return ["connection", attributes, "", [["bendpoint", {"x": x, "y": y}, "", []] for x, y in placed]]


def _bend(node: Node, along: float, start: Point, end: Point) -> tuple[str, str]:
    x, y = (
        (start[axis] + _number(node, f"start{name}")) * (1 - along) + (end[axis] + _number(node, f"end{name}")) * along
        for axis, name in enumerate("XY")
    )
    return _whole(x), _whole(y)


def _whole(value: float) -> str:
    return str(max(0, min(round(value), 10_000_000)))


def _number(node: Node | None, key: str) -> float:
    try:
        value = float((node.get(key) if node else None) or 0)
    except ValueError:
        return 0.0
    return value if abs(value) < 1e7 else 0.0
