"""Values of nearly plain lines: aliases resolved, blanks closed up, lists laid out, a receipt for each."""

from __future__ import annotations

import re

from .node import Assignment
from .plain import INDENT, KEY, LOOSE_ITEM, LOOSE_LIST, MARKS, VALUE, WORDS
from .receipt import Receipt
from .spelling import spelled, spelled_list
from .token import ALIASES
from .value import CONSTANTS, Item, List, Pair, Value, atom


def loose_assignment(found: re.Match[str], line: int, depth: int, receipts: list[Receipt]) -> Assignment:
    """The assignment of a nearly plain line, at a nesting depth."""
    indent = found.end(INDENT) - found.start()
    key = found[KEY]
    column = indent + len(key) + 3
    value: Value
    if (source := found[VALUE]) is not None:
        value, source = _resolved(source, line, column, receipts)
        after = spelled(value, depth)
        if after != source:
            receipts.append(Receipt(_kind(source), line, column, source, after))
    elif (source := found[LOOSE_LIST]) is not None:
        value = _list(source, line, column, depth, receipts)
    else:
        source = found[WORDS]
        value = " ".join(source.split())
        receipts.append(Receipt("words", line, column, source, f'"{value}"'))
    return Assignment(key, value, line)


def _list(text: str, line: int, column: int, depth: int, receipts: list[Receipt]) -> List:
    items: list[Item] = []
    parts: list[str] = []
    start_of_row, last = 1 - column, 0
    row = line
    for found in LOOSE_ITEM.finditer(text, 1, len(text) - 1):
        at, end = found.span(2)
        gap = text[last:at]
        if "\n" in gap:
            row += gap.count("\n")
            start_of_row = last + gap.rindex("\n") + 1
        value, source = _resolved(found[2], row, at - start_of_row + 1, receipts)
        if source[0] != '"' and source != (after := spelled(value, 0)):
            receipts.append(Receipt(_kind(source), row, at - start_of_row + 1, source, after))
        items.append(value if found[1] is None else Pair(found[1], value))
        parts += (gap, source)
        last = end
    made = List(items)
    before, after = "".join(parts) + text[last:], spelled_list(made, depth)
    if before != after:
        receipts.append(Receipt("layout", line, column, before, after))
    return made


def _kind(source: str) -> str:
    """What happened to a lexeme that is written differently now."""
    if source[0] == '"':
        return "quotes"
    return "constructor" if source[-1] == "]" else "words"


def _resolved(lexeme: str, line: int, column: int, receipts: list[Receipt]) -> tuple[Value, str]:
    """The value of a loose lexeme, and the lexeme without its aliases."""
    if lexeme[0] in '"$-0123456789' or lexeme in CONSTANTS:
        return atom(lexeme), lexeme
    if lexeme[-1] == "]":
        return f"{lexeme[:-1].replace('[', '<', 1)}>", lexeme
    tight: list[str] = []
    loose: list[str] = []
    last = 0
    for found in MARKS.finditer(lexeme):
        gap = found[0]
        mark = gap.strip(" ")
        if mark in ALIASES:
            place = column + found.start() + gap.index(mark)
            receipts.append(Receipt("operator", line, place, mark, ALIASES[mark]))
            gap = gap.replace(mark, ALIASES[mark])
            mark = ALIASES[mark]
        word = lexeme[last : found.start()]
        tight += (word, mark)
        loose += (word, gap)
        last = found.end()
    return "".join(tight) + lexeme[last:], "".join(loose) + lexeme[last:]
