"""How one value is written: bare or quoted, on one line or several."""

from __future__ import annotations

import re
from typing import Final

from .value import Item, List, Literal, Number, Pair, Pattern, Value

OR: Final = "\N{LOGICAL OR}"
OPERATORS: Final = f"→⊕⧺⇌∧{OR}@"
_LONE_VS: Final = r"(?!vs(?![A-Za-z0-9_.]|-++[A-Za-z0-9_.]))"
# A constant in front of an operator is not read as an operand.
_CONSTANT: Final = r"(?!(?:true|false|null)(?![A-Za-z0-9_.<-]))"
WORD: Final = _LONE_VS + r"[A-Za-z_][A-Za-z0-9_.]*+(?:-++[A-Za-z0-9_.]++)*+"
QUALIFIERS: Final = r"<[A-Za-z_][A-Za-z0-9_]*+(?:,[A-Za-z_][A-Za-z0-9_]*+)*+>"
EXPRESSION: Final = rf"(?:[{OPERATORS}]{WORD})"

VARIABLE: Final = r"\$[A-Za-z0-9_:]++"
BARE: Final = rf"{_CONSTANT}(?:{WORD}(?:{EXPRESSION}++|{QUALIFIERS})?+|{VARIABLE})"

_BARE: Final = re.compile(BARE).fullmatch
_ANNOTATED: Final = re.compile(WORD + QUALIFIERS).fullmatch
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"})
_FENCE_LINE: Final = re.compile(r"(?:\A|(?<=[\n\r])) *(`{3,})")

ALWAYS_QUOTED: Final = frozenset({"PATTERN", "REGEX"})
BARE_CONSTRAINTS: Final = frozenset({"REQ", "OPT", "DIR", "APPEND_ONLY", "DATE", "ISO8601"})
CONSTRAINTS_WITH_ARGUMENTS: Final = frozenset(
    {"CONST", "ENUM", "TYPE", "LANG", "REGEX", "RANGE", "MAX_LENGTH", "MIN_LENGTH"}
)


def is_bare(text: str) -> bool:
    """Whether a text may stand without quotes."""
    return _BARE(text) is not None


def is_annotated(text: str) -> bool:
    """Whether a text is an annotated word, `NAME<qualifier>`."""
    return _ANNOTATED(text) is not None


def quoted(text: str) -> str:
    """The text in quotes."""
    # Five looks are faster than one pattern or one translation.
    if "\\" in text or '"' in text or "\n" in text or "\t" in text or "\r" in text:
        text = text.translate(_ESCAPES)
    return f'"{text}"'


def spelled_text(text: str) -> str:
    """A text as it is written behind a key."""
    return quoted(text) if " " in text or not _BARE(text) else text


def spelled(value: Value, depth: int, key: str = "") -> str:
    """A value as it is written behind a key that is indented by `depth` levels."""
    if isinstance(value, str):
        return quoted(value) if key in ALWAYS_QUOTED else spelled_text(value)
    if isinstance(value, List):
        return spelled_list(value, depth)
    if isinstance(value, Literal):
        return "\n" + spelled_literal(value, depth)
    return spelled_atom(value)


def spelled_atom(value: bool | int | float | Number | Pattern | None) -> str:
    """A value that has one spelling only."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number):
        return value.lexeme
    return value.text if isinstance(value, Pattern) else repr(value)


def spelled_list(value: List, depth: int) -> str:
    """A list: on one line if it is short and plain, else with one item on each line."""
    if value.depth != depth:
        value.text = _one_line(value) or _lines(value, depth)
        value.depth = depth
    return value.text


def _one_line(value: List) -> str | None:
    items = value.items
    if len(items) > 2 or value.comments:
        return None
    for item in items:
        if isinstance(item, (Pair, List, Literal)) or (isinstance(item, str) and "<" in item and is_annotated(item)):
            return None
    return "[" + ",".join(_item(item, 0, len(items) == 1) for item in items) + "]"


def _lines(value: List, depth: int) -> str:
    pad = "  " * (depth + 1)
    comments = iter([*value.comments, (-1, "")])
    index, comment = next(comments)
    lines = ["["]
    last = len(value.items) - 1
    for place, item in enumerate(value.items):
        while index == place:
            lines.append(f"{pad}// {comment}")
            index, comment = next(comments)
        # A fence must have its line to itself, so it takes the line end for a comma.
        mark = "" if place == last or _ends_with_fence(item) else ","
        lines.append(f"{_padded(item, pad, depth + 1, last == 0)}{mark}")
    while index >= 0:
        lines.append(f"{pad}// {comment}")
        index, comment = next(comments)
    lines.append("  " * depth + "]")
    return "\n".join(lines)


def _padded(item: Item, pad: str, depth: int, alone: bool) -> str:
    return spelled_literal(item, depth) if isinstance(item, Literal) else pad + _item(item, depth, alone)


def _ends_with_fence(item: Item) -> bool:
    return isinstance(item.value if isinstance(item, Pair) else item, Literal)


def _item(item: Item, depth: int, alone: bool) -> str:
    if isinstance(item, Pair):
        return f"{item.key}::{spelled(item.value, depth, item.key)}"
    if isinstance(item, str) and alone and "∧" in item:
        # On its own between brackets it might be taken for a pattern.
        return quoted(item) if _reads_as_pattern(item) else spelled_text(item)
    return spelled(item, depth)


def _reads_as_pattern(text: str) -> bool:
    return all(part in BARE_CONSTRAINTS for part in text.split("∧")[1:])


def spelled_literal(value: Literal, depth: int) -> str:
    """A literal zone with its fences; the fences are long enough for what they hold."""
    pad = "  " * depth
    fence = fence_for(value)
    body = value.content if not value.content.strip("\n") else value.content + "\n"
    return f"{pad}{fence}{value.info or ''}\n{body}{pad}{fence}"


def fence_for(value: Literal) -> str:
    """The literal's own fence, or a longer one where its content holds a line that would end it."""
    if "```" not in value.content:
        return value.fence
    longest = max((len(found[1]) for found in _FENCE_LINE.finditer(value.content)), default=0)
    return value.fence if len(value.fence) > longest else "`" * (longest + 1)
