"""The ArchiMate Model Exchange File Format, in."""

from __future__ import annotations

from typing import Any

from engross.replies import codes

from ..metamodel import metamodel
from .parcel import Parcel, Piece, unreadable
from .texts import described, properties_of, shown, variants
from .trees import Node, read_tree

NAMESPACE = "http://www.opengroup.org/xsd/archimate/3.0/"
FORMAT = "exchange_xml"
NAMELESS = ("AndJunction", "OrJunction", "Grouping", "Location")
KEPT_WHOLE = ("metadata", "organizations")


def read_exchange(content: bytes) -> Parcel:
    """What an exchange file brings. References are resolved by whoever takes it over."""
    root = read_tree(content, FORMAT, NAMESPACE)
    if root.name != "model" or root.space:
        raise unreadable(FORMAT, f"the root is not a model of {NAMESPACE}")
    definitions, kinds = _definitions(root)
    name, told, extra = described(root)
    values, more = properties_of(root, definitions)
    parcel = Parcel(name or "Imported model", FORMAT, root.get("identifier"), told, dict(values), {**extra, **more})
    parcel.extra |= {key: found for key in KEPT_WHOLE if (found := [one.as_data() for one in root.all(key)])}
    if kinds:
        parcel.extra["property_definitions"] = kinds
    _take(root, "elements", "element", parcel.elements, lambda node: _element(node, definitions, parcel))
    _take(
        root,
        "relationships",
        "relationship",
        parcel.relationships,
        lambda node: _relationship(node, definitions, parcel),
    )
    _views(root, parcel)
    return parcel


def _definitions(root: Node) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Property names by the id of their definition, and definitions by name. They come after their use."""
    names: dict[str, str] = {}
    kinds: dict[str, dict[str, str]] = {}
    holder = root.first("propertyDefinitions")
    for one in holder.all("propertyDefinition") if holder else ():
        identifier = one.get("identifier") or ""
        name = shown(variants(one, "name")) or identifier
        if name in kinds:
            name = f"{name} [{identifier}]"
        names[identifier] = name
        kinds[name] = {"id": identifier, "type": one.get("type") or "string"}
    return names, kinds


def _take(root: Node, holder: str, name: str, into: list[Piece], read: Any) -> None:
    found = root.first(holder)
    for node in found.all(name) if found else ():
        piece = read(node)
        if piece is not None:
            into.append(piece)


def _element(node: Node, definitions: dict[str, str], parcel: Parcel) -> Piece | None:
    identifier, kind = node.get("identifier") or "", node.kind
    if kind not in metamodel().creatable_types:
        parcel.refuse(codes.INVALID_ELEMENT_TYPE, identifier, type=(kind or "(none)")[:80])
        return None
    name, told, extra = described(node)
    values, more = properties_of(node, definitions)
    return Piece(identifier, _said(kind, name, told, values, {**extra, **more}))


def _relationship(node: Node, definitions: dict[str, str], parcel: Parcel) -> Piece | None:
    identifier, kind = node.get("identifier") or "", node.kind
    if kind not in metamodel().relationship_types:
        parcel.refuse(codes.INVALID_RELATIONSHIP_TYPE, identifier, type=(kind or "(none)")[:80])
        return None
    name, told, extra = described(node)
    values, more = properties_of(node, definitions)
    said = _said(kind, name, told, values, {**extra, **more})
    said |= {"source_id": node.get("source") or "", "target_id": node.get("target") or ""}
    if kind == "Access":
        said["access_type"] = node.get("accessType") or "Access"
    if kind == "Influence" and node.get("modifier"):
        said["modifier"] = node.get("modifier")
    if kind == "Association" and node.get("isDirected") is not None:
        said["is_directed"] = node.get("isDirected") in ("true", "1")
    return Piece(identifier, said)


def _said(kind: str, name: str, told: str | None, values: dict[str, str], extra: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"type": kind, "name": name}
    for key, value in (("description", told), ("properties", values), ("extra", extra)):
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
