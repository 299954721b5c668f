"""Bodies: taken in up to a limit, within a time, and read as JSON."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.types import Receive

from engross.replies import Invalid, codes
from engross.surfaces.oversize import too_large

from .asked import Asked

JSON = b"application/json"
_JSON = re.compile(rb'application/([a-z0-9!#$&^_.+-]+\+)?json(\s*;\s*charset\s*=\s*"?utf-?8"?)?\s*;?', re.IGNORECASE)
LEAST_BYTES_PER_SECOND = 16_384
"""A body that comes at least this fast may take longer than the time allowed."""


class ClientGone(Exception):
    """The client left before it had said what it wants."""


async def pieces(asked: Asked, receive: Receive, most: int, seconds: float) -> AsyncIterator[bytes]:
    """The body as it comes; Invalid once it is too large or too slow."""
    refuse_larger(asked, most)
    loop = asyncio.get_running_loop()
    size, begun = 0, loop.time()
    while True:
        try:
            async with asyncio.timeout_at(begun + seconds + size / LEAST_BYTES_PER_SECOND):
                message = await receive()
        except TimeoutError:
            raise Invalid(codes.REQUEST_TOO_SLOW) from None
        if message["type"] == "http.disconnect":
            raise ClientGone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise too_large(most, hint=None)
        if piece:
            yield piece
        if not message.get("more_body", False):
            return


def refuse_larger(asked: Asked, most: int) -> None:
    """Refuse a body that says itself that it is too large, before any of it has come."""
    declared = asked.headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared[:20]) > most:
        raise too_large(most, hint=None)


async def collected(asked: Asked, receive: Receive, most: int, seconds: float) -> bytes:
    """The whole of a body that did not come along with the head."""
    return b"".join([piece async for piece in pieces(asked, receive, most, seconds)])


def read_json(asked: Asked, content: bytes, most: int) -> Any:
    """What a body says. An empty one says that there are no arguments."""
    if len(content) > most:
        raise too_large(most)
    if not content:
        return {}
    refuse_other_media(asked)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        problem = f"it is no JSON in UTF-8, see line {error.lineno}, column {error.colno}"
        raise Invalid(
            codes.MALFORMED_INPUT, {"problem": problem}, details={"line": error.lineno, "column": error.colno}
        ) from None


def refuse_other_media(asked: Asked) -> None:
    """Refuse what is no JSON, or packed."""
    media = asked.headers.get(b"content-type", b"")
    if media != JSON and not _JSON.fullmatch(media):
        raise unsupported("JSON", "application/json")
    refuse_packed(asked)


def refuse_packed(asked: Asked) -> None:
    """Refuse what has to be unpacked first: a few bytes may unpack to very many."""
    if asked.headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise unsupported("without Content-Encoding", "identity")


def unsupported(expected: str, accepted: str) -> Invalid:
    """The body is of another kind than is understood here."""
    return Invalid(codes.UNSUPPORTED_MEDIA_TYPE, {"expected": expected}, suggestions={"allowed_values": [accepted]})
