"""Values and nodes out of plain Python data, such as JSON holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .composition import composed
from .error import OctaveError
from .node import Assignment, Block, Node
from .spelling import fence_for
from .token import DEEPEST, is_identifier, is_number_text
from .value import Item, List, Literal, Number, Pair, Pattern, Value

RESERVED: Final = "__OCTAVE_DELETE__"
ZONE_MARK: Final = "__literal_zone__"
DEEPEST_DATA: Final = 200
# As many as Python writes out without being asked to.
MOST_BITS: Final = 14_000


def node_of(key: str, data: object, depth: int = 0) -> Assignment | Block:
    """The node that data makes under a key: a mapping that holds more than atoms and lists of them is a block."""
    key = key_of(key)
    if depth > DEEPEST_DATA:
        raise _unfit(f"{key} is nested more than {DEEPEST_DATA} deep")
    if isinstance(data, Mapping) and not is_zone(data) and not _is_flat(data):
        return Block(key, nodes_of(data, depth + 1))
    return Assignment(key, written_value(data))


def nodes_of(data: Mapping[Any, object], depth: int = 0) -> list[Node]:
    """The children that a mapping makes."""
    if "$op" in data:
        raise _unfit("$op cannot stand inside a value")
    return [node_of(key, value, depth) for key, value in data.items()]


def value_of(data: object, depth: int = 0) -> Value:
    """The value that data makes; raises E_INPUT for what OCTAVE cannot say."""
    if data is None or isinstance(data, (bool, Number, List, Pattern, Literal)):
        return data
    if isinstance(data, int):
        if data.bit_length() > MOST_BITS:
            raise _unfit("a number has too many digits")
        return data
    if isinstance(data, str):
        return text_of(data)
    if isinstance(data, float):
        if not math.isfinite(data):
            raise _unfit(f"{data} is not a number that can be written")
        return data
    if isinstance(data, Mapping):
        return literal_of(data) if is_zone(data) else List(_pairs(data, depth))
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray)):
        # Two levels short of what a reader accepts, for the pairs around it.
        if depth >= DEEPEST - 2:
            raise _unfit(f"a list is nested {DEEPEST} deep")
        return List(_item(item, depth + 1) for item in data)
    raise _unfit(f"{type(data).__name__} cannot be a value")


def written_value(data: object) -> Value:
    """The same for what a strict reader is to find: there, an inline map holds no other."""
    value = value_of(data)
    _refuse_map_in_map(value)
    return value


def pair_of(key: object, data: object) -> Pair:
    """A pair for an inline map, likewise."""
    pair = Pair(pair_key(key), value_of(data))
    _refuse_map_in_map(pair)
    return pair


def _refuse_map_in_map(made: Item) -> None:
    pending: list[Item] = [made]
    while pending:
        item = pending.pop()
        if isinstance(item, List):
            pending.extend(item.items)
        elif isinstance(item, Pair):
            inner = item.value
            if isinstance(inner, List) and any(isinstance(one, Pair) for one in inner.items):
                raise _unfit(f"the inline map of {item.key} holds another", "a mapping of mappings makes a block")
            pending.append(inner)


def text_of(data: str) -> str:
    """A text as it can be written: composed, and UTF-8."""
    if data == RESERVED:
        raise _unfit("the reserved text cannot stand inside a value")
    text = composed(utf8(data))
    if text is None:
        raise _unfit("a letter carries too many marks")
    return text


def utf8(data: str) -> str:
    """The text as it is; refuses what cannot be stored."""
    try:
        if not data.isascii():
            data.encode()
    except UnicodeEncodeError:
        raise _unfit("a text is not UTF-8") from None
    return data


def key_of(key: object) -> str:
    """A key as it can be written; refuses what cannot be one."""
    text = composed_key(key) if isinstance(key, str) else ""
    if not is_identifier(text) or text.endswith("%"):
        raise OctaveError("E_INPUT", f"{key!r} cannot be a key", hint="a key is a bare word")
    return text


def pair_key(key: object) -> str:
    """The same for the key of a pair, which may be a number."""
    return key if isinstance(key, str) and is_number_text(key) else key_of(key)


def composed_key(key: str) -> str:
    """A key or a path with its characters composed, as a reader finds it."""
    return composed(key) or key


def is_zone(data: object) -> bool:
    """Whether data stands for a literal zone."""
    return isinstance(data, Mapping) and data.get(ZONE_MARK) is True


def literal_of(data: Mapping[Any, Any]) -> Literal:
    """The literal zone that data stands for."""
    content, info, fence = data.get("content", ""), data.get("info_tag"), data.get("fence_marker", "```")
    if not isinstance(content, str) or not isinstance(fence, str) or not (info is None or isinstance(info, str)):
        raise _unfit("a literal zone has content, info_tag and fence_marker")
    if len(fence) < 3 or fence.strip("`"):
        raise _unfit("a fence is three backticks or more")
    if info is not None and (any(mark in info for mark in "`\n\r\t") or info != info.strip(" ") or not info):
        raise _unfit("an info tag is one line without backticks")
    utf8(content)
    return Literal(content, info, fence_for(Literal(content, info, fence)))


def _pairs(data: Mapping[Any, object], depth: int) -> Iterable[Pair]:
    if "$op" in data:
        raise _unfit("$op cannot stand inside a value")
    for key, value in data.items():
        yield Pair(pair_key(key), value_of(value, depth + 1))


def _item(data: object, depth: int) -> Item:
    if isinstance(data, Pair):
        return data
    if isinstance(data, Mapping) and len(data) == 1 and not is_zone(data):
        return next(iter(_pairs(data, depth)))
    return value_of(data, depth)


def _is_flat(data: Mapping[Any, object]) -> bool:
    """Whether a mapping can be an inline map: not empty, and with atoms and lists of atoms only."""
    return bool(data) and all(_is_atom(value) or _is_atoms(value) for value in data.values())


def _is_atom(data: object) -> bool:
    return data is None or isinstance(data, (str, bool, int, float, Number, Pattern))


def _is_atoms(data: object) -> bool:
    return isinstance(data, (list, tuple)) and all(_is_atom(item) or _is_atoms(item) for item in data)


def _unfit(message: str, hint: str | None = None) -> OctaveError:
    return OctaveError("E_INPUT", message, hint=hint)
