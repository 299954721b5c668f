"""Repairs, in tiers. NORMALIZATION always happens and is the parser's; REPAIR happens on request; everything else is
forbidden: no field is ever added, moved or guessed.

Two rules mend values that a schema bounds, three mend texts that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Final, NamedTuple

from .change import copied
from .constraint import text_of
from .document import Document
from .error import OctaveError
from .node import Assignment
from .path import paths
from .pattern import Rule
from .schema import Schema
from .spelling import spelled
from .value import Number, Value, number

_LINE: Final = re.compile(r"[^\r\n]*+(?:\r\n?|\n|\Z)")
_NUMERIC: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII).fullmatch


class Repair(NamedTuple):
    """One repair: what stands there, what would or does stand there instead, and where."""

    rule_id: str
    field: str | None
    line: int
    column: int | None
    before: str
    after: str
    applied: bool
    value: Value = None

    def as_data(self) -> dict[str, object]:
        """The repair as an entry of an answer's `repairs`; `change` is what `apply_changes` takes."""
        told: dict[str, object] = {
            "rule_id": self.rule_id,
            "tier": "REPAIR",
            "line": self.line,
            "before": self.before,
            "after": self.after,
            "applied": self.applied,
            "safe": True,
            "semantics_changed": False,
        }
        if self.field is not None:
            plain = self.value.value if isinstance(self.value, Number) else self.value
            return told | {"field": self.field, "change": {self.field: plain}}
        return told | {"column": self.column}


class Repaired(NamedTuple):
    """A mended copy and what was mended."""

    document: Document
    repairs: list[Repair]


def suggest(document: Document, schema: Schema) -> list[Repair]:
    """What would be mended, with nothing done."""
    return [repair for _, repair in _found(document, schema)]


def repair(document: Document, schema: Schema) -> Repaired:
    """Mend what a schema bounds: the document given stays as it is."""
    mended = copied(document)
    repairs: list[Repair] = []
    for node, found in list(_found(mended, schema)):
        node.value = found.value
        repairs.append(found._replace(applied=True))
    return Repaired(mended, repairs)


def _found(document: Document, schema: Schema) -> Iterator[tuple[Assignment, Repair]]:
    for path, node in paths(document):
        rule = schema.fields.get(node.key) if isinstance(node, Assignment) else None
        if rule is None or not isinstance(node, Assignment) or not isinstance(node.value, str):
            continue
        for rule_id, mend in _RULES:
            value = mend(node.value, rule)
            if value is not None:
                before, after = spelled(node.value, 0), spelled(value, 0)
                yield node, Repair(rule_id, path, node.line, None, before, after, False, value)
                break


def _casefolded(text: str, rule: Rule) -> Value:
    """The one member that differs in case only."""
    members = [text_of(member) for member in rule.arguments("ENUM")]
    if text in members:
        return None
    alike = [member for member in members if member.casefold() == text.casefold()]
    return alike[0] if len(alike) == 1 else None


def _coerced(text: str, rule: Rule) -> Value:
    """The number that a text spells."""
    if rule.arguments("TYPE") != ("NUMBER",) or _NUMERIC(text) is None or not isfinite(float(text)):
        return None
    return number(text)


_RULES: Final[Sequence[tuple[str, Callable[[str, Rule], Value]]]] = (
    ("ENUM_CASEFOLD", _casefolded),
    ("TYPE_COERCION", _coerced),
)
_TEXT_RULES: Final = {"single_colon": "W001", "curly_braces": "CURLY_BRACES", "timestamp": "QUOTE_TIMESTAMP"}


def text_repairs(error: OctaveError) -> list[Repair]:
    """What would mend the text that these errors were found in."""
    edits = sorted(error.edits, key=lambda edit: (edit.line, edit.column))
    return [
        Repair(_TEXT_RULES[edit.rule], None, edit.line, edit.column, edit.before, edit.after, False) for edit in edits
    ]


def repaired_text(text: str, error: OctaveError) -> tuple[str, list[Repair]]:
    """The text with every repair made that fits it. An edit that does not find what it expects is left out."""
    # Line ends stay as they are: in a literal zone they are content.
    lines = _LINE.findall(text)
    done: list[Repair] = []
    for found in reversed(text_repairs(error)):
        line, column = lines[found.line - 1], (found.column or 1) - 1
        if line.startswith(found.before, column):
            lines[found.line - 1] = line[:column] + found.after + line[column + len(found.before) :]
            done.append(found._replace(applied=True))
    return "".join(lines), done[::-1]
