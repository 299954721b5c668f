"""MCP over HTTP: the SDK's endpoint, with the caller that the door admitted.

A client of the handshake era has a session, which belongs to the credential that opened it. One of the later era sends
requests that stand alone; unless it wants to hear of progress, they are answered without a stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache, partial

import orjson
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from engross.calls import Caller
from engross.replies import Coded, Invalid, Trace, codes, http, log_end, reply_of
from engross.surfaces.arrived import whole_body
from engross.surfaces.desk import Desk
from engross.surfaces.presence import CALLER

from .lane import Lane, header_of, send_json
from .overlong import Refusing
from .server import make_parts
from .sessions import NUMBER, Sessions
from .unreadable import replied, unread
from .window import Window, whose
from .wordless import Said, Worded

MOST_BYTES = 4 * 1024 * 1024
_HANDSHAKE = frozenset([b"", *(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)])
"""The versions that begin with a handshake, whose first request does not say which it is."""
_INVALID_REQUEST = orjson.dumps(
    {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": "Invalid request"}}
)
_WANT_A_STREAM = (b"progressToken", b"io.modelcontextprotocol/logLevel")


class McpApp:
    """The ASGI application; `run` has to be entered before the first request."""

    def __init__(
        self, desk: Desk, allowed_hosts: Sequence[str] | None, allowed_origins: Sequence[str], most_bytes: int
    ) -> None:
        self.server, self._subscriptions = make_parts(desk, CALLER.get, "mcp-http")
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=allowed_hosts is not None,
            allowed_hosts=list(allowed_hosts or ()),
            allowed_origins=list(allowed_origins),
        )
        self._most_bytes = most_bytes
        self._window = Window(desk, CALLER.get, "mcp-http")
        # Who has Host and Origin looked at here has it done by the SDK.
        self._lane = Lane(self._window) if allowed_hosts is None else None
        self._streaming = StreamableHTTPSessionManager(
            self.server,
            security_settings=security,
            max_request_body_size=most_bytes,
            session_idle_timeout=None,
            max_sessions=None,
        )
        self._sessions = Sessions(desk, self._streaming.handle_request)
        self._brief = StreamableHTTPSessionManager(
            self.server,
            security_settings=security,
            max_request_body_size=most_bytes,
            stateless=True,
            json_response=True,
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while this is entered."""
        async with AsyncExitStack() as running:
            await running.enter_async_context(self._streaming.run())
            await running.enter_async_context(self._brief.run())
            running.callback(self._sessions.close)
            yield

    def end_streams(self) -> None:
        """Tell those who listen for changes that this is the end: a server that waits for them would wait for ever."""
        self._subscriptions.close()
        self._sessions.end_streams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        caller = scope.get("state", {}).get("caller") or CALLER.get(None)
        if caller is None:
            await _refuse(send, Invalid(codes.AUTH_REQUIRED))
            return
        CALLER.set(caller)
        # Of a header that comes twice the first one counts, here as in the SDK.
        headers = dict(reversed(scope["headers"]))
        shakes_hands = headers.get(b"mcp-protocol-version", b"") in _HANDSHAKE
        body = b""
        if scope["method"] == "POST":
            received = whole_body(scope)
            if received is None:
                received = await _body(headers, receive, self._most_bytes)
                receive = _again(received or b"", receive)
            if received is None or len(received) > self._most_bytes:
                size = {"what": "The request", "limit": self._most_bytes}
                await _refuse(send, Invalid(codes.LIMIT_EXCEEDED, size))
                return
            body = received
            if self._lane is not None and await self._lane.answered(scope, headers, body, send):
                return
            if shakes_hands and not _may_be_a_message(body):
                await send_json(send, 400, _INVALID_REQUEST)
                return
        scope, answer = {**scope, "user": _owner(caller)}, Worded(send, lambda: self._unread(headers, body))
        if shakes_hands:
            try:
                await self._sessions.handle(caller, headers.get(NUMBER), scope, receive, answer)
            except Coded as refusal:
                await _refuse(send, refusal)
            return
        manager = self._streaming if _wants_a_stream(headers, body) else self._brief
        await manager.handle_request(scope, receive, answer)

    def _unread(self, headers: dict[bytes, bytes], body: bytes) -> Said:
        """What answers a request that the SDK could not read, but whose head it had nothing against."""
        is_modern = headers.get(b"mcp-protocol-version", b"") not in _HANDSHAKE
        reply = None
        # What the SDK would have looked at next: is there a session, or does the head say what is called?
        if (b"mcp-name" if is_modern else NUMBER) in headers:
            refusing = Refusing(self._window, self._most_bytes, partial(header_of, headers))
            reply = replied(body, refusing, is_modern=is_modern)
        return Said(400, unread(body)) if reply is None else Said(200, reply)


def mcp_app(
    desk: Desk,
    *,
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] = (),
    most_bytes: int = MOST_BYTES,
) -> McpApp:
    """MCP over HTTP at a desk, for the hosts and origins named: `127.0.0.1:*` stands for every port.

    None are named where whoever serves this has looked at Host and Origin already.
    """
    return McpApp(desk, allowed_hosts, allowed_origins, most_bytes)


def _wants_a_stream(headers: dict[bytes, bytes], body: bytes) -> bool:
    """May there be something to say before the answer?"""
    # A client that takes no stream has to be told so, by the SDK.
    return b"text/event-stream" not in headers.get(b"accept", b"") or any(word in body for word in _WANT_A_STREAM)


@lru_cache(maxsize=1024)
def _owner(caller: Caller) -> AuthenticatedUser:
    """The caller as the SDK knows whom a session belongs to."""
    return AuthenticatedUser(AccessToken(token="", client_id=whose(caller), scopes=[]))


async def _body(headers: dict[bytes, bytes], receive: Receive, most: int) -> bytes | None:
    """The body of a request; None if it is too large to be read."""
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > most:
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            # What came so far may read like a whole request, and is none.
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """What was received once more, then what comes after it."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


def _may_be_a_message(body: bytes) -> bool:
    """Whether the SDK can make something of it. Where it cannot, it would repeat what was sent, secrets and all."""
    try:
        message = orjson.loads(body)
    except ValueError:
        # The SDK reads more than this library does, and says of the rest no more than that it cannot be read.
        return True
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if "id" in message and type(message["id"]) not in (str, int):
        return False
    if "method" not in message:
        return "result" in message or "error" in message
    return isinstance(message["method"], str) and isinstance(message.get("params") or {}, dict)


async def _refuse(send: Send, refusal: Coded) -> None:
    answer = reply_of(refusal).traced(Trace.new())
    log_end(answer)
    status, headers, media_type, body = http(answer)
    told = {"content-type": media_type, **headers}
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.lower().encode(), value.encode()) for name, value in told.items()],
        }
    )
    await send({"type": "http.response.body", "body": orjson.dumps(body)})
