"""The guard: what a request has to pass before any surface sees it.

A plain ASGI layer, because it is on the way of every call. It asks, in this order: is the head plain, is the request
addressed to us, may this page call, is there room, is the body small enough, and who is it? Whoever is turned away
gets a Reply. What callers say about themselves anywhere but in the credential is not looked at.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engross.calls import Caller
from engross.office import Settings
from engross.replies import Failed, Invalid, Reply, Trace, codes, record_crash, reply_of
from engross.surfaces.answering import Answering
from engross.surfaces.arrived import Headers
from engross.surfaces.oversize import UPLOAD, too_large
from engross.surfaces.presence import CALLER
from engross.surfaces.rest.answers import send_empty, send_reply

from .head import bearer, header, read_head
from .names import Names, public_base
from .turns import Turns

MCP = "/mcp"
UPLOADS = "/v1/blobs"
HEALTH = "/health/"
METRICS = "/metrics"
METADATA = "/.well-known/oauth-protected-resource"
PUBLIC = frozenset({"/", "/docs", "/favicon.ico", "/health", "/openapi.json", "/problems"})
PUBLIC_BELOW = (HEALTH, "/.well-known/", "/docs/", "/problems/")
LARGEST_MCP_BODY = 4_194_304
"""The MCP library's own limit."""
RETRY_SECONDS = 1
SHARE = 2
"""Nobody may have more than this part of all requests under way, so that others are still heard."""
LONGEST_METHOD = 20
LONGEST_PATH = 200
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_HEADER_NAMES = re.compile(r"[A-Za-z0-9, -]{1,1000}")

Admit = Callable[[str | None], Awaitable[Caller]]
Noting = Callable[[Reply, Scope], None]
Dialects = Callable[[str], str]
"""The dialect in which answers are given at a path."""


