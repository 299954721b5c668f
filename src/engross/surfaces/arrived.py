"""What has arrived of a request by the time that somebody looks at it."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

BLANKS = b" \t"
_BODY = "engross.body"
_HEADERS = "engross.headers"
_SOUND = "engross.sound"

Headers = dict[bytes, bytes]


def note_body(scope: MutableMapping[str, Any], body: bytes) -> None:
    """Note that the whole body is there. Only the layer that takes in bytes does so."""
    scope[_BODY] = body


def whole_body(scope: MutableMapping[str, Any]) -> bytes | None:
    """The body, if it came along with the head, so that nobody has to wait for it; `receive` gives it all the same."""
    body: bytes | None = scope.get(_BODY)
    return body


def note_headers(scope: MutableMapping[str, Any], headers: Headers) -> None:
    """Note what the headers are, of a head that was found to be sound before."""
    scope[_HEADERS] = headers
    scope[_SOUND] = True


def is_sound(scope: MutableMapping[str, Any]) -> bool:
    """Whether the very same head was looked at before, and let through."""
    return _SOUND in scope


def headers_of(scope: MutableMapping[str, Any]) -> Headers:
    """The headers by name, read once for all who look at them, without the blanks that a parser kept at their ends.

    A header that is there twice is a list. What must be one thing is then no such thing, and refused as that.
    """
    known: Headers | None = scope.get(_HEADERS)
    if known is not None:
        return known
    headers: Headers = {}
    lists: dict[bytes, list[bytes]] = {}
    padded = False
    for name, value in scope["headers"]:
        bare = value.strip(BLANKS)
        if bare != value:
            padded = True
        if name in headers:
            lists.setdefault(name, [headers[name]]).append(bare)
        else:
            headers[name] = bare
    for name, values in lists.items():
        headers[name] = b", ".join(values)
    if padded:
        scope["headers"] = [(name, value.strip(BLANKS)) for name, value in scope["headers"]]
    scope[_HEADERS] = headers
    return headers
