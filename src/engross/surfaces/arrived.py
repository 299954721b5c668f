"""What has arrived of a request by the time that somebody looks at it."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

_BODY = "engross.body"


def note_body(scope: MutableMapping[str, Any], body: bytes) -> None:
    """Note that the whole body is there. Only the layer that takes in bytes does so."""
    scope[_BODY] = body


def whole_body(scope: MutableMapping[str, Any]) -> bytes | None:
    """The body, if it came along with the head, so that nobody has to wait for it; `receive` gives it all the same."""
    body: bytes | None = scope.get(_BODY)
    return body
