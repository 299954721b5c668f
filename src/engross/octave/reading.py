"""Values out of tokens.

The forms a value can have are tried in turn; what fits none of them is kept whole, as text. Nothing is ever dropped:
whoever calls gets a value for all the tokens given, or an error.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import Final, NamedTuple

from .error import OctaveError
from .receipt import Receipt
from .source import Zone
from .spelling import (
    BARE_CONSTRAINTS,
    CONSTRAINTS_WITH_ARGUMENTS,
    OR,
    quoted,
    spelled,
)
from .token import (
    ASSIGN,
    CLOSE,
    COLON,
    COMMA,
    COMMENT,
    CONSTANT,
    IDENTIFIER,
    LITERAL,
    NEWLINE,
    NUMBER,
    OPEN,
    OPERATOR,
    SECTION,
    STRING,
    VARIABLE,
    VERSION,
    WORDS,
    Line,
    Token,
)
from .value import CONSTANTS, Item, List, Literal, Pair, Pattern, Value, number, unquoted

# Pieces that are made of several tokens.
_GROUP: Final = 20
_CONSTRUCTOR: Final = 21
_REFERENCE: Final = 22

_NAMES: Final = WORDS | {_CONSTRUCTOR}
_OPERANDS: Final = _NAMES | {_REFERENCE, SECTION}
_EXPRESSION: Final = _OPERANDS | {OPERATOR}
_SOLID_END: Final = WORDS | {CLOSE}
_SOLID_START: Final = WORDS | {OPEN, SECTION}


class _Piece(NamedTuple):
    kind: int
    text: str
    first: int
    end: int


class Reading:
    """Makes values of the tokens of one logical line."""

    def __init__(self, line: Line, body: str, receipts: list[Receipt], lenient: bool) -> None:
        self.tokens, self.closing, self.zones, _ = line
        self.body = body
        self.receipts = receipts
        self.lenient = lenient
        self.strays: list[str] = []
        self._marks: list[int] | None = None

    def value(self, first: int, end: int) -> tuple[Value, str]:
        """The value of the tokens from `first` up to `end`, and the kind of receipt its spelling may need."""
        token = self.tokens[first]
        if end - first == 1:
            return self._single(token)
        if token.kind == OPEN and self.closing[first] == end - 1:
            return self._group(first), "layout"
        pieces = self._pieces(first, end)
        self._refuse_sections(pieces)
        return self._form(pieces) or self._kept(first, end)

    def source(self, first: int, end: int) -> str:
        """The text of tokens as it stands, but with aliases resolved."""
        parts: list[str] = []
        at = self.tokens[first].start
        for place, token in enumerate(self.tokens[first:end], first):
            text = token.text if token.kind != LITERAL else _zone_text(self.zones[place])
            parts += (self.body[at : token.start], text)
            at = token.end
        return "".join(parts)

    def _kept(self, first: int, end: int) -> tuple[Value, str]:
        """What fits no form, as text."""
        for token in self.tokens[first:end]:
            if token.kind == LITERAL:
                raise self._misplaced_literal(token)
        return self.source(first, end), "kept_text"

    def joined(self, first: int, end: int) -> str:
        """The text of tokens without blanks, but for those that keep words apart."""
        parts: list[str] = []
        last: Token | None = None
        for token in self.tokens[first:end]:
            if token.kind == NEWLINE:
                continue
            if token.kind == COMMENT:
                self.strays.append(token.text)
                continue
            if token.kind == LITERAL:
                raise self._misplaced_literal(token)
            if last is not None and last.end < token.start and last.kind in _SOLID_END and token.kind in _SOLID_START:
                parts.append(" ")
            parts.append(_lexeme(token))
            last = token
        return "".join(parts)

    def _single(self, token: Token) -> tuple[Value, str]:
        if token.kind == STRING:
            return unquoted(token.text), "quotes"
        if token.kind == NUMBER:
            return number(token.text), "spelling"
        if token.kind == CONSTANT:
            return CONSTANTS[token.text], "spelling"
        return token.text, "spelling"

    def _pieces(self, first: int, end: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        tokens = self.tokens
        at = first
        while at < end:
            token = tokens[at]
            after = tokens[at + 1] if at + 1 < end else None
            kind, text, stop = token.kind, token.text, at + 1
            if kind == OPEN:
                kind, stop = _GROUP, self.closing[at] + 1
            elif kind == IDENTIFIER and after is not None and after.kind == OPEN and after.start == token.end:
                kind, stop = _CONSTRUCTOR, self.closing[at + 1] + 1
            elif kind == SECTION and after is not None and after.kind in (IDENTIFIER, NUMBER, VERSION):
                kind, text, stop = _REFERENCE, text + after.text, at + 2
            pieces.append(_Piece(kind, text, at, stop))
            at = stop
        return pieces

    def _refuse_sections(self, pieces: list[_Piece]) -> None:
        """A section mark behind a value would begin a section, unless an operator binds it."""
        first = pieces[0]
        binding = first.kind in (IDENTIFIER, _CONSTRUCTOR, VARIABLE) or first.text == "→"
        bound = first.text == "→"
        for piece in pieces[1:]:
            if piece.kind == OPERATOR:
                bound = binding
            elif piece.kind in (_REFERENCE, SECTION) and not bound:
                token = self.tokens[piece.first]
                raise OctaveError(
                    "E006", "a section mark behind a value", token.line, token.column, "quote the whole text"
                )

    def _form(self, pieces: list[_Piece]) -> tuple[Value, str] | None:
        """The value of pieces that fit a form, else nothing."""
        kinds = [piece.kind for piece in pieces]
        if len(pieces) == 1:
            return self._lone(pieces[0])
        if all(kind in _NAMES for kind in kinds):
            return self._words(pieces)
        if COLON in kinds:
            return self._path(pieces)
        if kinds == [IDENTIFIER, _GROUP]:
            return f"{pieces[0].text} {self.joined(pieces[1].first, pieces[1].end)}", "words"
        if OPERATOR in kinds and kinds[0] not in (STRING, CONSTANT, VERSION) and all(k in _EXPRESSION for k in kinds):
            return self._expression(pieces), "words"
        if kinds[:2] == [NUMBER, _GROUP] and len(kinds) > 2 and kinds[2] == OPERATOR and COMMA not in kinds:
            return self._counted(pieces), "words"
        return None

    def _lone(self, piece: _Piece) -> tuple[Value, str] | None:
        if piece.kind == _CONSTRUCTOR:
            return self._annotation(piece), "constructor"
        if piece.kind == _GROUP:
            return self._group(piece.first), "layout"
        if piece.kind == _REFERENCE:
            return piece.text, "spelling"
        return self._single(self.tokens[piece.first])

    def _annotation(self, piece: _Piece) -> str:
        inner = self.joined(piece.first + 2, piece.end - 1)
        return f"{piece.text}<{inner}>" if inner else f"{piece.text}[]"

    def _words(self, pieces: list[_Piece]) -> tuple[Value, str] | None:
        texts = [self._annotation(piece) if piece.kind == _CONSTRUCTOR else self._word(piece) for piece in pieces]
        annotated = [text.endswith(">") and piece.kind != STRING for text, piece in zip(texts, pieces, strict=True)]
        if not any(annotated):
            return (" ".join(texts), "words") if all(piece.kind in WORDS for piece in pieces) else None
        items: list[Item] = []
        plain: list[str] = []
        for text, alone in zip(texts, annotated, strict=True):
            if not alone:
                plain.append(text)
                continue
            items += ([" ".join(plain)] if plain else []) + [text]
            plain = []
        return List(items + ([" ".join(plain)] if plain else [])), "annotated_words"

    def _word(self, piece: _Piece) -> str:
        return f'"{unquoted(piece.text)}"' if piece.kind == STRING else piece.text

    def _path(self, pieces: list[_Piece]) -> tuple[Value, str] | None:
        kinds = [piece.kind for piece in pieces]
        if len(kinds) % 2 and set(kinds[::2]) == {IDENTIFIER} and set(kinds[1::2]) == {COLON}:
            return "".join(piece.text for piece in pieces), "words"
        return None

    def _expression(self, pieces: list[_Piece]) -> str:
        """Operators stand close to their operands; the words of an operand keep a blank between them."""
        parts: list[str] = []
        for place, piece in enumerate(pieces):
            behind_word = place > 0 and pieces[place - 1].kind != OPERATOR
            before_word = place + 1 < len(pieces) and pieces[place + 1].kind != OPERATOR
            if piece.kind == OPERATOR:
                parts.append(piece.text)
                continue
            if behind_word:
                parts.append(" ")
            if piece.kind == _CONSTRUCTOR:
                parts.append(self.joined(piece.first, piece.end))
            elif piece.kind == STRING and not behind_word and not before_word:
                parts.append(unquoted(piece.text))
            else:
                parts.append(self._word(piece))
        return "".join(parts)

    def _counted(self, pieces: list[_Piece]) -> str:
        """A number with a note in brackets, and what operators say of it: the operators are set apart."""
        parts = [pieces[0].text]
        for before, piece in pairwise(pieces):
            if piece.kind == OPERATOR:
                parts.append(f" {piece.text} ")
                continue
            apart = before.kind != OPERATOR and piece.kind in _NAMES
            parts.append((" " if apart else "") + self.joined(piece.first, piece.end))
        return "".join(parts)

    def _group(self, opening: int) -> List | Pattern:
        """What stands in brackets: a pattern, or a list."""
        end = self.closing[opening]
        if self._is_pattern(opening, end):
            return Pattern(self.joined(opening, end + 1))
        return self._list(opening, end)

    def _is_pattern(self, opening: int, end: int) -> bool:
        if not self._may_be_pattern(opening, end):
            return False
        pieces = self._pieces(opening + 1, end)
        marks = [piece for piece in pieces if piece.kind not in (NEWLINE, COMMENT)]
        if any(piece.kind in (COMMA, ASSIGN, LITERAL) for piece in marks) or _has_lines(pieces):
            return False
        starts = [place for place, piece in enumerate(marks) if piece.text == "∧"]
        target = _target_at(marks)
        if not starts and target is None:
            return len(marks) == 1 and marks[0].kind == _CONSTRUCTOR
        stop = len(marks) if target is None else target
        starts = [place for place in starts if place < stop]
        bounds = [*starts, stop]
        constraints = [marks[low + 1 : high] for low, high in pairwise(bounds)]
        return bounds[0] > 0 and all(map(self._is_constraint, constraints)) and self._is_target(marks[stop:])

    def _may_be_pattern(self, opening: int, end: int) -> bool:
        """Whether the mark of a constraint stands in the brackets, at any depth, or that of a target."""
        if self._marks is None:
            tokens = self.tokens
            self._marks = [
                place
                for place, token in enumerate(tokens)
                if token.kind == OPERATOR
                and (
                    token.text == "∧"
                    or (token.text == "→" and tokens[place + 1 : place + 2] and tokens[place + 1].kind == SECTION)
                )
            ]
        place = bisect_left(self._marks, opening)
        return place < len(self._marks) and self._marks[place] < end

    def _is_constraint(self, pieces: list[_Piece]) -> bool:
        if len(pieces) != 1:
            return False
        piece = pieces[0]
        if piece.kind == _CONSTRUCTOR:
            return piece.text in CONSTRAINTS_WITH_ARGUMENTS and piece.end - piece.first > 3
        return piece.kind == IDENTIFIER and piece.text in BARE_CONSTRAINTS

    def _is_target(self, pieces: list[_Piece]) -> bool:
        return all(piece.kind == _REFERENCE or (piece.kind == OPERATOR and piece.text in ("→", OR)) for piece in pieces)

    def _list(self, opening: int, end: int) -> List:
        items: list[Item] = []
        comments: list[tuple[int, str]] = []
        at = start = opening + 1
        missing = True
        while at <= end:
            token = self.tokens[at]
            if token.kind == OPEN:
                at = self.closing[at] + 1
                continue
            if token.kind == LITERAL:
                items += self._items(start, at + 1)
                missing = False
                start = at + 1
            elif token.kind in (COMMA, NEWLINE, COMMENT, CLOSE):
                if token.kind == NEWLINE and self._awaits_literal(start, at):
                    at += 1
                    continue
                if at > start:
                    items += self._items(start, at)
                    missing = False
                if token.kind == COMMENT:
                    comments.append((len(items), token.text[2:].strip(" ")))
                elif token.kind == COMMA:
                    if missing:
                        raise OctaveError("E001", "an item is missing before ','", token.line, token.column)
                    missing = True
                start = at + 1
            at += 1
        return List(items, comments)

    def _awaits_literal(self, start: int, at: int) -> bool:
        """Whether `key::` stands at the end of a line and its literal zone below."""
        return at > start and self.tokens[at - 1].kind == ASSIGN and self.tokens[at + 1].kind in (LITERAL, NEWLINE)

    def _items(self, first: int, end: int) -> list[Item]:
        """The items that stand between two commas: one, unless the text forgot some."""
        tokens = self.tokens
        if tokens[first].kind == LITERAL:
            return [literal(self.zones[first])]
        if end - first > 1 and tokens[first + 1].kind == ASSIGN:
            return [self._pair(first, end)]
        if end - first == 1:
            return [self._single(tokens[first])[0]]
        pieces = self._pieces(first, end)
        if any(piece.kind == ASSIGN for piece in pieces):
            return [self._noted(first, end, *self._kept(first, end))]
        items = [self._segment(segment) for segment in _segments(pieces)]
        if len(items) > 1:
            before = self.source(first, end)
            self._receipt("items", first, before, ",".join(spelled(item, 0) for item in items))
        return list(items)

    def _segment(self, pieces: list[_Piece]) -> Value:
        first, end = pieces[0].first, pieces[-1].end
        value, kind = self._form(pieces) or self._kept(first, end)
        return value if kind in ("quotes", "spelling", "layout") else self._noted(first, end, value, kind)

    def _pair(self, first: int, end: int) -> Pair:
        token = self.tokens[first]
        if token.kind not in (IDENTIFIER, NUMBER):
            raise OctaveError(
                "E_INVALID_KEY", f"{token.text} cannot be a key", token.line, token.column, "a key is a bare word"
            )
        at = first + 2
        while at < end and self.tokens[at].kind == NEWLINE:
            at += 1
        if at == end:
            raise empty_value(token)
        if self.tokens[at].kind == LITERAL and at + 1 == end:
            return Pair(token.text, literal(self.zones[at]))
        value, kind = self._pair_value(at, end)
        if kind not in ("quotes", "spelling", "layout"):
            value = self._noted(at, end, value, kind, token.text)
        if not self.lenient and isinstance(value, List) and any(isinstance(item, Pair) for item in value.items):
            raise OctaveError(
                "E_NESTED_INLINE_MAP",
                f"the inline map of {token.text} holds another",
                token.line,
                token.column,
                "use a block",
            )
        return Pair(token.text, value)

    def _pair_value(self, first: int, end: int) -> tuple[Value, str]:
        if end - first == 1:
            return self._single(self.tokens[first])
        return self._form(self._pieces(first, end)) or self._kept(first, end)

    def _noted(self, first: int, end: int, value: Value, kind: str, key: str = "") -> Value:
        after = spelled(value, 0, key)
        before = self.source(first, end)
        if before != after:
            self._receipt(kind, first, before, after)
        return value

    def _receipt(self, kind: str, first: int, before: str, after: str) -> None:
        token = self.tokens[first]
        self.receipts.append(Receipt(kind, token.line, token.column, before, after))

    def _misplaced_literal(self, token: Token) -> OctaveError:
        return OctaveError(
            "E001", "a literal zone cannot stand here", token.line, token.column, "give it a key of its own"
        )


def empty_value(token: Token) -> OctaveError:
    """The error for a key with nothing behind its mark."""
    return OctaveError(
        "E_EMPTY_VALUE",
        f"{token.text} has no value",
        token.line,
        token.column,
        'write null, "" or [], or leave the key out',
    )


def literal(zone: Zone) -> Literal:
    """The value that a literal zone is."""
    return Literal(zone.content, zone.info, zone.fence)


def _zone_text(zone: Zone) -> str:
    pad = " " * zone.indent
    body = zone.content if not zone.content.strip("\n") else zone.content + "\n"
    return f"{pad}{zone.fence}{zone.info or ''}\n{body}{pad}{zone.fence}\n"


def _lexeme(token: Token) -> str:
    if token.kind == STRING and (token.text.startswith('"""') or "\n" in token.text):
        return quoted(unquoted(token.text))
    return token.text


