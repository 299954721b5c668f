"""Where names lead among nodes, remembered while nodes come and go, so that many lookups cost little more than one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from .node import Comment, Node, Section, Separator

# Stands where a node was removed until the gaps are closed, so that every place keeps its number.
_GAP: Final = Comment("")


class Names:
    """What goes by which name in lists of nodes. Whoever changes such a list otherwise has to say so."""

    def __init__(self) -> None:
        # By identity; the lists are held, so that none can take the place of another.
        self._known: dict[int, tuple[list[Node], dict[str, list[int]]]] = {}
        self._ends: dict[int, int] = {}
        self._gaps: dict[int, list[Node]] = {}

    def places(self, nodes: list[Node], name: str) -> Sequence[int]:
        """Where the nodes stand that go by a name, in order."""
        return self._of(nodes).get(name, ())

    def add(self, nodes: list[Node], node: Node) -> None:
        """Put a node behind the last one, before the comments that end the block."""
        known = self._of(nodes)
        end = self._ends.get(id(nodes), len(nodes))
        if id(nodes) not in self._ends:
            while end and isinstance(nodes[end - 1], Comment):
                end -= 1
        nodes.insert(end, node)
        self._ends[id(nodes)] = end + 1
        _note(known, end, node)

    def remove(self, nodes: list[Node], places: Iterable[int]) -> None:
        """Take nodes out."""
        known, gone = self._of(nodes), set(places)
        for name in {name for at in gone for name in names_of(nodes[at])}:
            known[name] = [at for at in known[name] if at not in gone]
        for at in gone:
            nodes[at] = _GAP
        self._gaps[id(nodes)] = nodes

    def forget(self, nodes: list[Node]) -> None:
        """The list was changed by other means."""
        self._known.pop(id(nodes), None)
        self._ends.pop(id(nodes), None)

    def close_gaps(self) -> None:
        """Let the nodes that are left move up; nothing is known about their lists any more."""
        for nodes in self._gaps.values():
            nodes[:] = [node for node in nodes if node is not _GAP]
        self._known, self._ends, self._gaps = {}, {}, {}

    def _of(self, nodes: list[Node]) -> dict[str, list[int]]:
        found = self._known.get(id(nodes))
        if found is not None:
            return found[1]
        known: dict[str, list[int]] = {}
        for at, node in enumerate(nodes):
            _note(known, at, node)
        self._known[id(nodes)] = (nodes, known)
        return known


def names_of(node: Node) -> tuple[str, ...]:
    """What a node is called: a section by its head, or by its mark and id; a bare zone by nothing."""
    if isinstance(node, Section):
        return (f"§{node.id}", node.key)
    return (node.key,) if not isinstance(node, (Comment, Separator)) and node.key else ()


def _note(known: dict[str, list[int]], at: int, node: Node) -> None:
    for name in names_of(node):
        known.setdefault(name, []).append(at)
