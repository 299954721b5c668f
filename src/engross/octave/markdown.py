"""A document as Markdown, for people. Everything is said; nothing reads it back."""

from __future__ import annotations

import re
from typing import Final

from .document import Document, Envelope
from .node import Assignment, Block, Comment, Node, Section
from .spelling import spelled, spelled_literal
from .value import Item, List, Literal, Pair, Pattern

DEEPEST_HEADING: Final = 6
_SPECIAL: Final = re.compile(r"([\\`*<>\[\]|])")


def to_markdown(document: Document) -> str:
    """Write every envelope under a heading of its own."""
    lines: list[str] = []
    if document.frontmatter:
        lines += ["---", document.frontmatter, "---", ""]
    if document.version is not None:
        lines += [f"OCTAVE {document.version}", ""]
    for envelope in document.envelopes:
        _envelope(envelope, lines)
    _remarks(document.after, lines)
    return "\n".join(lines).rstrip("\n") + "\n"


def _envelope(envelope: Envelope, lines: list[str]) -> None:
    _remarks(envelope.before, lines)
    lines += [f"# {_escaped(envelope.name)}", ""]
    waiting: list[tuple[Node, int]] = [(node, 2) for node in reversed(envelope.nodes)]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, Comment):
            _remarks([node.text], lines)
        elif isinstance(node, (Block, Section)):
            if lines[-1]:
                lines.append("")
            lines += [f"{'#' * min(level, DEEPEST_HEADING)} {_heading(node)}", ""]
            waiting += [(child, level + 1) for child in reversed(node.children)]
        elif isinstance(node, Assignment):
            _field(node, level > 2, lines)


def _remarks(texts: list[str], lines: list[str]) -> None:
    for text in texts:
        if lines and lines[-1]:
            lines.append("")
        lines += [f"> {_escaped(text)}", ""]


def _heading(node: Block | Section) -> str:
    head = node.key if isinstance(node, Block) else f"§{node.id} {node.name}"
    return _escaped(head if node.note is None else f"{head} [{node.note}]")


def _field(node: Assignment, bullet: bool, lines: list[str]) -> None:
    key = node.key if node.note is None else f"{node.key} [{node.note}]"
    mark = "- " if bullet else ""
    remark = "" if node.comment is None else f" *({_escaped(node.comment)})*"
    label = f"{mark}**{_escaped(key)}**:" if key else ""
    if not bullet and lines[-1]:
        lines.append("")
    if isinstance(node.value, Literal):
        lines += [f"{label}{remark}", ""] if label else []
        lines += [spelled_literal(node.value, 0), ""]
    elif isinstance(node.value, List) and not _is_short(node.value):
        lines.append(f"{label}{remark}")
        _items(node.value, "  " if bullet else "", lines)
    else:
        lines.append(f"{label} {_inline(node.value)}{remark}")
    if not bullet and lines[-1]:
        lines.append("")


def _is_short(value: List) -> bool:
    """Whether a list can stand on one line without being misread."""
    return not value.comments and all(
        not isinstance(item, (Pair, List, Literal)) and "," not in _inline(item) for item in value.items
    )


def _items(value: List, pad: str, lines: list[str]) -> None:
    for place, item in enumerate(value.items):
        lines += [f"{pad}> {_escaped(text)}" for index, text in value.comments if index == place]
        label, inner = (f"**{_escaped(item.key)}**: ", item.value) if isinstance(item, Pair) else ("", item)
        if isinstance(inner, Literal):
            lines += [f"{pad}- {label}".rstrip(), "", spelled_literal(inner, 0), ""]
        elif isinstance(inner, List) and not _is_short(inner):
            lines.append(f"{pad}- {label}".rstrip())
            _items(inner, f"{pad}  ", lines)
        else:
            lines.append(f"{pad}- {label}{_inline(inner)}")
    lines += [f"{pad}> {_escaped(text)}" for index, text in value.comments if index >= len(value.items)]


def _inline(item: Item) -> str:
    if isinstance(item, str):
        return _escaped(item).replace("\n", "<br>") or '""'
    if isinstance(item, Pattern):
        return f"`{item.text}`"
    if isinstance(item, List):
        return ", ".join(map(_inline, item.items)) or "[]"
    return "" if isinstance(item, Pair) else spelled(item, 0)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
