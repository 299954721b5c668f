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
from .folders import folders_of
from .parcel import MOST_BYTES, Parcel, Piece, unreadable, unsafe
from .trees import Node, read_tree
from .values import VALUES, shown_values

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
OTHER_VIEWS = {"SketchModel": "sketches", "CanvasModel": "canvases"}
"""Drawings that are no views of the model."""
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
    )
    parcel.properties, parcel.extra = _properties(root, {})
    kinds = {one.get("id") or "": clean(one.get("name") or "") for one in root.all("profile")}
    diagrams: list[Node] = []
    for node in _contents(root):
        _sort(node, kinds, parcel, diagrams)
    parcel.views = [view_of(node, parcel.left_out) for node in diagrams]
    known = {piece.id for piece in (*parcel.things, *parcel.views)}
    if folders := folders_of(root, known):
        parcel.extra["organizations"] = folders
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
    if kind == "ArchimateDiagramModel":
        diagrams.append(node)
        return
    if kind in OTHER_VIEWS or kind.endswith("DiagramModel"):
        parcel.left_out[OTHER_VIEWS.get(kind, "other diagrams")] += 1
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
    properties, extra = _properties(node, kinds)
    if properties:
        said["properties"] = properties
    return {**said, "extra": extra} if extra else said


def _properties(node: Node, kinds: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Properties, and all values of those that are there more than once: Archi allows it, a map does not."""
    found: dict[str, list[dict[str, str]]] = {}
    for one in node.all("property"):
        found.setdefault(one.get("key") or "", []).append({"value": one.get("value") or ""})
    several = {key: values for key, values in found.items() if len(values) > 1}
    shown = {key: shown_values(values)[0] for key, values in found.items()}
    special = kinds.get((node.get("profiles") or "").split(" ")[0])
    if special:
        shown.setdefault("specialization", special)
    return shown, {VALUES: several} if several else {}
