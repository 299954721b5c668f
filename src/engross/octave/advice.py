"""What is allowed but looks like a mistake. Advice changes nothing and fails nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .constraint import text_of
from .document import Document
from .node import Assignment, Block, Node, Section
from .path import pairs_of
from .validation import Violation
from .value import Item, List, Pair, Value

MOST_ADVICE: Final = 100
DEEP: Final = 5
_WRONG_CASE: Final = frozenset({"True", "TRUE", "False", "FALSE", "Null", "NULL", "None"})
_SUSPICIOUS: Final = re.compile(r"[⇌∧\[\\]|vs|\"(?:True|TRUE|False|FALSE|Null|NULL|None)\"").search
_GLUED_TENSION: Final = re.compile(r"[a-z]vs[A-Z]").search


def advice(document: Document) -> list[Violation]:
    """The first hundred things that look like mistakes."""
    told: list[Violation] = []
    for found in _all(document):
        told.append(found)
        if len(told) == MOST_ADVICE:
            break
    return told


def _all(document: Document) -> Iterator[Violation]:
    yield from _meta(document)
    pending: list[tuple[str, list[Node]]] = [("", envelope.nodes) for envelope in reversed(document.envelopes)]
    while pending:
        path, nodes = pending.pop()
        yield from _twice(path, nodes)
        for node in nodes:
            if isinstance(node, Assignment) and node.key and _is_worth_a_look(node):
                yield from _value(_join(path, node.key), node)
        for node in reversed(nodes):
            if isinstance(node, (Block, Section)):
                pending.append((_join(path, node.key), node.children))


def _is_worth_a_look(node: Assignment) -> bool:
    """Most values were read as one lexeme that cannot be mistaken; it need not be taken apart."""
    lexeme = node.lexeme
    return lexeme is None or lexeme in _WRONG_CASE or _SUSPICIOUS(lexeme) is not None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _twice(path: str, nodes: list[Node]) -> Iterator[Violation]:
    first: dict[str, int] = {}
    for node in nodes:
        if not isinstance(node, (Assignment, Block)) or not node.key:
            continue
        if node.key in first:
            message = f"stands in line {first[node.key]} too; all are kept, the last one counts"
            yield Violation("W_DUPLICATE_KEY", "DUPLICATE_KEY", message, _join(path, node.key), node.line)
        first.setdefault(node.key, node.line)
    for key, line in first.items():
        head = key.partition(".")[0]
        if head != key and any(isinstance(node, Block) and node.key == head for node in nodes):
            message = f"stands beside the block {head}; a path may mean either"
            yield Violation("W_DUPLICATE_TARGET", "DUPLICATE_TARGET", message, _join(path, key), line)


def _value(path: str, node: Assignment) -> Iterator[Violation]:
    value = node.value
    if isinstance(value, List):
        if _depth(value) >= DEEP:
            yield Violation("W_DEEP_NESTING", "DEEP_NESTING", f"is nested {DEEP} deep or more", path, node.line)
        if any(isinstance(item, Pair) and pairs_of(item.value) for item in value.items):
            message = "is an inline map that holds another; strict readers refuse it"
            yield Violation("W_NESTED_INLINE_MAP", "NESTED_INLINE_MAP", message, path, node.line)
        return
    if not isinstance(value, str):
        return
    if value in _WRONG_CASE:
        message = f"is the text {value!r}; the constants are true, false and null"
        yield Violation("W_WRONG_CASE", "WRONG_CASE", message, path, node.line)
    if value.count("⇌") > 1:
        yield Violation("W_CHAINED_TENSION", "CHAINED_TENSION", "⇌ joins two things", path, node.line)
    if _GLUED_TENSION(value):
        yield Violation("W_BOUNDARY_MISSING", "BOUNDARY_MISSING", "vs needs blanks around it", path, node.line)
    if "∧" in value and " " not in value:
        message = "∧ has a meaning inside brackets only"
        yield Violation("W_CONSTRAINT_OUTSIDE_BRACKETS", "CONSTRAINT_OUTSIDE_BRACKETS", message, path, node.line)


def _depth(value: Value) -> int:
    deepest = 0
    pending: list[tuple[Item, int]] = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, Pair):
            item = item.value
        if isinstance(item, List):
            deepest = max(deepest, depth)
            pending += [(inner, depth + 1) for inner in item.items if isinstance(inner, (List, Pair))]
    return deepest


def _meta(document: Document) -> Iterator[Violation]:
    meta = document.meta
    fields = {node.key: node for node in meta.children if isinstance(node, Assignment)} if meta else {}
    tier, loss = fields.get("COMPRESSION_TIER"), fields.get("LOSS_PROFILE")
    if tier is not None and loss is None:
        message = "says how much was left out only together with LOSS_PROFILE"
        yield Violation("W_META_001", "LOSS_PROFILE_MISSING", message, "META.COMPRESSION_TIER", tier.line)
    elif tier is not None and loss is not None and _contradict(text_of(tier.value), text_of(loss.value)):
        message = "is none, but the tier is not LOSSLESS"
        yield Violation("W_META_002", "LOSS_PROFILE_CONTRADICTS", message, "META.LOSS_PROFILE", loss.line)


def _contradict(tier: str, loss: str) -> bool:
    return loss.casefold() == "none" and tier != "LOSSLESS"
