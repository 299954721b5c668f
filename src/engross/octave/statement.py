"""A line as a node, out of its tokens."""

from __future__ import annotations

from typing import NamedTuple

from .error import Edit, OctaveError
from .node import Assignment, Block, Section
from .reading import Reading
from .token import ASSIGN, COLON, IDENTIFIER, NUMBER, OPEN, OPERATOR, SECTION, Token


class KeyedLine(NamedTuple):
    """A line that begins with a key: its note, and where its mark stands."""

    key: Token
    note: str | None
    mark: Token
    place: int


def keyed(reading: Reading, tokens: list[Token]) -> KeyedLine:
    """Take the key, the note and the mark of a line."""
    key = tokens[0]
    place = reading.closing[1] + 1 if len(tokens) > 1 and tokens[1].kind == OPEN else 1
    mark = tokens[place] if place < len(tokens) else None
    if mark is None or not (mark.kind in (ASSIGN, COLON) or (mark.kind == OPERATOR and mark.text == "→")):
        raise _no_statement(reading, tokens)
    if key.kind != IDENTIFIER or key.text.endswith("%"):
        raise _bad_key(reading, key)
    note = reading.joined(2, place - 1) if place > 1 else None
    return KeyedLine(key, note, mark, place)


def block(reading: Reading, line: KeyedLine, tokens: list[Token]) -> Block:
    """The block that a line opens."""
    if line.place + 1 < len(tokens):
        raise _single_colon(reading, line, tokens[line.place + 1])
    note = line.note
    if note is not None and note.startswith("→"):
        note = _target(reading, note)
    return Block(line.key.text, [], line.key.line, note)


def _target(reading: Reading, note: str) -> str:
    """A block's target always carries its mark."""
    marks = [token for token in reading.tokens[2 : reading.closing[1]] if token.kind == SECTION]
    if marks[1:] or (marks and not note.startswith("→§")):
        raise _bad_section(marks[-1], "a block has one target")
    target = note[1:].removeprefix("§")
    return f"→§{target}" if target else note


def section(reading: Reading, tokens: list[Token]) -> Section:
    """The section that a line opens."""
    if len(tokens) < 2 or tokens[1].kind not in (IDENTIFIER, NUMBER):
        raise _bad_section(tokens[min(1, len(tokens) - 1)], "a section needs a number or a name")
    id, place = tokens[1].text, 2
    if tokens[1].kind == NUMBER and len(tokens) > 2 and tokens[2].kind == IDENTIFIER and len(tokens[2].text) == 1:
        id, place = id + tokens[2].text, 3
    if len(tokens) <= place or tokens[place].kind != ASSIGN:
        raise _bad_section(tokens[place - 1], f"'::' is missing behind §{id}")
    name, place = id, place + 1
    if place < len(tokens) and tokens[place].kind == IDENTIFIER:
        name, place = tokens[place].text, place + 1
    note = None
    if place < len(tokens) and tokens[place].kind == OPEN:
        end = reading.closing[place]
        note, place = reading.joined(place + 1, end), end + 1
    if place < len(tokens):
        raise _bad_section(tokens[place], f"what stands behind §{id}::{name} is no part of a section's head")
    return Section(id, name, [], tokens[0].line, note)


def assignment(line: KeyedLine, comment: str | None) -> Assignment:
    """The assignment that a line begins, still without its value."""
    return Assignment(line.key.text, None, line.key.line, line.note, comment)


def _bad_section(token: Token, message: str) -> OctaveError:
    return OctaveError("E006", message, token.line, token.column, "a section is written §1::NAME")


def _bad_key(reading: Reading, token: Token) -> OctaveError:
    lexeme = reading.body[token.start : token.end]
    return OctaveError("E_INVALID_KEY", f"{lexeme} cannot be a key", token.line, token.column, "a key is a bare word")


def _no_statement(reading: Reading, tokens: list[Token]) -> OctaveError:
    head = tokens[0]
    if any(token.kind in (ASSIGN, COLON) for token in tokens):
        return _bad_key(reading, head)
    return OctaveError(
        "E_BARE_LINE",
        "a line that is neither KEY::value nor KEY: nor a comment",
        head.line,
        head.column,
        "give the text a key, or write // before it",
    )


def _single_colon(reading: Reading, line: KeyedLine, first: Token) -> OctaveError:
    key, mark = line.key.text, line.mark
    return OctaveError(
        "E001",
        f"a single colon behind {key}",
        mark.line,
        mark.column,
        f"an assignment is written {key}::value; a block's children stand on the lines below",
        Edit("single_colon", mark.line, mark.column, reading.body[mark.start : first.start], "::"),
    )
