"""What the exchange format's schema asks of a file, as far as it can be told without the schema: see `complaints`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from engross.domains.architecture import metamodel

SPACE = "{http://www.opengroup.org/xsd/archimate/3.0/}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
NCNAME = re.compile(r"[^\W\d][\w.\-]*|_[\w.\-]*")
NAMELESS = ("AndJunction", "OrJunction", "Grouping", "Location")
ORDER = {
    "model": (
        *("name", "documentation", "properties", "metadata", "elements", "relationships", "organizations"),
        *("propertyDefinitions", "views"),
    ),
    "element": ("name", "documentation", "properties"),
    "relationship": ("name", "documentation", "properties"),
    "property": ("value",),
    "propertyDefinition": ("name",),
    "views": ("viewpoints", "diagrams"),
    "view": ("name", "documentation", "properties", "node", "connection"),
    "node": ("label", "documentation", "properties", "style", "viewRef", "node"),
    "connection": (
        "label",
        "documentation",
        "properties",
        "style",
        "sourceAttachment",
        "bendpoint",
        "targetAttachment",
    ),
}
CONTAINERS = ("elements", "relationships", "organizations", "propertyDefinitions", "properties", "diagrams", "views")
ONCE = ("properties", "metadata", "elements", "relationships", "propertyDefinitions", "views", "viewpoints", "diagrams")
ACCESS = ("Access", "Read", "Write", "ReadWrite")
VALUE_TYPES = ("string", "boolean", "currency", "date", "time", "number")
ATTRIBUTES = {
    "element": {"identifier", "type"},
    "relationship": {"identifier", "type", "source", "target", "accessType", "modifier", "isDirected"},
    "node": {"identifier", "type", "elementRef", "x", "y", "w", "h"},
    "connection": {"identifier", "type", "relationshipRef", "source", "target"},
    "view": {"identifier", "type", "viewpoint", "viewpointRef"},
    "bendpoint": {"x", "y"},
}


def complaints(text: str) -> list[str]:
    """Everything about a file that the schema would refuse: order, containers, ids, references, types, places."""
    root = ElementTree.fromstring(text)
    if root.tag != f"{SPACE}model":
        return [f"the root is {root.tag}"]
    everything = [one for one in root.iter() if one.tag.startswith(SPACE)]
    return [
        *(complaint for one in everything for complaint in _of_one(one)),
        *_of_ids(everything),
        *_of_references(root, everything),
    ]


def _name(one: Element) -> str:
    return one.tag.removeprefix(SPACE)


def _children(one: Element) -> list[str]:
    return [_name(child) for child in one if child.tag.startswith(SPACE)]


def _of_one(one: Element) -> Iterator[str]:
    name, inside = _name(one), _children(one)
    if name in ORDER:
        places = [ORDER[name].index(child) for child in inside if child in ORDER[name]]
        if places != sorted(places) and name != "view":
            yield f"the children of {name} are out of order: {inside}"
        yield from (f"{child} inside {name}" for child in inside if child not in ORDER[name])
    if name in CONTAINERS and not len(one):
        yield f"an empty {name}"
    yield from (f"{child} twice in {name}" for child, times in Counter(inside).items() if times > 1 and child in ONCE)
    if name in ATTRIBUTES:
        said = {key.removeprefix(XSI) for key in one.attrib}
        yield from (f"the attribute {key} of {name}" for key in said - ATTRIBUTES[name])
    yield from _of_kind(one, name, inside)


def _of_kind(one: Element, name: str, inside: list[str]) -> Iterator[str]:
    kind = one.get(f"{XSI}type")
    if name == "model" and "name" not in inside:
        yield "a model without a name"
    if name == "element":
        if kind not in metamodel().creatable_types:
            yield f"an element of type {kind}"
        if "name" not in inside and kind not in NAMELESS:
            yield f"a {kind} without a name"
    if name == "relationship":
        if kind not in metamodel().relationship_types:
            yield f"a relationship of type {kind}"
        if kind == "Access" and one.get("accessType") not in ACCESS:
            yield f"access {one.get('accessType')}"
        if one.get("isDirected") not in (None, "true", "false"):
            yield f"directed {one.get('isDirected')}"
    if name == "property" and not inside:
        yield "a property without a value"
    if name == "propertyDefinition" and (one.get("type") not in VALUE_TYPES or "name" not in inside):
        yield "a property definition without a type or a name"
    if name in ("node", "bendpoint"):
        yield from (f"{key}={one.get(key)}" for key in ("x", "y") if not str(one.get(key, "")).isdecimal())
    if name == "node":
        yield from (f"{key}={one.get(key)}" for key in ("w", "h") if not str(one.get(key, "")).strip("0"))
        if kind not in ("Element", "Container", "Label") or (kind == "Element") != ("elementRef" in one.attrib):
            yield f"a node of type {kind} that shows {one.get('elementRef')}"
    if name == "connection" and (
        kind not in ("Relationship", "Line") or (kind == "Relationship") != ("relationshipRef" in one.attrib)
    ):
        yield f"a connection of type {kind} that shows {one.get('relationshipRef')}"


def _of_ids(everything: list[Element]) -> Iterator[str]:
    given = Counter(one.attrib["identifier"] for one in everything if "identifier" in one.attrib)
    for identifier, times in given.items():
        if times > 1:
            yield f"the id {identifier} is there {times} times"
        if not NCNAME.fullmatch(identifier):
            yield f"{identifier!r} is no id"


def _of_references(root: Element, everything: list[Element]) -> Iterator[str]:
    ids = {name: {one.get("identifier") for one in everything if _name(one) == name} for name in IDENTIFIED}
    concepts = ids["element"] | ids["relationship"]
    shapes = ids["node"] | ids["connection"]
    known = {"elementRef": ids["element"], "relationshipRef": ids["relationship"]}
    known |= {"propertyDefinitionRef": ids["propertyDefinition"], "viewpointRef": ids["viewpoint"]}
    known["identifierRef"] = concepts | ids["view"]
    for one in everything:
        for key, value in one.attrib.items():
            if key in known and value not in known[key]:
                yield f"{key} {value} leads nowhere"
            ends = {"relationship": concepts, "connection": shapes}.get(_name(one))
            if key in ("source", "target") and ends is not None and value not in ends:
                yield f"{_name(one)} with the {key} {value}, which is not there"


IDENTIFIED = ("element", "relationship", "node", "connection", "view", "propertyDefinition", "viewpoint")
