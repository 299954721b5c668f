"""Refusals of the SDK's that have no words, or words that are no JSON: they get those of the protocol."""

from __future__ import annotations

from http import HTTPStatus

from mcp_types import INVALID_REQUEST, ErrorData
from starlette.types import Message, Send

from .protocol import error_line

_WORDED = (b"application/json", b"text/event-stream")
_REWRITTEN = (b"content-type", b"content-length")


class Worded:
    """An answer on its way out. Its status, and what else its head says, stay as they are."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None
        self._said = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_wordless(message):
            self._head = message
        elif self._head is None:
            await self._send(message)
        else:
            self._said += message.get("body", b"")
            if not message.get("more_body", False):
                await self._refuse(self._head)

    async def _refuse(self, head: Message) -> None:
        said = self._said.decode(errors="replace") or HTTPStatus(head["status"]).phrase
        body = error_line(None, ErrorData(code=INVALID_REQUEST, message=f"Invalid request: {said}"))
        kept = [(name, value) for name, value in head["headers"] if name.lower() not in _REWRITTEN]
        told = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await self._send({**head, "headers": [*kept, *told]})
        await self._send({"type": "http.response.body", "body": body})


def _is_wordless(head: Message) -> bool:
    kinds = [value for name, value in head["headers"] if name.lower() == b"content-type"]
    return head["status"] >= 400 and not any(kind.startswith(_WORDED) for kind in kinds)
