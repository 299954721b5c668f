"""Views: the whole document, or what one kind of reader wants of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final, NamedTuple
from typing import Literal as Choice

from .document import Document, Envelope
from .node import Assignment, Block, Comment, Node, Section, Separator

Mode = Choice["canonical", "authoring", "executive", "developer"]
MODES: Final[tuple[Mode, ...]] = ("canonical", "authoring", "executive", "developer")
KEPT: Final[Mapping[str, frozenset[str]]] = {
    "executive": frozenset({"STATUS", "RISKS", "DECISIONS"}),
    "developer": frozenset({"TESTS", "CI", "DEPS"}),
}


class View(NamedTuple):
    """What is left of a document, and the paths of what was left out; a block that is left out whole is named once."""

    document: Document
    omitted: list[str]
    comments_omitted: int


def view_of(document: Document, mode: Mode) -> View:
    """A view of a document. META is always kept, and a kept key keeps everything below it."""
    wanted = KEPT.get(mode)
    if wanted is None:
        return View(document, [], 0)
    kept = Document([], document.frontmatter, document.version)
    omitted: list[str] = []
    comments = len(document.after)
    for envelope in document.envelopes:
        chosen = _Chosen(envelope, wanted)
        kept.envelopes.append(Envelope(envelope.name, chosen.nodes(envelope.nodes), [], envelope.line))
        omitted += chosen.omitted
        comments += chosen.comments + len(envelope.before)
    return View(kept, omitted, comments)


class _Chosen:
    """Chooses among the nodes of an envelope, level by level, so that what is missing at the top is told first."""

    def __init__(self, envelope: Envelope, wanted: frozenset[str]) -> None:
        self._meta = envelope.meta
        self._wanted = wanted
        self._leading = _ids_of_leading(envelope.nodes, wanted)
        self.omitted: list[str] = []
        self.comments = 0

    def nodes(self, nodes: list[Node], path: str = "") -> list[Node]:
        """The nodes that are kept."""
        kept: list[Node] = []
        pending = deque([(nodes, kept, path)])
        while pending:
            source, target, above = pending.popleft()
            for node in source:
                if isinstance(node, Comment):
                    self.comments += 1
                elif isinstance(node, Separator) or node is self._meta or node.key in self._wanted or self._named(node):
                    target.append(node)
                elif id(node) in self._leading and isinstance(node, (Block, Section)):
                    twin = _emptied(node)
                    target.append(twin)
                    pending.append((node.children, twin.children, _join(above, node.key)))
                else:
                    self.omitted.append(_join(above, node.key))
        return kept

    def _named(self, node: Node) -> bool:
        return isinstance(node, Section) and node.name in self._wanted


def _ids_of_leading(nodes: list[Node], wanted: frozenset[str]) -> set[int]:
    """Blocks and sections that have a wanted key somewhere below."""
    leading: set[int] = set()
    pending: list[tuple[Node, tuple[object, ...] | None]] = [(node, None) for node in nodes]
    while pending:
        node, above = pending.pop()
        if isinstance(node, (Comment, Separator)):
            continue
        if node.key in wanted or (isinstance(node, Section) and node.name in wanted):
            while above is not None and id(above[0]) not in leading:
                leading.add(id(above[0]))
                above = above[1]  # type: ignore[assignment]
        elif not isinstance(node, Assignment):
            pending.extend((child, (node, above)) for child in node.children)
    return leading


def _emptied(node: Block | Section) -> Block | Section:
    if isinstance(node, Block):
        return Block(node.key, [], node.line, node.note)
    return Section(node.id, node.name, [], node.line, node.note)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
