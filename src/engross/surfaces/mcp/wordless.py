"""Refusals of the SDK's that say less than they could.

Those that have no words, or words that are no JSON, get those of the protocol. Where it could not read a request, who
knows more of that answers instead.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

import orjson
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData
from starlette.types import Message, Send

from .protocol import error_line

_WORDED = (b"application/json", b"text/event-stream")
_REWRITTEN = (b"content-type", b"content-length")


class Said(NamedTuple):
    """What is answered."""

    status: int
    body: bytes


class Worded:
    """An answer on its way out. What its head says besides status, type and length stays as it is."""

    def __init__(self, send: Send, unread: Callable[[], Said]) -> None:
        """`unread` is what answers a request that the SDK could not read."""
        self._send = send
        self._unread = unread
        self._head: Message | None = None
        self._said = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            self._head = message
        elif self._head is None:
            await self._send(message)
        else:
            self._said += message.get("body", b"")
            if not message.get("more_body", False):
                await self._refuse(self._head)

    async def _refuse(self, head: Message) -> None:
        status, body = self._reworded(head["status"], _is_wordless(head))
        kept = [(name, value) for name, value in head["headers"] if name.lower() not in _REWRITTEN]
        told = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await self._send({**head, "status": status, "headers": [*kept, *told]})
        await self._send({"type": "http.response.body", "body": body})

    def _reworded(self, status: int, is_wordless: bool) -> Said:
        if is_wordless:
            said = self._said.decode(errors="replace") or HTTPStatus(status).phrase
            return Said(status, error_line(None, ErrorData(code=INVALID_REQUEST, message=f"Invalid request: {said}")))
        return self._unread() if status == 400 and _is_parse_error(self._said) else Said(status, self._said)


def _is_wordless(head: Message) -> bool:
    kinds = [value for name, value in head["headers"] if name.lower() == b"content-type"]
    return not any(kind.startswith(_WORDED) for kind in kinds)


def _is_parse_error(said: bytes) -> bool:
    try:
        return bool(orjson.loads(said)["error"]["code"] == PARSE_ERROR)
    except ValueError:
        # It repeats half a character, as an id: whoever sent that sent nothing that can be read.
        return True
