"""Graphs as pictures: Mermaid text, and SVG. Every text in them is escaped; names come from anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .canvas import Canvas, Line, Shape
from .graphs import ENDS, Graph, Thing, in_order
from .markup import escaped, quoted
from .metamodel import metamodel

COLOURS: Mapping[str, str] = {
    "strategy": "#f5deaa",
    "business": "#ffffb5",
    "application": "#b5ffff",
    "technology": "#c9e7b7",
    "motivation": "#ccccff",
    "implementation_migration": "#ffe0e0",
    "other": "#eeeeee",
}
ARROWS: Mapping[str, str] = {
    "Composition": "--o",
    "Aggregation": "--o",
    "Realization": "-.->",
    "Access": "-.->",
    "Influence": "-.->",
    "Flow": "-.->",
}
DASHED = frozenset({"Realization", "Access", "Influence", "Flow"})
WIDTH, HEIGHT, GAP, COLUMNS, MARGIN = 160, 60, 50, 6, 20
LONGEST_LABEL = 28
LONGEST_LINE = 80
INK, PAPER = "#555", "#ffffff"


def mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart."""
    names = {one["id"]: f"n{number}" for number, one in enumerate(graph.elements)}
    knots = {one: f"r{number}" for number, one in enumerate(_tied_to(graph))}
    names |= knots
    lines = ["flowchart LR"]
    for one in graph.elements:
        lines.append(f'  {names[one["id"]]}["{_mermaid_text(one["name"])}<br/><i>{one["type"]}</i>"]:::{one["layer"]}')
    for edge in graph.relationships:
        arrow = ARROWS.get(edge["type"], "-->") if _has_direction(edge) else "---"
        label = _mermaid_text(edge.get("name") or edge["type"])
        source, target = (names[edge[end]] for end in ENDS)
        if edge["id"] in knots:
            # No line can lead to a line, so this one gets a knot in the middle.
            half = "-.-" if edge["type"] in DASHED else "---"
            lines.append(f'  {source} {half}|"{label}"| {knots[edge["id"]]}(( ))')
            lines.append(f"  {knots[edge['id']]} {arrow} {target}")
        else:
            lines.append(f'  {source} {arrow}|"{label}"| {target}')
    used = {one["layer"] for one in graph.elements}
    lines += [f"  classDef {layer} fill:{colour},stroke:#555" for layer, colour in COLOURS.items() if layer in used]
    return "\n".join(lines) + "\n"


def svg(graph: Graph, title: str) -> str:
    """The graph as an SVG picture: as it was drawn, else layer by layer."""
    if graph.body is not None:
        return _canvas(Canvas(graph.body, _by_id(graph.elements), _by_id(graph.relationships)), graph, title)
    places = _placed(graph)
    corners = [(x + w, y + h) for x, y, w, h in places.values()]
    ends = _with_middles(graph, places)
    lines = (_line(edge, ends) for edge in graph.relationships)
    return _picture(title, corners, [*lines, *(_box(one, places[one["id"]]) for one in graph.elements)])


def _picture(title: str, corners: Sequence[Point], drawn: Sequence[str]) -> str:
    width = max((x for x, _ in corners), default=0) + MARGIN
    height = max((y for _, y in corners), default=0) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
        f' viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="12">',
        f"<title>{escaped(_printable(title))}</title>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8"'
        ' orient="auto-start-reverse"><path d="M0,0 L10,5 L0,10 z" fill="#555"/></marker></defs>',
        *drawn,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


Place = tuple[float, float, float, float]
Point = tuple[float, float]


def _by_id(things: Iterable[Thing]) -> dict[str, Thing]:
    return {one["id"]: one for one in things}


def _canvas(canvas: Canvas, graph: Graph, title: str) -> str:
    """Lines come last: the boxes around others would hide them."""
    elements, edges = _by_id(graph.elements), _by_id(graph.relationships)
    corners = [(x + w, y + h) for x, y, w, h in (one.place for one in canvas.shapes)]
    corners += [point for line in canvas.lines for point in line.bends]
    boxes = [_shape(one, elements.get(one.element_id or "")) for one in canvas.shapes]
    return _picture(title, corners, [*boxes, *(_bent(one, edges) for one in canvas.lines)])


