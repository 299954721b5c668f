"""Where a page of a listing ended."""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode

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
        place = orjson.loads(b64decode(cursor, altchars=b"-_", validate=True))
    except ValueError:
        place = None
    if isinstance(place, list) and len(place) == 2 and all(map(_is_plain, place)):
        return place[0], place[1]
    raise Invalid(codes.VALIDATION_ERROR, {"problem": "the cursor is not one of ours"}, field="cursor")


def _is_plain(part: object) -> bool:
    # What we write into a cursor are moments and ids. PostgreSQL takes no NUL in a text.
    return isinstance(part, str) and part.isprintable()
