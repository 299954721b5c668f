"""Replies as HTTP answers, in the form that the request asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import NoReturn

import orjson
from starlette.types import Scope, Send

from engross.flows import shortened
from engross.replies import Coded, Invalid, Reply, Trace, codes, http, log_end, neutral, reply_of
from engross.replies.envelopes import JSON, REPLY_JSON
from engross.surfaces.answering import Answering, send_parts
from engross.surfaces.arrived import headers_of
from engross.surfaces.heads import NO_STORE, NOSNIFF, UNUSUAL, usual_head

from .asked import Asked

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_REPLY_JSON = REPLY_JSON.encode()


def send_reply(
    scope: Scope,
    send: Send,
    answer: Reply,
    *,
    dialect: str = "plain",
    base: str = "",
    headers: Mapping[str, str] = NO_HEADERS,
    if_match: bool = False,
    by_address: bool = False,
) -> Awaitable[None]:
    """Send a Reply: in the flow's dialect, as a problem, or as itself to who asks for that."""
    status, more, media_type, body = http(answer, dialect, base=base, if_match=if_match, by_address=by_address)
    if form_of(scope) == REPLY_JSON:
        media_type, body = REPLY_JSON, neutral(answer)
    told = dict((NO_STORE,))
    for name, value in more.items():
        told[name.lower().encode()] = value.encode("latin-1")
    for name, value in headers.items():
        told[name.encode("latin-1")] = value.encode("latin-1")
    if answer.trace is not None:
        told[b"traceparent"] = answer.trace.traceparent.encode()
    return _send_whole(send, status, media_type, orjson.dumps(body), told)


async def send_refusal(scope: Scope, send: Send, refusal: Coded, base: str = "") -> None:
    """Turn away a request that is no call of a flow."""
    asked = Asked(scope)
    answer = reply_of(refusal).traced(Trace.from_headers(asked.header(b"traceparent"), asked.header(b"tracestate")))
    log_end(answer)
    allowed = answer.data.get("allowed_methods")
    await send_reply(scope, send, answer, base=base, headers={"allow": ", ".join(allowed)} if allowed else NO_HEADERS)


def refuse_address(scope: Scope) -> NoReturn:
    """There is nothing at the address of a request."""
    path = {"path": shortened(scope["path"])}
    raise Invalid(codes.PATH_NOT_FOUND, path)  # reply-lint: L7 because an address is a path, and this surface's own


def form_of(scope: Scope) -> str:
    """The media type of what a flow answers: JSON, or Replies as they are to who reads those."""
    accepted = headers_of(scope).get(b"accept")
    return REPLY_JSON if accepted is not None and _REPLY_JSON in accepted.lower() else JSON


def send_bytes(send: Send, status: int, media_type: str, content: bytes, headers: Mapping[str, str]) -> Awaitable[None]:
    """Send one whole answer."""
    told = {name.encode("latin-1"): value.encode("latin-1") for name, value in headers.items()}
    return _send_whole(send, status, media_type, content, told)


def _send_whole(send: Send, status: int, media_type: str, content: bytes, told: dict[bytes, bytes]) -> Awaitable[None]:
    if isinstance(send, Answering) and told.keys().isdisjoint(UNUSUAL):
        told.setdefault(*NO_STORE)
        return send.whole(status, usual_head(media_type), [*told.items()], content)
    about = [(b"content-type", media_type.encode("latin-1")), (b"content-length", b"%d" % len(content))]
    return send_parts(send, status, [*about, NOSNIFF, (b"vary", b"accept"), *told.items()], content)


def send_empty(send: Send, status: int, headers: Mapping[str, str]) -> Awaitable[None]:
    """Send an answer that its head tells in full."""
    told = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return send_parts(send, status, told, b"")
