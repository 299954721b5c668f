"""The ArchiMate Model Exchange File Format, in."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from sys import intern
from typing import Any

from engross.replies import codes

from ..metamodel import metamodel
from .definitions import Definitions
from .parcel import Parcel, Piece, unreadable
from .texts import described, properties_of
from .trees import Node, Takers, read_tree
from .values import VALUES

NAMESPACE = "http://www.opengroup.org/xsd/archimate/3.0/"
FORMAT = "exchange_xml"
NAMELESS = ("AndJunction", "OrJunction", "Grouping", "Location")
KEPT_WHOLE = ("metadata", "organizations")


def read_exchange(content: bytes) -> Parcel:
    """What an exchange file brings. References are resolved by whoever takes it over."""
    parcel = Parcel("Imported model", FORMAT)
    takers: Takers = {
        "elements": lambda node: _element(node, parcel) if node.name == "element" else None,
        "relationships": lambda node: _relationship(node, parcel) if node.name == "relationship" else None,
    }
    root = read_tree(content, FORMAT, NAMESPACE, takers)
    if root.name != "model" or root.space:
        raise unreadable(FORMAT, f"the root is not a model of {NAMESPACE}")
    definitions = Definitions(root)
    name, told, extra = described(root)
    parcel.name, parcel.id, parcel.description = name or parcel.name, root.get("identifier"), told
    parcel.extra = {**extra, **definitions.extra}
    parcel.extra |= {key: found for key in KEPT_WHOLE if (found := [one.as_data() for one in root.all(key)])}
    if version := root.get("version"):
        parcel.extra["version"] = version
    whole: dict[str, Any] = {"properties": properties_of(root), "extra": parcel.extra}
    for said in chain([whole], (one.said for one in parcel.things)):
        _name_properties(said, definitions, parcel.undefined)
    parcel.properties = whole.get("properties", {})
    _views(root, parcel)
    return parcel


def _name_properties(said: dict[str, Any], definitions: Definitions, undefined: Counter[str]) -> None:
    """Call properties by their names: a file says what they are called when everything has been said with them."""
    if "properties" not in said:
        return
    said["properties"], several = definitions.read(said["properties"], undefined)
    if several:
        said.setdefault("extra", {})[VALUES] = several


def _element(node: Node, parcel: Parcel) -> None:
    identifier, kind = node.get("identifier") or "", node.kind
    if kind not in metamodel().creatable_types:
        parcel.refuse(codes.INVALID_ELEMENT_TYPE, identifier, type=(kind or "(none)")[:80])
        return
    parcel.elements.append(Piece(intern(identifier), _said(kind, node)))


def _relationship(node: Node, parcel: Parcel) -> None:
    identifier, kind = node.get("identifier") or "", node.kind
    if kind not in metamodel().relationship_types:
        parcel.refuse(codes.INVALID_RELATIONSHIP_TYPE, identifier, type=(kind or "(none)")[:80])
        return
    said = _said(kind, node)
    # The same few ids come again and again.
    said["source_id"], said["target_id"] = intern(node.get("source") or ""), intern(node.get("target") or "")
    if kind == "Access":
        said["access_type"] = node.get("accessType") or "Access"
    if kind == "Influence" and node.get("modifier"):
        said["modifier"] = node.get("modifier")
    if kind == "Association" and node.get("isDirected") is not None:
        said["is_directed"] = node.get("isDirected") in ("true", "1")
    parcel.relationships.append(Piece(identifier, said))


def _said(kind: str, node: Node) -> dict[str, Any]:
    if not node.children:
        return {"type": intern(kind), "name": ""}
    name, told, extra = described(node)
    said: dict[str, Any] = {"type": intern(kind), "name": name}
    for key, value in (("description", told), ("properties", properties_of(node)), ("extra", extra)):
        if value:
            said[key] = value
    return said


def _views(root: Node, parcel: Parcel) -> None:
    views = root.first("views")
    if views is None:
        return
    viewpoints = views.first("viewpoints")
    if viewpoints is not None:
        parcel.extra["viewpoints"] = viewpoints.as_data()
    diagrams = views.first("diagrams")
    for node in diagrams.all("view") if diagrams else ():
        name, _, _ = described(node)
        parcel.views.append(Piece(node.get("identifier") or "", {"name": name or "View", "tree": node.as_data()}))
