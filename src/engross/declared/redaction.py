"""Values that must not be seen: whatever an upstream sends back, what a document binds does not get out.

A value is looked for as it is, percent-encoded, in base64 and as JSON writes it. One shorter than six characters is
taken out only where it stands as a word of its own, because it is likely to be a part of other words.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

import orjson

HIDDEN = "[hidden]"
SHORT = 6


class Redactor:
    """Takes secrets out of texts and data. Without secrets it costs nothing."""

    __slots__ = ("_numbers", "_pattern", "_probe")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
        longest_first = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_looked_for, longest_first))) if spellings else None
        # Whether anything is to be taken out of a large answer is asked of its bytes, which is quick.
        told = {orjson.dumps(spelling)[1:-1] for spelling in longest_first}
        self._probe = re.compile(b"|".join(map(re.escape, sorted(told, key=len, reverse=True)))) if spellings else None
        self._numbers = {spelling for spelling in spellings if spelling.replace(".", "", 1).isdecimal()}

    def text(self, text: str) -> str:
        """The text without secrets."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def data(self, value: Any) -> Any:
        """The value without secrets, also in the names of fields."""
        if self._probe is None or not self._probe.search(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)):
            return value
        return self._cleaned(value)

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self._cleaned(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._cleaned(part) for part in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in self._numbers:
            return HIDDEN
        return value


def _spellings(secret: str) -> Iterator[str]:
    if not secret:
        return
    yield secret
    if len(secret) >= SHORT:
        yield from (quote(secret, safe=""), quote(secret), quote_plus(secret))
        yield b64encode(secret.encode()).decode().rstrip("=")
        yield orjson.dumps(secret)[1:-1].decode()


def _looked_for(spelling: str) -> str:
    if len(spelling) >= SHORT:
        return re.escape(spelling)
    return rf"(?<![^\W_]){re.escape(spelling)}(?![^\W_])"
