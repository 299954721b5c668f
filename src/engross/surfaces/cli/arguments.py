"""Arguments as people write them on a command line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from engross.replies import Invalid, codes

MOST_BYTES = 64 * 1024 * 1024
"""More than any flow takes; whoever sends more than that sends the wrong file."""
STDIN = "-"
NAME_A_FILE = "Name a file that is there: @FILE reads the arguments from it."


def read_json(given: str) -> Any:
    """JSON given as it is, as `@file`, or as `-` for standard input."""
    if given == STDIN:
        return parsed(_read(sys.stdin.buffer.read, "standard input"))
    if given.startswith("@"):
        file = Path(given[1:])
        try:
            with file.open("rb") as stream:
                return parsed(_read(stream.read, file.name))
        except OSError as error:
            problem = f"{given[1:]} cannot be read: {error.strerror}"
            raise Invalid(codes.MALFORMED_INPUT, {"problem": problem}, suggestions={"hint": NAME_A_FILE}) from None
    return parsed(given)


def parsed(text: str | bytes) -> Any:
    """The JSON in a text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        problem = f"it is no JSON in UTF-8, see line {error.lineno}, column {error.colno}"
        details = {"line": error.lineno, "column": error.colno}
        raise Invalid(codes.MALFORMED_INPUT, {"problem": problem}, details=details) from None


def _read(read: Any, name: str) -> bytes:
    content: bytes = read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Invalid(codes.LIMIT_EXCEEDED, {"what": f"The size of {name}", "limit": MOST_BYTES})
    return content


def valued(text: str, schema: Mapping[str, Any]) -> Any:
    """What a text stands for where the schema expects something.

    A text that cannot stand for it is passed on as it is: the office then says what it expected, and everything else
    that is wrong, at once.
    """
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [str(kinds)]:
        if kind == "string":
            return text
        value = _any(text)
        if type(value) in _WRITTEN_AS_JSON.get(kind, ()):
            return value
    return text if kinds else _any(text)


def _any(text: str) -> Any:
    """What JSON makes of the text, or the text."""
    try:
        return orjson.loads(text)
    except ValueError:
        return text


_WRITTEN_AS_JSON: Mapping[str, tuple[type, ...]] = {
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
