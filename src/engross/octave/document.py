"""A document: one envelope or more, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .node import Assignment, Block, Comment, Node, Section, Separator
from .receipt import Receipt
from .value import Value

INFERRED: Final = "INFERRED"


class Envelope:
    """`===NAME===` to `===END===`. `before` holds the comments above its first line."""

    __slots__ = ("before", "line", "name", "nodes")

    def __init__(
        self, name: str = INFERRED, nodes: list[Node] | None = None, before: list[str] | None = None, line: int = 0
    ) -> None:
        self.name = name
        self.nodes: list[Node] = [] if nodes is None else nodes
        self.before: list[str] = [] if before is None else before
        self.line = line

    @property
    def meta(self) -> Block | None:
        """META: only the first node can be it."""
        for node in self.nodes:
            if not isinstance(node, (Comment, Separator)):
                return node if isinstance(node, Block) and node.key == "META" else None
        return None

    def __repr__(self) -> str:
        return f"Envelope({self.name!r}, {len(self.nodes)} nodes)"


class Document:
    """A parsed document. `receipts` says how its text differed from the canonical one."""

    __slots__ = ("after", "envelopes", "frontmatter", "receipts", "version")

    def __init__(
        self,
        envelopes: list[Envelope] | None = None,
        frontmatter: str | None = None,
        version: str | None = None,
        after: list[str] | None = None,
    ) -> None:
        self.envelopes = [Envelope()] if envelopes is None else envelopes
        self.frontmatter = frontmatter
        self.version = version
        self.after: list[str] = [] if after is None else after
        self.receipts: list[Receipt] = []

    @property
    def name(self) -> str:
        """The name of the first envelope."""
        return self.envelopes[0].name

    @property
    def meta(self) -> Block | None:
        """META of the first envelope."""
        return self.envelopes[0].meta

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the first envelope, META among them."""
        return self.envelopes[0].nodes

    def meta_value(self, key: str) -> Value:
        """What META says under a key; null where it says nothing."""
        children = self.meta.children if self.meta is not None else []
        found = [node.value for node in children if isinstance(node, Assignment) and node.key == key]
        return found[-1] if found else None

    def walk(self) -> Iterator[Node]:
        """Every node of every envelope, in the order of the text."""
        pending: list[Node] = [node for envelope in reversed(self.envelopes) for node in reversed(envelope.nodes)]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, (Block, Section)):
                pending.extend(reversed(node.children))

    def __repr__(self) -> str:
        return f"Document({self.envelopes!r})"
