"""Replies as HTTP answers, in the form that the request asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

import orjson
from starlette.types import Scope, Send

from engross.flows import shortened
from engross.replies import Coded, Invalid, Reply, Trace, codes, http, log_end, neutral, reply_of
from engross.replies.envelopes import REPLY_JSON

from .asked import Asked

Header = tuple[bytes, bytes]
NOSNIFF = (b"x-content-type-options", b"nosniff")
_REPLY_JSON = REPLY_JSON.encode()


async def send_reply(
    scope: Scope,
    send: Send,
    answer: Reply,
    *,
    dialect: str = "plain",
    base: str = "",
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    if_match: bool = False,
    by_address: bool = False,
) -> None:
    """Send a Reply: in the flow's dialect, as a problem, or as itself to who asks for that."""
    status, more, media_type, body = http(answer, dialect, base=base, if_match=if_match, by_address=by_address)
    if wants_reply(scope):
        media_type, body = REPLY_JSON, neutral(answer)
    told = {"cache-control": "no-store"}
    for name, value in (*more.items(), *dict(headers).items()):
        told[name.lower()] = value
    if answer.trace is not None:
        told["traceparent"] = answer.trace.traceparent
    await send_bytes(send, status, media_type, orjson.dumps(body), told)


async def send_refusal(scope: Scope, send: Send, refusal: Coded, base: str = "") -> None:
    """Turn away a request that is no call of a flow."""
    asked = Asked(scope)
    answer = reply_of(refusal).traced(Trace.from_headers(asked.header(b"traceparent"), asked.header(b"tracestate")))
    log_end(answer)
    allowed = answer.data.get("allowed_methods")
    await send_reply(scope, send, answer, base=base, headers={"allow": ", ".join(allowed)} if allowed else {})


def refuse_address(scope: Scope) -> NoReturn:
    """There is nothing at the address of a request."""
    path = {"path": shortened(scope["path"])}
    raise Invalid(codes.PATH_NOT_FOUND, path)  # reply-lint: L7 because an address is a path, and this surface's own


def wants_reply(scope: Scope) -> bool:
    """Does the client read Replies as they are?"""
    accepted = b",".join([value for name, value in scope["headers"] if name == b"accept"])
    return _REPLY_JSON in accepted.lower()


async def send_bytes(send: Send, status: int, media_type: str, content: bytes, headers: Mapping[str, str]) -> None:
    """Send one whole answer."""
    told: list[Header] = [
        (b"content-type", media_type.encode("latin-1")),
        (b"content-length", b"%d" % len(content)),
        NOSNIFF,
        (b"vary", b"accept"),
        *[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
    ]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": content})


async def send_empty(send: Send, status: int, headers: Mapping[str, str]) -> None:
    """Send an answer that its head tells in full."""
    told = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": b""})
