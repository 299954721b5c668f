"""Heads that come again.

On a connection that stays open one request looks like the one before, but for its body and how long that is. What such
a head says, and that it leaves no doubt, is known; to read it once more would cost as much as checking the call. So it
is compared, byte for byte, and nothing is concluded from anything less.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.types import Scope

from engross.replies import Coded
from engross.surfaces.arrived import Headers, note_body, note_headers

from .head import read_head

LARGEST = 4_096
"""In bytes: a head that is kept for as long as its connection."""
END = b"\r\n\r\n"
LENGTH = b"content-length"
MOST_DIGITS = 9
OTHERWISE = frozenset({b"expect", b"transfer-encoding", b"upgrade"})
"""Headers by which there is more to a request than its head and a body of known length."""
PLACE = (
    *("type", "asgi", "http_version", "server", "client", "scheme", "root_path"),
    *("method", "path", "raw_path", "query_string"),
)
_LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]{1,9})\r\n", re.IGNORECASE)


class Repeated:
    """A head, without the length of the body."""

    __slots__ = ("_after", "_before", "_headers", "_lines", "_place", "_scope")

    def __init__(self, before: bytes, after: bytes, scope: Mapping[str, object], headers: Headers) -> None:
        """`before` comes before the length, `after` behind it; it is empty where no length is told."""
        self._before = before
        self._after = after
        self._scope = {name: scope[name] for name in PLACE}
        self._headers = headers
        self._lines = [*headers.items()]
        self._place = next((place for place, line in enumerate(self._lines) if line[0] == LENGTH), -1)

    def request(self, data: bytes) -> Scope | None:
        """What applications learn of a request, if this is all of one and its head is the same."""
        before, after = self._before, self._after
        if not data.startswith(before):
            return None
        scope = self._scope.copy()
        if not after:
            scope["headers"] = self._lines.copy()
            note_headers(scope, self._headers)
            note_body(scope, b"")
            return scope if len(data) == len(before) else None
        end = data.find(b"\r", len(before))
        length = data[len(before) : end]
        if not length.isdigit() or len(length) > MOST_DIGITS or not data.startswith(after, end):
            return None
        body = data[end + len(after) :]
        if len(body) != int(length):
            return None
        lines = scope["headers"] = self._lines.copy()
        lines[self._place] = (LENGTH, length)
        note_headers(scope, {**self._headers, LENGTH: length})
        note_body(scope, body)
        return scope


def repeated(data: bytes, scope: Scope) -> Repeated | None:
    """What there is to know when the head of a request comes again; `data` is all that came with it.

    None if these bytes are not just this one request, or its head is not of the plainest kind.
    """
    end = data.find(END) + len(END)
    if not len(END) < end <= LARGEST:
        return None
    try:
        headers = read_head(scope)
    except Coded:
        return None
    told = _LENGTH.search(data, 0, end)
    if (
        (told is None) is (LENGTH in headers)
        or not OTHERWISE.isdisjoint(headers)
        or len(headers) != len(scope["headers"])
    ):
        return None
    if len(data) != end + (0 if told is None else int(told[1])):
        return None
    before, after = (data[:end], b"") if told is None else (data[: told.start(1)], data[told.end(1) : end])
    return Repeated(before, after, scope, headers)
