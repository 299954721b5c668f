"""How a node's line begins."""

from __future__ import annotations

from .node import Assignment, Block, Section


def block_head(block: Block) -> str:
    """The line that opens a block."""
    return f"{block.key}:" if block.note is None else f"{block.key}[{block.note}]:"


def section_head(section: Section) -> str:
    """The line that opens a section; a number that is its own name is not said twice."""
    number_only = section.name == section.id and section.id[0] in "-0123456789" and section.id[-1] in ".0123456789"
    note = "" if section.note is None else f"[{section.note}]"
    return f"§{section.id}::{'' if number_only else section.name}{note}"


def assignment_head(node: Assignment) -> str:
    """An assignment's line up to its value."""
    return f"{node.key}::" if node.note is None else f"{node.key}[{node.note}]::"
