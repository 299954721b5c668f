"""Deep-frozen JSON values: what a reply carries cannot change after it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from math import isfinite
from typing import Any, NoReturn

MAX_DEPTH = 100
_SMALLEST = -(2**63)
_LARGEST = 2**64 - 1


class NotSerializable(ValueError):
    """Raised for a value that JSON cannot carry; `pointer` says where it sits."""

    def __init__(self, pointer: str = "", reason: str = "not a JSON value") -> None:
        super().__init__(pointer, reason)
        self.pointer = pointer
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.reason} at {self.pointer or '/'}"

    def under(self, key: object) -> NotSerializable:
        """The same complaint seen from one level further up."""
        return NotSerializable(f"/{_token(key)}{self.pointer}", self.reason)


def _token(key: object) -> str:
    if type(key) is int:
        return str(key)
    if type(key) is not str:
        return "?"
    return key.encode("utf-8", "replace").decode().replace("~", "~0").replace("/", "~1")


def _frozen(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} cannot be changed")


class FrozenDict(dict[str, Any]):
    """A dict that holds only frozen JSON values and refuses every change."""

    __slots__ = ()

    def __new__(cls, content: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> FrozenDict:
        return _freeze_dict(dict(content), 1)

    def __init__(self, content: object = ()) -> None:
        """Nothing is left to do; dict's own would let a second call change the content."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    __setitem__ = __delitem__ = __ior__ = _frozen
    clear = pop = popitem = setdefault = update = _frozen


class FrozenList(list[Any]):
    """A list that holds only frozen JSON values and refuses every change."""

    __slots__ = ()

    def __new__(cls, content: Iterable[Any] = ()) -> FrozenList:
        return _freeze_list(list(content), 1)

    def __init__(self, content: object = ()) -> None:
        """Nothing is left to do; list's own would let a second call change the content."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _frozen
    append = clear = extend = insert = pop = remove = reverse = sort = _frozen


def freeze(content: Mapping[str, Any]) -> FrozenDict:
    """A deep-frozen copy of a JSON object; raises NotSerializable where something does not fit."""
    # Trusted on the outermost level only: a frozen part put somewhere deeper could pass the depth limit.
    if type(content) is FrozenDict:
        return content
    if type(content) is dict:
        return _freeze_dict(content, 1)
    if isinstance(content, Mapping):
        return _freeze_dict(dict(content), 1)
    raise NotSerializable("", f"{type(content).__name__} is not a JSON object")


def extended(content: FrozenDict, **more: Any) -> FrozenDict:
    """A frozen object with more fields, or others: what it holds already is not looked at again."""
    result = _new_dict(FrozenDict)
    _update(result, content)
    _update(result, _freeze_dict(more, 1))
    return result


def _freeze_dict(content: dict[str, Any], depth: int) -> FrozenDict:
    # Copied whole, then judged: most values are leaves and stay, so only containers are put a second time.
    result = _new_dict(FrozenDict)
    _update(result, content)
    key: object = None
    try:
        if depth > MAX_DEPTH:
            raise NotSerializable("", "nested too deeply")
        for key, value in result.items():
            if type(key) is not str or not key.isascii():
                _check_key(key)
            # Leaves are judged here and not in a function of their own: a call each would double the time.
            kind = type(value)
            if kind is str:
                if not value.isascii():
                    _check_text(value)
            elif kind is int:
                if not _SMALLEST <= value <= _LARGEST:
                    raise NotSerializable("", "a number beyond 64 bits")
            elif kind is dict:
                _put(result, key, _freeze_dict(value, depth + 1))
            elif kind is list:
                _put(result, key, _freeze_list(value, depth + 1))
            elif kind is not bool and value is not None:
                _put(result, key, _freeze_rare(value, depth + 1))
    except NotSerializable as complaint:
        raise (complaint if key is None else complaint.under(key)) from None
    return result


def _freeze_list(content: list[Any] | tuple[Any, ...], depth: int) -> FrozenList:
    result = _new_list(FrozenList)
    _extend(result, content)
    place = -1
    try:
        if depth > MAX_DEPTH:
            raise NotSerializable("", "nested too deeply")
        for place, value in enumerate(result):
            kind = type(value)
            if kind is str:
                if not value.isascii():
                    _check_text(value)
            elif kind is dict:
                _place(result, place, _freeze_dict(value, depth + 1))
            elif kind is list:
                _place(result, place, _freeze_list(value, depth + 1))
            elif kind is not bool and value is not None:
                _place(result, place, _freeze_rare(value, depth + 1))
    except NotSerializable as complaint:
        raise (complaint if place < 0 else complaint.under(place)) from None
    return result


def _freeze_rare(value: object, depth: int) -> object:
    kind = type(value)
    if kind is float:
        if not isfinite(value):  # type: ignore[arg-type]
            raise NotSerializable("", "not a finite number")
        return value
    if kind is int:
        if not _SMALLEST <= value <= _LARGEST:  # type: ignore[operator]
            raise NotSerializable("", "a number beyond 64 bits")
        return value
    if isinstance(value, Enum):
        raise NotSerializable("", "an Enum, not its value")
    if isinstance(value, Mapping):
        return _freeze_dict(dict(value), depth)
    if isinstance(value, list | tuple):
        return _freeze_list(value, depth)
    raise NotSerializable("", f"{kind.__name__} is not a JSON value")


def _check_key(key: object) -> None:
    if type(key) is not str:
        raise NotSerializable("", "a key is not a string")
    _check_text(key)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotSerializable("", "half a character (lone surrogate)") from None


_new_dict, _update, _put = dict.__new__, dict.update, dict.__setitem__
_new_list, _extend, _place = list.__new__, list.extend, list.__setitem__
EMPTY = FrozenDict()
