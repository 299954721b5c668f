"""Archi's views in the words of the exchange format, where places count from the view's own corner, in whole numbers.

Archi keeps the bend of a line as how far it is from the middle of either end, so that it moves along with them. Where
it is drawn lies between the two, the nearer to the end the further along the line it comes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ..names import clean
from .parcel import Piece
from .trees import Node

Tree = list[Any]
Point = tuple[float, float]
_COLOUR = re.compile("#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})")
USUAL_WIDTH, USUAL_HEIGHT = 120, 55


def view_of(node: Node, left_out: Counter[str]) -> Piece:
    """A view with its shapes and lines; what of it finds no place is counted."""
    identifier = node.get("id") or ""
    name = clean(node.get("name") or "") or "View"
    middles: dict[str, Point] = {}
    shapes = [_shape(child, 0.0, 0.0, middles) for child in node.all("child")]
    lines = [_line(one, middles) for one in _connections(node)]
    attributes = {"identifier": identifier, "xsi:type": "Diagram"}
    told = node.first("documentation")
    documentation: list[Tree] = [["documentation", {}, told.text, []]] if told is not None and told.text else []
    children = [["name", {}, name, []], *documentation, *shapes, *lines]
    _count_the_rest(node, left_out)
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
    shapes = (_shape(child, x, y, middles) for child in inside)
    return ["node", attributes, "", [*label, *_style(node), *shapes]]


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
        return ["connection", attributes, "", _style(node)]
    start, end = middles[source], middles[target]
    middles[identifier] = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    bends = [*node.all("bendpoint"), *node.all("bendpoints")]
    placed = [_bend(one, (number + 1) / (len(bends) + 1), start, end) for number, one in enumerate(bends)]
    points = [["bendpoint", {"x": x, "y": y}, "", []] for x, y in placed]
    return ["connection", attributes, "", [*_style(node), *points]]


def _bend(node: Node, along: float, start: Point, end: Point) -> tuple[str, str]:
    x, y = (
        (start[axis] + _number(node, f"start{name}")) * (1 - along) + (end[axis] + _number(node, f"end{name}")) * along
        for axis, name in enumerate("XY")
    )
    return _whole(x), _whole(y)


def _style(node: Node) -> list[Tree]:
    """Colours and the width of lines, where they are not the usual ones."""
    width = node.get("lineWidth") or ""
    attributes = {"lineWidth": width} if width.isdecimal() and len(width) < 3 else {}
    painted: list[Tree] = [
        [name, found, "", []] for name in ("lineColor", "fillColor") if (found := _colour(node.get(name)))
    ]
    if letters := _colour(node.get("fontColor")):
        painted.append(["font", {}, "", [["color", letters, "", []]]])
    return [["style", attributes, "", painted]] if attributes or painted else []


def _colour(said: str | None) -> dict[str, str]:
    match = _COLOUR.fullmatch(said or "")
    return {name: str(int(part, 16)) for name, part in zip("rgb", match.groups(), strict=True)} if match else {}


def _count_the_rest(view: Node, left_out: Counter[str]) -> None:
    """What is drawn, or said about the view, that the words of the exchange format are not used for here."""
    left_out["viewpoints of views"] += view.get("viewpoint") is not None
    left_out["properties of views"] += sum(1 for _ in view.all("property"))
    pending = list(view.all("child"))
    while pending:
        child = pending.pop()
        left_out["images"] += child.get("imagePath") is not None
        left_out["links to views"] += child.kind == "DiagramModelReference"
        pending += child.all("child")


def _whole(value: float) -> str:
    return str(max(0, min(round(value), 10_000_000)))


def _number(node: Node | None, key: str) -> float:
    try:
        value = float((node.get(key) if node else None) or 0)
    except ValueError:
        return 0.0
    return value if abs(value) < 1e7 else 0.0
