"""YAML as a tree of nodes that know where they stand."""

from __future__ import annotations

from typing import Any, TypeAlias

from .model import Place


class Scalar:
    """A single value, and the text it was written as."""

    __slots__ = ("depth", "place", "quoted", "text", "value", "weight")

    def __init__(self, place: Place, text: str, value: Any, quoted: bool) -> None:
        self.place = place
        self.text = text
        self.value = value
        self.quoted = quoted
        self.weight = self.depth = 1


class Listed:
    """A list."""

    __slots__ = ("depth", "items", "place", "weight")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.items: list[Node] = []
        self.weight = self.depth = 1


class Keyed:
    """A map: what stands under each key, and where the key stands."""

    __slots__ = ("depth", "entries", "keys", "place", "weight")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.entries: dict[str, Node] = {}
        self.keys: dict[str, Place] = {}
        self.weight = self.depth = 1


Node: TypeAlias = Scalar | Listed | Keyed


def plain(node: Node) -> Any:
    """The same as ordinary data. A document's depth is capped, so this may recurse."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Listed):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.entries.items()}


def kind_of(node: Node) -> str:
    """What it is, for people."""
    if isinstance(node, Listed):
        return "a list"
    if isinstance(node, Keyed):
        return "a map"
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(node.value), "nothing")
