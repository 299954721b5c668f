"""Folders, as the exchange format has them: trees of items, of which the leaves refer to what is in the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ..names import clean
from .trees import Node

Tree = list[Any]


def folders_of(root: Node, known: Collection[str]) -> list[Tree]:
    """Archi's folders, with those of these things that are in them."""
    items = [_folder(one, known) for one in root.all("folder")]
    return [["organizations", {}, "", items]] if items else []


def merged(before: Sequence[Tree], new: Sequence[Tree]) -> list[Tree]:
    """The folders of two files: what the new one puts into a folder is in no other any more."""
    placed = {reference for tree in new for reference in _references(tree)}
    kept = [one for tree in before if (one := _without(tree, placed)) is not None]
    return [*kept, *new]


def _folder(node: Node, known: Collection[str]) -> Tree:
    label: Tree = ["label", {}, clean(node.get("name") or "") or " ", []]
    told = node.first("documentation")
    documentation: list[Tree] = [["documentation", {}, told.text, []]] if told is not None and told.text else []
    inside = [_folder(one, known) for one in node.all("folder")]
    leaves: list[Tree] = [
        ["item", {"identifierRef": identifier}, "", []]
        for one in node.all("element")
        if (identifier := one.get("id") or "") in known
    ]
    return ["item", {}, "", [label, *documentation, *inside, *leaves]]


def _references(tree: Tree) -> Iterator[str]:
    _, attributes, _, children = tree
    if "identifierRef" in attributes:
        yield attributes["identifierRef"]
    for child in children:
        yield from _references(child)


def _without(tree: Tree, placed: Collection[str]) -> Tree | None:
    """A tree without what has another place, and without folders that nothing is in then."""
    name, attributes, text, children = tree
    if "identifierRef" in attributes:
        return None if attributes["identifierRef"] in placed else tree
    if name not in ("item", "organizations"):
        return tree
    kept = [one for child in children if (one := _without(child, placed)) is not None]
    return [name, attributes, text, kept] if any(child[0] == "item" for child in kept) else None
