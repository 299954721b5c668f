"""JSONPath as RFC 9535 says, with the spellings that documents of flows use besides.

Beyond the RFC a path may leave out the `$`, be only `$.`, and have names with hyphens or blanks after a dot, because
steps are called like that: `$.get-item.sku`. A path of names and indexes is walked directly, which needs no library.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from .model import MISSING

MOST_LENGTH = 4000
_SHORTHAND = re.compile(r"[A-Za-z_\u0080-\uffff\U00010000-\U0010ffff][A-Za-z0-9_\u0080-\uffff\U00010000-\U0010ffff]*")
_PLAIN_PART = re.compile(r"\.([^.\[\]()'\"*?@:,]+)|\[(0|-?[1-9]\d{0,14})\]|\['([^'\\]*)'\]|\[\"([^\"\\]*)\"\]")


class PathError(ValueError):
    """A path that cannot be read, or not be followed in this value."""


class Path(NamedTuple):
    """A path, ready to be followed."""

    text: str
    find: Callable[[Any], Any]
    """The value at the path: what is there if it leads to one place, else a list; MISSING if nothing is."""
    first: str | None
    """The name that the path starts with; None where it starts with anything else."""
    singular: bool
    """Does it lead to one place at the most?"""


@lru_cache(maxsize=4096)
def compiled(text: str) -> Path:
    """The path that this text says; ValueError with a plain reason when it says none."""
    if len(text) > MOST_LENGTH:
        raise PathError(f"a path has at most {MOST_LENGTH} characters")
    spelled = _rooted(text.strip())
    parts = _plain_parts(spelled)
    if parts is not None:
        return _plain(text, parts)
    return _queried(text, _bracketed(spelled))


def _rooted(text: str) -> str:
    if not text:
        raise PathError("it is empty")
    if not text.startswith("$"):
        text = f"$.{text}" if not text.startswith("[") else f"${text}"
    return "$" if text == "$." else text


def _plain_parts(spelled: str) -> list[str | int] | None:
    """The names and indexes of a path that has nothing else."""
    parts: list[str | int] = []
    at = 1
    while at < len(spelled):
        found = _PLAIN_PART.match(spelled, at)
        if found is None:
            return None
        name, index, single, double = found.groups()
        if index is not None:
            parts.append(int(index))
        else:
            parts.append(name.strip() if name is not None else single if single is not None else double)
        if parts[-1] == "" and name is not None:
            return None
        at = found.end()
    return parts


def _plain(text: str, parts: list[str | int]) -> Path:
    def find(value: Any) -> Any:
        for part in parts:
            if isinstance(part, str):
                if not isinstance(value, dict) or part not in value:
                    return MISSING
                value = value[part]
            else:
                if not isinstance(value, list) or not -len(value) <= part < len(value):
                    return MISSING
                value = value[part]
        return value

    first = parts[0] if parts and isinstance(parts[0], str) else None
    return Path(text, find, first, True)


def _queried(text: str, spelled: str) -> Path:
    from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathError
    from jsonpath_rfc9535.selectors import NameSelector

    try:
        query = JSONPathEnvironment().compile(spelled)
    except JSONPathError as error:
        raise PathError(_reason(error)) from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise PathError("it cannot be read as a JSONPath") from error
    singular = query.singular_query()

    def find(value: Any) -> Any:
        try:
            found = [node.value for node in query.finditer(value)]
        except (JSONPathError, RecursionError) as error:
            raise PathError("the value is nested too deeply for this path") from error
        if singular:
            return found[0] if found else MISSING
        return found

    selectors = query.segments[0].selectors if query.segments else ()
    named = len(selectors) == 1 and isinstance(selectors[0], NameSelector) and not spelled.startswith("$..")
    return Path(text, find, selectors[0].name if named else None, singular)  # type: ignore[attr-defined]


def _reason(error: Exception) -> str:
    told = str(error.args[0]) if error.args else ""
    return told.partition(", line")[0] or "it cannot be read as a JSONPath"


def _bracketed(spelled: str) -> str:
    """Names that the RFC's dots cannot carry, put into brackets. What stands inside brackets stays as it is."""
    written = ["$"]
    at = 1
    while at < len(spelled):
        if spelled[at] == "[":
            end = _closing(spelled, at)
            written.append(spelled[at:end])
            at = end
        elif spelled[at] == ".":
            end = _dotted_end(spelled, at)
            written.append(_dotted(spelled[at:end]))
            at = end
        else:
            written.append(spelled[at])
            at += 1
    return "".join(written)


def _dotted_end(spelled: str, start: int) -> int:
    at = start + 1
    if spelled.startswith("..", start):
        at += 1
    while at < len(spelled) and spelled[at] not in ".[":
        at += 1
    return at


def _dotted(part: str) -> str:
    dots = ".." if part.startswith("..") else "."
    name = part[len(dots) :].strip()
    if not name or name == "*" or _SHORTHAND.fullmatch(name) or any(mark in name for mark in "()'\"*?@:,]"):
        return part
    escaped = name.replace("\\", "\\\\")
    return f"..['{escaped}']" if dots == ".." else f"['{escaped}']"


def _closing(spelled: str, start: int) -> int:
    """Behind the bracket that closes the one at `start`, quoted texts apart."""
    depth, at, quote = 0, start, ""
    while at < len(spelled):
        mark = spelled[at]
        if quote:
            if mark == "\\":
                at += 1
            elif mark == quote:
                quote = ""
        elif mark in "'\"":
            quote = mark
        elif mark == "[":
            depth += 1
        elif mark == "]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(spelled)
