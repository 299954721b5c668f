"""What stands to the right of a key. Values do not change once made; nodes may be given others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias, TypeGuard


class Number:
    """A number whose spelling says more than its value: `1.50`, `007`, `1e10`."""

    __slots__ = ("lexeme",)

    def __init__(self, lexeme: str) -> None:
        self.lexeme: Final = lexeme

    @property
    def value(self) -> int | float:
        """The nearest number Python has."""
        digits = self.lexeme.lstrip("-")
        return int(self.lexeme) if digits.isdigit() and len(digits) <= LONGEST_INTEGER else float(self.lexeme)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.lexeme == other.lexeme

    def __hash__(self) -> int:
        return hash(self.lexeme)

    def __repr__(self) -> str:
        return f"Number({self.lexeme!r})"


class Pattern:
    """A holographic pattern, as its canonical text with the brackets."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text: Final = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"


class Literal:
    """A literal zone.

    `content` is what stands between the fences without its last line end; if it is nothing but line ends, all of
    them are there, so that a zone with one empty line is not an empty zone.
    """

    __slots__ = ("content", "fence", "info")

    def __init__(self, content: str, info: str | None = None, fence: str = "```") -> None:
        self.content: Final = content
        self.info: Final = info
        self.fence: Final = fence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"Literal({self.content!r}, {self.info!r}, {self.fence!r})"

    def _all(self) -> tuple[str, str | None, str]:
        return (self.content, self.info, self.fence)


class Pair:
    """An inline map's entry, an item of a list."""

    __slots__ = ("key", "value")

    def __init__(self, key: str, value: Value) -> None:
        self.key: Final = key
        self.value: Final = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and self.key == other.key and same_value(self.value, other.value)

    def __hash__(self) -> int:
        return hash((Pair, self.key))

    def __repr__(self) -> str:
        return f"Pair({self.key!r}, {self.value!r})"


class List:
    """A list. `comments` are (index of the item they stand before, text).

    `text` is the canonical text at nesting `depth`, once it is known. A list that was read in that form makes its
    items when somebody asks for them.
    """

    __slots__ = ("_items", "comments", "depth", "text")

    def __init__(self, items: Iterable[Item] = (), comments: Iterable[tuple[int, str]] = ()) -> None:
        self._items: tuple[Item, ...] | None = tuple(items)
        self.comments = tuple(comments)
        self.depth = -1
        self.text = ""

    @classmethod
    def written(cls, text: str, depth: int) -> List:
        """A list of plain items and pairs, known to be written canonically at that depth."""
        made = cls.__new__(cls)
        made._items = None
        made.comments = ()
        made.depth = depth
        made.text = text
        return made

    @property
    def items(self) -> tuple[Item, ...]:
        """What the list holds."""
        if self._items is None:
            self._items = tuple(map(_item_of, _ITEMS.finditer(self.text, 1, len(self.text) - 1)))
        return self._items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, List) and _same_list(self, other)

    def __hash__(self) -> int:
        return hash((List, len(self.items)))

    def __repr__(self) -> str:
        return f"List({list(self.items)!r})"


Value: TypeAlias = str | int | float | bool | Number | List | Pattern | Literal | None
Item: TypeAlias = Value | Pair

LONGEST_INTEGER: Final = 4000
CONSTANTS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None}
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_DECODED: Final[Mapping[str, str]] = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "r": "\r"}
# An item of a list whose text is canonical: a pair's key, then a short list, or a lexeme.
_QUOTED: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_ITEMS: Final = re.compile(
    rf'(?:([^\s:,"$\[\]]++)::)?+(?:(\[(?:[^\]"]++|{_QUOTED})*+\])|({_QUOTED}|[^\s,"<]++(?:<[^>]*+>)?+))'
)


def unquoted(lexeme: str) -> str:
    """What a quoted text says, in ordinary or in triple quotes."""
    inner = lexeme[3:-3] if len(lexeme) >= 6 and lexeme.startswith('"""') else lexeme[1:-1]
    if "\\" not in inner:
        return inner
    return _ESCAPED.sub(lambda found: _DECODED.get(found[1], found[0]), inner)


def atom(lexeme: str) -> str | int | float | bool | Number | Pattern | None:
    """The value of a single lexeme."""
    first = lexeme[0]
    if first == "[":
        return Pattern(lexeme)
    if first == '"':
        return unquoted(lexeme)
    if first in "-0123456789":
        return number(lexeme)
    return CONSTANTS.get(lexeme, lexeme)


def _item_of(found: re.Match[str]) -> Item:
    key, inner, lexeme = found.groups()
    value = List.written(inner, 0) if inner is not None else atom(lexeme)
    return value if key is None else Pair(key, value)


def number(lexeme: str) -> int | float | Number:
    """The plain number, if it is spelled as Python would spell it; else one that remembers its spelling."""
    if len(lexeme) <= LONGEST_INTEGER:
        plain = int(lexeme) if lexeme.lstrip("-").isdigit() else float(lexeme)
        if repr(plain) == lexeme:
            return plain
    return Number(lexeme)


def is_number(value: object) -> TypeGuard[int | float | Number]:
    """Whether it is a number; true and false are none."""
    return isinstance(value, (int, float, Number)) and not isinstance(value, bool)


def same_value(one: Item, other: Item) -> bool:
    """Whether two values are of the same kind and say the same: 1, 1.0 and true are three."""
    return type(one) is type(other) and one == other


def _same_list(one: List, other: List) -> bool:
    return (
        len(one.items) == len(other.items)
        and one.comments == other.comments
        and all(map(same_value, one.items, other.items))
    )
