"""The tokens of one logical line: a line, or several where brackets or quotes hold them together.

Most lines never come here; the parser knows the plain ones at a glance. What comes here is read by one compiled
expression, token by token, so the time grows with the length of the text and with nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from .error import Edit, OctaveError, Unreadable
from .faults import Faults
from .receipt import Receipt
from .source import Source, Zone
from .spelling import OR
from .value import CONSTANTS

NEWLINE: Final = 1
COMMENT: Final = 2
ENVELOPE: Final = 3
SEPARATOR: Final = 4
STRING: Final = 5
TIMESTAMP: Final = 6
VERSION: Final = 7
NUMBER: Final = 8
IDENTIFIER: Final = 9
VARIABLE: Final = 10
OPERATOR: Final = 11
SECTION: Final = 12
ASSIGN: Final = 13
COLON: Final = 14
OPEN: Final = 15
CLOSE: Final = 16
COMMA: Final = 17
# These two are no groups of the expression.
LITERAL: Final = 18
CONSTANT: Final = 19

# Kinds whose text decides what becomes of them.
_CLOSELY: Final = frozenset({IDENTIFIER, STRING, CLOSE, TIMESTAMP, ENVELOPE, OPERATOR, SECTION})
WORDS: Final = frozenset({STRING, VERSION, NUMBER, IDENTIFIER, VARIABLE, CONSTANT})
ALIASES: Final = {"->": "→", "+": "⊕", "~": "⧺", "<->": "⇌", "vs": "⇌", "|": OR, "&": "∧", "#": "§"}
DEEPEST: Final = 100


# Said by what they are not: a class of all the letters there are would take long to compile.
_MARKS: Final = rf"\[-^`{{-\x7f→⊕⧺⇌∧{OR}§"
_START: Final = rf"[^\x00-\x2d0-@{_MARKS}]"
_GOES_ON: Final = rf"[^\x00-\x2d:-@{_MARKS}]"
_GOES_ON_OR_DASH: Final = rf"[^\x00-\x2c:-@{_MARKS}]"
_BODY: Final = rf"(?:{_GOES_ON}++|-++(?={_GOES_ON})|#(?={_GOES_ON})|(?<=[A-Za-z0-9])%(?!::))*+"
_QUALIFIER: Final = rf"{_START}(?:{_GOES_ON}++|-++(?={_GOES_ON}))*+"
_NUMBER: Final = r"-?[0-9]++(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]++)?"
_PARTS: Final = r"[0-9A-Za-z]++(?:[.-][0-9A-Za-z]++)*+"
is_number_text: Final = re.compile(_NUMBER).fullmatch
_TOKEN: Final = re.compile(
    " *+(?:"
    + "|".join(
        [
            r"(\n)",
            rf"((?<!{_GOES_ON_OR_DASH}:)//[^\n]*+)",
            r"(===[^=\n]*+===)",
            r"(---)",
            r'("""(?:[^"\\]|\\.|"(?!""))*+"""|"[^"\\]*+(?:\\.[^"\\]*+)*+")',
            r"([0-9]{4}-[0-9]{2}-[0-9]{2}"
            rf"(?:T[0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]++)?)?(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?(?!{_GOES_ON_OR_DASH}))",
            rf"(-?[0-9]++(?:(?:\.[0-9]++){{2,}}+(?:-{_PARTS})?+(?:\+{_PARTS})?+"
            rf"|\.[0-9]++(?:-{_PARTS}(?:\+{_PARTS})?+|\+{_PARTS})))",
            rf"({_NUMBER}(?!{_START}|%(?!::)))",
            rf"((?:{_START}|{_NUMBER}(?={_START}|%)){_BODY}(?:<{_QUALIFIER}(?:,{_QUALIFIER})*+>)?+)",
            r"(\$[A-Za-z0-9_:]++)",
            rf"(<->|->|[→⊕⧺~@⇌{OR}|∧&+])",
            r"([§#])",
            r"(::)",
            r"(:)",
            r"(\[)",
            r"(\])",
            r"(,)",
        ]
    )
    + ")",
    re.DOTALL,
).match
_BLANKS: Final = re.compile(" *+").match
_IN_BRACES: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_,]*)\}").match
_STARTS: Final = frozenset({"So", "Sm", "No", "Sk", "Po"})
_JOINER: Final = "\u200d"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?::[A-Za-z_][A-Za-z0-9_]*)*").fullmatch


class Token(NamedTuple):
    """A token: its kind, its text with aliases resolved, and where it stands."""

    kind: int
    text: str
    start: int
    end: int
    line: int
    column: int


# Called for every token, so it goes past the generated constructor.
_made: Final[Callable[[tuple[int, str, int, int, int, int]], Token]] = partial(tuple.__new__, Token)


class Line(NamedTuple):
    """The tokens of a logical line, the bracket that closes each opening one, and the offset behind the line."""

    tokens: list[Token]
    closing: dict[int, int]
    zones: dict[int, Zone]
    end: int


def is_identifier(text: str) -> bool:
    """Whether a text can be a key."""
    found = _TOKEN(text)
    return (
        found is not None
        and found.lastindex == IDENTIFIER
        and found[IDENTIFIER] == text
        and text not in CONSTANTS
        and text != "vs"
        and (text.isascii() or misplaced(text) < 0)
    )


def is_envelope_name(text: str) -> bool:
    """Whether a text can be the name of an envelope."""
    return _NAME(text) is not None and text != "END"


def misplaced(identifier: str) -> int:
    """The place of the first character that an identifier may not hold there; -1 if all is well."""
    for place, character in enumerate(identifier):
        if character.isascii() or character.isalpha():
            continue
        category = unicodedata.category(character)
        if category in _STARTS or (place and (category[0] in "NM" or character == _JOINER)):
            continue
        return place
    return -1


class Lexer:
    """Reads logical lines out of a source. `limit` is where the next literal zone stands, or the end."""

    def __init__(self, source: Source, receipts: list[Receipt], faults: Faults) -> None:
        self.body = source.body
        self.receipts = receipts
        self.faults = faults
        self.line = source.line
        self._zones = source.zones
        self._next = 0
        self._row = 0
        self.limit = 0
        self._aim()

    def _aim(self) -> None:
        waiting = self._next < len(self._zones)
        self.limit = self._zones[self._next].offset if waiting else len(self.body)

    def has_zone_at(self, offset: int) -> bool:
        """Whether the next literal zone stands at an offset."""
        return offset == self.limit and self._next < len(self._zones)

    def take_zone(self) -> Zone:
        """Read the next literal zone."""
        zone = self._zones[self._next]
        self._next += 1
        self._aim()
        self.receipts.extend(zone.receipts)
        self.line += zone.lines
        return zone

    def read(self, offset: int) -> Line:
        """The logical line that begins at an offset; `line` is then the number of the next one."""
        tokens: list[Token] = []
        closing: dict[int, int] = {}
        zones: dict[int, Zone] = {}
        opened: list[int] = []
        self._row = offset
        while True:
            found = _TOKEN(self.body, offset, self.limit)
            if found is None:
                offset = _BLANKS(self.body, offset, self.limit).end()  # type: ignore[union-attr]
                if offset < self.limit:
                    offset = self._refuse(offset)
                elif opened and self.has_zone_at(offset):
                    zone = zones[len(tokens)] = self.take_zone()
                    tokens.append(Token(LITERAL, "", offset, offset, zone.line, zone.indent + 1))
                    self._row = offset
                else:
                    break
                continue
            kind: int = found.lastindex  # type: ignore[assignment]
            text = found[kind]
            start, offset = found.span(kind)
            line, column = self.line, start - self._row + 1
            if kind == NEWLINE:
                self.line += 1
                self._row = offset
                if not opened:
                    return Line(tokens, closing, zones, offset)
            elif kind == OPEN:
                opened.append(len(tokens))
                if len(opened) == DEEPEST:
                    raise _too_deep(line, column)
            elif kind == CLOSE and opened:
                closing[opened.pop()] = len(tokens)
            elif kind in _CLOSELY:
                kind, text = self._closely(kind, text, start, column)
                if not kind:
                    continue
            tokens.append(_made((kind, text, start, offset, line, column)))
        if opened:
            raise _never_closed(tokens[opened[0]])
        return Line(tokens, closing, zones, offset)

    def _closely(self, kind: int, text: str, start: int, column: int) -> tuple[int, str]:
        """What a token really is, once its text is looked at; no kind at all if it cannot stand."""
        if kind == IDENTIFIER:
            return self._word(text, start, column)
        if kind == STRING:
            if "\n" in text:
                self.line += text.count("\n")
                self._row = start + text.rindex("\n") + 1
        elif kind == CLOSE:
            self.faults.lexical(
                "E_UNBALANCED_BRACKET", "']' closes no '['", self.line, column, "remove it, or quote it"
            )
            return 0, text
        elif kind == TIMESTAMP:
            self._timestamp(text, self.line, column)
        elif kind == ENVELOPE:
            if text != "===END===" and not is_envelope_name(text[3:-3]):
                self.faults.add(bad_envelope(text[3:-3], self.line, column), lexical=True)
        elif text in ALIASES:
            self.receipts.append(Receipt("operator", self.line, column, text, ALIASES[text]))
            return kind, ALIASES[text]
        return kind, text

    def _word(self, text: str, start: int, column: int) -> tuple[int, str]:
        if not text.isascii() and (bad := misplaced(text)) >= 0:
            # Once for the whole word: what stands behind it may be as bad, a million times over.
            self._unexpected(start + bad, column + bad)
            return 0, text
        if text == "vs":
            self.receipts.append(Receipt("operator", self.line, column, text, ALIASES[text]))
            return OPERATOR, ALIASES[text]
        return (CONSTANT if text in CONSTANTS else IDENTIFIER), text

    def _refuse(self, offset: int) -> int:
        """Note a character that begins no token; where to go on."""
        column = offset - self._row + 1
        if self.body[offset] == '"':
            raise Unreadable(
                "E005", "a quoted text is never closed", self.line, column, 'add the closing quote, write \\" inside'
            )
        return self._unexpected(offset, column)

    def _unexpected(self, offset: int, column: int) -> int:
        character = self.body[offset]
        hint, edit = _advice(self.body, offset, self.line, column)
        self.faults.lexical("E005", f"unexpected character {character!r}", self.line, column, hint, edit)
        return offset + (len(edit.before) if edit is not None else 1)

    def _timestamp(self, text: str, line: int, column: int) -> None:
        self.faults.lexical(
            "E_UNQUOTED_TIMESTAMP",
            f"a timestamp without quotes: {text}",
            line,
            column,
            f'write "{text}"',
            Edit("timestamp", line, column, text, f'"{text}"'),
        )


def _too_deep(line: int, column: int) -> Unreadable:
    return Unreadable(
        "E_MAX_NESTING_EXCEEDED", f"brackets are nested {DEEPEST} deep", line, column, "use blocks instead"
    )


def _never_closed(bracket: Token) -> Unreadable:
    return Unreadable(
        "E_UNBALANCED_BRACKET", "'[' is never closed", bracket.line, bracket.column, "add ']', or quote the text"
    )


def bad_envelope(name: str, line: int, column: int) -> OctaveError:
    """The error for an envelope whose name is none."""
    return OctaveError(
        "E_INVALID_ENVELOPE_ID",
        f"{name!r} cannot be the name of an envelope",
        line,
        column,
        "a name has letters, digits and _, begins with no digit, and may have parts divided by ':'",
    )


def _advice(body: str, offset: int, line: int, column: int) -> tuple[str, Edit | None]:
    character = body[offset]
    if character == "{" and (found := _IN_BRACES(body, offset)):
        return f"write <{found[1]}>", Edit("curly_braces", line, column, found[0], f"<{found[1]}>")
    if character == "-":
        return "a list is written in brackets: KEY::[one,two]", None
    if character == "`":
        return "a fence stands on a line of its own, below its key", None
    if character == "=":
        return "an assignment is written with '::'", None
    return "quote the text", None
