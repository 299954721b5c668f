"""YAML: written in block style so that every YAML reader understands it, and read back as far as we write it.

The reader knows the subset that the writer uses: block mappings and sequences, texts in double quotes or of plain
words, numbers, true, false, null and the two empty collections. It is no general YAML reader and says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NoReturn

from .error import OctaveError
from .given import DEEPEST_DATA
from .outline import Data
from .value import Number, number

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ ./-][A-Za-z0-9_]+)*", re.ASCII).fullmatch
# What a reader of YAML 1.1 would take for something else.
_RESERVED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-][0-9]+)?)?").fullmatch
_KEY: Final = re.compile(r'("(?:[^"\\]|\\.)*"|[A-Za-z_][^:"]*?):(?: +(.*))?')


def to_yaml(data: Data) -> str:
    """Write data as YAML."""
    lines: list[str] = []
    # What is to be written: the beginning of its first line, its indentation, and itself.
    waiting: list[tuple[str, int, Data]] = [("", -2, data)]
    while waiting:
        lead, indent, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting.extend(reversed(list(_entries(lead, indent + 2, value.items(), lines))))
        elif isinstance(value, list) and value:
            waiting.extend(reversed(list(_items(lead, indent + 2, value, lines))))
        else:
            lines.append(f"{lead}{_scalar(value)}")
    return "\n".join(lines) + "\n"


def _entries(lead: str, indent: int, entries: Data, lines: list[str]) -> Iterator[tuple[str, int, Data]]:
    pad = " " * indent
    first = _begin(lead, lines)
    for place, (key, value) in enumerate(entries):
        head = first if place == 0 and first is not None else pad
        gap = "" if isinstance(value, (dict, list)) and value else " "
        yield f"{head}{_text(key)}:{gap}", indent, value


def _items(lead: str, indent: int, items: list[Data], lines: list[str]) -> Iterator[tuple[str, int, Data]]:
    pad = " " * indent
    first = _begin(lead, lines)
    for place, value in enumerate(items):
        head = first if place == 0 and first is not None else pad
        yield f"{head}- ", indent, value


def _begin(lead: str, lines: list[str]) -> str | None:
    """Behind a dash a collection begins on the same line, behind a key on the next."""
    if lead.endswith("- "):
        return lead
    if lead:
        lines.append(lead)
    return None


def _scalar(data: Data) -> str:
    if isinstance(data, str):
        return _text(data)
    if isinstance(data, Number):
        return data.lexeme if _NUMBER(data.lexeme) else _with_exponent(data.lexeme)
    if isinstance(data, float) and _NUMBER(repr(data)) is None:
        return _with_exponent(repr(data))
    return json.dumps(data)


def _with_exponent(lexeme: str) -> str:
    """A number as every reader of YAML knows it: with a point before the exponent, and a sign behind it."""
    mantissa, _, exponent = lexeme.lower().partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{'' if exponent[0] in '+-' else '+'}{exponent}"


def _text(text: str) -> str:
    if _PLAIN(text) and text.casefold() not in _RESERVED:
        return text
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def yaml_spells(value: object) -> bool:
    """Whether a number comes back from YAML as it is spelled."""
    if isinstance(value, Number):
        return _NUMBER(value.lexeme) is not None
    return not isinstance(value, float) or _NUMBER(repr(value)) is not None


def from_yaml(text: str) -> Data:
    """Read YAML of the kind that `to_yaml` writes; raises E_INPUT for any other."""
    return _Reader(text).data()


class _Row:
    __slots__ = ("indent", "number", "text")

    def __init__(self, indent: int, text: str, number: int) -> None:
        self.indent = indent
        self.text = text
        self.number = number


class _Reader:
    def __init__(self, text: str) -> None:
        self._rows: list[_Row] = []
        for row, line in enumerate(text.split("\n"), 1):
            content = line.lstrip(" ")
            if content.strip():
                self._rows.append(_Row(len(line) - len(content), content, row))
        self._at = 0

    def data(self) -> Data:
        """Everything there is."""
        if not self._rows:
            return None
        try:
            value = self._node(0)
        except RecursionError:
            self._refuse("is nested too deeply")
        if self._at < len(self._rows):
            self._refuse("does not belong to what stands above it")
        return value

    def _node(self, depth: int) -> Data:
        if depth > 2 * DEEPEST_DATA:
            self._refuse("is nested too deeply")
        indent, text = self._rows[self._at].indent, self._rows[self._at].text
        if text.startswith("- ") or text == "-":
            return self._sequence(indent, depth)
        if text[0] not in "[{" and _KEY.fullmatch(text):
            return self._mapping(indent, depth)
        self._at += 1
        return self._value(text)

    def _sequence(self, indent: int, depth: int) -> list[Data]:
        items: list[Data] = []
        while self._at < len(self._rows) and self._rows[self._at].indent == indent:
            row = self._rows[self._at]
            if not row.text.startswith("- "):
                break
            row.indent, row.text = indent + 2, row.text[2:]
            items.append(self._node(depth + 1))
        return items

    def _mapping(self, indent: int, depth: int) -> dict[str, Data]:
        fields: dict[str, Data] = {}
        while self._at < len(self._rows) and self._rows[self._at].indent == indent:
            found = _KEY.fullmatch(self._rows[self._at].text)
            if found is None:
                break
            key = self._value(found[1]) if found[1][0] == '"' else found[1]
            if key in fields:
                self._refuse(f"repeats the key {key}")
            self._at += 1
            fields[key] = self._value(found[2]) if found[2] else self._below(indent, depth)
        return fields

    def _below(self, indent: int, depth: int) -> Data:
        if self._at >= len(self._rows) or self._rows[self._at].indent <= indent:
            return None
        return self._node(depth + 1)

    def _value(self, text: str) -> Data:
        if text in ("{}", "[]", "true", "false", "null"):
            return json.loads(text)
        if text[0] == '"':
            try:
                return json.loads(text)
            except ValueError:
                self._refuse("holds no text that could be read")
        if re.fullmatch(r"-?[0-9][0-9.eE+-]*", text):
            return number(text)
        if _PLAIN(text) is None:
            self._refuse("is YAML of another kind than is written here")
        return text

    def _refuse(self, message: str) -> NoReturn:
        row = self._rows[min(self._at, len(self._rows) - 1)].number
        raise OctaveError("E_INPUT", f"a line {message}", row, 1)
