"""JSON, written and read without losing how a number is spelled, and at any depth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

from .error import OctaveError
from .outline import Data
from .value import Number, number


def to_json(data: Data) -> str:
    """Write data as JSON with two blanks for each level."""
    parts: list[str] = []
    waiting: list[tuple[Iterator[tuple[str, Data]], str, int]] = []
    _open(data, "", waiting, parts)
    while waiting:
        entries, closing, count = waiting.pop()
        entry = next(entries, None)
        pad = "  " * len(waiting)
        if entry is None:
            parts.append(f"\n{pad}{closing}")
            continue
        waiting.append((entries, closing, count + 1))
        parts.append(f"{',' if count else ''}\n{pad}  {entry[0]}")
        _open(entry[1], pad, waiting, parts)
    return "".join(parts)


def _open(data: Data, pad: str, waiting: list[tuple[Iterator[tuple[str, Data]], str, int]], parts: list[str]) -> None:
    if isinstance(data, dict) and data:
        parts.append("{")
        waiting.append((iter([(f"{_quoted(key)}: ", value) for key, value in data.items()]), "}", 0))
    elif isinstance(data, list) and data:
        parts.append("[")
        waiting.append((iter([("", value) for value in data]), "]", 0))
    else:
        parts.append(_scalar(data))


def _scalar(data: Data) -> str:
    if isinstance(data, Number):
        return data.lexeme
    return _quoted(data) if isinstance(data, str) else json.dumps(data)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def from_json(text: str) -> Data:
    """Read JSON; raises E_INPUT for what is none."""
    try:
        return json.loads(
            text, parse_int=number, parse_float=number, parse_constant=_refuse, object_pairs_hook=_distinct
        )
    except RecursionError:
        raise OctaveError("E_INPUT", "the JSON is nested too deeply") from None
    except ValueError as error:
        line, column = getattr(error, "lineno", None), getattr(error, "colno", None)
        raise OctaveError("E_INPUT", "the text is no JSON", line, column) from None


def _distinct(pairs: list[tuple[str, Data]]) -> Data:
    """The mapping; of a key that came twice, one value would be lost."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise OctaveError("E_INPUT", f"an object repeats the key {twice}")
    return made


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