def _has_lines(pieces: list[_Piece]) -> bool:
    """Whether a line end keeps two items apart."""
    last = OPERATOR
    new_line = False
    for piece in pieces:
        if piece.kind in (NEWLINE, COMMENT):
            new_line = True
            continue
        if new_line and OPERATOR not in (last, piece.kind):
            return True
        last, new_line = piece.kind, False
    return False


def _target_at(pieces: list[_Piece]) -> int | None:
    for place in range(len(pieces) - 1):
        if pieces[place].text == "→" and pieces[place + 1].kind in (_REFERENCE, SECTION):
            return place
    return None


def _segments(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Part what stands between two commas where one value ends and another begins."""
    segments: list[list[_Piece]] = []
    at = 0
    while at < len(pieces):
        end = _segment_end(pieces, at)
        segments.append(pieces[at:end])
        at = end
    return segments


def _segment_end(pieces: list[_Piece], at: int) -> int:
    first = pieces[at]
    after = pieces[at + 1].kind if at + 1 < len(pieces) else None
    if after == COLON and first.kind == IDENTIFIER:
        return _end_of_path(pieces, at)
    if first.kind in (STRING, VERSION, CONSTANT) or (first.kind == NUMBER and after != OPERATOR):
        return _run(pieces, at + 1, _NAMES)
    if first.kind == IDENTIFIER and after == _GROUP:
        return at + 2
    if first.kind in (IDENTIFIER, _CONSTRUCTOR):
        end = _run(pieces, at + 1, _NAMES)
        return _run(pieces, end, _EXPRESSION) if end < len(pieces) and pieces[end].kind == OPERATOR else end
    if first.text == "→" or (first.kind in (NUMBER, VARIABLE) and after == OPERATOR):
        return _run(pieces, at + 1, _EXPRESSION)
    return at + 1


def _end_of_path(pieces: list[_Piece], at: int) -> int:
    while at + 2 < len(pieces) and pieces[at + 1].kind == COLON and pieces[at + 2].kind == IDENTIFIER:
        at += 2
    return at + 1


def _run(pieces: list[_Piece], at: int, kinds: frozenset[int]) -> int:
    while at < len(pieces) and pieces[at].kind in kinds:
        at += 1
    return at
