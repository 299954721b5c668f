"""Archi's own format, in: plain, or zipped with its images."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

from engross.replies import codes

from ..metamodel import metamodel
from ..names import clean
from .archi_views import view_of
from .parcel import MOST_BYTES, Parcel, Piece, unreadable, unsafe
from .trees import Node, read_tree

NAMESPACE = "http://www.archimatetool.com/archimate"
FORMAT = "archimate"
ZIPPED = b"PK\x03\x04"
INSIDE = "model.xml"
MOST_ENTRIES = 10_000
MOST_RATIO = 200
BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError),
    *(EOFError, OSError, RuntimeError, ValueError),
)
"""What the library raises for archives that are none, or of a kind that it does not know."""
ACCESS = {"0": "Write", "1": "Read", "2": "Access", "3": "ReadWrite"}


def read_archi(content: bytes) -> Parcel:
    """What a file of Archi's brings."""
    root = read_tree(unzipped(content), FORMAT, NAMESPACE)
    if root.name != "model" or root.space:
        raise unreadable(FORMAT, f"the root is not a model of {NAMESPACE}")
    purpose = root.first("purpose")
    parcel = Parcel(
        clean(root.get("name") or "") or "Imported model",
        FORMAT,
        root.get("id"),
        (purpose.text or None) if purpose else None,
        _properties(root, {}),
    )
    kinds = {one.get("id") or "": clean(one.get("name") or "") for one in root.all("profile")}
    diagrams: list[Node] = []
    for node in _contents(root):
        _sort(node, kinds, parcel, diagrams)
    parcel.views = [view_of(node) for node in diagrams]
    return parcel


def unzipped(content: bytes) -> bytes:
    """The model inside a zipped file; a plain one as it is. Sizes are counted while unpacking, not believed."""
    if not content.startswith(ZIPPED):
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise unsafe("too many files in one archive")
            inside = [one for one in entries if one.filename == INSIDE]
            if len(inside) != 1:
                raise unreadable(FORMAT, f"the archive does not hold one {INSIDE}")
            if inside[0].flag_bits & 1:
                raise unsafe("an encrypted archive")
            limit = min(MOST_BYTES, max(1_000_000, len(content) * MOST_RATIO))
            with archive.open(inside[0]) as file:
                text = file.read(limit + 1)
    except BROKEN:
        raise unreadable(FORMAT, "this is not a whole archive") from None
    if len(text) > limit:
        raise unsafe("an archive that grows beyond measure")
    return text


def _contents(root: Node) -> list[Node]:
    """Everything in the folders, in the order of the file."""
    found: list[Node] = []
    pending = list(reversed(list(root.all("folder"))))
    while pending:
        folder = pending.pop()
        found += folder.all("element")
        pending += reversed(list(folder.all("folder")))
    return found


def _sort(node: Node, kinds: dict[str, str], parcel: Parcel, diagrams: list[Node]) -> None:
    kind, identifier = node.kind or "", node.get("id") or ""
    if kind.endswith("DiagramModel") or kind in ("SketchModel", "CanvasModel"):
        if kind == "ArchimateDiagramModel":
            diagrams.append(node)
        return
    if node.get("source") is not None or node.get("target") is not None:
        _relationship(node, kind, identifier, kinds, parcel)
        return
    element_type = _element_type(node, kind)
    if element_type is None:
        parcel.refuse(codes.INVALID_ELEMENT_TYPE, identifier, type=(kind or "(none)")[:80])
        return
    parcel.elements.append(Piece(identifier, _said(node, element_type, kinds)))


def _element_type(node: Node, kind: str) -> str | None:
    if kind == "Junction":
        return "OrJunction" if node.get("type") == "or" else "AndJunction"
    meant = metamodel().element_type(kind)
    return meant.type if meant else None


def _relationship(node: Node, kind: str, identifier: str, kinds: dict[str, str], parcel: Parcel) -> None:
    meant = metamodel().relationship_type(kind)
    if meant is None:
        parcel.refuse(codes.INVALID_RELATIONSHIP_TYPE, identifier, type=(kind or "(none)")[:80])
        return
    said = _said(node, meant.type, kinds)
    said |= {"source_id": node.get("source") or "", "target_id": node.get("target") or ""}
    if meant.type == "Access":
        # Archi leaves its own default out, and that is Write.
        said["access_type"] = ACCESS.get(node.get("accessType") or "0", "Write")
    if meant.type == "Influence" and node.get("strength"):
        said["modifier"] = (node.get("strength") or "")[:20]
    if meant.type == "Association" and node.get("directed") is not None:
        said["is_directed"] = node.get("directed") == "true"
    parcel.relationships.append(Piece(identifier, said))


def _said(node: Node, kind: str, kinds: dict[str, str]) -> dict[str, Any]:
    said: dict[str, Any] = {"type": kind, "name": clean(node.get("name") or "")}
    told = node.first("documentation")
    if told is not None and told.text:
        said["description"] = told.text
    properties = _properties(node, kinds)
    if properties:
        said["properties"] = properties
    return said


def _properties(node: Node, kinds: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in node.all("property"):
        key, value = one.get("key") or "", one.get("value") or ""
        # Archi lets a key be there twice; a map does not.
        found[key] = f"{found[key]}\n{value}" if key in found else value
    special = kinds.get((node.get("profiles") or "").split(" ")[0])
    if special:
        found.setdefault("specialization", special)
    return found