def _shape(shape: Shape, element: Thing | None) -> str:
    if element is not None:
        return _box(element, shape.place, shape)
    x, y, w, h = shape.place
    fill = shape.fill or ("none" if shape.holds else PAPER)
    lines = [_shortened(line, LONGEST_LINE) for line in (shape.label or "").splitlines()[: max(1, int(h // 15))]]
    written = "".join(
        f'<text x="{x + 5:g}" y="{y + 15 * (number + 1):g}"{_ink(shape)}>{escaped(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f'<g><rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" stroke="{shape.stroke or INK}"/>'
        f"{written}</g>"
    )


def _ink(shape: Shape | None) -> str:
    return f' fill="{shape.letters}"' if shape and shape.letters else ""


def _bent(line: Line, edges: Mapping[str, Thing]) -> str:
    edge = edges.get(line.relationship_id or "")
    ends = line.source.middle, line.target.middle
    points = [ends[0], *line.bends, ends[1]]
    points[0] = _edge_of(*ends[0], *line.source.place[2:], *points[1])
    points[-1] = _edge_of(*ends[1], *line.target.place[2:], *points[-2])
    dash = ' stroke-dasharray="5 4"' if edge and edge["type"] in DASHED else ""
    tip = ' marker-end="url(#tip)"' if edge and _has_direction(edge) else ""
    title = f"<title>{escaped(_printable(edge.get('name') or edge['type']))}</title>" if edge else ""
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<g>{title}<polyline points="{way}" fill="none" stroke="{line.stroke or INK}"'
        f' stroke-width="{line.width}"{dash}{tip}/></g>'
    )


def _placed(graph: Graph) -> dict[str, Place]:
    places: dict[str, Place] = {}
    row = 0
    for layer in ("motivation", *(name for name in metamodel().layers if name != "motivation")):
        members = [one["id"] for one in graph.elements if one["layer"] == layer]
        for start in range(0, len(members), COLUMNS):
            for column, identifier in enumerate(members[start : start + COLUMNS]):
                places[identifier] = (
                    MARGIN + column * (WIDTH + GAP),
                    MARGIN + row * (HEIGHT + GAP),
                    WIDTH,
                    HEIGHT,
                )
            row += 1
    return places


def _tied_to(graph: Graph) -> list[str]:
    """The relationships that others lead to or from."""
    ends = {one[end] for one in graph.relationships for end in ENDS}
    return [one["id"] for one in graph.relationships if one["id"] in ends]


def _with_middles(graph: Graph, places: Mapping[str, Place]) -> dict[str, Place]:
    """The places, and the middle of every line: others may lead there."""
    found = dict(places)
    for edge in in_order(graph.relationships, places):
        (x1, y1, w1, h1), (x2, y2, w2, h2) = (found[edge[end]] for end in ENDS)
        found[edge["id"]] = ((x1 + w1 / 2 + x2 + w2 / 2) / 2, (y1 + h1 / 2 + y2 + h2 / 2) / 2, 0.0, 0.0)
    return found


def _box(element: Thing, place: Place, shape: Shape | None = None) -> str:
    x, y, w, h = place
    fill = (shape and shape.fill) or COLOURS[element["layer"]]
    stroke = (shape and shape.stroke) or INK
    # What is inside must not be written over.
    line = y + 15 if shape and shape.holds else y + h / 2
    name, kind = escaped(_shortened(element["name"])), escaped(element["type"])
    return (
        f"<g><title>{escaped(_printable(element['name']))}</title>"
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="3" fill="{fill}" stroke="{stroke}"'
        f" data-element={quoted(element['id'])}/>"
        f'<text x="{x + w / 2:g}" y="{line:g}" text-anchor="middle"{_ink(shape)}>{name}</text>'
        f'<text x="{x + w / 2:g}" y="{line + 15:g}" text-anchor="middle" font-size="9" fill="{INK}">{kind}</text>'
        "</g>"
    )


def _line(edge: Thing, places: Mapping[str, Place]) -> str:
    (x1, y1, w1, h1), (x2, y2, w2, h2) = places[edge["source_id"]], places[edge["target_id"]]
    dash = ' stroke-dasharray="5 4"' if edge["type"] in DASHED else ""
    tip = ' marker-end="url(#tip)"' if _has_direction(edge) else ""
    (ax, ay), (bx, by) = (x1 + w1 / 2, y1 + h1 / 2), (x2 + w2 / 2, y2 + h2 / 2)
    ex, ey = _edge_of(bx, by, w2, h2, ax, ay)
    return (
        f"<g><title>{escaped(_printable(edge.get('name') or edge['type']))}</title>"
        f'<line x1="{ax:g}" y1="{ay:g}" x2="{ex:.1f}" y2="{ey:.1f}" stroke="#555"{dash}{tip}/></g>'
    )


def _has_direction(edge: Thing) -> bool:
    return edge["type"] != "Association" or bool(edge.get("is_directed"))


def _edge_of(cx: float, cy: float, w: float, h: float, x: float, y: float) -> tuple[float, float]:
    """Where a line from (x, y) to the centre of a box meets its border."""
    dx, dy = x - cx, y - cy
    if not dx and not dy:
        return cx, cy
    scale = min(w / 2 / abs(dx) if dx else float("inf"), h / 2 / abs(dy) if dy else float("inf"), 1.0)
    return cx + dx * scale, cy + dy * scale


def _shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    text = _printable(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _mermaid_text(text: str) -> str:
    """Letters, digits and blanks as they are; everything with a meaning of its own as its number."""
    return "".join(
        letter if letter.isalnum() or letter in " .,-_" else f"#{ord(letter)};" for letter in _printable(text)
    )
