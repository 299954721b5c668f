"""Which block a line belongs to. The stack is our own, so nesting may be as deep as it likes."""

from __future__ import annotations

from .node import Assignment, Comment, Node
from .receipt import Receipt


class _Open:
    """A block or section whose children are being read.

    `level` is their indentation, once one has come that has its own; `holds` is whether any has come.
    """

    __slots__ = ("children", "head", "holds", "is_meta", "level")

    def __init__(self, children: list[Node], head: int, is_meta: bool) -> None:
        self.children = children
        self.head = head
        self.level = -1
        self.holds = False
        self.is_meta = is_meta

    def takes(self, indent: int) -> bool:
        """Whether a line with this indentation belongs here."""
        return indent > self.head if self.level < 0 else indent >= self.level

    def takes_comment(self, indent: int, outermost: bool) -> bool:
        """Whether a comment does: one at the margin ends the block above it, unless that is META or a zone.

        So does one that is indented too little for any block.
        """
        return self.takes(indent) or (
            (indent == 0 or outermost) and self.holds and not self.is_meta and not _ends_with_zone(self.children)
        )


class Nesting:
    """The blocks and sections that are open.

    `children` is the innermost one's; `level` the indentation that the next line may have to belong there without
    asking: none, if ours is odd or a comment waits.
    """

    def __init__(self, receipts: list[Receipt]) -> None:
        self._receipts = receipts
        self._stack: list[_Open] = []
        self._waiting: list[tuple[int, Comment]] = []
        self._nodes: list[Node] = []
        self.children: list[Node] = []
        self.level = 0

    @property
    def depth(self) -> int:
        """How many blocks and sections are open."""
        return len(self._stack)

    @property
    def in_meta(self) -> bool:
        """Whether META is open."""
        return bool(self._stack) and self._stack[0].is_meta

    def begin(self, nodes: list[Node]) -> None:
        """Begin an envelope with these nodes."""
        self._nodes = self.children = nodes
        self.level = 0

    def end(self) -> None:
        """End it: every block is closed, every comment has its place."""
        self._settle_comments(0)
        self._stack.clear()

    def open(self, children: list[Node], indent: int, is_meta: bool = False) -> None:
        """Open a block or section whose head has this indentation."""
        self._stack.append(_Open(children, indent, is_meta or self.in_meta))
        self.level = -1

    def place(self, indent: int, line: int, zone: bool = False) -> None:
        """Close what a line with this indentation does not belong to. A zone right below a head belongs to it."""
        stack = self._stack
        keep = len(stack)
        if not (zone and stack and stack[-1].level < 0 and not self._waiting):
            while keep and not stack[keep - 1].takes(indent):
                keep -= 1
        if self._waiting:
            self._settle_comments(keep)
        del stack[keep:]
        self.children, level = self._nodes, 0
        if stack:
            top = stack[-1]
            top.holds = True
            if top.level < 0 and indent > top.head:
                top.level = indent
            self.children, level = top.children, top.level
        self.level = level if level == indent == 2 * keep else -1
        if indent != 2 * keep:
            self._receipts.append(Receipt("indentation", line, 1, " " * indent, "  " * keep))

    def comment(self, text: str, indent: int, line: int) -> None:
        """Take a comment; inside a block it waits for the next line to say where it belongs."""
        if self._stack:
            self._waiting.append((indent, Comment(text, line)))
            self.level = -1
            return
        self._nodes.append(Comment(text, line))
        if indent:
            self._receipts.append(Receipt("indentation", line, 1, " " * indent, ""))

    def _settle_comments(self, keep: int) -> None:
        """Give each waiting comment to the block it is indented for, among those that the next line closes."""
        stack = self._stack
        for indent, comment in self._waiting:
            while len(stack) > keep and not stack[-1].takes_comment(indent, len(stack) == 1):
                stack.pop()
            (stack[-1].children if stack else self._nodes).append(comment)
            if indent != 2 * len(stack):
                self._receipts.append(Receipt("indentation", comment.line, 1, " " * indent, "  " * len(stack)))
        self._waiting.clear()


def _ends_with_zone(children: list[Node]) -> bool:
    last = children[-1] if children else None
    return isinstance(last, Assignment) and not last.key