class Guard:
    """Lets requests through to an application, each with its caller."""

    def __init__(
        self,
        app: ASGIApp,
        names: Names,
        settings: Settings,
        admit: Admit,
        *,
        nobody: Caller | None,
        note: Noting,
        dialect_of: Dialects = lambda path: "plain",
    ) -> None:
        """`nobody` is who everybody is when there are no credentials; `note` is told of every refusal."""
        self._app = app
        self._names = names
        self._admit = admit
        self._nobody = nobody
        self._note = note
        self._dialect_of = dialect_of
        self._base = public_base(settings)
        self._most_requests = settings.most_requests
        self._limits = {
            MCP: min(settings.most_body_bytes, LARGEST_MCP_BODY),
            UPLOADS: settings.most_upload_bytes,
            "": settings.most_body_bytes,
        }
        self._most_each = max(1, self._most_requests // SHARE)
        self._running_of: dict[tuple[str, str], int] = {}
        self._turns = Turns()
        self.running: set[Answering] = set()
        self.closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or turn it away."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answering = Answering(scope, send)
        try:
            await self._let_through(scope, receive, answering)
        except ClientDisconnect:
            return
        except Exception as failure:
            await self._turn_away(scope, answering, failure)
        except asyncio.CancelledError:
            if not self.closing:
                raise
            await self._break_off(scope, answering)

    async def _let_through(self, scope: Scope, receive: Receive, answering: Answering) -> None:
        headers = read_head(scope)
        self._require_our_name(scope, headers, answering)
        if answering.origin is not None and _is_preflight(scope, headers):
            await _permit(scope, answering)
            return
        path: str = scope["path"]
        self._require_room(path)
        if b"content-length" in headers or b"transfer-encoding" in headers:
            receive = self._measured(path, headers, receive)
        self.running.add(answering)
        whose: tuple[str, str] | None = None
        try:
            if self._wants_caller(path, headers):
                shown = headers.get(b"authorization")
                caller = self._nobody or self._turns.caller(shown) or await self._admitted(shown)
                whose = self._share_of(caller)
                scope.setdefault("state", {})["caller"] = caller
                CALLER.set(caller)
            await self._app(scope, receive, answering)
            if not answering.ended:
                await answering.end()
        finally:
            self.running.discard(answering)
            if whose is not None:
                left = self._running_of.pop(whose) - 1
                if left:
                    self._running_of[whose] = left

    def _share_of(self, caller: Caller) -> tuple[str, str] | None:
        """Count a request of a caller, of whom there is no more than a share at a time."""
        if caller is self._nobody:
            return None
        whose = (caller.tenant, caller.principal.id)
        running = self._running_of.get(whose, 0)
        if running >= self._most_each:
            raise Failed(codes.OFFICE_BUSY, data={"retry_after_seconds": RETRY_SECONDS})
        self._running_of[whose] = running + 1
        return whose

    def _require_our_name(self, scope: Scope, headers: Headers, answering: Answering) -> None:
        here = scope.get("server")
        if not self._names.answers_to(headers[b"host"], here):
            raise Invalid(codes.HOST_NOT_ALLOWED)
        origin = headers.get(b"origin")
        if origin is not None:
            if not self._names.welcomes(origin, here):
                raise Invalid(codes.ORIGIN_NOT_ALLOWED)
            if self._names.is_foreign(origin):
                answering.origin = origin

    def _require_room(self, path: str) -> None:
        full = self.closing or len(self.running) >= self._most_requests
        if full and not path.startswith(HEALTH):
            raise Failed(codes.OFFICE_BUSY, data={"retry_after_seconds": RETRY_SECONDS})

    def _measured(self, path: str, headers: Headers, receive: Receive) -> Receive:
        """The body, as long as it is within its limit."""
        kind = MCP if path.startswith(MCP) else UPLOADS if path.startswith(UPLOADS) else ""
        limit, hint = self._limits[kind], None if kind == UPLOADS else UPLOAD
        if b"content-length" not in headers:
            return _Counted(receive, limit, hint)
        if int(headers[b"content-length"]) > limit:
            raise too_large(limit, hint=hint)
        return receive

    def _wants_caller(self, path: str, headers: Headers) -> bool:
        """Whether it matters who is calling. A credential is wanted wherever nothing else is said."""
        if path in PUBLIC or path.startswith(PUBLIC_BELOW):
            return False
        return path != METRICS or self._nobody is not None or b"authorization" in headers

    async def _admitted(self, authorization: bytes | None) -> Caller:
        """Who a credential stands for. Those who came in the same turn of the loop need but one look into the store."""
        if authorization is None:
            return await self._admit(None)
        known = self._turns.known()
        caller = known[authorization] = await self._admit(bearer(authorization))
        return caller

    async def _turn_away(self, scope: Scope, answering: Answering, failure: Exception) -> None:
        trace = Trace.from_headers(header(scope, b"traceparent"), header(scope, b"tracestate"))
        answer = reply_of(failure).traced(trace)
        if answer.code == codes.SYS_CRASH:
            record_crash(trace.trace_id, failure, f"{scope['method']} {scope['path'][:LONGEST_PATH]}")
        self._note(answer, scope)
        if not answering.started:
            dialect, headers = self._dialect_of(scope["path"]), self._headers(scope, answer)
            await send_reply(scope, answering, answer, dialect=dialect, base=self._base, headers=headers)

    async def _break_off(self, scope: Scope, answering: Answering) -> None:
        """The office closes, and this took too long, or was a stream that has no end of its own."""
        if answering.task is not None:
            answering.task.uncancel()
        if answering.take_back():
            await self._turn_away(scope, answering, Failed(codes.TIMEOUT, data={"outcome": "unknown"}))
        else:
            await answering.end()

    def _headers(self, scope: Scope, answer: Reply) -> dict[str, str]:
        if answer.code in (codes.AUTH_REQUIRED, codes.AUTH_INVALID):
            return {"www-authenticate": self._challenge(scope, answer)}
        if answer.code == codes.METHOD_NOT_ALLOWED:
            return {"allow": ", ".join(answer.data["allowed_methods"])}
        return {"connection": "close"} if self.closing else {}

    def _challenge(self, scope: Scope, answer: Reply) -> str:
        """Where to learn who gives out credentials, as RFC 9728 has it."""
        part = MCP if scope["path"].startswith(MCP) else ""
        parts = ['realm="engross"', f'resource_metadata="{base_of(scope, self._base)}{METADATA}{part}"']
        if answer.code == codes.AUTH_INVALID:
            parts.append('error="invalid_token"')
        return f"Bearer {', '.join(parts)}"


class _Counted:
    """A body of unknown length, until it is over the limit."""

    __slots__ = ("_hint", "_left", "_limit", "_receive")

    def __init__(self, receive: Receive, limit: int, hint: str | None) -> None:
        self._receive = receive
        self._limit = self._left = limit
        self._hint = hint

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise too_large(self._limit, hint=self._hint)
        return message


def base_of(scope: Scope, base: str) -> str:
    """What comes before the path, as the caller sees it. The Host header is one that we answer to."""
    return base or f"{scope['scheme']}://{header(scope, b'host')}"


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    """Whether a browser asks beforehand what a page may do."""
    return scope["method"] == "OPTIONS" and bool(headers.get(b"access-control-request-method"))


async def _permit(scope: Scope, send: Send) -> None:
    """Tell a browser that a page of an origin that may call us may do so."""
    asked = header(scope, b"access-control-request-headers") or ""
    headers = {
        "access-control-allow-methods": _METHODS,
        "access-control-allow-headers": asked if _HEADER_NAMES.fullmatch(asked) else "authorization, content-type",
        "access-control-max-age": "600",
    }
    await send_empty(send, 204, headers)
