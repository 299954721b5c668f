"""From a text to a document.

Nine lines of ten are plain: one compiled expression recognises such a line whole, so it costs one match and one node.
Every other line is cut into tokens. Both ways lead to the same tree; the tests hold them to that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from .document import INFERRED, Document, Envelope
from .emitter import emit_nodes
from .error import OctaveError, Unreadable
from .faults import Faults
from .head import assignment_head, block_head, section_head
from .loose import loose_assignment
from .nesting import Nesting
from .node import Assignment, Block, Comment, Node, Section, Separator
from .plain import (
    BLOCK_HEAD,
    COMMENT,
    INDENT,
    KEY,
    LIST,
    NEARLY_PLAIN,
    NOTED,
    PLAIN,
    SECTION_HEAD,
    SECTION_ID,
    VALUE,
    WIDE_ITEM,
    ZONE_HEAD,
)
from .reading import Reading, empty_value, literal
from .receipt import Receipt
from .source import LONGEST, Zone, prepare
from .spelling import spelled
from .statement import KeyedLine, assignment, block, keyed, section
from .token import COLON, OPERATOR, SECTION, Lexer, Token, bad_envelope, is_envelope_name
from .token import COMMENT as COMMENT_TOKEN
from .value import List

_COMMENT_LINE: Final = re.compile(r" *+//([^\n]*+)\n")
_BLANK: Final = re.compile(r"(?: *+\n)++")
_ENVELOPE: Final = re.compile(r"( *+)===([^\n]*?)===( *+)(//[^\n]*+)?( *+)\n")
_SEPARATOR: Final = re.compile(r"( *+)---( *+)\n")
_SENTINEL: Final = re.compile(r"( *+)OCTAVE::([0-9]+(?:\.[0-9]+)*(?:-[A-Za-z0-9.-]+)?)( *+)\n")


def parse(text: str | bytes, *, lenient: bool = False, longest: int = LONGEST) -> Document:
    """Read a document; raises OctaveError with every error found.

    Lenient reading lets an inline map hold another one.
    """
    return _Parser(text, lenient, longest).document()


class _Parser:
    def __init__(self, text: str | bytes, lenient: bool, longest: int) -> None:
        source = prepare(text, longest)
        self._document = Document([], source.frontmatter)
        self._receipts = self._document.receipts = source.receipts
        self._faults = Faults()
        self._lexer = Lexer(source, self._receipts, self._faults)
        self._nesting = Nesting(self._receipts)
        self._body = source.body
        self._lenient = lenient
        self._at = 0
        self._envelope: Envelope | None = None
        self._comments: list[str] = []
        self._separated: int | None = None
        self._gap: int | None = None
        self._first: list[Node] = []
        self._looked_at = 0
        self._keys: dict[str, str] = {}

    def document(self) -> Document:
        """Read to the end."""
        try:
            while self._step():
                if self._envelope is not None:
                    self._read_plain_lines()
        except Unreadable as end:
            self._faults.tell(end)
        self._finish()
        self._faults.tell()
        return self._document

    def _read_plain_lines(self) -> None:
        """Read lines for as long as they are plain. Long, because a call for each line would double the time."""
        body, lexer, nesting, keys, match = self._body, self._lexer, self._nesting, self._keys, PLAIN.match
        at, line, limit = self._at, lexer.line, lexer.limit
        level, add, written = nesting.level, nesting.children.append, Assignment.written
        while at < limit and (found := match(body, at, limit)):
            kind = found.lastindex
            indent = found.end(INDENT) - at
            if kind == COMMENT:
                nesting.comment(found[COMMENT], indent, line)
                level = nesting.level
            elif kind == ZONE_HEAD and not lexer.has_zone_at(found.end()):
                break
            else:
                if indent != level:
                    nesting.place(indent, line)
                    add, level = nesting.children.append, nesting.level
                key = found[KEY]
                if kind == VALUE:
                    add(written(keys.setdefault(key, key), found[VALUE], line))
                elif kind == NOTED:
                    add(written(keys.setdefault(key, key), found[VALUE], line, found[NOTED]))
                elif kind == LIST:
                    text = found[LIST]
                    add(
                        Assignment(
                            keys.setdefault(key, key),
                            self._written_list(text, indent, line, found.start(LIST) - at + 1),
                            line,
                        )
                    )
                    line += text.count("\n")
                elif kind == BLOCK_HEAD:
                    self._open_block(Block(keys.setdefault(key, key), [], line), indent)
                    level = -1
                elif kind == SECTION_HEAD:
                    self._refusing(
                        self._open_section, Section(found[SECTION_ID], found[SECTION_HEAD], [], line), indent
                    )
                    level = -1
                else:
                    lexer.line = line + 1
                    add(Assignment(key, literal(self._take_zone()), line))
                    limit, line = lexer.limit, lexer.line - 1
            at = found.end()
            line += 1
        self._at, lexer.line = at, line

    def _written_list(self, text: str, indent: int, line: int, column: int) -> List:
        """A plain list. Indented for another depth, or with few items for so many lines, it is not yet canonical."""
        depth, rows = self._nesting.depth, text.count("\n")
        value = List.written(text, depth)
        if not rows or (indent == 2 * depth and (rows > 3 or WIDE_ITEM.search(text))):
            return value
        made = List(value.items)
        if text != (after := spelled(made, depth)):
            self._receipts.append(Receipt("layout", line, column, text, after))
        return made

    def _step(self) -> bool:
        """Read one thing that is not plain; False at the end."""
        lexer, body, at = self._lexer, self._body, self._at
        if at == lexer.limit:
            if not lexer.has_zone_at(at):
                return False
            line = lexer.line
            self._refusing(self._bare_zone, lexer.take_zone(), line)
        elif found := _BLANK.match(body, at, lexer.limit):
            self._blank(found[0])
            self._at = found.end()
        elif found := _ENVELOPE.match(body, at, lexer.limit):
            self._envelope_line(found)
        elif found := _SEPARATOR.match(body, at, lexer.limit):
            self._separator(found)
        elif self._envelope is not None or not self._outside():
            if found := NEARLY_PLAIN.match(body, at, lexer.limit):
                self._nearly_plain_line(found)
            else:
                self._refusing(self._statement)
        return True

    def _refusing(self, read: Callable[..., None], *arguments: object) -> None:
        """Do it, but take note of what is wrong with it and go on."""
        try:
            read(*arguments)
        except Unreadable:
            raise
        except OctaveError as error:
            self._faults.add(error)

    # -- envelopes, and what stands around them

    def _blank(self, run: str) -> None:
        """Skip blank lines; one is in its place below the frontmatter and between envelopes."""
        line = self._lexer.line
        self._lexer.line += run.count("\n")
        document = self._document
        if run == "\n" and self._envelope is None and document.envelopes and self._gap is None and not self._comments:
            # Whether another envelope follows will be seen.
            self._gap = line
        elif run != "\n" or document.frontmatter is None or self._at:
            self._receipts.append(Receipt("blank_lines", line, 1, run, ""))

    def _envelope_line(self, found: re.Match[str]) -> None:
        indent, name, blanks, comment, tail = found.groups()
        line = self._lexer.line
        self._at = found.end()
        self._lexer.line += 1
        if name != "END" and not is_envelope_name(name):
            self._faults.add(bad_envelope(name, line, len(indent) + 1), lexical=True)
            name = INFERRED
        if indent:
            self._receipts.append(Receipt("indentation", line, 1, indent, ""))
        if (blanks and not comment) or tail:
            self._receipts.append(Receipt("trailing_blanks", line, 1, found[0].rstrip("\n"), f"==={name}==="))
        if name == "END":
            self._end(line)
        else:
            if self._envelope is not None:
                self._receipts.append(Receipt("envelope", line, 1, "", "===END==="))
                self._close()
            self._begin(name, line)
        if comment:
            self._comment_behind_envelope(comment, line)

    def _comment_behind_envelope(self, comment: str, line: int) -> None:
        text = comment[2:].strip(" ")
        self._receipts.append(Receipt("comment", line, 1, comment, f"// {text}"))
        if self._envelope is None:
            self._comments.append(text)
        else:
            self._envelope.nodes.append(Comment(text, line))

    def _begin(self, name: str, line: int) -> None:
        if self._separated is not None:
            self._receipts.append(Receipt("separator", self._separated, 1, "---", ""))
            self._separated = None
        if self._document.envelopes and self._gap is None:
            self._receipts.append(Receipt("gap", line, 1, "", "\n"))
        self._gap = None
        self._envelope = Envelope(name, [], self._comments, line)
        self._document.envelopes.append(self._envelope)
        self._comments = []
        self._first, self._looked_at = [], 0
        self._nesting.begin(self._envelope.nodes)

    def _infer(self) -> None:
        """Open an envelope for what stands in none; what was above it is inside now."""
        line = self._lexer.line
        self._receipts.append(Receipt("envelope", line, 1, "", f"==={INFERRED}==="))
        inside: list[Node] = [Comment(text) for text in self._comments]
        if self._separated is not None:
            inside.append(Separator(self._separated))
        self._comments, self._separated = [], None
        self._begin(INFERRED, line)
        self._document.envelopes[-1].nodes.extend(inside)

    def _end(self, line: int) -> None:
        if self._envelope is None:
            if self._document.envelopes:
                self._faults.add(_outside(line))
                return
            self._infer()
        self._close()

    def _close(self) -> None:
        self._nesting.end()
        meta = self._envelope.meta if self._envelope is not None else None
        if meta is not None:
            meta.children[:] = self._last_of_each_key(meta.children)
        self._envelope = None

    def _last_of_each_key(self, nodes: list[Node]) -> list[Node]:
        """Keys of META are unique: the last one counts, in the place of the first."""
        places: dict[str, int] = {}
        kept: list[Node] = []
        for node in nodes:
            if isinstance(node, (Assignment, Block)) and node.key in places:
                before = kept[places[node.key]]
                self._receipts.append(Receipt("duplicate", node.line, 1, emit_nodes([before]), emit_nodes([node])))
                kept[places[node.key]] = node
                continue
            if isinstance(node, (Assignment, Block)):
                places[node.key] = len(kept)
            kept.append(node)
        return kept

    def _finish(self) -> None:
        """The end of the text closes what is open."""
        if self._envelope is None and not self._document.envelopes:
            self._infer()
        if self._envelope is not None:
            self._receipts.append(Receipt("envelope", self._lexer.line, 1, "", "===END==="))
            self._close()
        if self._gap is not None:
            self._receipts.append(Receipt("blank_lines", self._gap, 1, "\n", ""))
        self._document.after = self._comments

    def _separator(self, found: re.Match[str]) -> None:
        line, envelope = self._lexer.line, self._envelope
        self._lexer.line += 1
        self._at = found.end()
        if envelope is None and not self._document.envelopes and self._separated is None:
            self._separated = line
            return
        if envelope is not None:
            before = self._first_nodes()
            if not before or before == [envelope.meta]:
                self._nesting.place(0, line)
                envelope.nodes.append(Separator(line))
                if found[1] or found[2]:
                    self._receipts.append(Receipt("spacing", line, 1, f"{found[1]}---{found[2]}", "---"))
                return
        self._receipts.append(Receipt("separator", line, 1, "---", ""))

    def _outside(self) -> bool:
        """Read a line above or between envelopes: a comment, the version; or find that an envelope is missing."""
        body, lexer, document = self._body, self._lexer, self._document
        if found := _COMMENT_LINE.match(body, self._at, lexer.limit):
            text = found[1].strip(" ")
            if found[0] != f"// {text}\n":
                self._receipts.append(Receipt("comment", lexer.line, 1, found[0].rstrip("\n"), f"// {text}"))
            self._comments.append(text)
        elif document.envelopes:
            self._faults.add(_outside(lexer.line))
            self._at = lexer.read(self._at).end
            return True
        elif document.version is None and (found := _SENTINEL.match(body, self._at, lexer.limit)):
            document.version = found[2]
            if self._comments or self._separated or found[0] != f"OCTAVE::{found[2]}\n":
                self._receipts.append(Receipt("sentinel", lexer.line, 1, found[0].rstrip("\n"), f"OCTAVE::{found[2]}"))
        else:
            self._infer()
            return False
        self._at = found.end()
        lexer.line += 1
        return True

    # -- nodes

    def _first_nodes(self) -> list[Node]:
        """The envelope's first two nodes, comments aside, each looked at once."""
        assert self._envelope is not None
        nodes = self._envelope.nodes
        while len(self._first) < 2 and self._looked_at < len(nodes):
            node = nodes[self._looked_at]
            self._looked_at += 1
            if not isinstance(node, Comment):
                self._first.append(node)
        return self._first

    def _is_first(self) -> bool:
        return all(isinstance(node, Separator) for node in self._first_nodes())

    def _open_block(self, opened: Block, indent: int) -> None:
        is_meta = opened.key == "META" and not self._nesting.depth and self._is_first()
        self._nesting.children.append(opened)
        self._nesting.open(opened.children, indent, is_meta)

    def _open_section(self, opened: Section, indent: int) -> None:
        if self._nesting.in_meta:
            raise OctaveError("E006", "META holds no sections", opened.line, indent + 1, "put it below META")
        self._nesting.children.append(opened)
        self._nesting.open(opened.children, indent)

    def _bare_zone(self, zone: Zone, line: int) -> None:
        if self._envelope is None:
            if self._document.envelopes:
                raise _outside(line)
            self._infer()
        self._nesting.place(zone.indent, line, zone=True)
        if self._nesting.in_meta:
            raise OctaveError("E001", "META holds assignments only", line, zone.indent + 1, "give the zone a key")
        self._nesting.children.append(Assignment("", literal(zone), line))

    def _take_zone(self) -> Zone:
        zone = self._lexer.take_zone()
        depth = self._nesting.depth
        if zone.indent != 2 * depth:
            self._receipts.append(Receipt("indentation", zone.line, 1, " " * zone.indent, "  " * depth))
        return zone

    def _zone_below(self) -> Zone | None:
        """The literal zone that follows, blank lines aside."""
        lexer = self._lexer
        blank = _BLANK.match(self._body, self._at, lexer.limit)
        at = blank.end() if blank else self._at
        if not lexer.has_zone_at(at):
            return None
        if blank:
            self._receipts.append(Receipt("blank_lines", lexer.line, 1, blank[0], ""))
            lexer.line += blank[0].count("\n")
        self._at = at
        return self._take_zone()

    def _nearly_plain_line(self, found: re.Match[str]) -> None:
        line = self._lexer.line
        self._nesting.place(found.end(INDENT) - self._at, line)
        self._nesting.children.append(loose_assignment(found, line, self._nesting.depth, self._receipts))
        self._at = found.end()
        self._lexer.line += found[0].count("\n")

    def _statement(self) -> None:
        """Read a line token by token."""
        faults = self._faults.count
        line = self._lexer.read(self._at)
        self._at = line.end
        tokens = line.tokens
        if self._faults.count > faults or not tokens:
            return
        last = tokens[-1]
        reading = Reading(line, self._body, self._receipts, self._lenient)
        comment = self._comment_or_blanks(tokens, last)
        if not tokens:
            self._nesting.comment(comment or "", last.column - 1, last.line)
        elif tokens[0].kind == SECTION:
            self._section(reading, comment)
        else:
            head = keyed(reading, tokens)
            if head.mark.kind == COLON:
                self._block(reading, head, comment)
            else:
                self._assignment(reading, head, comment)

    def _comment_or_blanks(self, tokens: list[Token], last: Token) -> str | None:
        """Take the comment at the end of a line off its tokens; note the blanks that stand there instead."""
        if last.kind == COMMENT_TOKEN:
            comment = last.text[2:].strip(" ")
            tokens.pop()
            start, gap = (tokens[-1].end, " ") if tokens else (last.start, "")
            before, after = self._body[start : last.end], f"{gap}// {comment}"
            if before != after:
                self._receipts.append(Receipt("comment", last.line, last.column, before, after))
            return comment
        tail = self._body[last.end : self._body.index("\n", last.end)]
        if tail:
            self._receipts.append(Receipt("trailing_blanks", last.line, last.column, last.text + tail, last.text))
        return None

    def _section(self, reading: Reading, comment: str | None) -> None:
        tokens = reading.tokens
        opened = section(reading, tokens)
        indent = tokens[0].column - 1
        self._nesting.place(indent, opened.line)
        self._add_strays(reading, opened.line)
        self._spacing(reading, section_head(opened))
        self._open_section(opened, indent)
        self._comment_behind_head(opened, comment)

    def _block(self, reading: Reading, head: KeyedLine, comment: str | None) -> None:
        tokens = reading.tokens
        opened = block(reading, head, tokens)
        indent = tokens[0].column - 1
        self._nesting.place(indent, opened.line)
        self._add_strays(reading, opened.line)
        self._spacing(reading, block_head(opened), "target" if opened.note != head.note else "spacing")
        self._open_block(opened, indent)
        self._comment_behind_head(opened, comment)

    def _assignment(self, reading: Reading, head: KeyedLine, comment: str | None) -> None:
        tokens, key, mark = reading.tokens, head.key, head.mark
        self._nesting.place(key.column - 1, key.line)
        if key.text == "META" and not self._nesting.depth and self._is_first():
            raise OctaveError("E001", "META is a block", mark.line, mark.column, "write META: and its fields below")
        node = assignment(head, comment)
        first = head.place + 1
        if first == len(tokens):
            zone = self._zone_below() if mark.kind != OPERATOR and comment is None else None
            if zone is None:
                raise empty_value(key)
            node.value = literal(zone)
            before = self._body[key.start : mark.end]
        else:
            node.value, kind = reading.value(first, len(tokens))
            before = self._body[key.start : tokens[first].start]
            source, after = reading.source(first, len(tokens)), spelled(node.value, self._nesting.depth, node.key)
            if source != after:
                self._receipts.append(Receipt(kind, tokens[first].line, tokens[first].column, source, after))
        self._add_strays(reading, key.line)
        self._nesting.children.append(node)
        if before != assignment_head(node):
            kind = "flow" if mark.kind == OPERATOR else "spacing"
            self._receipts.append(Receipt(kind, key.line, key.column, before, assignment_head(node)))

    def _spacing(self, reading: Reading, after: str, kind: str = "spacing") -> None:
        before = reading.source(0, len(reading.tokens))
        if before != after:
            head = reading.tokens[0]
            self._receipts.append(Receipt(kind, head.line, head.column, before, after))

    def _comment_behind_head(self, opened: Block | Section, comment: str | None) -> None:
        if comment is not None:
            self._receipts.append(Receipt("comment", opened.line, 1, f"// {comment}", f"\n// {comment}"))
            opened.children.append(Comment(comment, opened.line))

    def _add_strays(self, reading: Reading, line: int) -> None:
        """Comments from inside a pattern or a note stand above the line now."""
        for text in reading.strays:
            comment = text[2:].strip(" ")
            self._receipts.append(Receipt("comment", line, 1, text, f"// {comment}"))
            self._nesting.children.append(Comment(comment, line))


def _outside(line: int) -> OctaveError:
    return OctaveError("E_OUTSIDE_ENVELOPE", "something stands behind ===END===", line, 1, "move it above ===END===")
