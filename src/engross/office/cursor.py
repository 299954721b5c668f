"""Where a page of a listing ended."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

import orjson

from engross.replies import Invalid, codes


def write_cursor(*place: str) -> str:
    """The cursor for a place."""
    return urlsafe_b64encode(orjson.dumps(place)).decode()


def read_cursor(cursor: str | None) -> tuple[str, str] | None:
    """The place that a cursor names."""
    if cursor is None:
        return None
    try:
        first, second = orjson.loads(urlsafe_b64decode(cursor))
        if isinstance(first, str) and isinstance(second, str):
            return first, second
    except ValueError:
        pass
    raise Invalid(codes.VALIDATION_ERROR, {"problem": "the cursor is not one of ours"}, field="cursor")
