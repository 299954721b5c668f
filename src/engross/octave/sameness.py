"""Whether two documents are the same tree, and whether a text says what its document says."""

from __future__ import annotations

from hashlib import sha256

from .document import Document
from .emitter import emit
from .error import OctaveError
from .node import Assignment, Block, Comment, Node, Section
from .parser import parse
from .value import same_value


def same(one: Document, other: Document) -> bool:
    """Whether two documents hold the same in the same order, wherever it stood in their texts."""
    return _around(one) == _around(other) and _same_nodes(one, other)


def faithful(document: Document, source: str | None = None) -> str:
    """The canonical text, read again to be sure; raises E_FIDELITY when it would say something else.

    `source` is the text that the document was read from, if it is still as it was read. One that is canonical already
    need not be read twice.
    """
    text = emit(document)
    if text == source:
        return text
    try:
        again = parse(text, lenient=True, longest=len(text))
    except OctaveError as error:
        raise OctaveError(
            "E_FIDELITY", f"the canonical text cannot be read: {error.message}", error.line, error.column
        ) from error
    if not same(document, again):
        raise OctaveError("E_FIDELITY", "the canonical text says something else than the document")
    return text


def canonical_hash(document: Document) -> str:
    """SHA-256 of the canonical text's bytes, in hex."""
    return sha256(faithful(document).encode()).hexdigest()


def _around(document: Document) -> tuple[object, ...]:
    heads = [(envelope.name, tuple(envelope.before)) for envelope in document.envelopes]
    return (document.frontmatter or None, document.version, heads, document.after)


def _same_nodes(one: Document, other: Document) -> bool:
    pending = [(mine.nodes, theirs.nodes) for mine, theirs in zip(one.envelopes, other.envelopes, strict=True)]
    while pending:
        mine, theirs = pending.pop()
        if len(mine) != len(theirs):
            return False
        for left, right in zip(mine, theirs, strict=True):
            if not same_node(left, right):
                return False
            if isinstance(left, (Block, Section)) and isinstance(right, (Block, Section)):
                pending.append((left.children, right.children))
    return True


def same_node(one: Node, other: Node) -> bool:
    """Whether two nodes are the same, their children aside."""
    if isinstance(one, Assignment) and isinstance(other, Assignment):
        if one.lexeme is not None and one.lexeme == other.lexeme:
            return one.key == other.key and one.note == other.note and one.comment == other.comment
        return (
            one.key == other.key
            and one.note == other.note
            and one.comment == other.comment
            and same_value(one.value, other.value)
        )
    if isinstance(one, Comment) and isinstance(other, Comment):
        return one.text == other.text
    if isinstance(one, Section) and isinstance(other, Section):
        return (one.id, one.name, one.note) == (other.id, other.name, other.note)
    if isinstance(one, Block) and isinstance(other, Block):
        return (one.key, one.note) == (other.key, other.note)
    return type(one) is type(other)
