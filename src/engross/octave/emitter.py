"""The canonical text of a document: one text for all spellings, and its own canonical text."""

from __future__ import annotations

from collections.abc import Iterator

from .document import Document, Envelope
from .head import assignment_head, block_head, section_head
from .node import Assignment, Block, Comment, Node, Section
from .spelling import spelled
from .value import Literal


def emit(document: Document) -> str:
    """Write a document in its canonical form."""
    lines: list[str] = []
    if document.frontmatter:
        lines += ["---", document.frontmatter, "---", ""]
    if document.version is not None:
        lines.append(f"OCTAVE::{document.version}")
    for place, envelope in enumerate(document.envelopes):
        if place:
            lines.append("")
        _envelope(envelope, lines)
    lines += [f"// {text}" for text in document.after]
    lines.append("")
    return "\n".join(lines)


def emit_nodes(nodes: list[Node]) -> str:
    """Write nodes alone, as they would stand at the margin."""
    lines: list[str] = []
    _nodes(nodes, lines)
    return "\n".join(lines)


def _envelope(envelope: Envelope, lines: list[str]) -> None:
    lines += [f"// {text}" for text in envelope.before]
    lines.append(f"==={envelope.name}===")
    _nodes(envelope.nodes, lines)
    lines.append("===END===")


def _nodes(nodes: list[Node], lines: list[str]) -> None:
    """One pass over the tree with a stack of our own. Long, because it is where the time goes."""
    add = lines.append
    waiting: list[Iterator[Node]] = []
    current = iter(nodes)
    pad = ""
    while True:
        for node in current:
            if isinstance(node, Assignment):
                lexeme = node.lexeme
                text = _assignment(node, pad) if lexeme is None else f"{pad}{node.key}::{lexeme}"
                add(text if node.comment is None else f"{text} // {node.comment}")
            elif isinstance(node, Comment):
                add(f"{pad}// {node.text}")
            elif isinstance(node, (Block, Section)):
                add(pad + (block_head(node) if isinstance(node, Block) else section_head(node)))
                waiting.append(current)
                current = iter(node.children)
                pad += "  "
                break
            else:
                add(f"{pad}---")
        else:
            if not waiting:
                return
            current = waiting.pop()
            pad = pad[2:]


def _assignment(node: Assignment, pad: str) -> str:
    text = spelled(node.value, len(pad) // 2, node.key)
    if not node.key and isinstance(node.value, Literal):
        return text[1:]
    return f"{pad}{assignment_head(node)}{text}"
